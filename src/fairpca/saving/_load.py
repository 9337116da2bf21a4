"""Models from files."""
# SPDX-License-Identifier: MIT

import os
from collections.abc import Callable, Mapping
from typing import Any

from fairpca._utils.checks import check_name
from fairpca._utils.typing import AnyArray
from fairpca.saving import _fair_pca, _release, _table_model
from fairpca.saving._archive import naming, read_archive

READERS: dict[str, Callable[[dict[str, Any], Mapping[str, AnyArray]], Any]] = {
    _fair_pca.KIND: _fair_pca.fair_pca_from_archive,
    _release.KIND: _release.release_from_archive,
    _table_model.KIND: _table_model.table_model_from_archive,
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
    model : FairPCA, TableModel or Release
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
