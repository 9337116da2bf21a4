"""Models from files: which readers there are; a model for tables as a document and arrays, and back."""
# SPDX-License-Identifier: MIT

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_name
from fairpca._utils.schema import FLAG, NAMES, TABLE, TEXT, Kind, check_fields, or_null, whole
from fairpca._utils.typing import AnyArray
from fairpca.saving import _release
from fairpca.saving._archive import Archive, naming, read_archive
from fairpca.saving._estimators import OWN, from_archive, to_archive
from fairpca.saving._release import release_from_archive, release_to_archive
from fairpca.tables import Roles, TableEncoder, TableOptions

if TYPE_CHECKING:
    from fairpca.table_model import TableModel

KIND = "TableModel"

OF_RELEASE = "release."
"""Before the names of the arrays of a release."""

DOCUMENT = {
    **{"kind": TEXT, "encoder": TABLE, "model": TABLE},
    **dict.fromkeys(("roles", "held_out", "options"), or_null(TABLE)),
}
ROLES = {
    **dict.fromkeys(("sensitive", "control", "drop"), NAMES),
    **dict.fromkeys(("label", "weight"), or_null(TEXT)),
    "keep_sensitive": FLAG,
}
HELD_OUT = {
    "share": Kind("a share of the rows", lambda value: isinstance(value, float) and 0 <= value < 1),
    "random_state": whole(0, 2**32 - 1),
}
OPTIONS = {
    "missing": TEXT,
    "most_categories": whole(2),
    **dict.fromkeys(("categories", "numbers", "missing_values"), NAMES),
}


def table_model_to_archive(model: "TableModel") -> Archive:
    """Return a fitted model for tables as a document and arrays.

    Parameters
    ----------
    model : TableModel
        A fitted model.
    """
    check_is_fitted(model)
    inner, arrays = to_archive(model.model_)
    said = {name: getattr(model, name) for name in ("roles", "held_out", "options")}
    document = {
        **{"kind": KIND, "encoder": model.encoder.to_dict(), "model": inner},
        **{name: None if value is None else _plain(asdict(value)) for name, value in said.items()},
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
    from fairpca.table_model import HeldOut, TableModel

    check_fields("the document", document, DOCUMENT, {"release": TABLE})
    encoder = TableEncoder.from_dict(document["encoder"])
    has_release = "release" in document
    of_release = {name: array for name, array in arrays.items() if has_release and name.startswith(OF_RELEASE)}
    fitted = from_archive(document["model"], {name: arrays[name] for name in arrays if name not in of_release})
    own = {name.removeprefix(OF_RELEASE): array for name, array in of_release.items()}
    release = release_from_archive(document["release"], own) if has_release else None
    known: dict[str, Any] = {}
    for name, kind, fields, later in (
        ("roles", Roles, ROLES, {}),
        ("held_out", HeldOut, HELD_OUT, {}),
        ("options", TableOptions, OPTIONS, {"dates": NAMES}),
    ):
        if document[name] is not None:
            check_fields(name, document[name], fields, later)
            known[name] = kind(**document[name])
    return TableModel.of_fitted(encoder, fitted, **known, release=release)


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


READERS: dict[str, Callable[[dict[str, Any], Mapping[str, AnyArray]], Any]] = {
    **{name: partial(from_archive, name=name) for name in OWN},
    _release.KIND: release_from_archive,
    KIND: table_model_from_archive,
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
