"""A table that is ready to be searched: few rows, of which all pairs are compared, and when rows are few."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairpca._utils.checks import check_width
from fairpca._utils.threads import MEMORY_NUMBERS, n_threads
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca._utils.warn import warn_user
from fairpca.comparison import Comparison, RowWeights, masses_of
from fairpca.data._axes import AxesRequest, PrincipalAxes
from fairpca.data._columns import ColumnScaling, standardized, summarised
from fairpca.exceptions import EffortWarning
from fairpca.mmd import EXACT_ROWS, ExactMMD, Measurement, median_bandwidth
from fairpca.problem import FairSubspaceProblem
from fairpca.rows import Rows, is_dask, is_sparse, n_distinct
from fairpca.solvers import Callback, Solution, Solver, Start, WarmStart, solve_at_once

EVALUATIONS = 100
"""Values with gradients that a fit takes, about."""

SECONDS_PER_OPERATION = 1e-10
"""Time of an operation in a decomposition of a large matrix, about; a kernel value takes ten of them."""

LONG = 120.0
"""Seconds from which on a user is told beforehand."""


class Posed(Protocol):
    """The fair subspace problem on some rows, however many they are."""

    def solve(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
        pilot: WarmStart | None = None,
    ) -> Solution:
        """Solve it.

        Parameters
        ----------
        tolerances : ndarray of shape (n_measures,)
            tau.
        solver : Solver
            Solves.
        start : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point, in principal axes.
        generator : numpy.random.Generator
            Draws what the solver draws.
        callback : callable or None
            Called with each `OuterStep`.
        pilot : WarmStart, default=None
            An answer of `solve_pilot`, from which all rows are used.
        """

    def solve_pilot(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
    ) -> Solution | None:
        """Solve it on a sample of the rows; None where they are so few that all of them are used at once."""

    def remeasured(self, components: FloatArray) -> Measurement | None:
        """Return h of finished components once more; None where the last measurement was of them already.

        Parameters
        ----------
        components : ndarray of shape (k, p)
            Components that carry variance, in the scaled features.
        """


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Rows in principal axes, with the fair subspace problem on them.

    Attributes
    ----------
    scaling : ColumnScaling
        What was subtracted from the columns and what divided them.
    axes : PrincipalAxes
        Principal axes of the scaled rows.
    n_rows : int
        Number of rows.
    mass : float
        n, the sum of their masses.
    bandwidth : float
        sigma.
    factors : tuple of float
        The kernel is the mean of those of bandwidths sigma times these.
    n_components : int
        d.
    method : str
        How the discrepancy of all rows is computed.
    problem : Posed or None
        The problem, in principal axes; None where nothing is compared.
    """

    scaling: ColumnScaling
    axes: PrincipalAxes
    n_rows: int
    mass: float
    bandwidth: float
    factors: tuple[float, ...]
    n_components: int
    method: str
    problem: Posed | None


@dataclass(frozen=True, eq=False)
class FewRows:
    """The fair subspace problem on all rows at once.

    Attributes
    ----------
    problem : FairSubspaceProblem
        The problem, in principal axes.
    in_features : ExactMMD
        The discrepancy of frames in the scaled features, which the search does not use.
    """

    problem: FairSubspaceProblem
    in_features: ExactMMD

    def solve(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
        pilot: WarmStart | None = None,
    ) -> Solution:
        """Solve the problem, see `Posed.solve`."""
        return solve_at_once(self.problem, tolerances, solver, start, generator, callback)

    def solve_pilot(self, *problem: object) -> None:
        """Return None: all rows are used at once."""

    def remeasured(self, components: FloatArray) -> Measurement:
        """Return the vector h of finished components, see `Posed.remeasured`."""
        return Measurement.exact(self.in_features.value(np.ascontiguousarray(components.T)))


