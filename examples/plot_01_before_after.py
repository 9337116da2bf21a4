# SPDX-License-Identifier: MIT
"""
The same people before and after
================================

Plain PCA of a census table puts women and men in different places, though the column of sex is not in the table.
``FairPCA`` looks for the plane that keeps most variance among those in which both are spread alike.
"""

# %%
# Adult is a census sample: 5,000 of its people, and all columns but that of sex.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.datasets import load_adult
from fairpca.metrics import mmd2
from fairpca.plots import DensityDisplay

adult = load_adult(as_frame=True)
rows = np.sort(np.random.default_rng(0).permutation(len(adult.data))[:5000])
X = adult.data.drop(columns="sex").iloc[rows]
sex = adult.attributes["sex"].iloc[rows]

# %%
# Both reductions see standardised columns. The tolerance is left to the library: half of what random groups of these
# sizes would show.

pca = make_pipeline(StandardScaler(), PCA(2)).fit(X)
fair = FairPCA(2).fit(X, sensitive_features=sex)
print(fair.summary())

# %%
# Each line encloses a quarter, half or three quarters of a group. The more the groups differ as distributions, the
# larger MMD², the maximum mean discrepancy.

kept = {"PCA": pca[-1].explained_variance_ratio_.sum(), "FairPCA": fair.explained_variance_ratio_.sum()}
figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.4), layout="constrained")
for ax, (name, model) in zip(axes, {"PCA": pca, "FairPCA": fair}.items(), strict=True):
    DensityDisplay.from_estimator(model, X, sensitive_features=sex, ax=ax)
    difference = mmd2(model.transform(X), sensitive_features=sex, bandwidth=fair.bandwidth_)
    ax.set_title(f"{name}\n{100 * kept[name]:.1f} % of variance, MMD² = {difference:.2g}")
# The same axes for both, with equal units.
ends = np.array([[*ax.get_xlim(), *ax.get_ylim()] for ax in axes])
low, high = ends.min(axis=0), ends.max(axis=0)
for ax in axes:
    ax.set(xlim=(low[0], high[1]), ylim=(low[2], high[3]), aspect="equal")
plt.show()
