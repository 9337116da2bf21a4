# SPDX-License-Identifier: MIT
"""
Several attributes at once
==========================

Sex, region and age: two groups, three groups and years. Every comparison is a measure of its own, with a tolerance
and a multiplier that says what a little more tolerance would buy.
"""

# %%
# A table in which sex moves one column, the south another, and age a third.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.metrics import mmd2_by_measure
from fairpca.plots.style import PALETTE

rng = np.random.default_rng(1)
n = 900
people = pd.DataFrame(
    {
        "sex": rng.choice(["female", "male"], size=n),
        "region": rng.choice(["north", "south", "west"], size=n, p=[0.5, 0.3, 0.2]),
        "age": np.round(20 + rng.gamma(3, 8, size=n), 1),
    }
)
X = rng.normal(size=(n, 8)) @ rng.normal(size=(8, 8))
X[:, 0] += 6.0 * (people["sex"] == "female")
X[:, 1] += 6.0 * (people["region"] == "south")
X[:, 2] += 0.25 * people["age"]

# %%
# HSIC, the measure of a continuous attribute, is smaller than MMD² by nature, so its tolerance is too.

tolerance = {"sex": 5e-3, "region": 5e-3, "age": 3e-4}
model = FairPCA(2, tolerance=tolerance).fit(X, sensitive_features=people)
measures = pd.DataFrame(model.measures_)
print(measures[["name", "tolerance", "mmd2", "multiplier", "budget_used"]].to_string(index=False))

# %%
# A bar that reaches the line at 1 has used all of its tolerance: that comparison limits the answer.

scaled = StandardScaler().fit_transform(X)
before = mmd2_by_measure(PCA(2).fit_transform(scaled), sensitive_features=people, bandwidth=model.bandwidth_)
places = np.arange(len(measures))[::-1]
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot([before[name] for name in measures["name"]] / measures["tolerance"], places, "x", color=PALETTE[5], label="PCA")
ax.plot(measures["mmd2"] / measures["tolerance"], places, "o", color=PALETTE[0], label="FairPCA")
ax.axvline(1.0, color="0.5", linestyle=":", label="tolerance")
ax.set(xscale="log", xlabel="MMD² (HSIC for age), in units of its tolerance")
ax.set_xticks([0.3, 1.0, 3.0, 10.0], ["0.3", "1", "3", "10"])
ax.minorticks_off()
ax.set_yticks(places, measures["name"])
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
