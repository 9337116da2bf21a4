"""FPCA of Olfat and Aswani: the first two moments of the groups matched by a semidefinite program."""
# SPDX-License-Identifier: MIT

import math

import numpy as np

from fairpca._utils.checks import check_at_least_zero, check_integer, check_name
from fairpca._utils.typing import FloatArray
from fairpca._utils.warn import Note
from fairpca.baselines._moment_method import ProjectionByMoments
from fairpca.baselines._problem import FPCAProblem, SDPResult, solve_fpca
from fairpca.baselines._stiefel import FrameObjective, optimise_frame
from fairpca.comparison import EncodedColumn
from fairpca.data import ScaledMoments
from fairpca.exceptions import ConvergenceWarning

_LARGEST = 1e100
"""Variances whose squares are numbers still."""

_TIE = 1e-4
"""Eigenvalues of P*, which lie in [0, 1], count as equal below this difference."""


class TiedEigenvaluesWarning(UserWarning):
    """The solution of the semidefinite program does not single out d directions, so the rounding is arbitrary."""


class FPCA(ProjectionByMoments):
    r"""Fair PCA that matches the means and covariances of two groups, by semidefinite programming.

    With f the difference of the group means, Q that of the group covariances and :math:`C = X'X / (n \|X\|_F)`,
    solves over projection matrices :math:`P = VV'`, relaxed to their convex hull,

    .. math::
        \max_P \; \langle C, P \rangle - \mu\, g(P) \quad \text{subject to} \quad
        0 \preceq P \preceq I, \; \operatorname{tr} P = d, \; f'Pf \le \delta^2,

    and takes the d leading eigenvectors of the solution P*. In the published form
    :math:`g(P) = \|S_+P\|_2^2 + \|S_-P\|_2^2` with :math:`S_+'S_+ = Q + aI`, :math:`S_-'S_- = bI - Q`,
    :math:`a = \max(0, -\lambda_{\min}(Q))`, :math:`b = \max(0, \lambda_{\max}(Q))`. In the form of the text one bound
    serves both, :math:`g(P) = \max(\|S_+P\|_2^2, \|S_-P\|_2^2)`, with :math:`a = b = \|Q\|_2` and
    :math:`\operatorname{tr} P \le d`.

    Parameters
    ----------
    n_components : int, default=2
        d, the dimension of the projection, at most the number of features; one less if the group means are to agree.
    delta : float, default=0.0
        Largest distance between the group means under P; 0 makes them equal.
    mu : float, default=0.01
        Weight of the difference of the covariances.
    form : {"published", "text"}, default="published"
        Whether the penalty is that of the published code or that of the paper's text. C is the same in both; the text
        has X'X in its place, which amounts to dividing mu by :math:`n \|X\|_F`.
    standardize : bool, default=True
        Scale every column to unit variance. Columns are always centred; constant columns stay at zero.
    rounding : {"eigenvectors", "stiefel"}, default="eigenvectors"
        "eigenvectors" takes those of P*. "stiefel" starts there and maximises the same objective over frames V, with
        :math:`\|V'f\| \le \delta`, which usually keeps more variance, because the relaxation is loose.
    max_iter : int, default=10000
        Largest number of iterations of the alternating direction method.
    gap_tolerance : float, default=1e-7
        Stop when the duality gap is at most this multiple of the objective, or of what plain PCA attains in
        :math:`\langle C, P \rangle` if that is larger.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows V', the principal axes inside the subspace, by decreasing variance. Signs are such that the
        entry of largest magnitude is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) along each component, in the scaled units.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same relative to the total.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    constant_features_ : ndarray of bool of shape (n_features,)
        Columns that do not vary beyond the rounding of their numbers; `transform` takes them for 0.
    projection_matrix_ : ndarray of shape (n_features, n_features)
        P*.
    eigenvalues_ : ndarray of shape (n_features,)
        Eigenvalues of P*, decreasing.
    eigenvectors_ : ndarray of shape (n_features, n_features)
        Its eigenvectors, as columns in that order.
    objective_ : float
        Value of the program at P*.
    rounded_objective_ : float
        Value at VV', which is what became of it in the rounding.
    duality_gap_ : float
        The optimum of the program is at most this much above `objective_`.
    tied_ : bool
        Whether eigenvalues d and d + 1 of P* agree to 1e-4, so that the d leading eigenvectors are an arbitrary choice.
    converged_ : bool
        Whether the gap met its tolerance.
    n_iter_ : int
        Iterations.
    n_components_, n_samples_, n_features_in_ : int
        Sizes.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, when `X` had them.

    See Also
    --------
    fairpca.FairPCA : Matches the projected distributions themselves.

    Notes
    -----
    Groups with equal means and covariances can still differ as distributions: check the projections with an MMD.
    :math:`f'P^*f \le \delta^2` speaks of P*, not of VV': for delta > 0 rounding to eigenvectors can exceed it.
    An iteration costs a few eigendecompositions of the size of the rank of the data.

    References
    ----------
    M. Olfat, A. Aswani, "Convex Formulations for Fair Principal Component Analysis", AAAI 2019.

    V. Q. Vu, J. Cho, J. Lei, K. Rohe, "Fantope Projection and Selection", NeurIPS 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.baselines import FPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5))
    >>> X[group == "b", 0] += 2
    >>> model = FPCA(n_components=2).fit(X, sensitive_features=group)
    >>> Z = model.transform(X)
    >>> bool(np.allclose(Z[group == "a"].mean(axis=0), Z[group == "b"].mean(axis=0)))
    True
    >>> model.converged_, model.tied_
    (True, False)
    """

    _needs_groups = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        delta: float = 0.0,
        mu: float = 0.01,
        form: str = "published",
        standardize: bool = True,
        rounding: str = "eigenvectors",
        max_iter: int = 10_000,
        gap_tolerance: float = 1e-7,
    ) -> None:
        self.n_components = n_components
        self.delta = delta
        self.mu = mu
        self.form = form
        self.standardize = standardize
        self.rounding = rounding
        self.max_iter = max_iter
        self.gap_tolerance = gap_tolerance

    def _check_parameters(self) -> None:
        check_at_least_zero("delta", self.delta, "0 makes the group means equal")
        check_at_least_zero("mu", self.mu, "0 leaves the covariances alone")
        check_at_least_zero("gap_tolerance", self.gap_tolerance, "1e-7 is the default")
        check_name("form", self.form, ["published", "text"])
        check_name("rounding", self.rounding, ["eigenvectors", "stiefel"])
        check_integer("max_iter", self.max_iter, 1)

    def _check_groups(self, columns: tuple[EncodedColumn, ...]) -> None:
        super()._check_groups(columns)
        if len(columns) > 1 or len(columns[0].groups) > 2:
            came = f"{len(columns)} attributes" if len(columns) > 1 else f"{len(columns[0].groups)} groups"
            raise ValueError(
                f"FPCA takes one attribute of two groups; got {came}. ReconstructionFairPCA, ClosedFormFairPCA, LEACE, "
                "SPLINCE and AugmentedPCA take several."
            )

    def _frame(self, moments: ScaledMoments, n_components: int) -> tuple[FloatArray, list[Note]]:
        axes, d = moments.axes, n_components
        if axes.total > _LARGEST:
            raise ValueError(
                f"X has variances up to {axes.variances[0]:.3g}, whose squares overflow; use standardize=True, or "
                "units in which they are smaller."
            )
        problem = FPCAProblem.of(moments, d, float(self.delta), float(self.mu), self.form)
        if d == len(moments.cross):
            self._check_room_for_means(problem, d)
        result = solve_fpca(problem, int(self.max_iter), float(self.gap_tolerance))
        self._learn_program(problem, result, d)
        notes: list[Note] = [] if self.converged_ else [(self._explain(problem), ConvergenceWarning)]
        # Without groups nothing is relaxed, and a tie is one of plain PCA.
        if self.tied_ and moments.encoding.columns:
            notes.append((self._explain_tie(d), TiedEigenvaluesWarning))
        frame = self.eigenvectors_[:, :d]
        if self.rounding == "stiefel":
            frame = optimise_frame(problem, frame)
        objective = FrameObjective.of(problem)
        self.rounded_objective_ = objective.value(objective.axes.T @ frame)
        return axes.axes.T @ frame, notes

    def _learn_program(self, problem: FPCAProblem, result: SDPResult, d: int) -> None:
        self.eigenvalues_, self.eigenvectors_ = problem.spectrum(result.point)
        self.projection_matrix_ = (self.eigenvectors_ * self.eigenvalues_) @ self.eigenvectors_.T
        self.objective_, self.duality_gap_ = result.objective, result.gap
        self.converged_, self.n_iter_ = result.converged, result.n_iter
        following = self.eigenvalues_[d : d + 1]
        self.tied_ = bool(np.any(self.eigenvalues_[d - 1] - following <= _TIE))

    def _check_room_for_means(self, problem: FPCAProblem, d: int) -> None:
        """Refuse to keep all features while the means must come closer than they are."""
        if problem.distance > self.delta + 1e-12 * math.sqrt(d):
            raise ValueError(
                f"n_components={d} keeps every direction, so the group means stay {problem.distance:.3g} apart "
                f"and cannot meet delta={self.delta}: ask for at most {d - 1} components or raise delta."
            )

    def _explain(self, problem: FPCAProblem) -> str:
        relative = self.duality_gap_ / max(problem.scale, abs(self.objective_))
        return (
            f"FPCA stopped after {self.n_iter_} iterations with a relative duality gap of {relative:.2g} > "
            f"gap_tolerance={self.gap_tolerance}. Raise max_iter, or gap_tolerance if that is near enough."
        )

    def _explain_tie(self, d: int) -> str:
        return (
            f"eigenvalues {d} and {d + 1} of P* are tied at {self.eigenvalues_[d]:.4f}, so the {d} leading "
            "eigenvectors are an arbitrary choice. Another n_components may not be tied."
        )
