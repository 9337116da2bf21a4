"""Remarks that several pages share."""
# SPDX-License-Identifier: MIT

from fairpca.paper._methods import Method
from fairpca.paper._results import Results

CLASSIFIER = (
    "The published accuracies and parity gaps come from a support vector machine that is trained on the very test rows "
    'it is scored on; "published protocol" repeats that, for comparison only. "Held-out protocol" trains on the '
    "training rows. Read accuracies near 100 % in the published protocol as memory, not as skill."
)
GAPS = (
    "In the published code the equal opportunity gap divides by the group sizes instead of by the groups' positives, "
    "and equalized odds is the larger of that and the parity gap. The held-out protocol uses the textbook definitions."
)
BANDWIDTH = (
    "sigma is sqrt(median squared distance / 2) of the training rows after plain PCA to the same d, as in the "
    "published code, where the text says the median distance."
)
OBJECTIVE = (
    "The published code divides the variance by the total, so that the penalty weighs MMD² against the share of the "
    "variance; the text does not. FairPCA does as the code does."
)
SOLVERS = (
    "FairPCA(tau) is Algorithm 1 of the paper with its settings and the start of the published code, which is what the "
    "published numbers belong to. Budget(tau) is FairPCA with its default solver and start, which is what a user gets "
    "who asks for that tolerance; it has no published counterpart."
)
START = (
    "Algorithm 1 starts as in the published code: MMD² alone is minimised first, from the one of eleven random "
    "frames that keeps most variance. The frames lie in all directions of the feature space, also in those in which "
    "one-hot columns have no variance at all. Runs that end above the tolerance are counted as not converged, not "
    "repeated."
)
SUBSOLVER = (
    "The sub-problems of Algorithm 1 are solved by Riemannian BFGS as in the paper, but where a hundred iterations are "
    "not enough it goes on with the Hessian as its metric until the gradient is as small as the algorithm asks, where "
    "the published code stops after 300 iterations. A stationary point that is a saddle, because a component should "
    "turn into the null space, is left."
)
FPCA_FORM = (
    "FPCA is solved in the form of the published code, with one bound for each sign of the covariance difference; the "
    "text has a single bound, which leads to other subspaces."
)
FPCA_WEIGHT = (
    "At d = 10 the strict FPCA is printed with mu = 0.1, but on the published splits the published loading matrices "
    "keep what mu = 0.01 keeps, to three digits, while mu = 0.1 keeps at most two thirds of that on German credit and "
    "Adult. FPCA(0, 0.01) is therefore the line to compare; FPCA(0, 0.1), as printed, stands below it."
)
ATTRIBUTE = "The protected attribute itself is among the features, as in the paper."
ROWS = (
    "The rows are those of the paper, also the 40 % of COMPAS and 5 % of Adult that it drew; the splits are others: "
    "the paper records no seed."
)
COMPAS_RANK = (
    "COMPAS has eleven columns, so a projection to d = 10 leaves only one direction out. No such projection was found "
    "that meets a tolerance of 1e-3 or less; the smallest MMD² found is given above."
)


def unconverged(results: Results, method: Method) -> str | None:
    """Say in one sentence how many runs of a method did not converge, or nothing if all did.

    Parameters
    ----------
    results : Results
        Runs of one setting and method.
    method : Method
        The method.
    """
    failed = [row for row in results.rows if not row["converged"]]
    if not failed:
        return None
    count = f"{len(failed)} of {len(results.rows)} runs did not converge"
    if method.kind == "fpca":
        return f"{count}: the duality gap stayed above its tolerance."
    above = [row for row in failed if row["mmd2_train"] > method.tolerance]
    reasons = []
    if above:
        ended, smallest = (_range([row[name] for row in above]) for name in ("mmd2_train", "smallest_mmd2_train"))
        reasons.append(
            f"{len(above)} ended above the tolerance, with MMD² {ended} on the training rows; the smallest met on the "
            f"way was {smallest}"
        )
    if len(above) < len(failed):
        reasons.append(f"{len(failed) - len(above)} met the tolerance but stopped before the answer was stationary")
    return f"{count}: {'; '.join(reasons)}."


def _range(values: list[float]) -> str:
    low, high = f"{min(values):.2g}", f"{max(values):.2g}"
    return low if low == high else f"{low} to {high}"
