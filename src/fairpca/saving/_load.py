"""Models from files: which readers there are; a model for tables as a document and arrays, and back."""
# SPDX-License-Identifier: MIT

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_name
from fairpca._utils.schema import TABLE, TEXT, Kind, check_fields, whole
from fairpca._utils.typing import AnyArray
from fairpca.saving import _fair_pca, _release
from fairpca.saving._archive import Archive, naming, read_archive
from fairpca.saving._fair_pca import fair_pca_from_archive, fair_pca_to_archive
from fairpca.saving._map import MAP_READERS
from fairpca.saving._release import release_from_archive, release_to_archive
from fairpca.tables import Roles, TableEncoder, TableOptions

if TYPE_CHECKING:
    from fairpca.table_model import HeldOut, TableModel

KIND = "TableModel"

TABLE_OR_NULL = Kind("a table or null", lambda value: value is None or isinstance(value, dict))

WITH_RELEASE = {"release": TABLE}
OF_RELEASE = "release."
"""Before the names of the arrays of a release."""

NAMES = Kind("a list of texts", lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value))
NAME_OR_NULL = Kind("a text or null", lambda value: value is None or isinstance(value, str))
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
SHARE = Kind("a share of the rows", lambda value: isinstance(value, float) and 0 <= value < 1)

DOCUMENT = {
    "kind": TEXT,
    "encoder": TABLE,
    "model": TABLE,
    "roles": TABLE_OR_NULL,
    "held_out": TABLE_OR_NULL,
    "options": TABLE_OR_NULL,
}

ROLES = {
    "sensitive": NAMES,
    "label": NAME_OR_NULL,
    "control": NAMES,
    "weight": NAME_OR_NULL,
    "drop": NAMES,
    "keep_sensitive": FLAG,
}
HELD_OUT = {"share": SHARE, "random_state": whole(0, 2**32 - 1)}
OPTIONS = {
    "missing": TEXT,
    "categories": NAMES,
    "numbers": NAMES,
    "most_categories": whole(2),
    "missing_values": NAMES,
}


def table_model_to_archive(model: "TableModel") -> Archive:
    """Return a fitted model for tables as a document and arrays.

    Parameters
    ----------
    model : TableModel
        A fitted model.
    """
    check_is_fitted(model)
    inner, arrays = fair_pca_to_archive(model.model_)
    document = {
        "kind": KIND,
        "encoder": model.encoder.to_dict(),
        "model": inner,
        "roles": None if model.roles is None else _plain(asdict(model.roles)),
        "held_out": None if model.held_out is None else asdict(model.held_out),
        "options": None if model.options is None else _plain(asdict(model.options)),
    }
    if model.release_ is not None:
        document["release"], of_release = release_to_archive(model.release_)
        arrays = arrays | {f"{OF_RELEASE}{name}": array for name, array in of_release.items()}
    table_model_from_archive(document, arrays)
    return document, arrays


def table_model_from_archive(document: dict[str, Any], arrays: Mapping[str, AnyArray]) -> "TableModel":
    """Return the fitted model that a document and arrays hold; anything else is a ValueError.

    Parameters
    ----------
    document : dict
        What `table_model_to_archive` gave.
    arrays : mapping of str to ndarray
        Its arrays, and no others.
    """
    from fairpca.table_model import TableModel

    check_fields("the document", document, DOCUMENT | (WITH_RELEASE if "release" in document else {}))
    encoder = TableEncoder.from_dict(document["encoder"])
    own, of_release = _parted(arrays) if "release" in document else (arrays, {})
    fitted = fair_pca_from_archive(document["model"], own)
    release = release_from_archive(document["release"], of_release) if "release" in document else None
    known = _roles(document["roles"]), _held_out(document["held_out"]), _options(document["options"])
    return TableModel.of_fitted(encoder, fitted, *known, release)


def _parted(arrays: Mapping[str, AnyArray]) -> tuple[dict[str, AnyArray], dict[str, AnyArray]]:
    """Return the arrays of a model, and of its release."""
    own = {name: array for name, array in arrays.items() if not name.startswith(OF_RELEASE)}
    others = {name.removeprefix(OF_RELEASE): array for name, array in arrays.items() if name not in own}
    return own, others


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _roles(fields: dict[str, Any] | None) -> Roles | None:
    if fields is None:
        return None
    check_fields("roles", fields, ROLES)
    return Roles(**fields)


def _held_out(fields: dict[str, Any] | None) -> "HeldOut | None":
    from fairpca.table_model import HeldOut

    if fields is None:
        return None
    check_fields("held_out", fields, HELD_OUT)
    return HeldOut(**fields)


def _options(fields: dict[str, Any] | None) -> TableOptions | None:
    if fields is None:
        return None
    check_fields("options", fields, OPTIONS | ({"dates": NAMES} if "dates" in fields else {}))
    return TableOptions(**fields)


READERS: dict[str, Callable[[dict[str, Any], Mapping[str, AnyArray]], Any]] = {
    _fair_pca.KIND: _fair_pca.fair_pca_from_archive,
    _release.KIND: _release.release_from_archive,
    KIND: table_model_from_archive,
    **MAP_READERS,
}
"""Who makes a model of a document and arrays, by the kind that the document names."""


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted model from a file that `save` or `fairpca fit` has written; nothing in the file is run.

    Files of strangers may be loaded: a file that is not a whole model, as it was written, is refused before anything
    is made of it. Whether a model is fair is another question, see `fairpca.audit`.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : FairPCA, TableModel, Release or a method of `fairpca.baselines`
        The model, one of `fairpca fit` with its way from tables to numbers: `transform` gives the same numbers, to the
        last bit.

    Raises
    ------
    fairpca.exceptions.ModelFileError
        Where the file holds no model that this version can read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import fairpca
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.normal(size=(100, 4)), np.repeat(["a", "b"], 50)
    >>> model = fairpca.FairPCA(2).fit(X, sensitive_features=group)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.fairpca")
    ...     loaded = fairpca.load(Path(folder) / "model.fairpca")
    >>> np.array_equal(loaded.transform(X), model.transform(X))
    True
    """
    document, arrays = read_archive(path)
    with naming(path):
        return READERS[check_name("kind", document["kind"], READERS)](document, arrays)
