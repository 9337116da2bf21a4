"""How large each measure may be."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairpca._utils.checks import check_at_least_zero
from fairpca._utils.typing import FloatArray

_MEANING = "the largest MMD^2 that is allowed"


AUTO = "auto"

LARGEST_MMD2 = 2.0
"""The largest MMD^2 there is: a tolerance that any measure meets, where none is asked for."""


def check_auto(tolerance: str) -> None:
    """Refuse a word that is no tolerance.

    Parameters
    ----------
    tolerance : str
        What the user passed.
    """
    if tolerance != AUTO:
        raise ValueError(f"tolerance={tolerance!r} must be {AUTO!r}, or a number, {_MEANING}.")


def check_tolerances(
    tolerance: Any, names: Sequence[str] | None = None, attributes: Sequence[str] | None = None
) -> FloatArray:
    """Return the largest MMD^2 allowed, one number or one for each measure, all >= 0.

    Parameters
    ----------
    tolerance : float, array-like of shape (n_measures,) or mapping of attributes to float
        What the user passed.
    names : sequence of str, default=None
        What each measure compares, where that is known.
    attributes : sequence of str, default=None
        The attribute of each measure, where that is known.
    """
    if isinstance(tolerance, Mapping):
        return _by_attribute(tolerance, attributes)
    if np.ndim(tolerance) == 0:
        return np.array(check_at_least_zero("tolerance", tolerance, _MEANING))
    listed = list(tolerance)
    if names is None:
        names = [f"measure {number}" for number in range(len(listed))]
    if len(listed) != len(names):
        raise ValueError(
            f"tolerance has {len(listed)} numbers, but there are {len(names)} measures: {', '.join(names)}. Give one "
            "number for all, or one for each."
        )
    pairs = zip(listed, names, strict=True)
    return np.array([check_at_least_zero(f"tolerance of {name!r}", value, _MEANING) for value, name in pairs])


def _by_attribute(tolerance: Mapping[Any, Any], attributes: Sequence[str] | None) -> FloatArray:
    values = {
        str(name): check_at_least_zero(f"tolerance of {str(name)!r}", value, _MEANING)
        for name, value in tolerance.items()
    }
    if attributes is None:
        return np.array(list(values.values()))
    known = list(dict.fromkeys(attributes))
    if sorted(known) != sorted(values):
        raise ValueError(
            f"tolerance names the attributes {', '.join(map(repr, values))}, but those compared are "
            f"{', '.join(map(repr, known))}. Give a number for each, or one number for all."
        )
    return np.array([values[attribute] for attribute in attributes])
