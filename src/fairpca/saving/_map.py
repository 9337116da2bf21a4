"""Other methods than FairPCA as a document and arrays, and back."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_n_components
from fairpca._utils.schema import Kind, check_fields, is_number, whole
from fairpca._utils.typing import AnyArray
from fairpca.saving._archive import Archive
from fairpca.saving._fair_pca import (
    ARRAY,
    DOCUMENT,
    FIT_AGAIN,
    FLOAT,
    LEARNED,
    OPTIONAL,
    SET_ANOTHER,
    TRUTH,
    check_array,
    check_map,
    kinds_of,
)
from fairpca.saving._values import Decoder, Encoder

if TYPE_CHECKING:
    from fairpca.baselines import MomentMethod

COMMON = (
    *("n_features_in_", "n_components_", "n_live_components_", "n_samples_", "components_", "mean_", "scale_"),
    *("constant_features_", "singular_values_", "explained_variance_", "explained_variance_ratio_"),
)
"""What every linear map learns."""

OBLIQUE, ORTHOGONAL = {"axes_": ARRAY}, {"noise_variance_": FLOAT}
SOLVED = {"duality_gap_": FLOAT, "converged_": TRUTH, "n_iter_": whole(0)}
OWN: dict[str, dict[str, Kind]] = {
    "AugmentedPCA": OBLIQUE,
    "LEACE": OBLIQUE,
    "SPLINCE": OBLIQUE,
    "ClosedFormFairPCA": ORTHOGONAL,
    "FPCA": ORTHOGONAL
    | SOLVED
    | {"objective_": FLOAT, "rounded_objective_": FLOAT, "tied_": TRUTH}
    | {"projection_matrix_": ARRAY, "eigenvalues_": ARRAY, "eigenvectors_": ARRAY},
    "ReconstructionFairPCA": ORTHOGONAL
    | SOLVED
    | {"groups_": ARRAY, "group_losses_": ARRAY, "mixture_weights_": ARRAY, "mixture_weight_": FLOAT},
}
"""What else a method learns, by the name of its class."""

PARAMETER = Kind(
    "a text, a number, true, false, or a table of texts",
    lambda v: isinstance(v, str | bool | dict) or is_number(v),
)


def map_to_archive(model: "MomentMethod") -> Archive:
    """Return a fitted method as a document and arrays, which a reader of `MAP_READERS` can read.

    Parameters
    ----------
    model : MomentMethod
        A fitted method of `fairpca.baselines`.
    """
    from fairpca import baselines

    check_is_fitted(model)
    name = type(model).__name__
    if getattr(baselines, name, None) is not type(model):
        raise TypeError(f"a model file holds methods of this package; a {name} would not come back as one.")
    learning, choosing = Encoder(FIT_AGAIN), Encoder(SET_ANOTHER, "parameters.")
    learned = [each for each in _learned(name) | OPTIONAL if hasattr(model, each)]
    document = {
        "kind": name,
        "parameters": {each: choosing.encode(value, each) for each, value in model.get_params(deep=False).items()},
        "learned": {each: learning.encode(getattr(model, each), each) for each in learned},
        "output": getattr(model, "_sklearn_output_config", {}).get("transform"),
    }
    arrays = learning.arrays | choosing.arrays
    # What cannot be loaded must not be saved.
    map_from_archive(document, arrays, name)
    return document, arrays


def map_from_archive(document: dict[str, Any], arrays: Mapping[str, AnyArray], name: str) -> "MomentMethod":
    """Return the fitted method that a document and arrays hold; anything else is a ValueError.

    Parameters
    ----------
    document : dict
        What `map_to_archive` gave.
    arrays : mapping of str to ndarray
        Its arrays, and no others.
    name : str
        Of the class.
    """
    from fairpca import baselines

    check_fields("the document", document, DOCUMENT)
    decoder = Decoder(arrays)
    parameters, learned = decoder.decode(document["parameters"]), decoder.decode(document["learned"])
    decoder.check_all_used()
    method = getattr(baselines, name)
    check_fields("parameters", parameters, dict.fromkeys(method().get_params(), PARAMETER))
    check_fields("what was learned", learned, kinds_of(learned, _learned(name)))
    check_map(learned)
    if "axes_" in learned:
        check_array(learned, "axes_", learned["components_"].shape)
    model: MomentMethod = method(**parameters)
    try:
        model._check_parameters()
        check_n_components(model.n_components, learned["n_features_in_"])
    except TypeError as error:
        raise ValueError(str(error)) from None
    for each, value in learned.items():
        setattr(model, each, value)
    if document["output"] is not None:
        model.set_output(transform=document["output"])
    return model


def _learned(name: str) -> dict[str, Kind]:
    return {each: LEARNED[each] for each in COMMON} | OWN[name]


MAP_READERS: dict[str, Callable[[dict[str, Any], Mapping[str, AnyArray]], Any]] = {
    name: partial(map_from_archive, name=name) for name in OWN
}
