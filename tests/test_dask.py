"""Dask tables are fitted and projected as tables in memory are, and held to their rules: names, numbers, dimensions."""
# SPDX-License-Identifier: MIT

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from fairpca import FairPCA
from fairpca.geometry import projection_distance

N, NAMES = 600, ["a", "b", "c", "d"]


@pytest.fixture
def frame(rng):
    X = rng.normal(size=(N, 4)) @ rng.normal(size=(4, 4))
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture
def group():
    return np.arange(N) % 2


def in_parts(frame):
    return dd.from_pandas(frame, npartitions=3)


def in_blocks(array):
    return da.from_array(np.asarray(array), chunks=(200, -1))


@pytest.fixture
def fitted(frame, group):
    return FairPCA(2, tolerance=1e-2).fit(frame, sensitive_features=group)


@pytest.mark.parametrize(
    "columns",
    [NAMES[::-1], ["a", "b", "c", "other"], NAMES[:3], [*NAMES, "e"]],
    ids=["another order", "another name", "one missing", "one more"],
)
def test_other_columns_are_refused_in_the_words_of_scikit_learn(frame, fitted, columns):
    other = frame.reindex(columns=columns, fill_value=0.0)
    with pytest.raises(ValueError, match="feature names should match") as in_memory:
        fitted.transform(other)
    with pytest.raises(ValueError, match="feature names should match") as lazy:
        fitted.transform(in_parts(other))
    assert str(lazy.value) == str(in_memory.value)


def test_arrays_without_names_get_the_warning_of_scikit_learn(frame, fitted):
    with pytest.warns(UserWarning, match="X does not have valid feature names, but FairPCA was fitted"):
        Z = fitted.transform(in_blocks(frame))
    np.testing.assert_allclose(Z.compute(), fitted.transform(frame), atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_named_when_their_block_is_computed(frame, group, fitted, value):
    frame.iloc[430, 2] = value
    Z = fitted.transform(in_parts(frame))
    assert len(Z.partitions[0].compute()) == 200
    with pytest.raises(ValueError, match=f"X has {value} in block 2, column 'c', first in row 30 of the block; drop"):
        Z.compute()
    nameless = FairPCA(2, tolerance=1e-2).fit(np.random.default_rng(1).normal(size=(N, 4)), sensitive_features=group)
    with pytest.raises(ValueError, match=f"X has {value} in block 2, column 2, first in row 30"):
        nameless.transform(in_blocks(frame)).compute()


def test_missing_values_of_nullable_columns_are_named(frame, fitted):
    frame = frame.astype({"b": "Float64"})
    frame.loc[10, "b"] = pd.NA
    with pytest.raises(ValueError, match="X has nan in block 0, column 'b', first in row 10"):
        fitted.transform(in_parts(frame)).compute()


@pytest.mark.parametrize(
    ("column", "way_out"),
    [(lambda frame: in_blocks(frame)[:, 0], r"X\[:, None\]"), (lambda frame: in_parts(frame)["a"], r"X\.to_frame\(\)")],
    ids=["array", "series"],
)
def test_one_column_without_the_second_dimension_gets_one_clear_sentence(frame, group, fitted, column, way_out):
    message = rf"X has 1 dimension; it must be a table of shape .* One column of features is {way_out}"
    with pytest.raises(ValueError, match=message):
        FairPCA(1, tolerance=1e-3).fit(column(frame), sensitive_features=group)
    with pytest.raises(ValueError, match=message):
        fitted.transform(column(frame))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 6000
    # Sorted by group: most blocks hold one group only.
    group = np.repeat(["a", "b"], [2000, 4000])
    X = rng.normal(size=(n, 12)) @ rng.normal(size=(12, 12)) * np.linspace(2, 0.5, 12)
    X[:2000, :3] += 4.0
    X[:2000, 5] *= 1.5
    return X, group


def fit(X, group, d=2, **parameters):
    return FairPCA(d, tolerance=1e-3, random_state=0, **parameters).fit(X, sensitive_features=group)


# Dask calls pandas 3 with an argument that pandas 4 drops, when it reads and writes Parquet.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::UserWarning:distributed")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_parquet_files_are_fitted_and_projected_lazily(client, table, tmp_path):
    X, group = table
    frame = pd.DataFrame(X.astype(np.float32), columns=[f"x{j}" for j in range(12)]).assign(group=group)
    dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path)
    files = dd.read_parquet(tmp_path)
    features = files.drop(columns="group")
    model = fit(features, files["group"])
    Z = model.transform(features)
    assert isinstance(Z, dd.DataFrame)
    assert Z.npartitions == files.npartitions
    np.testing.assert_allclose(Z.compute(), model.transform(frame.drop(columns="group")), atol=1e-4)
    assert list(model.feature_names_in_) == list(features.columns)
    other = fit(X.astype(np.float32), group)
    assert projection_distance(model.components_.T, other.components_.T) < 1e-6


def test_what_dask_tables_cannot_do_is_said(table):
    X, group = table
    blocks = da.from_array(X, chunks=(3000, -1))
    with pytest.raises(ValueError, match="needs the groups"):
        FairPCA(tolerance=1e-3).fit(blocks)
    with pytest.raises(ValueError, match="needs them in memory"):
        fit(blocks, group, mmd="exact")
    broken = X.copy()
    broken[4000, 3] = np.nan
    with pytest.raises(ValueError, match="block"):
        fit(da.from_array(broken, chunks=(3000, -1)), group)
