"""A certified release of rows to places as a document and arrays, and back."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.schema import NUMBER, TABLE, TEXT, Kind, check_fields, is_number, whole
from fairpca._utils.typing import AnyArray
from fairpca.saving._archive import Archive
from fairpca.saving._values import Decoder, Encoder

if TYPE_CHECKING:
    from fairpca.release import Release

KIND = "Release"
DOCUMENT = {"kind": TEXT, "parameters": TABLE, "certificate": TABLE, "level": NUMBER, "n_features": whole(1)}
NAMED = {"feature_names": Kind("a list of texts", lambda v: isinstance(v, list) and all(isinstance(n, str) for n in v))}
ARRAYS = ("centres", "values", "masses", "levels")

SHARE = Kind("a number between 0 and 1", lambda value: is_number(value) and 0 <= value <= 1)
CERTIFICATE = {
    "upper_bound": SHARE,
    "confidence": SHARE,
    "measures": Kind("a list of tables", lambda v: isinstance(v, list) and all(isinstance(each, dict) for each in v)),
    "slack_kind": TEXT,
    "notion": TEXT,
    "n_rows": whole(1),
    "n_levels": whole(1),
}
MEASURE = {
    "name": TEXT,
    "attribute": TEXT,
    "among": TEXT,
    "n_rows": whole(1),
    "sides": Kind("two numbers of rows", lambda v: isinstance(v, tuple) and all(whole(1).fits(n) for n in v)),
    "distance": SHARE,
    "slack": Kind("a number of at least 0", lambda value: is_number(value) and value >= 0),
    "upper_bound": SHARE,
    "accuracy": SHARE,
}


def release_to_archive(release: "Release") -> Archive:
    """Return a certified release of the kind "cells" as a document and arrays, without anything of single rows.

    Parameters
    ----------
    release : Release
        With a certificate.
    """
    from fairpca.release import Release

    check_is_fitted(release, "levels_")
    if type(release) is not Release or release.kind != "cells":
        raise ValueError(
            f'a model file holds a Release with kind="cells"; got kind={getattr(release, "kind", None)!r}, whose '
            "boosted models, or ledger of people and secret key, have no place in it."
        )
    if not hasattr(release, "certificate_"):
        raise ValueError("this release has no certificate, and from a file it cannot get one: call certify() first.")
    encoder = Encoder("Change it with release.set_params({}=...).", "parameters.")
    chosen = release.get_params(deep=False)
    if not (chosen["random_state"] is None or isinstance(chosen["random_state"], int | np.integer)):
        chosen["random_state"] = None
    document = {
        "kind": KIND,
        "parameters": {name: encoder.encode(value, name) for name, value in chosen.items()},
        "certificate": encoder.encode(asdict(release.certificate_), "certificate"),
        "level": float(release.level_),
        "n_features": int(release.n_features_in_),
    }
    if hasattr(release, "feature_names_in_"):
        document["feature_names"] = [str(name) for name in release.feature_names_in_]
    arrays = encoder.arrays | {name: getattr(release.places_, name) for name in ARRAYS}
    # What cannot be loaded must not be saved.
    release_from_archive(document, arrays)
    return document, arrays


def release_from_archive(document: dict[str, Any], arrays: Mapping[str, AnyArray]) -> "Release":
    """Return the certified release that a document and arrays hold; anything else is a ValueError.

    Parameters
    ----------
    document : dict
        What `release_to_archive` gave.
    arrays : mapping of str to ndarray
        Its arrays, and no others.
    """
    from fairpca.release import AnyClassifierBound, Places, Release

    check_fields("the document", document, DOCUMENT | (NAMED if "feature_names" in document else {}))
    own = {name: array for name, array in arrays.items() if name in ARRAYS}
    decoder = Decoder({name: array for name, array in arrays.items() if name not in ARRAYS})
    parameters, certificate = decoder.decode(document["parameters"]), decoder.decode(document["certificate"])
    decoder.check_all_used()
    unknown = [name for name in parameters if name not in Release().get_params()]
    if unknown or parameters.get("kind") != "cells" or len(own) != len(ARRAYS):
        raise ValueError(f"it is no release of cells: {', '.join(unknown) or 'parameters or arrays are missing'}.")
    check_fields("the certificate", certificate, CERTIFICATE)
    for measure in certificate["measures"]:
        check_fields("a measure", measure, MEASURE)
    _check_arrays(own, document["n_features"])
    release = Release(**parameters)
    release._checked_terms()
    release.places_ = Places(**own)
    release.levels_ = own["levels"].max(axis=1) + 1.0
    if document["level"] not in release.levels_:
        raise ValueError(f"its level {document['level']:g} is none of its levels.")
    release.level_, release.n_features_in_ = document["level"], document["n_features"]
    release.certificate_, release._seen_rows = AnyClassifierBound(**certificate), None
    if "feature_names" in document:
        if len(document["feature_names"]) != release.n_features_in_:
            raise ValueError(f"it has {len(document['feature_names'])} names of {release.n_features_in_} features.")
        release.feature_names_in_ = np.array(document["feature_names"], dtype=object)
    return release


def _check_arrays(arrays: Mapping[str, AnyArray], n_features: int) -> None:
    k = len(arrays["masses"]) if arrays["masses"].ndim == 1 else 0
    shapes = {"centres": (k, n_features), "values": (k, n_features), "masses": (k,)}
    if k < 1 or any(arrays[name].shape != shape or arrays[name].dtype != np.float64 for name, shape in shapes.items()):
        raise ValueError("its centres, values and masses do not belong together.")
    if not all(np.isfinite(arrays[name]).all() for name in shapes) or arrays["masses"].min() < 0:
        raise ValueError("its places hold numbers that no fit gives.")
    levels = arrays["levels"]
    if levels.ndim != 2 or levels.dtype != np.int64 or levels.shape[1] != k or not len(levels):
        raise ValueError("its levels do not belong to its places.")
    if any(set(cells) != set(range(len(set(cells)))) for cells in levels.tolist()):
        raise ValueError("the cells of its levels are not numbered from 0.")
