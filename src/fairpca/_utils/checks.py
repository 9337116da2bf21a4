"""Checks of arguments: one sentence that names the argument, what came, what is allowed and the way out."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterable, Iterator
from datetime import date
from numbers import Integral, Real
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray

SMALLEST, LARGEST = 1e-150, 1e150
"""Squares of smaller numbers vanish, sums of squares of larger ones overflow."""


def check_n_components(n_components: Any, n_features: int) -> int | float:
    """Return the number of components, an integer in 1..n_features, or a share of the variance in (0, 1)."""
    if n_components is None:
        raise TypeError(
            "n_components=None would keep every direction, and then nothing is left to choose: a square V only turns "
            "the rows. Give a number of components, or the share of the variance that plain PCA would keep."
        )
    if isinstance(n_components, bool) or not isinstance(n_components, Real):
        raise TypeError(f"n_components must be an integer, or a share of the variance in (0, 1); got {n_components!r}.")
    if not isinstance(n_components, Integral):
        if not 0.0 < float(n_components) < 1.0:
            raise ValueError(
                f"n_components={n_components!r} must be an integer, or a share of the variance between 0 and 1."
            )
        return float(n_components)
    if not 1 <= int(n_components) <= n_features:
        raise ValueError(
            f"n_components={n_components} must be between 1 and the number of features, n_features={n_features}."
        )
    return int(n_components)


def check_at_least_zero(argument: str, value: Any, meaning: str) -> float:
    """Return a finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{argument} must be a number; got {value!r}.")
    if not 0 <= float(value) < math.inf:
        raise ValueError(f"{argument}={value!r} must be a finite number >= 0: {meaning}.")
    return float(value)


def check_bandwidth(
    bandwidth: Any, names: Iterable[str] = ("median",), otherwise: str = "a positive number"
) -> str | float:
    """Return one of the allowed names or a positive number."""
    if isinstance(bandwidth, str):
        return check_name("bandwidth", bandwidth, names, f"or give {otherwise}")
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, Real):
        listed = ", ".join(f'"{name}"' for name in names)
        raise TypeError(f"bandwidth must be {listed} or {otherwise}; got {bandwidth!r}.")
    if not 0 < float(bandwidth) < math.inf:
        raise ValueError(f'bandwidth={bandwidth!r} must be greater than 0; "median" chooses it from the data.')
    return float(bandwidth)


def check_mmd(mmd: Any, argument: str = "mmd") -> str:
    """Return how the discrepancy is to be computed."""
    return check_name(argument, mmd, ["auto", "exact", "hermite"])


def check_name(argument: str, value: str, allowed: Iterable[str], otherwise: str = "") -> str:
    """Return `value` if it is one of the allowed names."""
    names = sorted(allowed)
    if value not in names:
        tail = f", {otherwise}" if otherwise else ""
        raise ValueError(f"{argument}={value!r} is unknown; choose one of {names}{tail}.")
    return value


def check_flag(argument: str, value: Any) -> bool:
    """Return True or False; what is only taken as one of them, such as 1 or "no", is refused."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{argument} must be True or False; got {value!r}.")
    return bool(value)


def check_integer(argument: str, value: Any, least: int, most: int | None = None, *, or_none: bool = False) -> None:
    """Refuse anything but an integer in a range, or None where that is allowed."""
    if or_none and value is None:
        return
    span = f"at least {least}" if most is None else f"between {least} and {most}"
    allowed = f"{span}, or None" if or_none else span
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be an integer {allowed}; got {value!r}.")
    if int(value) < least or (most is not None and int(value) > most):
        raise ValueError(f"{argument}={value!r} must be {allowed}.")


def check_number(argument: str, value: Any, above: float, below: float | None = None, *, or_none: bool = False) -> None:
    """Refuse anything but a number inside a range, or None where that is allowed."""
    if or_none and value is None:
        return
    span = f"greater than {above:g}" if below is None else f"between {above:g} and {below:g}"
    allowed = f"{span}, or None" if or_none else span
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{argument} must be a number {allowed}; got {value!r}.")
    if not float(value) > above or (below is not None and not float(value) < below):
        raise ValueError(f"{argument}={value!r} must be {allowed}.")


def check_confidence(confidence: Any) -> None:
    """Refuse what is no confidence of a bound."""
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0.5 <= float(confidence) < 1.0:
        raise ValueError(f"confidence={confidence!r} must be a number of at least 0.5 and less than 1, such as 0.95.")


def check_init(init: Any, names: Iterable[str], n_components: int, n_features: int) -> str | FloatArray:
    """Return a name, or a (n_features, n_components) matrix with independent columns."""
    names = sorted(names)
    if isinstance(init, str):
        return check_name("init", init, names, "or give an array shaped like components_")
    components = np.asarray(init, dtype=np.float64)
    if components.shape != (n_components, n_features):
        raise ValueError(
            f"init has shape {components.shape}; it must be one of {names} or an array of shape "
            f"(n_components, n_features) = ({n_components}, {n_features})."
        )
    if not np.isfinite(components).all() or np.linalg.matrix_rank(components) < n_components:
        raise ValueError(f"init must hold {n_components} finite, linearly independent rows.")
    return components.T


def check_width(bandwidth: float, spread: float) -> None:
    """Refuse a bandwidth so far beyond the data that all kernels are 1 but for rounding.

    Parameters
    ----------
    bandwidth : float
        sigma.
    spread : float
        Root of the variance of the rows.
    """
    # Beyond it (spread / sigma)^2 has fewer than four digits beside 1.
    if bandwidth > 1e6 * spread > 0:
        raise ValueError(
            f"bandwidth={bandwidth:g} is so large beside the spread of the rows, {spread:.3g}, that rounding hides all "
            'differences between groups; use "median", or a number near the distances between rows.'
        )


def why_no_numbers(X: Any, error: Exception) -> Exception:
    """Return the error that says which column of a table holds texts, dates or NaN; `error` where none does.

    Parameters
    ----------
    X : array-like of shape (n, p)
        What the user passed.
    error : exception
        What became of it.
    """
    for where, column in _columns_of(X):
        values = column.tolist()
        strange = [value for value in values if isinstance(value, str | date)][:1]
        if strange or column.dtype.kind in "mM":
            what = "texts" if strange and isinstance(strange[0], str) else "dates"
            return ValueError(
                f"X holds {what} in {where}, such as {str((strange or column)[0])[:40]!r}; encode them as numbers "
                "first, for example with fairpca.tables.prepare, or leave the column out."
            )
        absent = [row for row, value in enumerate(values) if isinstance(value, float) and math.isnan(value)]
        if absent and "NaN" in str(error):
            return ValueError(
                f"X has NaN in {where}, first in row {absent[0]} ({len(absent)} in all); fill missing values in, for "
                "example with sklearn.impute.SimpleImputer, or leave such rows out."
            )
    return error


def _columns_of(X: Any) -> Iterator[tuple[str, AnyArray]]:
    """Yield the columns of a frame, or of what makes an array, and what they are called."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        yield from ((f"column {str(name)!r}", X[name].to_numpy()) for name in X.columns)
    elif np.ndim(X) == 2 and not hasattr(X, "toarray"):
        yield from ((f"column {number}", column) for number, column in enumerate(np.asarray(X).T))


def in_own_units(X: FloatArray) -> FloatArray:
    """Return rows divided by a power of two, so that the largest entry is about 1: no digit changes.

    Parameters
    ----------
    X : ndarray
        Finite numbers.
    """
    size = float(np.abs(X).max()) if X.size else 0.0
    return np.ldexp(X, -math.frexp(size)[1])
