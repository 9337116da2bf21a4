"""FairPCA as a document and arrays, and back."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_init, check_mmd
from fairpca._utils.schema import TABLE, TEXT, Kind, check_fields
from fairpca._utils.typing import AnyArray
from fairpca.comparison import Terms, check_auto, check_tolerances
from fairpca.mmd import Scales
from fairpca.saving._archive import Archive
from fairpca.saving._schema import LEARNED, NAMES, PARAMETERS, check_learned
from fairpca.saving._values import Decoder, Encoder
from fairpca.solvers import STARTS, solver_from

if TYPE_CHECKING:
    from fairpca.estimator import FairPCA

KIND = "FairPCA"
OUTPUT = Kind('"default", "pandas", "polars" or null', lambda value: value in (None, "default", "pandas", "polars"))
DOCUMENT = {"kind": TEXT, "parameters": TABLE, "learned": TABLE, "output": OUTPUT}

SET_ANOTHER = "Change it with model.set_params({}=...), or keep the projection alone with model.to_pca()."
FIT_AGAIN = "{} was changed by hand; fit the model again."


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
    if parameters["random_state"] is np.random or isinstance(parameters["random_state"], np.random.RandomState):
        parameters["random_state"] = None
    return parameters | {"callback": None}


def _learned_names(model: "FairPCA") -> list[str]:
    learned = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    unknown = [name for name in learned if name not in LEARNED | NAMES]
    if unknown:
        raise ValueError(f"the model has {', '.join(unknown)}, which no fit learns; delete it before saving.")
    missing = [name for name in LEARNED if name not in learned]
    if missing:
        raise ValueError(f"the model lacks {', '.join(missing)}, which every fit learns; fit it again.")
    # In one order, whatever the order of learning: one model is always the same bytes.
    return [name for name in LEARNED | NAMES if name in learned]


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
