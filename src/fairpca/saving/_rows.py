"""The hashes of the rows of a fit in a file of their own, which stays beside the model and is not handed on with it."""
# SPDX-License-Identifier: MIT

import os
import re
from typing import Any

import numpy as np

from fairpca._utils.schema import Kind, check_fields, whole
from fairpca.rows import SeenRows
from fairpca.saving._archive import naming, read_archive, write_archive

KIND = "SeenRows"

DOCUMENT = {
    "kind": Kind(repr(KIND), lambda value: value == KIND),
    "key": Kind("32 hexadecimal digits", lambda value: re.fullmatch("[0-9a-f]{32}", str(value)) is not None),
    "n_rows": whole(2),
}


def rows_beside(path: str | os.PathLike[str]) -> str:
    """Return where the hashes of the rows of a model are: beside it, under its name with .rows behind.

    Parameters
    ----------
    path : path
        The model.
    """
    return f"{os.fspath(path)}.rows"


def save_rows(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the hashes of the rows that a model was fitted to, 8 bytes a row.

    Parameters
    ----------
    model : FairPCA
        A model that was fitted and not loaded.
    path : path
        Where to, for its owner alone: whoever has the file can test whether a row was in the fit.
    """
    seen = getattr(model, "_seen_rows", None)
    if seen is None:
        raise ValueError("this model does not know the rows of its fit, for it was loaded: copy the file beside it.")
    document = {"kind": KIND, "key": seen.key.hex(), "n_rows": seen.n_rows}
    write_archive(path, document, {"hashes": seen.hashes.view(np.int64)})
    os.chmod(path, 0o600)


def load_rows(path: str | os.PathLike[str]) -> SeenRows:
    """Read the hashes of the rows of a fit.

    Parameters
    ----------
    path : path
        What `save_rows` has written.
    """
    document, arrays = read_archive(path)
    with naming(path):
        check_fields("the document", document, DOCUMENT)
        hashes = arrays.get("hashes", np.zeros(0))
        if len(arrays) != 1 or hashes.ndim != 1 or hashes.dtype != np.int64:
            raise ValueError("it holds no hashes of rows.")
        sorted_hashes = hashes.view(np.uint64)
        if not 0 < len(hashes) <= document["n_rows"] or np.any(sorted_hashes[1:] < sorted_hashes[:-1]):
            raise ValueError("its hashes are not those of a fit.")
        return SeenRows(bytes.fromhex(document["key"]), sorted_hashes, document["n_rows"])
