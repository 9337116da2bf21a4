"""A table that is ready to be searched, and how the discrepancy of its rows is computed."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairpca._utils.threads import MEMORY_NUMBERS, n_threads
from fairpca._utils.typing import FloatArray
from fairpca._utils.warn import warn_user
from fairpca.data._axes import PrincipalAxes
from fairpca.data._merged import places_of
from fairpca.data._scaling import ColumnScaling
from fairpca.exceptions import EffortWarning
from fairpca.mmd import EXACT_ROWS, Measurement
from fairpca.rows import is_sparse, n_distinct
from fairpca.solvers import Callback, Solution, Solver, Start, WarmStart


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


EVALUATIONS = 100
"""Values with gradients that a fit takes, about."""

SECONDS_PER_OPERATION = 1e-10
"""Time of an operation in a decomposition of a large matrix, about; a kernel value takes ten of them."""

LONG = 120.0
"""Seconds from which on a user is told beforehand."""


def choose_method(mmd: str, X: Any, n_components: int) -> str:
    """Return "exact" or "hermite", and warn before work that takes minutes.

    Parameters
    ----------
    mmd : {"auto", "exact", "hermite"}
        What was asked for.
    X : ndarray or compressed sparse rows, of shape (n, p)
        Rows.
    n_components : int
        d.
    """
    warn_of_many_columns(*X.shape)
    if mmd == "exact":
        _check_dense(X)
        _warn_of_many_pairs(X, n_components)
    if mmd != "auto":
        return mmd
    if not may_be_dense(X):
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


def _check_dense(X: Any) -> None:
    if not may_be_dense(X):
        n, p = X.shape
        raise ValueError(
            f'mmd="exact" works on dense rows, and this sparse table of shape ({n}, {p}) would take '
            f'{8e-9 * n * p:.2g} GB; use mmd="auto", whose answer is measured exactly up to 100,000 rows, or '
            "fit(X.toarray(), ...)."
        )


def _n_distinct(X: Any) -> int:
    return n_distinct(X) if is_sparse(X) else len(np.unique(places_of(X)))


def check_linear(mmd: str) -> None:
    """Refuse what needs the rows in memory.

    Parameters
    ----------
    mmd : {"auto", "exact", "hermite"}
        What was asked for.
    """
    if mmd == "exact":
        raise ValueError(
            'mmd="exact" compares all pairs of rows and needs them in memory, which Dask tables are not; use '
            'mmd="auto", whose answer is measured exactly up to 100,000 rows, or fit(X.compute(), ...).'
        )


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


def warn_of_many_columns(n: int, p: int) -> None:
    """Warn where finding the principal axes alone takes minutes.

    Parameters
    ----------
    n, p : int
        Rows and columns.
    """
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