def prepare_few_rows(
    X: AnyArray, attached: AnyArray, comparison: Comparison | None, standardize: bool, request: AxesRequest
) -> PreparedData:
    """Prepare rows in memory.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Raw rows.
    attached : ndarray of shape (n, k)
        The stratum of each row, and its mass and attributes where it has them.
    comparison : Comparison or None
        What is compared; None for plain PCA.
    standardize : bool
        Scale the columns to unit variance.
    request : AxesRequest
        Number of components, bandwidth and null axes.
    """
    n_components, bandwidth, factors = request.n_components, request.scales.bandwidth, request.scales.factors
    n_rows = len(X)
    X, attached, place = merged_rows(X, attached)
    masses = masses_of(attached)
    rows, scaling = standardized(X, standardize, masses)
    axes = PrincipalAxes.of(rows, request.n_null, scaling.noise, masses, request.start)
    if isinstance(bandwidth, str):
        bandwidth = median_bandwidth(rows @ axes.axes[:, : min(n_components, axes.rank)], masses)
    check_width(bandwidth, float(np.sqrt(axes.variances.sum())))
    posed = None
    if comparison is not None:
        distinct, weights = merge_equal_rows(rows, comparison.weights.of(attached), place)
        problem = FairSubspaceProblem(
            variances=axes.variances,
            discrepancy=ExactMMD(axes.coordinates(distinct), weights, comparison, bandwidth, factors),
            n_components=n_components,
            rank=axes.rank,
            mean_differences=axes.mean_differences(distinct.T @ weights @ comparison.mixing),
            chance=comparison.chance_ceilings,
        )
        posed = FewRows(problem, ExactMMD(distinct, weights, comparison, bandwidth, factors))
    return PreparedData(
        scaling=scaling,
        axes=axes,
        n_rows=n_rows,
        mass=float(len(rows) if masses is None else masses.sum()),
        bandwidth=bandwidth,
        factors=factors,
        n_components=n_components,
        method="exact",
        problem=posed,
    )


