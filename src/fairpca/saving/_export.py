"""Projections for other tools: scikit-learn and ONNX."""
# SPDX-License-Identifier: MIT

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.checks import check_name
from fairpca._utils.extras import require
from fairpca._utils.files import writing

if TYPE_CHECKING:
    from fairpca.estimator import FairPCA

TENSORS = {"float32": "FloatTensorType", "float64": "DoubleTensorType"}


def pca_of(model: "FairPCA") -> PCA | Pipeline:
    """Return estimators of scikit-learn that project as a fitted model does.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    """
    check_is_fitted(model)
    # By the scales, too: `standardize` is for the next fit.
    if not model.standardize and np.all(model.scale_ == 1.0):
        return _named(_pca(model, model.mean_), model)
    # As after a fit of the pipeline: the scaler has centred the rows that PCA sees.
    steps = [("scale", _named(_scaler(model), model)), ("pca", _pca(model, np.zeros_like(model.mean_)))]
    return Pipeline(steps)


def write_onnx(model: "FairPCA", path: str | os.PathLike[str], dtype: str) -> None:
    """Write a fitted model as an ONNX graph from X to Z.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    path : path
        Where to.
    dtype : {"float32", "float64"}
        Of both.
    """
    check_is_fitted(model)
    check_name("dtype", dtype, TENSORS)
    skl2onnx = require("skl2onnx", "onnx")
    tensor = getattr(require("skl2onnx.common.data_types", "onnx"), TENSORS[dtype])
    graph = skl2onnx.convert_sklearn(
        pca_of(model),
        name="FairPCA",
        initial_types=[("X", tensor([None, model.n_features_in_]))],
        final_types=[("Z", tensor([None, model.n_components_]))],
    )
    with writing(Path(path)) as temporary:
        temporary.write_bytes(graph.SerializeToString())


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
