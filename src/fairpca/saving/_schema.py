"""What a FairPCA in a model file must hold: parameters, what was learned, and how it fits together."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np

from fairpca._utils.schema import ATTRIBUTE_KIND, LABEL, TEXT, TEXT_OR_TEXTS, Kind, check_fields, is_number, whole
from fairpca._utils.typing import AnyArray
from fairpca.comparison import Notion
from fairpca.mmd import Scales
from fairpca.saving._records import SOLVER_CLASSES
from fairpca.solvers import FitResult


def _is_float(value: Any) -> bool:
    return type(value) is float or is_number(value)


def _is_table_of_floats(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_float(number) for number in value.values())


def _is_tuple_of(value: Any, kind: Kind) -> bool:
    return isinstance(value, tuple) and all(kind.fits(each) for each in value)


TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
FLOAT = Kind("a number", _is_float)
NULL = Kind("null", lambda value: value is None)
ARRAY = Kind("an array", lambda value: isinstance(value, np.ndarray))
RECORDS = Kind("a list of tables", lambda v: isinstance(v, list) and all(isinstance(each, dict) for each in v))
COUNTS = Kind("a tuple of whole numbers", lambda value: _is_tuple_of(value, whole(0)))
FACTORS = Kind("a tuple of numbers", lambda value: _is_tuple_of(value, FLOAT) and value != ())
ATTRIBUTE_KINDS = Kind(
    'a table of "groups" or "continuous"',
    lambda value: isinstance(value, dict) and all(ATTRIBUTE_KIND.fits(each) for each in value.values()),
)

PARAMETERS: dict[str, Kind] = {
    "n_components": Kind("a number above 0", lambda value: is_number(value) and value > 0),
    "tolerance": Kind(
        "a text, a number, or several", lambda v: isinstance(v, str | list | tuple | dict | np.ndarray) or _is_float(v)
    ),
    "fairness": Kind("a text or a notion", lambda value: isinstance(value, str | Notion)),
    "favourable": LABEL,
    "sensitive": TEXT,
    "sensitive_kind": TEXT_OR_TEXTS,
    "min_group_size": whole(2),
    "small_groups": TEXT,
    "missing": TEXT,
    "solver": Kind("a text or a solver", lambda value: isinstance(value, (str, *SOLVER_CLASSES))),
    "mmd": TEXT,
    "bandwidth": Kind("a text, a number or scales", lambda value: isinstance(value, str | Scales) or is_number(value)),
    "standardize": TRUTH,
    "init": Kind("a text or an array", lambda value: isinstance(value, str | list | tuple | np.ndarray)),
    "callback": NULL,
    "random_state": Kind("a whole number or null", lambda value: value is None or type(value) is int),
}

LEARNED: dict[str, Kind] = {
    "n_features_in_": whole(1),
    "n_components_": whole(1),
    "n_live_components_": whole(0),
    "n_samples_": whole(2),
    "n_iter_": whole(0),
    "components_": ARRAY,
    "mean_": ARRAY,
    "scale_": ARRAY,
    "constant_features_": ARRAY,
    "singular_values_": ARRAY,
    "explained_variance_": ARRAY,
    "explained_variance_ratio_": ARRAY,
    "noise_variance_": FLOAT,
    "bandwidth_": FLOAT,
    "bandwidth_factors_": FACTORS,
    "mmd_method_": TEXT,
    "mmd2_": FLOAT,
    "mmd2_error_": FLOAT,
    "mmd2_by_measure_": Kind("a table of numbers", _is_table_of_floats),
    "measures_": RECORDS,
    "sensitive_kinds_": ATTRIBUTE_KINDS,
    "tolerance_": FLOAT,
    "chance_level_": FLOAT,
    "expected_mmd2_new_": FLOAT,
    "converged_": TRUTH,
    "result_": Kind("the record of a fit", lambda value: type(value) is FitResult),
}

NAMES = {"feature_names_in_": Kind("an array of texts", lambda v: isinstance(v, np.ndarray) and v.dtype == object)}
"""Of columns, where a table had them."""

MEASURE: dict[str, Kind] = {
    "name": TEXT,
    "attribute": TEXT,
    "among": TEXT,
    "kind": ATTRIBUTE_KIND,
    "n_rows": whole(0),
    "sides": COUNTS,
    "weight": FLOAT,
    "tolerance": FLOAT,
    "mmd2": FLOAT,
    "multiplier": FLOAT,
    "budget_used": FLOAT,
    "chance_level": FLOAT,
    "expected_mmd2_new": FLOAT,
}


def check_learned(learned: dict[str, Any]) -> None:
    """Refuse what no fit can have learned.

    Parameters
    ----------
    learned : dict
        Attributes by their names.
    """
    check_fields("what was learned", learned, LEARNED | (NAMES if "feature_names_in_" in learned else {}))
    for number, measure in enumerate(learned["measures_"]):
        check_fields(f"measure {number}", measure, MEASURE)
    d, p = learned["n_components_"], learned["n_features_in_"]
    if not learned["n_live_components_"] <= d <= p:
        raise ValueError(f"it has {learned['n_live_components_']} live of {d} components of {p} features.")
    _check_array(learned, "components_", (d, p))
    for name in ("mean_", "scale_"):
        _check_array(learned, name, (p,))
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        _check_array(learned, name, (d,), at_least_zero=True)
    _check_array(learned, "constant_features_", (p,), np.bool_)
    if not np.all(learned["scale_"] > 0):
        raise ValueError("scale_ must be greater than 0 in every column.")
    if "feature_names_in_" in learned and learned["feature_names_in_"].shape != (p,):
        raise ValueError(f"feature_names_in_ has {len(learned['feature_names_in_'])} names of {p} features.")


def _check_array(
    learned: dict[str, Any], name: str, shape: tuple[int, ...], dtype: type = np.float64, *, at_least_zero: bool = False
) -> None:
    array: AnyArray = learned[name]
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} is an array of {array.dtype} of shape {array.shape}; n_components_ and n_features_in_ ask for "
            f"{np.dtype(dtype)} and {shape}."
        )
    if not np.isfinite(array).all() or (at_least_zero and array.min() < 0):
        raise ValueError(f"{name} holds numbers that no fit gives.")