def merged_rows(X: AnyArray, attached: AnyArray) -> tuple[AnyArray, AnyArray, IntArray]:
    """Return rows of which no two are equal in all that is known of them, in an order of their own.

    So a table with a row three times and one with that row and the weight 3 are one table from here on, to the last
    bit, and so are tables that differ by the order of their rows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Raw rows; those without mass are dropped.
    attached : ndarray of shape (n, k)
        What is attached to them.

    Returns
    -------
    X : ndarray of shape (n_kept, p)
        The rows, a copy. Two may be equal if they are in different strata.
    attached : ndarray of shape (n_kept, k)
        Strata, and where they have them masses and attributes.
    place : ndarray of int of shape (n_kept,)
        Number of the row among those that differ in `X`.
    """
    masses = masses_of(attached)
    if masses is not None and not masses.all():
        X, attached = X[masses > 0], attached[masses > 0]
    if attached.shape[1] == 2 and np.all(attached[:, 1] == 1.0):
        attached = attached[:, :1]
    place = places_of(X)
    # All but the mass, which adds up; NaN equals nothing, not even itself.
    others = np.nan_to_num(attached[:, [0, *range(2, attached.shape[1])]], nan=-1.0)
    _, first, index = np.unique(np.column_stack([place, others]), axis=0, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return X[first], attached[first], place[first]
    masses = masses_of(attached)
    summed = np.bincount(index.ravel(), masses, minlength=len(first)).astype(np.float64)
    known = attached[first].astype(np.float64)
    merged = np.column_stack([known[:, :1], summed, known[:, 2:]])
    return X[first], merged, place[first]


def merge_equal_rows(
    X: FloatArray, weights: FloatArray, place: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Replace rows that are equal by one row with the sum of their weights; no discrepancy changes.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    weights : ndarray of shape (n, k)
        Their weights.
    place : ndarray of int of shape (n,), default=None
        See `places_of`, where that is known.

    Returns
    -------
    X : ndarray of shape (n_distinct, p)
        The distinct rows, in the order of their places.
    weights : ndarray of shape (n_distinct, k)
        Their summed weights.
    """
    _, first, index = np.unique(places_of(X) if place is None else place, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return X, weights
    merged = np.zeros((len(first), weights.shape[1]))
    np.add.at(merged, index, weights)
    return X[first], merged


def places_of(X: AnyArray) -> IntArray:
    """Return a number for each row, the same for equal rows and for no others, whatever the order of the rows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Finite numbers.
    """
    rows = np.ascontiguousarray(X + X.dtype.type(0))  # -0.0 equals 0.0
    return np.unique(rows.view((np.void, X.itemsize * X.shape[1])).ravel(), return_inverse=True)[1]


def choose_method(mmd: str, X: Any, n_components: int, compares: bool = True) -> str:
    """Return "exact" or "hermite", and warn before work that takes minutes.

    Parameters
    ----------
    mmd : {"auto", "exact", "hermite"}
        What was asked for.
    X : ndarray, compressed sparse rows or dask.array.Array, of shape (n, p)
        Rows.
    n_components : int
        d.
    compares : bool, default=True
        Whether anything is compared; plain PCA has its rows in one array or in blocks.
    """
    if not compares:
        return "exact" if may_be_dense(X) else "hermite"
    _warn_of_many_columns(*X.shape)
    if is_dask(X) and mmd == "exact":
        raise ValueError(
            'mmd="exact" compares all pairs of rows and needs them in memory, which Dask tables are not; use '
            'mmd="auto", whose answer is measured exactly up to 100,000 rows, or fit(X.compute(), ...).'
        )
    if mmd == "exact":
        if not may_be_dense(X):
            n, p = X.shape
            raise ValueError(
                f'mmd="exact" works on dense rows, and this sparse table of shape ({n}, {p}) would take '
                f'{8e-9 * n * p:.2g} GB; use mmd="auto", whose answer is measured exactly up to 100,000 rows, or '
                "fit(X.toarray(), ...)."
            )
        _warn_of_many_pairs(X, n_components)
    if mmd != "auto":
        return mmd
    if is_dask(X) or not may_be_dense(X):
        return "hermite"
    # Where equal rows are merged, as in tables of counts and categories, few may remain.
    n = X.shape[0] if X.shape[0] <= EXACT_ROWS or X.shape[0] > 4 * EXACT_ROWS else _n_distinct(X)
    return "exact" if n <= EXACT_ROWS else "hermite"


def may_be_dense(X: Any) -> bool:
    """Tell whether all rows may be in an array at once: they are, or are few.

    Of a sparse table also where it has fewer rows than columns: a covariance would be larger.

    Parameters
    ----------
    X : ndarray or compressed sparse rows, of shape (n, p)
        Rows.
    """
    n, p = X.shape
    return not is_sparse(X) or n * p <= MEMORY_NUMBERS or n <= p


def _n_distinct(X: Any) -> int:
    return n_distinct(X) if is_sparse(X) else len(np.unique(places_of(X)))


def _warn_of_many_pairs(X: Any, n_components: int) -> None:
    def seconds(n: int) -> float:
        # Two coordinates take about as long as an exponential.
        return n * n / 2 * (1 + n_components / 2) * 10 * SECONDS_PER_OPERATION / n_threads()

    if EVALUATIONS * seconds(X.shape[0]) <= LONG:
        return
    n = _n_distinct(X)
    if EVALUATIONS * seconds(n) <= LONG:
        return
    warn_user(
        f'mmd="exact" compares all pairs of {n} distinct rows: {_in_words(seconds(n))} for each of some hundred '
        f'evaluations, {_in_words(EVALUATIONS * seconds(n))} or more in all. mmd="auto" takes time linear in the rows.',
        EffortWarning,
    )


def _warn_of_many_columns(n: int, p: int) -> None:
    """Warn where finding the principal axes alone takes minutes."""
    # Products of columns, or of rows where these are fewer, and their eigenvectors.
    few, many = sorted((n, p))
    operations = 3.0 * many * few**2 + 10.0 * float(few) ** 3
    seconds = operations * SECONDS_PER_OPERATION
    if seconds > LONG:
        warn_user(
            f"X has {p} columns: finding their principal axes alone takes {_in_words(seconds)}, and every step works "
            "with vectors as long. Fewer columns, for example by a plain PCA to some hundred dimensions first, take "
            "less.",
            EffortWarning,
        )


def _in_words(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {seconds:.2g} seconds"


def n_components_for_share(share: float, rows: Rows, n_strata: int, standardize: bool) -> int:
    """Return the number of components with which plain PCA keeps at least a share of the variance.

    Parameters
    ----------
    share : float
        The share.
    rows : Rows
        Raw rows, with the stratum of each attached.
    n_strata : int
        Number of strata.
    standardize : bool
        Scale the columns to unit variance.
    """
    if rows.n_rows > rows.n_columns:
        nothing = RowWeights.of_strata(np.zeros((n_strata, 0)))
        covariance = summarised(rows, standardize, nothing).covariance
        return PrincipalAxes.of_covariance(covariance, rows.n_columns).n_for_share(share)
    X, attached = rows.sample(np.arange(rows.n_rows))
    masses = masses_of(attached)
    if masses is not None:
        X, masses = X[masses > 0], masses[masses > 0]
    scaled, scaling = standardized(X, standardize, masses)
    return PrincipalAxes.of(scaled, 0, scaling.noise, masses).n_for_share(share)
