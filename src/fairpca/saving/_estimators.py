"""FairPCA and other methods as a document and arrays, and back: parameters, what was learned, how it fits together."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_init, check_mmd, check_n_components
from fairpca._utils.schema import (
    ATTRIBUTE_KIND,
    FLAG,
    LABEL,
    TABLE,
    TABLES,
    TEXT,
    TEXT_OR_TEXTS,
    Kind,
    check_fields,
    is_number,
    or_null,
    whole,
)
from fairpca._utils.typing import AnyArray
from fairpca.comparison import Notion, Terms, check_auto, check_tolerances
from fairpca.mmd import Scales
from fairpca.saving._archive import Archive
from fairpca.saving._values import SOLVER_CLASSES, Decoder, Encoder, check_array
from fairpca.solvers import STARTS, FitResult, solver_from

KIND = "FairPCA"

SET_ANOTHER = "Change it with model.set_params({}=...), or keep the projection alone with model.to_pca()."

FIT_AGAIN = "{} was changed by hand; fit the model again."


def _table_of(words: str, kind: Kind) -> Kind:
    return Kind(f"a table of {words}", lambda v: isinstance(v, dict) and all(map(kind.fits, v.values())))


def _tuple_of(words: str, kind: Kind, least: int = 0) -> Kind:
    return Kind(f"a tuple of {words}", lambda v: isinstance(v, tuple) and len(v) >= least and all(map(kind.fits, v)))


FLOAT = Kind("a number", lambda value: type(value) is float or is_number(value))
ARRAY = Kind("an array", lambda value: isinstance(value, np.ndarray))

PARAMETERS: dict[str, Kind] = {
    "n_components": Kind("a number above 0", lambda value: is_number(value) and value > 0),
    "tolerance": Kind(
        "a text, a number, or several", lambda v: isinstance(v, str | list | tuple | dict | np.ndarray) or FLOAT.fits(v)
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
    "standardize": FLAG,
    "init": Kind("a text or an array", lambda value: isinstance(value, str | list | tuple | np.ndarray)),
    "callback": Kind("null", lambda value: value is None),
    "random_state": or_null(Kind("a whole number", lambda value: type(value) is int)),
}

"""Of a FairPCA."""

ERRORS: dict[str, Kind] = {"attribute_error": TABLE}
"""Stands in a file where groups are recorded wrongly."""

PARAMETER = Kind(
    "a text, a number, true, false, or a table of texts",
    lambda v: isinstance(v, str | bool | dict) or is_number(v),
)
"""Of another method."""

COMMON: dict[str, Kind] = {
    **{"n_features_in_": whole(1), "n_components_": whole(1), "n_live_components_": whole(0), "n_samples_": whole(2)},
    **dict.fromkeys(("components_", "mean_", "scale_", "constant_features_"), ARRAY),
    **dict.fromkeys(("singular_values_", "explained_variance_", "explained_variance_ratio_"), ARRAY),
}
"""What every linear map learns."""

OBLIQUE, ORTHOGONAL = {"axes_": ARRAY}, {"noise_variance_": FLOAT}
SOLVED = {"duality_gap_": FLOAT, "converged_": FLAG, "n_iter_": whole(0)}
OWN: dict[str, dict[str, Kind]] = {
    KIND: {
        "n_iter_": whole(0),
        **dict.fromkeys(("noise_variance_", "bandwidth_"), FLOAT),
        "bandwidth_factors_": _tuple_of("numbers", FLOAT, least=1),
        "mmd_method_": TEXT,
        **dict.fromkeys(("mmd2_", "mmd2_error_"), FLOAT),
        "mmd2_by_measure_": _table_of("numbers", FLOAT),
        "measures_": TABLES,
        "sensitive_kinds_": _table_of(ATTRIBUTE_KIND.words, ATTRIBUTE_KIND),
        **dict.fromkeys(("tolerance_", "chance_level_", "expected_mmd2_new_"), FLOAT),
        "converged_": FLAG,
        "result_": Kind("the record of a fit", lambda value: type(value) is FitResult),
    },
    "AugmentedPCA": OBLIQUE,
    "LEACE": OBLIQUE,
    "SPLINCE": OBLIQUE,
    "ClosedFormFairPCA": ORTHOGONAL,
    "FPCA": ORTHOGONAL
    | SOLVED
    | {"objective_": FLOAT, "rounded_objective_": FLOAT, "tied_": FLAG}
    | {"projection_matrix_": ARRAY, "eigenvalues_": ARRAY, "eigenvectors_": ARRAY},
    "ReconstructionFairPCA": ORTHOGONAL
    | SOLVED
    | {"groups_": ARRAY, "group_losses_": ARRAY, "mixture_weights_": ARRAY, "mixture_weight_": FLOAT},
}
"""What else a method learns, by the name of its class."""

OPTIONAL = {
    "feature_names_in_": Kind("an array of texts", lambda v: isinstance(v, np.ndarray) and v.dtype == object),
    "projected_covariance_": ARRAY,
}
"""Names of columns, where a table had them, and what is learned where components were rotated."""

MEASURE: dict[str, Kind] = {
    **dict.fromkeys(("name", "attribute", "among"), TEXT),
    "kind": ATTRIBUTE_KIND,
    "n_rows": whole(0),
    "sides": _tuple_of("whole numbers", whole(0)),
    **dict.fromkeys(("weight", "tolerance", "mmd2", "multiplier", "budget_used"), FLOAT),
    **dict.fromkeys(("chance_level", "expected_mmd2_new"), FLOAT),
}


def _check_map(learned: dict[str, Any]) -> None:
    """Refuse arrays of a linear map that do not fit together."""
    d, p, live = (learned[name] for name in ("n_components_", "n_features_in_", "n_live_components_"))
    if not live <= d <= p:
        raise ValueError(f"it has {live} live of {d} components of {p} features.")
    shapes = dict.fromkeys(("components_", "axes_"), (d, p)) | dict.fromkeys(("mean_", "scale_"), (p,))
    for name, shape in (shapes | {"projected_covariance_": (live, live)}).items():
        if name in learned:
            check_array(name, learned[name], shape)
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        check_array(name, learned[name], (d,), least=0.0)
    check_array("constant_features_", learned["constant_features_"], (p,), np.bool_)
    if not np.all(learned["scale_"] > 0):
        raise ValueError("scale_ must be greater than 0 in every column.")
    if "feature_names_in_" in learned and learned["feature_names_in_"].shape != (p,):
        raise ValueError(f"feature_names_in_ has {len(learned['feature_names_in_'])} names of {p} features.")


OUTPUT = Kind('"default", "pandas", "polars" or null', lambda value: value in (None, "default", "pandas", "polars"))
DOCUMENT = {"kind": TEXT, "parameters": TABLE, "learned": TABLE, "output": OUTPUT}


def to_archive(model: Any) -> Archive:
    """Return a fitted FairPCA, or another method, as a document and arrays, which `from_archive` can read.

    A callback and a random_state that is a generator are left out: both are for the next fit, and neither is a value.

    Parameters
    ----------
    model : FairPCA or method of `fairpca.baselines`
        A fitted model.
    """
    check_is_fitted(model)
    name = type(model).__name__
    if name not in OWN or type(model) is not _class_named(name):
        raise TypeError(
            f"a model file holds models of this package; a {name} would not come back as one."
            + " Keep the projection alone with to_pca()." * hasattr(model, "to_pca")
        )
    learning, choosing = Encoder(FIT_AGAIN), Encoder(SET_ANOTHER, "parameters.")
    parameters, learned = _parameters(model), _learned_names(model)
    document = {
        "kind": name,
        "parameters": {each: choosing.encode(value, each) for each, value in parameters.items()},
        "learned": {each: learning.encode(getattr(model, each), each) for each in learned},
        "output": getattr(model, "_sklearn_output_config", {}).get("transform"),
    }
    arrays = learning.arrays | choosing.arrays
    # What cannot be loaded must not be saved.
    from_archive(document, arrays, name)
    return document, arrays


def from_archive(document: dict[str, Any], arrays: Mapping[str, AnyArray], name: str = KIND) -> Any:
    """Return the fitted model that a document and arrays hold; anything else is a ValueError.

    Parameters
    ----------
    document : dict
        What `to_archive` gave.
    arrays : mapping of str to ndarray
        Its arrays, and no others.
    name : str, default="FairPCA"
        Of its class.
    """
    check_fields("the document", document, DOCUMENT)
    decoder = Decoder(arrays)
    parameters, learned = decoder.decode(document["parameters"]), decoder.decode(document["learned"])
    decoder.check_all_used()
    for each, table in (("parameters", parameters), ("learned", learned)):
        if not isinstance(table, dict):
            raise ValueError(f"{each} is no table.")
    of_class = _class_named(name)
    if name == KIND:
        check_fields("parameters", parameters, PARAMETERS, ERRORS)
    else:
        check_fields("parameters", parameters, dict.fromkeys(of_class().get_params(), PARAMETER))
    check_fields("what was learned", learned, COMMON | OWN[name], OPTIONAL)
    for number, measure in enumerate(learned.get("measures_", ())):
        check_fields(f"measure {number}", measure, MEASURE)
    _check_map(learned)
    model = of_class(**parameters)
    _check_parameters(model, *learned["components_"].shape)
    for each, value in learned.items():
        setattr(model, each, value)
    if document["output"] is not None:
        model.set_output(transform=document["output"])
    return model


def _class_named(name: str) -> Any:
    from fairpca import baselines
    from fairpca.estimator import FairPCA

    return FairPCA if name == KIND else getattr(baselines, name)


def _parameters(model: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = model.get_params(deep=False)
    if type(model).__name__ != KIND:
        return parameters
    # Whether a fit shows how far it has come is no property of a model.
    del parameters["verbose"]
    if parameters["attribute_error"] is None:
        del parameters["attribute_error"]
    if parameters["random_state"] is np.random or isinstance(parameters["random_state"], np.random.RandomState):
        parameters["random_state"] = None
    return parameters | {"callback": None}


def _learned_names(model: Any) -> list[str]:
    needed = COMMON | OWN[type(model).__name__]
    learned = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    unknown = [name for name in learned if name not in needed | OPTIONAL]
    if unknown:
        raise ValueError(f"the model has {', '.join(unknown)}, which no fit learns; delete it before saving.")
    missing = [name for name in needed if name not in learned]
    if missing:
        raise ValueError(f"the model lacks {', '.join(missing)}, which every fit learns; fit it again.")
    # In one order, whatever the order of learning: one model is always the same bytes.
    return [name for name in needed | OPTIONAL if name in learned]


def _check_parameters(model: Any, n_components: int, n_features: int) -> None:
    """Refuse parameters that a fit would refuse."""
    try:
        if type(model).__name__ != KIND:
            model._check_parameters()
            check_n_components(model.n_components, n_features)
            return
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
