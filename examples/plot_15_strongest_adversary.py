# SPDX-License-Identifier: MIT
"""
What the strongest adversary reaches
====================================

:class:`fairpca.Release` promises what no classifier exceeds. Here the population is known, so that the best of all
classifiers can be computed too, and compared with the promise and with classifiers that people would try. A second
picture shows what the same promises leave of a task.
"""

# %%
# People with a skill that a task asks for, and two other columns that tell their group.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from fairpca import Release

rng = np.random.default_rng(0)


def draw(n):
    """Return columns, groups, and who was hired."""
    group = rng.integers(0, 2, n)
    skill = rng.normal(size=n) + 0.35 * group
    X = np.column_stack([skill, rng.normal(size=n) + 0.8 * group, 2 * rng.normal(size=n) * (1 + 0.3 * group)])
    return X, group, (skill + 0.7 * rng.normal(size=n) > 0.2).astype(int)


X, group, y = draw(6000)
X_held, group_held, _ = draw(10_000)
X_new, group_new, y_new = draw(200_000)

# %%
# For each promise a release by places and one for the task. With as many new people as here, the shares of the groups
# in each cell are known to a few thousandths, and the best of all classifiers says of each cell the group that is more
# frequent there. Three others learn from the released rows of the fit.

targets = np.array([0.07, 0.09, 0.11, 0.14, 0.17, 0.2])
adversaries = {
    "boosting": HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "nearest neighbours": KNeighborsClassifier(25),
    "tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
}
best, read, auc = [], {name: [] for name in adversaries}, {"cells": [], "task": []}
some = slice(0, 10_000)
for kind, found in auc.items():
    release = Release(kind, random_state=0).fit(X, y, sensitive_features=group)
    for target in targets:
        release.certify(X_held, sensitive_features=group_held, target=target)
        cells, cells_new = (release.set_params(output="codes").transform(rows).ravel() for rows in (X, X_new))
        hired = np.bincount(cells, y, minlength=256) / np.maximum(np.bincount(cells, minlength=256), 1)
        found.append(roc_auc_score(y_new, hired[cells_new]))
        if kind == "cells":
            shares = [np.bincount(cells_new[group_new == g], minlength=256) / np.sum(group_new == g) for g in (0, 1)]
            best.append((1 + 0.5 * np.abs(shares[0] - shares[1]).sum()) / 2)
            released, released_new = (release.set_params(output="centres").transform(rows) for rows in (X, X_new[some]))
            for name, adversary in adversaries.items():
                told = adversary.fit(released, group).predict(released_new)
                read[name].append(balanced_accuracy_score(group_new[some], told))

# %%
# The best of all classifiers stays below the promise by what chance may add to the held-out rows, which a promise has
# to allow for; the others do not find even that. Cells for the task keep most of it.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.plot(targets, 50 * (1 + targets), color="0.2", label="promised: none above")
left.plot(targets, 100 * np.array(best), "o-", color="#D55E00", label="the best of all")
for (name, values), marker in zip(read.items(), "sv^", strict=True):
    left.plot(targets, 100 * np.array(values), marker, color="#0072B2", alpha=0.6, label=name)
left.set(xlabel="target", ylabel="balanced accuracy in telling the group, %")
left.legend(frameon=False, fontsize=8)
everything = HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(X, y).predict_proba(X_new[some])[:, 1]
right.axhline(roc_auc_score(y_new[some], everything), color="0.6", linestyle="--", label="from all columns, no promise")
for (kind, values), style in zip(auc.items(), ("s-", "o-"), strict=True):
    right.plot(targets, values, style, label=f'kind="{kind}"')
right.set(xlabel="target", ylabel="AUC of the task")
right.legend(frameon=False, fontsize=8)
plt.show()

# %%
# The numbers of the first picture, and how far the strongest of the three stays below the promise.

for row, target in enumerate(targets):
    strongest = max(values[row] for values in read.values())
    print(f"target {target:.2f}: promised {(1 + target) / 2:.3f}, best of all {best[row]:.3f}, tried {strongest:.3f}")
