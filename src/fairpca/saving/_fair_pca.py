"""FairPCA as a document and arrays, and back: parameters, what was learned, and how it fits together."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_init, check_mmd
from fairpca._utils.schema import (
    ATTRIBUTE_KIND,
    LABEL,
    TABLE,
    TEXT,
    TEXT_OR_TEXTS,
    Kind,
    check_fields,
    is_number,
    whole,
)
from fairpca._utils.typing import AnyArray
from fairpca.comparison import Notion, Terms, check_auto, check_tolerances
from fairpca.mmd import Scales
from fairpca.saving._archive import Archive
from fairpca.saving._values import SOLVER_CLASSES, Decoder, Encoder
from fairpca.solvers import STARTS, FitResult, solver_from

if TYPE_CHECKING:
    from fairpca.estimator import FairPCA

KIND = "FairPCA"

SET_ANOTHER = "Change it with model.set_params({}=...), or keep the projection alone with model.to_pca()."

FIT_AGAIN = "{} was changed by hand; fit the model again."


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

ROTATED = {"projected_covariance_": ARRAY}
"""Where components were rotated."""

OPTIONAL = NAMES | ROTATED

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


def kinds_of(learned: Mapping[str, Any], needed: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return what must stand in each field that was learned, with what is optional and there."""
    return {**needed, **{name: kind for name, kind in OPTIONAL.items() if name in learned}}


def check_learned(learned: dict[str, Any]) -> None:
    """Refuse what no fit can have learned.

    Parameters
    ----------
    learned : dict
        Attributes by their names.
    """
    check_fields("what was learned", learned, kinds_of(learned, LEARNED))
    for number, measure in enumerate(learned["measures_"]):
        check_fields(f"measure {number}", measure, MEASURE)
    check_map(learned)


def check_map(learned: dict[str, Any]) -> None:
    """Refuse arrays of a linear map that do not fit together.

    Parameters
    ----------
    learned : dict
        Attributes by their names.
    """
    d, p = learned["n_components_"], learned["n_features_in_"]
    if not learned["n_live_components_"] <= d <= p:
        raise ValueError(f"it has {learned['n_live_components_']} live of {d} components of {p} features.")
    check_array(learned, "components_", (d, p))
    for name in ("mean_", "scale_"):
        check_array(learned, name, (p,))
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        check_array(learned, name, (d,), at_least_zero=True)
    check_array(learned, "constant_features_", (p,), np.bool_)
    if not np.all(learned["scale_"] > 0):
        raise ValueError("scale_ must be greater than 0 in every column.")
    if "projected_covariance_" in learned:
        check_array(learned, "projected_covariance_", (learned["n_live_components_"],) * 2)
    if "feature_names_in_" in learned and learned["feature_names_in_"].shape != (p,):
        raise ValueError(f"feature_names_in_ has {len(learned['feature_names_in_'])} names of {p} features.")


def check_array(
    learned: dict[str, Any], name: str, shape: tuple[int, ...], dtype: type = np.float64, *, at_least_zero: bool = False
) -> None:
    """Refuse an array of another type or shape, or with numbers that are not finite."""
    array: AnyArray = learned[name]
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} is an array of {array.dtype} of shape {array.shape}; n_components_ and n_features_in_ ask for "
            f"{np.dtype(dtype)} and {shape}."
        )
    if not np.isfinite(array).all() or (at_least_zero and array.min() < 0):
        raise ValueError(f"{name} holds numbers that no fit gives.")


OUTPUT = Kind('"default", "pandas", "polars" or null', lambda value: value in (None, "default", "pandas", "polars"))
DOCUMENT = {"kind": TEXT, "parameters": TABLE, "learned": TABLE, "output": OUTPUT}


def fair_pca_to_archive(model: "FairPCA") -> Archive:
    """Return a fitted model as a document and arrays, which `fair_pca_from_archive` can read.

    A callback and a random_state that is a generator are left out: both are for the next fit, and neither is a value.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    """
    from fairpca.estimator import FairPCA

    check_is_fitted(model)
    if type(model) is not FairPCA:
        raise TypeError(
            f"a model file holds a FairPCA; a {type(model).__name__} would not come back as one. Keep the projection "
            "alone with to_pca()."
        )
    learning, choosing = Encoder(FIT_AGAIN), Encoder(SET_ANOTHER, "parameters.")
    document = {
        "kind": KIND,
        "parameters": {name: choosing.encode(value, name) for name, value in _parameters(model).items()},
        "learned": {name: learning.encode(getattr(model, name), name) for name in _learned_names(model)},
        "output": getattr(model, "_sklearn_output_config", {}).get("transform"),
    }
    arrays = learning.arrays | choosing.arrays
    # What cannot be loaded must not be saved.
    fair_pca_from_archive(document, arrays)
    return document, arrays


def fair_pca_from_archive(document: dict[str, Any], arrays: Mapping[str, AnyArray]) -> "FairPCA":
    """Return the fitted model that a document and arrays hold; anything else is a ValueError.

    Parameters
    ----------
    document : dict
        What `fair_pca_to_archive` gave.
    arrays : mapping of str to ndarray
        Its arrays, and no others.
    """
    from fairpca.estimator import FairPCA

    check_fields("the document", document, DOCUMENT)
    decoder = Decoder(arrays)
    parameters, learned = decoder.decode(document["parameters"]), decoder.decode(document["learned"])
    decoder.check_all_used()
    for name, table in (("parameters", parameters), ("learned", learned)):
        if not isinstance(table, dict):
            raise ValueError(f"{name} is no table.")
    check_fields("parameters", parameters, PARAMETERS)
    check_learned(learned)
    model = FairPCA(**parameters)
    _check_parameters(model, *learned["components_"].shape)
    for name, value in learned.items():
        setattr(model, name, value)
    if document["output"] is not None:
        model.set_output(transform=document["output"])
    return model


def _parameters(model: "FairPCA") -> dict[str, Any]:
    parameters: dict[str, Any] = model.get_params(deep=False)
    # Whether a fit shows how far it has come is no property of a model.
    del parameters["verbose"]
    if parameters["random_state"] is np.random or isinstance(parameters["random_state"], np.random.RandomState):
        parameters["random_state"] = None
    return parameters | {"callback": None}


def _learned_names(model: "FairPCA") -> list[str]:
    learned = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    unknown = [name for name in learned if name not in LEARNED | OPTIONAL]
    if unknown:
        raise ValueError(f"the model has {', '.join(unknown)}, which no fit learns; delete it before saving.")
    missing = [name for name in LEARNED if name not in learned]
    if missing:
        raise ValueError(f"the model lacks {', '.join(missing)}, which every fit learns; fit it again.")
    # In one order, whatever the order of learning: one model is always the same bytes.
    return [name for name in LEARNED | OPTIONAL if name in learned]


def _check_parameters(model: "FairPCA", n_components: int, n_features: int) -> None:
    """Refuse parameters that a fit would refuse."""
    try:
        Terms.of(model)
        Scales.of(model.bandwidth)
        check_mmd(model.mmd)
        check_init(model.init, STARTS, n_components, n_features)
        solver_from(model.solver)
        if isinstance(model.tolerance, str):
            check_auto(model.tolerance)
        else:
            check_tolerances(model.tolerance)
    except TypeError as error:
        raise ValueError(str(error)) from None
