"""Checks of arguments: one sentence that names the argument, what came, what is allowed and the way out."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from fairpca._labels import as_labels, comparable, missing
from fairpca._typing import AnyArray, FloatArray

MOST_FOURIER = 3
"""Components up to which the Fourier quadrature is of use."""

LISTED = 5
"""Groups that are named when there are too many."""


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


def check_tolerance(tolerance: Any) -> float:
    """Return the largest MMD^2 allowed, a number >= 0."""
    return check_at_least_zero("tolerance", tolerance, "the largest MMD^2 that is allowed")


def check_at_least_zero(argument: str, value: Any, meaning: str) -> float:
    """Return a finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{argument} must be a number; got {value!r}.")
    if not 0 <= float(value) < math.inf:
        raise ValueError(f"{argument}={value!r} must be a finite number >= 0: {meaning}.")
    return float(value)


def check_bandwidth(bandwidth: Any) -> str | float:
    """Return "median" or a positive number."""
    if isinstance(bandwidth, str):
        return check_name("bandwidth", bandwidth, ["median"], "or give a positive number")
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, Real):
        raise TypeError(f'bandwidth must be "median" or a positive number; got {bandwidth!r}.')
    if not 0 < float(bandwidth) < math.inf:
        raise ValueError(f'bandwidth={bandwidth!r} must be greater than 0; "median" chooses it from the data.')
    return float(bandwidth)


def check_mmd(mmd: Any, n_components: int) -> str:
    """Return how the discrepancy is to be computed."""
    name = check_name("mmd", mmd, ["auto", "exact", "fourier", "hermite"])
    if name == "fourier" and n_components > MOST_FOURIER:
        raise ValueError(
            f'mmd="fourier" takes at most {MOST_FOURIER} components, because its frequencies grow exponentially with '
            f'them; got n_components={n_components}. Use "hermite", "exact" or "auto".'
        )
    return name


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


def check_two_groups(sensitive_features: Any, n_samples: int) -> AnyArray:
    """Return group labels as a 1-d array with exactly two distinct values, each on at least two rows.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_samples,) or (n_samples, 1)
        Strings, booleans, numbers, dates; a list, a numpy or pyarrow array, a pandas or polars Series or a frame of one
        column.
    n_samples : int
        Number of rows it must have.
    """
    labels = as_labels(sensitive_features)
    if len(labels) != n_samples:
        raise ValueError(f"sensitive_features has {len(labels)} entries but X has {n_samples} rows.")
    absent = missing(labels)
    if absent.any():
        raise ValueError(
            f"sensitive_features has {int(absent.sum())} missing values, the first in row "
            f"{int(absent.argmax())}; drop those rows or give them a group of their own."
        )
    labels = comparable(labels)
    check_group_sizes(*distinct(labels))
    return labels


def check_group_sizes(groups: AnyArray, counts: AnyArray, *, n_groups: str | None = None) -> None:
    """Refuse anything but two groups of at least two rows each.

    Parameters
    ----------
    groups : ndarray of shape (n_groups,)
        The distinct labels.
    counts : ndarray of shape (n_groups,)
        Their rows.
    n_groups : str, default=None
        How many there are, in words, where not all of them were counted.
    """
    if len(groups) == 1:
        raise ValueError(f"sensitive_features has one group only, {groups.tolist()[0]!r}; two are needed to compare.")
    if len(groups) > 2:
        raise ValueError(
            f"sensitive_features has {n_groups or len(groups)} groups, {_listed(groups, counts)}; two can be compared. "
            "Merge them into two, for example one group against all others."
        )
    if counts.min() < 2:
        raise ValueError(
            f"sensitive_features has {int(counts.min())} row in group {groups.tolist()[counts.argmin()]!r}; "
            "each group needs at least 2."
        )


def _listed(groups: AnyArray, counts: AnyArray) -> str:
    """Return the largest groups with their rows, in words."""
    order = np.argsort(-counts, kind="stable")[:LISTED]
    names = [f"{groups[[k]].tolist()[0]!r} ({counts[k]} {'row' if counts[k] == 1 else 'rows'})" for k in order]
    return ", ".join([*names, "..."] if len(groups) > LISTED else names)


def distinct(labels: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the distinct labels in order and how often each occurs.

    Two numbers, the usual case, are found without sorting: millions of labels take a fraction of the time and memory.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels that can be compared.
    """
    if labels.dtype.kind in "biuf" and len(labels):
        low, high = labels.min(), labels.max()
        n_low, n_high = int(np.count_nonzero(labels == low)), int(np.count_nonzero(labels == high))
        if low != high and n_low + n_high == len(labels):
            return np.array([low, high]), np.array([n_low, n_high])
    return np.unique(labels, return_counts=True)
