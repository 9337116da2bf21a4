"""A certified release as a document and arrays, and back."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.schema import (
    NAMES,
    NUMBER,
    PROBABILITY,
    TABLE,
    TABLES,
    TEXT,
    Kind,
    check_fields,
    is_number,
    list_of,
    whole,
)
from fairpca._utils.typing import AnyArray
from fairpca.saving._archive import Archive
from fairpca.saving._values import Decoder, Encoder, check_array

if TYPE_CHECKING:
    from fairpca.release import BoostedTrees, Release, TaskScores

KIND = "Release"
DOCUMENT = {"kind": TEXT, "parameters": TABLE, "certificate": TABLE, "level": NUMBER, "n_features": whole(1)}
OPTIONAL = {"feature_names": NAMES, "labels": list_of("two texts or more", TEXT, least=2)}
OF_PLACES = ("centres", "values", "masses", "levels")
OF_TREES = ("baseline", "features", "thresholds", "values")
OF_PARAMETERS = "parameters."
OF_PEOPLE = ("release", "key_check", "ledger")

CERTIFICATE = {
    **dict.fromkeys(("upper_bound", "confidence"), PROBABILITY),
    "measures": TABLES,
    **dict.fromkeys(("slack_kind", "notion"), TEXT),
    **dict.fromkeys(("n_rows", "n_levels"), whole(1)),
}
MEASURE = {
    **dict.fromkeys(("name", "attribute", "among"), TEXT),
    "n_rows": whole(1),
    "sides": Kind("two numbers of rows", lambda v: isinstance(v, tuple) and all(whole(1).fits(n) for n in v)),
    "slack": Kind("a number of at least 0", lambda value: is_number(value) and value >= 0),
    **dict.fromkeys(("distance", "upper_bound", "accuracy"), PROBABILITY),
}


def release_to_archive(release: "Release") -> Archive:
    """Return a certified release as a document and arrays.

    They hold nothing of single rows of the fit. Of noise they hold keyed digests of the people that were released and
    of their numbers, which say nothing to anyone without the key, and a digest of the key.

    Parameters
    ----------
    release : Release
        With a certificate.
    """
    from fairpca.release import Release

    check_is_fitted(release, "levels_")
    if type(release) is not Release:
        raise ValueError(f"a model file holds a Release, and none of a class of one's own: {type(release).__name__}.")
    if not hasattr(release, "certificate_"):
        raise ValueError("this release has no certificate, and from a file it cannot get one: call certify() first.")
    encoder = Encoder("Change it with release.set_params({}=...).", OF_PARAMETERS)
    chosen = release.get_params(deep=False)
    if chosen["attribute_error"] is None:
        del chosen["attribute_error"]
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
    if release.kind == "noise":
        own: dict[str, AnyArray] = dict(release._people.to_arrays())
    else:
        own = {name: getattr(release.places_, name) for name in OF_PLACES}
    if release.kind == "task" and release.places_.scores is not None:
        document["labels"] = list(release.places_.labels)
        scores = release.places_.scores
        for k, model in enumerate(scores.models):
            own |= {f"trees{k}.{name}": getattr(model, name) for name in OF_TREES}
        own["quantiles"] = scores.quantiles
    arrays = encoder.arrays | own
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
    from fairpca.release import AnyClassifierBound, Release

    check_fields("the document", document, DOCUMENT, OPTIONAL)
    of_parameters = {name: array for name, array in arrays.items() if name.startswith(OF_PARAMETERS)}
    own = {name: array for name, array in arrays.items() if name not in of_parameters}
    decoder = Decoder(of_parameters)
    parameters, certificate = decoder.decode(document["parameters"]), decoder.decode(document["certificate"])
    decoder.check_all_used()
    if not isinstance(parameters, dict) or not set(parameters) <= set(Release().get_params()):
        raise ValueError("its parameters are not those of a release.")
    if not isinstance(certificate, dict):
        raise ValueError("its certificate is no table.")
    check_fields("the certificate", certificate, CERTIFICATE)
    for measure in certificate["measures"]:
        check_fields("a measure", measure, MEASURE)
    release = Release(**parameters)
    try:
        release._checked_terms()
    except TypeError as error:
        raise ValueError(str(error)) from None
    release.n_features_in_, release.level_ = document["n_features"], document["level"]
    if release.kind == "noise":
        _put_noise(release, own)
    else:
        _put_cells(release, own, document.get("labels"))
    if release.level_ not in release.levels_:
        raise ValueError(f"its level {release.level_:g} is none of its levels.")
    release.certificate_, release._seen_rows = AnyClassifierBound(**certificate), None
    if "feature_names" in document:
        if len(document["feature_names"]) != release.n_features_in_:
            raise ValueError(f"it has {len(document['feature_names'])} names of {release.n_features_in_} features.")
        release.feature_names_in_ = np.array(document["feature_names"], dtype=object)
    return release


def _put_noise(release: "Release", arrays: Mapping[str, AnyArray]) -> None:
    from fairpca.release import PeopleNoise

    if set(arrays) != set(OF_PEOPLE) or any(a.dtype != np.int64 or a.ndim != 1 for a in arrays.values()):
        raise ValueError("it is no release with noise: arrays are missing, or are not digests.")
    if not release.level_ > 0.0:
        raise ValueError("its level of noise is not above 0.")
    release._people, release.levels_ = PeopleNoise.from_arrays(dict(arrays)), np.array([release.level_])


def _put_cells(release: "Release", arrays: Mapping[str, AnyArray], labels: list[str] | None) -> None:
    from fairpca.release import Places

    if (release.kind == "task") != (labels is not None):
        raise ValueError("labels belong to a release for a task, and to no other.")
    if missing := [name for name in OF_PLACES if name not in arrays]:
        raise ValueError(f"it is no release of cells: the arrays {', '.join(missing)} are missing.")
    places = {name: arrays[name] for name in OF_PLACES}
    rest = {name: array for name, array in arrays.items() if name not in OF_PLACES}
    scores, n_scores, n_values = None, release.n_features_in_, release.n_features_in_
    if labels is not None:
        scores = _scores(rest, release.n_features_in_, len(labels))
        n_scores, n_values = len(scores.quantiles), len(labels) - 1
    elif rest:
        raise ValueError(f"it has arrays that no release of cells has: {', '.join(rest)}.")
    _check_places(places, n_scores, n_values)
    release.places_ = Places(**places, scores=scores, labels=tuple(labels or ()))
    release.levels_ = release.places_.levels.max(axis=1) + 1.0


def _check_places(arrays: Mapping[str, AnyArray], n_scores: int, n_values: int) -> None:
    k, n_levels = (max(1, len(np.atleast_1d(arrays[name]))) for name in ("masses", "levels"))
    check_array("centres", arrays["centres"], (k, n_scores))
    check_array("values", arrays["values"], (k, n_values))
    check_array("masses", arrays["masses"], (k,), least=0.0)
    check_array("levels", arrays["levels"], (n_levels, k), np.int64)
    if any(set(cells) != set(range(len(set(cells)))) for cells in arrays["levels"].tolist()):
        raise ValueError("the cells of its levels are not numbered from 0.")


def _scores(arrays: Mapping[str, AnyArray], n_features: int, n_labels: int) -> "TaskScores":
    from fairpca.release import BoostedTrees, TaskScores

    n_models = (len(arrays) - 1) // len(OF_TREES)
    wanted = {f"trees{k}.{name}" for k in range(n_models) for name in OF_TREES} | {"quantiles"}
    if set(arrays) != wanted or n_models < 2:
        raise ValueError("it is no release for a task: arrays are missing, or it has others.")
    models = [BoostedTrees(**{name: arrays[f"trees{k}.{name}"] for name in OF_TREES}) for k in range(n_models)]
    for model in models:
        _check_trees(model, n_features)
    quantiles, n_scores = arrays["quantiles"], sum(model.n_classes - 1 for model in models)
    if models[0].n_classes != n_labels or quantiles.ndim != 2 or quantiles.shape[0] != n_scores or not quantiles.size:
        raise ValueError("its models, labels and quantiles do not belong together.")
    if quantiles.dtype != np.float64 or not np.all(np.diff(quantiles, axis=1) >= 0.0):
        raise ValueError("its quantiles do not increase.")
    return TaskScores(models, quantiles)


def _check_trees(model: "BoostedTrees", n_features: int) -> None:
    n_trees, n_nodes = model.features.shape if model.features.ndim == 2 else (0, 0)
    if (n_nodes + 1) & n_nodes:
        raise ValueError("its trees are not whole.")
    check_array("baseline", model.baseline, (max(1, model.baseline.size),))
    check_array("features", model.features, (n_trees, n_nodes), np.int64, least=0, most=n_features - 1)
    # Infinite where a tree ends before.
    check_array("thresholds", model.thresholds, (n_trees, n_nodes), least=-np.inf, most=np.inf)
    check_array("values", model.values, (n_trees, n_nodes + 1))
