# SPDX-License-Identifier: MIT
"""
What fairness costs: the path and its knee
==========================================

How much variance does each tolerance cost? :func:`fairpca.fair_pca_path` fits twenty of them, each from the one
before, and hands out ready models.
"""

# %%
# German Credit, without the column that says whether someone is younger than 25.

import matplotlib.pyplot as plt

from fairpca import fair_pca_path
from fairpca.datasets import load_german

german = load_german(as_frame=True)
X = german.data.drop(columns="age")
young = german.attributes["age"] < 25
path = fair_pca_path(X, young, n_components=2)

# %%
# Three ways to choose: the bend of the curve, a limit on MMD², or a limit on what is given up.

chosen = {
    "knee": path.select(knee=True),
    "MMD² at most 0.01": path.select(max_mmd2=1e-2),
    "variance at least 11 %": path.select(min_variance=0.11),
}

# %%
# The vertical line is the chance level: random groups of these sizes would differ by about as much. To the left of it
# a tolerance fits the people who happen to be in the table.

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
path.plot(ax=ax)
for (name, model), marker in zip(chosen.items(), "DsP", strict=True):
    place = model.mmd2_, 100 * model.explained_variance_ratio_.sum()
    ax.plot(*place, marker, markersize=9, label=f"{name}: {place[1]:.1f} % kept", color="#D55E00", fillstyle="none")
ax.axvline(chosen["knee"].chance_level_, color="0.6", linestyle=":", label="chance level")
ax.legend(frameon=False)
plt.show()
