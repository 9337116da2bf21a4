"""How the discrepancy of all rows is computed, and what that will take."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.checks import MOST_FOURIER
from fairpca._utils.threads import n_threads
from fairpca._utils.typing import AnyArray
from fairpca._utils.warn import warn_user
from fairpca.exceptions import EffortWarning
from fairpca.mmd import Scales

EXACT_ROWS = 5000
"""Rows up to which comparing all pairs is as fast as anything else."""

MOST_FOURIER_SCALES = 2
"""Components up to which the Fourier quadrature is of use for several scales: in three dimensions the frequencies up to
where the narrowest ends, spaced as the widest needs them, are more than a million."""

MOST_HERMITE = 16
"""Components up to which Hermite features are the better choice; beyond, steps go farther than these are good for."""

EVALUATIONS = 100
"""Values with gradients that a fit takes, about."""

SECONDS_PER_PAIR = 1e-9
"""Time that each takes a core for a pair of rows and, about, for two of their coordinates."""

SECONDS_PER_OPERATION = 1e-10
"""Time of an operation in a decomposition of a large matrix, about."""

LONG = 120.0
"""Seconds from which on a user is told beforehand."""


def choose_method(mmd: str, X: AnyArray, n_components: int) -> str:
    """Return "exact", "fourier", "hermite" or "nystroem", and warn before work that takes minutes.

    Parameters
    ----------
    mmd : {"auto", "exact", "fourier", "hermite", "nystroem"}
        What was asked for.
    X : ndarray of shape (n, p)
        Rows.
    n_components : int
        d.
    """
    warn_of_many_columns(*X.shape)
    if mmd == "exact":
        _warn_of_many_pairs(X, n_components)
    if mmd != "auto":
        return mmd
    if len(X) <= EXACT_ROWS or _few_are_distinct(X):
        return "exact"
    return linear_method(mmd, n_components)


def _few_are_distinct(X: AnyArray) -> bool:
    """Tell whether few rows remain when equal ones are merged, as in tables of counts and categories."""
    return len(X) <= 4 * EXACT_ROWS and len(np.unique(X, axis=0)) <= EXACT_ROWS


def linear_method(mmd: str, n_components: int) -> str:
    """Return "fourier", "hermite" or "nystroem".

    Parameters
    ----------
    mmd : {"auto", "exact", "fourier", "hermite", "nystroem"}
        What was asked for; "exact", which needs the rows in memory, is refused.
    n_components : int
        d.
    """
    if mmd == "exact":
        raise ValueError(
            'mmd="exact" compares all pairs of rows and needs them in memory, which Dask tables are not; use '
            'mmd="auto", whose answer is measured exactly up to 60,000 rows, or fit(X.compute(), ...).'
        )
    if mmd != "auto":
        return mmd
    if n_components <= MOST_FOURIER:
        return "fourier"
    return "hermite" if n_components <= MOST_HERMITE else "nystroem"


def check_scales(scales: Scales, method: str, n_components: int) -> None:
    """Refuse several scales where no method takes time linear in the rows.

    Parameters
    ----------
    scales : Scales
        What was asked for.
    method : {"fourier", "hermite", "nystroem"}
        How the discrepancy of all rows is to be computed.
    n_components : int
        d.
    """
    if not scales.is_single and (method != "fourier" or n_components > MOST_FOURIER_SCALES):
        raise ValueError(
            f"bandwidth={scales} takes at most {MOST_FOURIER_SCALES} components beyond {EXACT_ROWS} distinct rows, "
            f'with mmd="fourier"; got n_components={n_components} and mmd="{method}": use mmd="exact", which compares '
            "all pairs of rows, fewer components or one bandwidth."
        )


def _warn_of_many_pairs(X: AnyArray, n_components: int) -> None:
    def seconds(n: int) -> float:
        return n * n / 2 * (1 + n_components / 2) * SECONDS_PER_PAIR / n_threads()

    if EVALUATIONS * seconds(len(X)) <= LONG:
        return
    n = len(np.unique(X, axis=0))
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
    # A triangular factor of the rows and its singular vectors; of short tables those of the rows, and a full basis.
    operations = 2.0 * n * p**2 + 25.0 * p**3 if n > p else 25.0 * n**2 * p + 4.0 * n * p**2
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
