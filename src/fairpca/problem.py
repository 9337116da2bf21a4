"""The fair PCA problem: variance kept and discrepancy of a subspace, evaluated together."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from fairpca._utils.typing import FloatArray


class HessianOperator(Protocol):
    """A Hessian in the chart B -> V + QB that is known by its products."""

    def product(self, B: FloatArray) -> FloatArray:
        """Return the product with B, of shape (q, d)."""

    def diagonal(self) -> FloatArray:
        """Return the diagonal, of shape (q, d)."""


class Discrepancy(Protocol):
    """What the solvers need of a discrepancy: the vector h, its gradients, and Hessians of sum_j lambda_j h_j.

    Attributes
    ----------
    n_measures : int
        Length of the vector h.
    n_rows : int
        Rows that it compares, which tell what a value costs.
    is_exact : bool
        Whether answers are judged by these values, and not by those that they approximate.
    has_exact_hessian : bool
        Whether the last Hessian was that of all rows, or of a sample of them.
    hessian_rows : int
        Rows of the last Hessian.
    """

    n_measures: int
    n_rows: int
    is_exact: bool
    has_exact_hessian: bool
    hessian_rows: int

    def along(self, axes: FloatArray) -> "Discrepancy":
        """Return the same for frames in a span: at V it is what this one is at axes @ V."""

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, p, d)."""

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB."""

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> HessianOperator:
        """Return about this Hessian where it has too many entries, given the variances along the columns of V."""

    def isolated_directions(self, V: FloatArray, smallest: FloatArray) -> FloatArray:
        """Return unit vectors, as columns, towards rows that stand alone and add more than `smallest` to their h_j."""


@dataclass(frozen=True)
class Evaluation:
    """Everything known about one frame.

    Attributes
    ----------
    point : ndarray of shape (p, d)
        The frame V.
    variance : float
        Share of the variance kept, tr(V'SV) / tr(S).
    variance_gradient : ndarray of shape (p, d)
        2 SV / tr(S).
    discrepancies : ndarray of shape (n_measures,)
        The vector h.
    discrepancy_gradients : ndarray of shape (n_measures, p, d)
        Euclidean gradient of each h_j.
    """

    point: FloatArray
    variance: float
    variance_gradient: FloatArray
    discrepancies: FloatArray
    discrepancy_gradients: FloatArray

    def rotated(self, rotation: FloatArray) -> "Evaluation":
        """Return the same for the frame V O, which spans the same subspace."""
        return replace(
            self,
            point=self.point @ rotation,
            variance_gradient=self.variance_gradient @ rotation,
            discrepancy_gradients=self.discrepancy_gradients @ rotation,
        )

    def weighted_gradient(self, multipliers: FloatArray) -> FloatArray:
        """Return the Euclidean gradient of sum_j lambda_j h_j."""
        return np.tensordot(multipliers, self.discrepancy_gradients, axes=1)

    def meets(self, tolerances: FloatArray) -> bool:
        """Tell whether every h_j is within its tolerance."""
        return bool((self.discrepancies <= tolerances).all())

    def largest_ratio(self, tolerances: FloatArray) -> float:
        """Return the largest h_j / tau_j."""
        return largest_ratio(self.discrepancies, tolerances)


def largest_ratio(discrepancies: FloatArray, tolerances: FloatArray) -> float:
    """Return the largest h_j / tau_j; above 1 a tolerance is not met.

    Parameters
    ----------
    discrepancies, tolerances : ndarray of shape (n_measures,)
        h and tau.
    """
    # Of a few numbers lists take a tenth of the time of arrays.
    pairs = zip(discrepancies.tolist(), tolerances.tolist(), strict=True)
    ratios = [0.0 if h <= 0.0 else h / tau if tau else math.inf * h for h, tau in pairs]
    return math.nan if any(map(math.isnan, ratios)) else max(ratios)


def tightest(discrepancies: FloatArray, tolerances: FloatArray) -> int:
    """Return the measure with the largest ratio h / tau.

    Parameters
    ----------
    discrepancies, tolerances : ndarray of shape (n_measures,)
        h and tau.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return int(np.argmax(np.where(discrepancies > 0, discrepancies / tolerances, 0.0)))


@dataclass
class EvaluationCounts:
    """How often each kind of work was done."""

    values: int = 0
    gradients: int = 0
    hessians: int = 0

    def add(self, other: "EvaluationCounts") -> None:
        """Add what was counted elsewhere."""
        self.values += other.values
        self.gradients += other.gradients
        self.hessians += other.hessians


@dataclass(frozen=True)
class FairSubspaceProblem:
    """Maximise tr(V'SV) / tr(S) over frames V subject to h_j(V) <= tau_j for every measure j.

    Attributes
    ----------
    variances : ndarray of shape (p,)
        Diagonal of S: the coordinates are principal axes, by decreasing variance.
    discrepancy : Discrepancy
        The h_j, in the same coordinates.
    n_components : int
        d.
    rank : int
        Number of coordinates with positive variance.
    mean_differences : ndarray of shape (p, n_columns)
        X'w_c, the difference of the means that each signed column compares.
    total : float or None
        tr S; None where the coordinates have all of it.
    chance : ndarray of shape (n_measures,) or None
        The largest chance level of each h_j; None where that is not known.
    counts : EvaluationCounts
        Counters of the work done.
    """

    variances: FloatArray
    discrepancy: Discrepancy
    n_components: int
    rank: int
    mean_differences: FloatArray
    total: float | None = None
    chance: FloatArray | None = None
    counts: EvaluationCounts = field(default_factory=EvaluationCounts)

    def afresh(self) -> "FairSubspaceProblem":
        """Return the same problem with new counters."""
        return replace(self, counts=EvaluationCounts())

    def with_components(self, n_components: int) -> "FairSubspaceProblem":
        """Return the same problem for another number of components; the counters are shared."""
        return replace(self, n_components=n_components)

    def is_below_chance(self, tolerances: FloatArray, share: float) -> bool:
        """Tell whether a tolerance is below a share of the chance level, as far as that is known.

        Parameters
        ----------
        tolerances : ndarray of shape (n_measures,)
            tau.
        share : float
            The share.
        """
        return self.chance is not None and bool(np.any(tolerances < share * self.chance))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (p, d) of a frame."""
        return len(self.variances), self.n_components

    def pca(self) -> FloatArray:
        """Return the frame of plain PCA: the first d axes."""
        return np.eye(*self.shape)

    def evaluate(self, V: FloatArray) -> Evaluation:
        """Evaluate both functions and their Euclidean gradients at V."""
        self.counts.gradients += 1
        discrepancies, gradients = self.discrepancy.evaluate(V)
        half_gradient = self.shares[:, None] * V
        return Evaluation(V, float(np.vdot(V, half_gradient)), 2.0 * half_gradient, discrepancies, gradients)

    def discrepancies(self, V: FloatArray) -> FloatArray:
        """Return the vector h at V, without derivatives."""
        self.counts.values += 1
        return self.discrepancy.value(V)

    def hessian(
        self, here: Evaluation, Q: FloatArray, multipliers: FloatArray, single_precision: bool = False
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j at an evaluated frame V in the chart B -> V + QB."""
        self.counts.hessians += 1
        gradient = here.weighted_gradient(multipliers)
        return self.discrepancy.hessian(here.point, Q, gradient, multipliers, single_precision)

    def moment_hessian(self, here: Evaluation, Q: FloatArray, multipliers: FloatArray) -> HessianOperator:
        """Return about the same at a frame in Ritz axes, in the time of a gradient."""
        self.counts.hessians += 1
        V = here.point
        return self.discrepancy.moment_hessian(V, Q, self.variances @ (V * V), multipliers)

    @property
    def n_measures(self) -> int:
        """Length of the vector h."""
        return self.discrepancy.n_measures

    @cached_property
    def shares(self) -> FloatArray:
        """Diagonal of S / tr S."""
        return self.variances / self.total_variance

    @cached_property
    def total_variance(self) -> float:
        """Return tr S."""
        return float(self.variances.sum()) if self.total is None else self.total
