"""FairPCA on Dask tables: a real cluster with two worker processes, and files."""
# SPDX-License-Identifier: MIT

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
import pytest

from fairpca import FairPCA
from fairpca.geometry import projection_distance

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:distributed"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 9000
    # Sorted by group: most blocks hold one group only.
    group = np.repeat(["a", "b"], [3000, 6000])
    X = rng.normal(size=(n, 12)) @ rng.normal(size=(12, 12)) * np.linspace(2, 0.5, 12)
    X[:3000, :3] += 4.0
    X[:3000, 5] *= 1.5
    return X, group


def fit(X, group, d=2, **parameters):
    return FairPCA(d, tolerance=1e-3, random_state=0, **parameters).fit(X, sensitive_features=group)


def distance(first, second):
    return projection_distance(first.components_.T, second.components_.T)


def test_parquet_files_are_fitted_and_projected_lazily(client, table, tmp_path):
    X, group = table
    frame = pandas.DataFrame(X.astype(np.float32), columns=[f"x{j}" for j in range(12)]).assign(group=group)
    dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path)
    files = dd.read_parquet(tmp_path)
    features = files.drop(columns="group")
    model = fit(features, files["group"])
    Z = model.transform(features)
    assert isinstance(Z, dd.DataFrame)
    assert Z.npartitions == files.npartitions
    np.testing.assert_allclose(Z.compute(), model.transform(frame.drop(columns="group")), atol=1e-4)
    assert list(model.feature_names_in_) == list(features.columns)
    assert distance(model, fit(X.astype(np.float32), group)) < 1e-6


def test_what_dask_tables_cannot_do_is_said(table):
    X, group = table
    blocks = da.from_array(X, chunks=(3000, -1))
    with pytest.raises(ValueError, match="needs the groups"):
        FairPCA(tolerance=1e-3).fit(blocks)
    with pytest.raises(ValueError, match="needs them in memory"):
        fit(blocks, group, mmd="exact")
    broken = X.copy()
    broken[7000, 3] = np.nan
    with pytest.raises(ValueError, match="block"):
        fit(da.from_array(broken, chunks=(3000, -1)), group)
