# SPDX-License-Identifier: MIT
"""
Auditing a reduction that someone else made
===========================================

:func:`fairpca.audit` takes any reduction: a transformer of scikit-learn, a matrix of components, or rows that were
reduced by something unknown. It says what new people, reduced, still tell of their attributes.
"""

# %%
# Four reductions of German Credit to two numbers, made from 700 people. The column of age is not in the table.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA, FastICA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from fairpca import FairPCA, audit
from fairpca.datasets import load_german
from fairpca.plots.style import PALETTE

german = load_german(as_frame=True)
X = german.data.drop(columns="age")
age = np.where(german.attributes["age"] < 25, "younger than 25", "25 or older")
X_train, X_new, age_train, age_new = train_test_split(X, age, test_size=0.3, random_state=0, stratify=age)
reductions = {
    "PCA": make_pipeline(StandardScaler(), PCA(2)).fit(X_train),
    "ICA": make_pipeline(StandardScaler(), FastICA(2, random_state=0)).fit(X_train),
    "random projection": make_pipeline(StandardScaler(), GaussianRandomProjection(2, random_state=0)).fit(X_train),
    "FairPCA": FairPCA(2).fit(X_train, sensitive_features=age_train),
}

# %%
# 300 people whom no reduction has seen are audited. Of the last reduction, what is printed in full.

found = {
    name: audit(reduction, X_new, sensitive_features=age_new, adversaries=("linear", "svm"), random_state=0)
    for name, reduction in reductions.items()
}
print(found["FairPCA"])

# %%
# The bar ends at the bound: with 95 % confidence the MMD² of the population is no larger. Where the measured value is
# no larger than the chance level, nothing was found, which is no proof that there is nothing.

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
places = np.arange(len(found))[::-1]
ax.barh(places, [each.upper_bound for each in found.values()], color=PALETTE[4], alpha=0.5, height=0.5)
ax.plot([each.mmd2 for each in found.values()], places, "o", color=PALETTE[0], label="measured")
ax.plot([each.chance_level for each in found.values()], places, "|", color=PALETTE[5], markersize=20, label="by chance")
for place, each in zip(places, found.values(), strict=True):
    best = max(record["auc"] for record in each.adversaries)
    ax.text(each.upper_bound, place, f"  p = {each.p_value:.3f}, AUC {best:.2f}", va="center")
ax.set_yticks(places, found)
ax.set(xlabel="MMD² of the projected groups", xlim=(0, 1.45 * max(each.upper_bound for each in found.values())))
ax.legend(frameon=False, loc="lower right")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
