# SPDX-License-Identifier: MIT
"""
An attribute that is a number
=============================

Age in years has no groups. ``FairPCA`` then asks that projections do not depend on it, measured by the
Hilbert-Schmidt independence criterion (HSIC).
"""

# %%
# German Credit without its column of age; the years themselves are the attribute.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.datasets import load_german
from fairpca.metrics import mmd2

german = load_german(as_frame=True)
X = german.data.drop(columns="age")
age = german.attributes["age"]
fair = FairPCA(2).fit(X, sensitive_features={"age": age})
print(fair.sensitive_kinds_)
print(fair.summary())

# %%
# The mean age across the plane: a slope under plain PCA, and next to none under FairPCA.

planes = {"PCA": PCA(2).fit_transform(StandardScaler().fit_transform(X)), "FairPCA": fair.transform(X)}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharex=True, sharey=True)
for ax, (name, Z) in zip(axes, planes.items(), strict=True):
    cells = ax.hexbin(*Z.T, C=age, reduce_C_function=np.mean, gridsize=10, mincnt=6, vmin=25, vmax=50, cmap="cividis")
    hsic = mmd2(Z, sensitive_features={"age": age}, bandwidth=fair.bandwidth_)
    ax.set(title=f"{name}: HSIC = {hsic:.1e}", xlabel="component 1", ylabel="component 2", xlim=(-6, 6), ylim=(-5, 5))
figure.colorbar(cells, ax=axes, label="mean age in years")
plt.show()
