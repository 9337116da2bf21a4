# SPDX-License-Identifier: MIT
"""
A release with a promise about every classifier
===============================================

A fair projection is rounded to places, which are merged until no classifier, however it is built, can tell two groups
better than was promised. :class:`fairpca.Release` finds how coarse that has to be.
"""

# %%
# Two groups of people that differ, though not much, in a ring and in a corner of it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score

from fairpca import Release

rng = np.random.default_rng(0)
n = 24_000
group = rng.integers(0, 2, n)
angle = rng.uniform(0, 2 * np.pi, n) * np.where(group == 1, rng.uniform(0.6, 1.0, n), 1.0)
Z = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.normal(size=(n, 2))
fit, held, new = slice(0, 8000), slice(8000, 16_000), slice(16_000, None)

# %%
# A release for each of some targets, and how well boosting predicts the group from it.

targets = np.array([0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18])
release = Release(random_state=0).fit(Z[fit], sensitive_features=group[fit])
cells, read, kept = [], [], []
for target in targets:
    release.certify(Z[held], sensitive_features=group[held], target=target)
    released = release.transform(Z)
    adversary = HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(released[fit], group[fit])
    cells.append(release.level_)
    read.append(balanced_accuracy_score(group[new], adversary.predict(released[new])))
    kept.append(1 - ((released - Z) ** 2).sum() / ((Z - Z.mean(axis=0)) ** 2).sum())

# %%
# On the left what was promised and what boosting reaches; on the right what is kept. Each release is a promise of its
# own: a target is chosen before held-out people are looked at.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(targets, 50 * (1 + targets), color="0.5", label="no classifier above")
left.plot(targets, 100 * np.array(read), "o", color="#D55E00", label="boosting")
left.set(xlabel="target", ylabel="balanced accuracy, %")
left.legend(frameon=False)
right.plot(targets, 100 * np.array(kept), "s-", color="#0072B2")
for target, share, count in zip(targets, kept, cells, strict=True):
    right.annotate(f"{count:.0f} cells", (target, 100 * share), xytext=(4, -12), textcoords="offset points", fontsize=8)
right.margins(x=0.12, y=0.12)
right.set(xlabel="target", ylabel="variance kept, %")
plt.show()

# %%
# The certificate of the last one.

print(release.certificate_)
