# SPDX-License-Identifier: MIT
"""
One bandwidth, four scales, and an adversary
============================================

One bandwidth is blind to differences much finer than itself: a projection can meet its tolerance while a classifier
predicts the group from it. ``bandwidth="scales"`` compares at four scales at once.
"""

# %%
# A table made for the purpose. The first column has eight clumps. Both groups are in each, side by side, in an order
# that makes their means, spreads and skews agree: only the places inside of the clumps differ.

import matplotlib.pyplot as plt
import numpy as np

from fairpca import FairPCA, audit
from fairpca.plots.style import PALETTE

rng = np.random.default_rng(3)
n = 1600
group = rng.choice(["a", "b"], size=n)
clump = rng.integers(0, 8, size=n)
side = np.where(group == "a", 1.0, -1.0) * np.array([1, -1, -1, 1, -1, 1, 1, -1])[clump]
X = rng.normal(size=(n, 5)) * [0.1, 2.0, 1.0, 0.9, 0.8]
X[:, 0] += clump + 0.3 * side
train, new = slice(0, 800), slice(800, None)

# %%
# Both models meet the same tolerance, each with its own kernel. Gradient boosting, which knows nothing of kernels,
# then tries to tell the group from projections of people who were not fitted.

models, found = {}, {}
for bandwidth in ("median", "scales"):
    model = FairPCA(2, tolerance=3e-3, bandwidth=bandwidth, standardize=False)
    models[bandwidth] = model.fit(X[train], sensitive_features=group[train])
    tried = {"adversaries": ("linear", "boosting"), "random_state": 0}
    found[bandwidth] = audit(model, X[new], sensitive_features=group[new], **tried)
    read = {record["adversary"]: round(record["auc"], 2) for record in found[bandwidth].adversaries}
    kept = model.explained_variance_ratio_.sum()
    print(f"{bandwidth}: {100 * kept:.1f} % kept, p over scales {found[bandwidth].p_value:.3f}, AUC {read}")

# %%
# Along the first component of the first model the groups alternate, at distances below its bandwidth (the bar). Four
# scales see it: the second model takes other columns and keeps less variance.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (bandwidth, model) in zip(axes, models.items(), strict=True):
    first = model.transform(X[new])[:, 0]
    for each, color in zip("ab", PALETTE, strict=False):
        ax.hist(first[group[new] == each], bins=60, color=color, alpha=0.55, label=each)
    ax.plot([first.min(), first.min() + model.bandwidth_], [-2, -2], color="0.2", linewidth=3, label="bandwidth")
    boosting = next(record["auc"] for record in found[bandwidth].adversaries if record["adversary"] == "boosting")
    ax.set(title=f"bandwidth={bandwidth!r}: AUC of boosting {boosting:.2f}", xlabel="component 1", ylabel="people")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False, loc="upper left", ncols=3)
axes[0].set_ylim(top=1.2 * axes[0].get_ylim()[1])
plt.show()
