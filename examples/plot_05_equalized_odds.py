# SPDX-License-Identifier: MIT
"""
Equalized odds
==============

Groups that look alike among everyone may still differ among those who deserve the same answer. With
``fairness="equalized_odds"`` they must look alike among the rows of each label by itself.
"""

# %%
# A column on which the groups differ in opposite ways for the two labels: among everyone together this cancels.

import matplotlib.pyplot as plt
import numpy as np

from fairpca import FairPCA
from fairpca.plots import DensityDisplay

rng = np.random.default_rng(2)
n = 1600
group = rng.choice(["a", "b"], size=n)
hired = rng.integers(0, 2, size=n)
X = rng.normal(size=(n, 6)) * [1.6, 1.5, 1.2, 1.0, 0.9, 0.8]
X[:, 0] += np.where(group == "a", 1.3, -1.3) * np.where(hired == 1, 1.0, -1.0)

models = {
    notion: FairPCA(2, fairness=notion, standardize=False).fit(X, hired, sensitive_features=group)
    for notion in ("demographic_parity", "equalized_odds")
}
for notion, model in models.items():
    print(f"{notion}: {100 * model.explained_variance_ratio_.sum():.1f} % of the variance kept")

# %%
# Demographic parity is content with the first column; within each label the groups stand apart on it. Equalized odds
# leaves it out.

figure, axes = plt.subplots(2, 2, figsize=(9, 7.2), layout="constrained")
for row, (notion, model) in zip(axes, models.items(), strict=True):
    for ax, label in zip(row, (1, 0), strict=True):
        rows = hired == label
        DensityDisplay.from_estimator(model, X[rows], sensitive_features=group[rows], ax=ax)
        ax.set_title(f"{notion.replace('_', ' ')}: {'hired' if label else 'not hired'}")
plt.show()
