# SPDX-License-Identifier: MIT
"""
What the components are made of
===============================

Components are linear: every column has a loading on each, and a fair component can be read like any other. A biplot
shows people and columns in one plane; the communality of a column says how much of it the components carry.
"""

# %%
# German Credit by age, without its column of age.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from fairpca import FairPCA
from fairpca.datasets import load_german
from fairpca.metrics import communality
from fairpca.plots import BiplotDisplay

german = load_german(as_frame=True)
X = german.data.drop(columns="age")
X = (X - X.mean()) / X.std(ddof=0)
age = np.where(german.attributes["age"] < 25, "younger than 25", "25 or older")
pca = PCA(2).fit(X)
fair = FairPCA(2).fit(X, sensitive_features=age)

# %%
# The columns with the highest communality have arrows.

figure, axes = plt.subplots(1, 2, figsize=(13, 5.6), layout="constrained")
for ax, (name, model) in zip(axes, {"PCA": pca, "FairPCA": fair}.items(), strict=True):
    display = BiplotDisplay.from_estimator(model, X, sensitive_features=age, feature_names=list(X), n_features=7, ax=ax)
    ax.set_title(name)
plt.show()

# %%
# What changed most: columns that tell the young from the others carry less weight.

before, after = communality(pca.components_), communality(fair.components_)
order = np.argsort(after - before)[[0, 1, 2, 3, 4, 5, -4, -3, -2, -1]]
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
places = np.arange(len(order))[::-1]
ax.hlines(places, before[order], after[order], color="0.7")
ax.plot(before[order], places, "x", color="#D55E00", label="PCA")
ax.plot(after[order], places, "o", color="#0072B2", label="FairPCA")
ax.set_yticks(places, [X.columns[column] for column in order])
ax.set_xlabel("communality: share of the column that two components carry")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
