# SPDX-License-Identifier: MIT
"""
Other fair reductions on the same people
========================================

Different methods call different things fair. Here are four of them on one table: what each keeps, what each leaves
between the groups, and how well an adversary predicts the group of people who were held out.
"""

# %%
# Two groups with the same mean and the same covariance and yet different shapes: one is a single cloud, the other has
# two clumps. It is the first example of the paper.

import warnings

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

from fairpca import FairPCA, audit
from fairpca.baselines import FPCA, ReconstructionFairPCA, TiedEigenvaluesWarning
from fairpca.datasets import make_synthetic1
from fairpca.metrics import explained_variance
from fairpca.plots import ProjectionDisplay

# The table has the same variance in two directions, and FPCA says that its choice between them is arbitrary.
warnings.simplefilter("ignore", TiedEigenvaluesWarning)
X, group = make_synthetic1(300, exact_moments=True, random_state=0)
X_new, group_new = make_synthetic1(400, random_state=1)
methods = {
    "PCA": PCA(2).fit(X),
    "FPCA": FPCA(2, delta=0.0, mu=0.01, standardize=False).fit(X, sensitive_features=group),
    "equal reconstruction": ReconstructionFairPCA(2, standardize=False).fit(X, sensitive_features=group),
    "FairPCA": FairPCA(2, tolerance=1e-3, standardize=False).fit(X, sensitive_features=group),
}

# %%
# FPCA (Olfat and Aswani) makes means and covariances agree, which they do already. Equal reconstruction (Samadi and
# others) balances what the groups lose by the reduction, whatever they look like. Only a comparison of distributions
# sees the clumps.

figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    tried = {"adversaries": "boosting", "n_permutations": 99, "bandwidth": 1.0, "random_state": 0}
    found = audit(model, X_new, sensitive_features=group_new, **tried)
    ProjectionDisplay.from_estimator(model, X_new, sensitive_features=group_new, ax=ax, s=7)
    kept = explained_variance(X_new, model.components_)
    ax.set_title(f"{name}\n{100 * kept:.0f} % kept, MMD² {found.mmd2:.3f}\nAUC {found.adversaries[0]['auc']:.2f}")
    ax.get_legend().remove()
    ax.set(xlim=(-3.2, 3.2), ylim=(-1.5, 1.5))
plt.show()
