"""The ways in which a fitted model leaves Python: files, scikit-learn and ONNX."""
# SPDX-License-Identifier: MIT

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_name
from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca._utils.schema import Kind, check_fields, whole
from fairpca.rows import SeenRows
from fairpca.saving._archive import naming, read_archive, write_archive
from fairpca.saving._estimators import to_archive

if TYPE_CHECKING:
    from fairpca.estimator import FairPCA

TENSORS = {"float32": "FloatTensorType", "float64": "DoubleTensorType"}


def _pca(model: "FairPCA", mean: Any) -> PCA:
    pca = PCA(n_components=model.n_components_)
    # Zeros for components without variance and for constant columns, as in `transform`.
    pca.components_, pca.mean_ = model._live_rows, mean.copy()
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(pca, name, getattr(model, name).copy())
    pca.noise_variance_, pca.n_components_ = model.noise_variance_, model.n_components_
    pca.n_samples_, pca.n_features_in_ = model.n_samples_, model.n_features_in_
    return pca


def _scaler(model: "FairPCA") -> StandardScaler:
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = model.mean_.copy(), model.scale_.copy()
    with np.errstate(over="ignore", under="ignore"):
        scaler.var_ = np.where(model.constant_features_, 0.0, model.scale_**2)
    scaler.n_samples_seen_, scaler.n_features_in_ = model.n_samples_, model.n_features_in_
    return scaler


def _named(estimator: Any, model: "FairPCA") -> Any:
    if hasattr(model, "feature_names_in_"):
        estimator.feature_names_in_ = model.feature_names_in_.copy()
    return estimator


class Portable:
    """What `FairPCA` can do to leave Python: files without pickle, scikit-learn's own classes, ONNX."""

    def save(self, path: str | os.PathLike[str], *, rows: str | os.PathLike[str] | None = None) -> None:
        """Write the fitted model to a file that `fairpca.load` reads.

        The file is a zip archive of one JSON document and plain arrays, and nothing in it can be run. It is written in
        one step, and the same model gives the same bytes.

        Parameters
        ----------
        path : path
            Where to; names that end in ``.fairpca`` tell what the file is.
        rows : path, default=None
            Where to write hashes of the rows of the fit, 8 bytes a row, for `fitted_rows` of audits. Whoever has that
            file can test whether a row was in the fit: keep it, and hand on the model alone.

        Notes
        -----
        Everything that was learned is kept, and all parameters but two, which are for the next fit alone: `callback`
        is None in the loaded model, and so is a `random_state` that is a generator and not a number. What metadata
        scikit-learn is to route to `fit` is not kept either. A notion or a solver of your own is refused.

        Examples
        --------
        See `fairpca.load`.
        """
        write_archive(path, *to_archive(cast("FairPCA", self)))
        if rows is not None:
            save_rows(self, rows)

    def to_pca(self) -> PCA | Pipeline:
        """Return fitted estimators of scikit-learn that project rows alike.

        Returns
        -------
        pca : PCA or Pipeline
            With `standardize=False` a `sklearn.decomposition.PCA`. With `standardize=True` a pipeline of a
            `StandardScaler` and such a `PCA`, which scales no columns itself; its step "pca" has the components, in the
            scaled units. `transform` and `inverse_transform` agree with those of this model up to rounding;
            components without variance are exactly 0 here, too.

        Examples
        --------
        >>> import numpy as np
        >>> from fairpca import FairPCA
        >>> rng = np.random.default_rng(0)
        >>> X, group = rng.normal(size=(100, 4)), np.repeat(["a", "b"], 50)
        >>> model = FairPCA(2).fit(X, sensitive_features=group)
        >>> pipeline = model.to_pca()
        >>> np.allclose(pipeline.transform(X), model.transform(X), rtol=0, atol=1e-12)
        True
        """
        model = cast("FairPCA", self)
        check_is_fitted(model)
        # By the scales, too: `standardize` is for the next fit.
        if not model.standardize and np.all(model.scale_ == 1.0):
            return _named(_pca(model, model.mean_), model)
        # As after a fit of the pipeline: the scaler has centred the rows that PCA sees.
        steps = [("scale", _named(_scaler(model), model)), ("pca", _pca(model, np.zeros_like(model.mean_)))]
        return Pipeline(steps)

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float64") -> None:
        """Write the projection as an ONNX graph, for runtimes without Python; needs ``pip install 'fairpca[onnx]'``.

        Parameters
        ----------
        path : path
            Where to.
        dtype : {"float64", "float32"}, default="float64"
            Type of the input "X", of shape (n, n_features), and of the output "Z", of shape (n, n_components). In
            float32 columns whose means are far from 0 lose digits before they are centred.
        """
        model = cast("FairPCA", self)
        check_is_fitted(model)
        check_name("dtype", dtype, TENSORS)
        skl2onnx = require("skl2onnx", "onnx")
        tensor = getattr(require("skl2onnx.common.data_types", "onnx"), TENSORS[dtype])
        graph = skl2onnx.convert_sklearn(
            self.to_pca(),
            name="FairPCA",
            initial_types=[("X", tensor([None, model.n_features_in_]))],
            final_types=[("Z", tensor([None, model.n_components_]))],
        )
        with writing(Path(path)) as temporary:
            temporary.write_bytes(graph.SerializeToString())


# The hashes of the rows of a fit, in a file of their own that stays beside the model and is not handed on with it

ROWS = "SeenRows"

ROWS_DOCUMENT = {
    "kind": Kind(repr(ROWS), lambda value: value == ROWS),
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
    document = {"kind": ROWS, "key": seen.key.hex(), "n_rows": seen.n_rows}
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
        check_fields("the document", document, ROWS_DOCUMENT)
        hashes = arrays.get("hashes", np.zeros(0))
        if len(arrays) != 1 or hashes.ndim != 1 or hashes.dtype != np.int64:
            raise ValueError("it holds no hashes of rows.")
        sorted_hashes = hashes.view(np.uint64)
        if not 0 < len(hashes) <= document["n_rows"] or np.any(sorted_hashes[1:] < sorted_hashes[:-1]):
            raise ValueError("its hashes are not those of a fit.")
        return SeenRows(bytes.fromhex(document["key"]), sorted_hashes, document["n_rows"])
