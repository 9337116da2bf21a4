"""Rotated components: the same subspace, other coordinates."""

import numpy as np
import pandas as pd
import pytest

import fairpca
from fairpca import FairPCA
from fairpca.baselines import ClosedFormFairPCA
from fairpca.geometry import projection_distance, varimax
from fairpca.metrics import mmd2


def criterion(frame):
    return np.var(frame**2, axis=0).sum()


@pytest.fixture
def table(rng):
    """Three blocks of columns that go together, and two groups that one of them tells apart."""
    group = np.repeat(["a", "b"], [180, 120])
    X = np.hstack([np.outer(rng.normal(size=300), np.ones(k)) + 0.5 * rng.normal(size=(300, k)) for k in (3, 3, 2)])
    X[:, :3] += 0.5 * (group == "b")[:, None]
    return pd.DataFrame(X, columns=[f"{block}{j}" for block, j in zip("aaabbbcc", "12312312", strict=True)]), group


def test_no_other_rotation_has_a_larger_criterion(rng):
    frame = np.linalg.qr(rng.normal(size=(20, 3)))[0]
    rotation = varimax(frame)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-12)
    best = criterion(frame @ rotation)
    assert all(criterion(frame @ np.linalg.qr(rng.normal(size=(3, 3)))[0]) <= best + 1e-9 for _ in range(3000))


@pytest.mark.parametrize("method", [FairPCA(2, tolerance=1e-2), ClosedFormFairPCA(3)], ids=repr)
def test_what_does_not_depend_on_coordinates_stays(table, method, tmp_path):
    X, group = table
    model = method.fit(X, sensitive_features=group)
    before = {name: np.copy(value) for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    rotated = model.rotated()
    assert projection_distance(rotated.components_.T, model.components_.T) < 1e-7
    Z, turned = model.transform(X), rotated.transform(X)
    assert not np.allclose(Z, turned, atol=0.1)
    assert mmd2(turned, sensitive_features=group, bandwidth=1.0) == pytest.approx(
        mmd2(Z, sensitive_features=group, bandwidth=1.0)
    )
    np.testing.assert_allclose(rotated.inverse_transform(turned), model.inverse_transform(Z))
    np.testing.assert_allclose(rotated.get_covariance(), model.get_covariance(), atol=1e-12)
    np.testing.assert_allclose(rotated.projected_covariance_, np.cov(turned.T), atol=1e-12)
    np.testing.assert_allclose(rotated.explained_variance_, turned.var(axis=0, ddof=1))
    assert rotated.explained_variance_ratio_.sum() == pytest.approx(model.explained_variance_ratio_.sum())
    assert rotated.score(X) == pytest.approx(model.score(X))
    assert criterion(rotated.components_.T) > criterion(model.components_.T)
    np.testing.assert_allclose(rotated.rotated().components_, rotated.components_, atol=1e-6)
    assert all(np.array_equal(value, getattr(model, name)) for name, value in before.items())
    rotated.save(tmp_path / "rotated.fairpca")
    loaded = fairpca.load(tmp_path / "rotated.fairpca")
    np.testing.assert_array_equal(loaded.transform(X), turned)
    np.testing.assert_array_equal(loaded.get_covariance(), rotated.get_covariance())
    assert not hasattr(rotated.fit(X, sensitive_features=group), "projected_covariance_")


def test_the_summary_names_the_columns_of_each_component(table):
    X, group = table
    lines = FairPCA(2, tolerance=3e-3).fit(X, sensitive_features=group).rotated().summary().splitlines()[-2:]
    blocks = [
        {word[0] for word in line.partition(": ")[2].rstrip(".").replace(",", "").split()[1::2]} for line in lines
    ]
    assert all(line.startswith(f"fairpca{k} (") for k, line in enumerate(lines))
    assert sorted(map(sorted, blocks)) == [["b"], ["c"]]


def test_null_components_stay_zero(table):
    X, group = table
    with pytest.warns(Warning, match="rank"):
        model = ClosedFormFairPCA(4).fit(X[["a1", "b1", "c1", "a1", "b1", "c1"]].to_numpy(), sensitive_features=group)
    rotated = model.rotated()
    assert rotated.n_live_components_ == model.n_live_components_ < 4
    np.testing.assert_array_equal(rotated.explained_variance_[model.n_live_components_ :], 0)


def test_other_criteria_are_refused(table):
    X, group = table
    with pytest.raises(ValueError, match="method='quartimax' is unknown"):
        ClosedFormFairPCA(2).fit(X, sensitive_features=group).rotated("quartimax")
