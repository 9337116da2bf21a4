"""A fitted projection as estimators of scikit-learn and as an ONNX graph."""
# SPDX-License-Identifier: MIT

import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from people_tables import people

X, KNOWN = people(n=300)
OFFSET = X * [1, 10, 0.1, 1, 1, 1, 1, 1] + 50.0
SEX = {"sensitive_features": KNOWN["sex"]}
MODELS = {
    "standardized": lambda standardize: FairPCA(3, tolerance=1e-2, standardize=standardize).fit(OFFSET, **SEX),
    "null": lambda standardize: FairPCA(3, tolerance=1e-2, standardize=standardize).fit(OFFSET[:, [0, 1, 0, 1]], **SEX),
    "constant": lambda standardize: FairPCA(2, tolerance=1e-2, standardize=standardize).fit(
        np.column_stack([OFFSET, np.full(len(OFFSET), 0.1)]), **SEX
    ),
}


@pytest.fixture(scope="module", params=[(name, flag) for name in MODELS for flag in (True, False)], ids=str)
def model(request):
    name, standardize = request.param
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name](standardize)


def new_rows(model):
    """Return rows in which no column is constant: those that were must not matter."""
    return np.random.default_rng(2).normal(size=(50, model.n_features_in_)) * 3 + 50.0


def test_scikit_learn_projects_alike_and_says_what_the_model_says(model):
    exported, rows = model.to_pca(), new_rows(model)
    Z = model.transform(rows)
    assert type(exported) is (Pipeline if model.standardize else PCA)
    np.testing.assert_allclose(exported.transform(rows), Z, rtol=0, atol=1e-12 * np.abs(rows).max())
    assert not exported.transform(rows)[:, model.n_live_components_ :].any()
    np.testing.assert_allclose(exported.inverse_transform(Z), model.inverse_transform(Z), rtol=1e-12)
    pca = exported["pca"] if model.standardize else exported
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_"):
        np.testing.assert_array_equal(getattr(pca, name), getattr(model, name))
    for name in ("n_components_", "n_samples_", "n_features_in_"):
        assert getattr(pca, name) == getattr(model, name)
    assert list(pca.get_feature_names_out()) == [f"pca{k}" for k in range(model.n_components_)]


def test_it_is_what_scikit_learn_fits_where_nothing_has_to_be_fair():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FairPCA(2).fit(OFFSET)
    exported = model.to_pca()
    theirs = clone(exported).fit(OFFSET)
    assert [type(step) for _, step in exported.steps] == [StandardScaler, PCA]
    np.testing.assert_allclose(exported["scale"].var_, theirs["scale"].var_)
    np.testing.assert_allclose(np.abs(exported["pca"].components_), np.abs(theirs["pca"].components_), atol=1e-8)
    np.testing.assert_allclose(exported["pca"].get_covariance(), theirs["pca"].get_covariance(), atol=1e-8)


def test_changing_the_export_leaves_the_model_alone(model):
    before = model.transform(new_rows(model))
    exported = model.to_pca()
    for estimator in [step for _, step in exported.steps] if model.standardize else [exported]:
        for name, value in vars(estimator).items():
            if isinstance(value, np.ndarray) and value.dtype == float:
                getattr(estimator, name)[...] = 7.0
    np.testing.assert_array_equal(model.transform(new_rows(model)), before)


@pytest.mark.parametrize("standardize", [True, False])
def test_names_of_columns_are_checked(standardize):
    frame = pd.DataFrame(OFFSET, columns=list("abcdefgh"))
    exported = FairPCA(2, tolerance=1e-2, standardize=standardize).fit(frame, **SEX).to_pca()
    assert exported.feature_names_in_.tolist() == list("abcdefgh")
    assert exported.transform(frame).shape == (300, 2)
    with pytest.raises(ValueError, match="feature names"):
        exported.transform(frame[list("hgfedcba")])


@pytest.mark.parametrize(("dtype", "accuracy"), [("float64", 1e-12), ("float32", 1e-5)])
def test_onnx_projects_alike(model, dtype, accuracy, tmp_path):
    path = tmp_path / "model.onnx"
    model.to_onnx(path, dtype=dtype)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    rows = new_rows(model)
    (Z,) = session.run(["Z"], {"X": rows.astype(dtype)})
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, model.transform(rows), rtol=0, atol=accuracy * np.abs(rows).max())
    assert not Z[:, model.n_live_components_ :].any()


def test_what_is_missing_or_unknown_is_said(tmp_path):
    path = tmp_path / "model.onnx"
    with pytest.raises(NotFittedError):
        FairPCA().to_pca()
    with pytest.raises(NotFittedError):
        FairPCA().to_onnx(path)
    model = FairPCA(2, tolerance=1e-2).fit(X, **SEX)
    with pytest.raises(ValueError, match="dtype='float16' is unknown"):
        model.to_onnx(path, dtype="float16")
    assert list(tmp_path.iterdir()) == []
