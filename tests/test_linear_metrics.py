"""Metrics of many rows take time linear in them, and no copy: in memory, in float32 and on Dask."""

import tracemalloc

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from fairpca import FairPCA
from fairpca.metrics import mmd2, mmd2_by_measure
from fairpca.mmd import Scales

N = 4000


@pytest.fixture(scope="module")
def projected():
    rng = np.random.default_rng(5)
    group = rng.integers(3, size=N)
    Z = rng.normal(size=(N, 5)) * [2.0, 1.5, 1.0, 0.7, 0.5]
    Z[group == 1] += 0.3
    Z[group == 2, 0] *= 1.4
    return Z, group


def both(Z, group, **parameters):
    known = {"sensitive_features": group, "return_errors": True} | parameters
    exact, none = mmd2_by_measure(Z, method="exact", **known)
    values, errors = mmd2_by_measure(Z, method="hermite", **known)
    assert set(none.values()) == {0.0}
    return exact, values, errors


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_linear_values_are_within_their_errors(projected, d, offset):
    Z, group = projected
    exact, values, errors = both(offset + Z[:, :d], group, bandwidth=1.5)
    for name in exact:
        # Besides the stated error there is rounding, of the offset too.
        assert abs(values[name] - exact[name]) <= errors[name] + 1e-10
    assert max(errors.values()) < (1e-7 if d < 3 else 1e-3)


@pytest.mark.parametrize("bandwidth", ["median", "scales", Scales((1.0, 0.5), 1.2)])
def test_kernels_of_several_scales_weights_and_continuous_attributes(projected, rng, bandwidth):
    Z, group = projected
    people = {"group": group, "age": Z[:, 0] + rng.normal(size=N)}
    masses = rng.integers(4, size=N)
    exact, values, errors = both(Z[:, :2], people, bandwidth=bandwidth, sample_weight=masses)
    for name in exact:
        assert abs(values[name] - exact[name]) <= errors[name] + 1e-10


def test_unbiased_values_of_many_rows(projected):
    Z, group = projected
    exact, values, errors = both(Z[:, :2], group, bandwidth=1.5, unbiased=True)
    for name in exact:
        assert abs(values[name] - exact[name]) <= errors[name]
        assert 0 < errors[name] < 1e-4


def test_beyond_what_is_affordable_auto_is_linear(projected, monkeypatch):
    Z, group = projected
    how = {"sensitive_features": group, "bandwidth": 1.5, "return_errors": True}
    assert max(mmd2_by_measure(Z[:, :2], **how)[1].values()) == 0.0
    monkeypatch.setattr("fairpca.metrics._discrepancy.EXACT_PAIRS", 1e6)
    values, errors = mmd2_by_measure(Z[:, :2], **how)
    assert (values, errors) == mmd2_by_measure(Z[:, :2], method="hermite", **how)
    assert min(errors.values()) > 0.0


def test_dask_projections_are_measured_block_by_block(projected):
    Z, group = projected
    blocks, codes = da.from_array(Z[:, :2], chunks=(900, 1)), da.from_array(group, chunks=900)
    for method in ("exact", "hermite"):
        how = {"bandwidth": "median", "method": method}
        found = mmd2_by_measure(blocks, sensitive_features=codes, **how)
        assert found == pytest.approx(mmd2_by_measure(Z[:, :2], sensitive_features=group, **how), abs=1e-10)
    parts = dd.from_pandas(pd.DataFrame(Z[:, :2], columns=["x", "y"]), npartitions=3)
    assert mmd2(parts, sensitive_features=group, bandwidth=1.5) == pytest.approx(
        mmd2(Z[:, :2], sensitive_features=group, bandwidth=1.5), abs=1e-12
    )
    bad = da.from_array(np.where(np.arange(N)[:, None] == 7, np.nan, Z[:, :2]), chunks=(900, 2))
    for method in ("exact", "hermite"):
        with pytest.raises(ValueError, match=r"X has nan .*row 7"):
            mmd2(bad, sensitive_features=codes, bandwidth=1.5, method=method)


def test_score_and_residuals_of_dask_tables(projected):
    X, group = projected
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = FairPCA(2, tolerance=1e-2, random_state=0).fit(frame[:400], sensitive_features=group[:400])
    parts = dd.from_pandas(frame, npartitions=3)
    assert model.score(parts) == pytest.approx(model.score(frame), abs=1e-12)
    residuals = model.residuals(parts)
    assert isinstance(residuals, dd.Series)
    np.testing.assert_allclose(residuals.compute().to_numpy(), model.residuals(frame), atol=1e-12)
    bare = FairPCA(2, tolerance=1e-2, random_state=0).fit(X[:400], sensitive_features=group[:400])
    blocks = da.from_array(X, chunks=(700, 2))
    assert bare.score(blocks) == pytest.approx(model.score(frame), abs=1e-12)
    np.testing.assert_allclose(bare.residuals(blocks).compute(), model.residuals(frame), atol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        model.score(parts[list("edcba")])
    with pytest.raises(ValueError, match=r"X has nan in block 0.*column 1"):
        model.score(dd.from_pandas(frame.assign(b=np.nan), npartitions=2))


def test_float32_goes_in_and_out_without_a_copy_in_float64(rng):
    X = rng.normal(size=(150_000, 40)).astype(np.float32)
    group = np.arange(len(X)) % 2
    model = FairPCA(2, tolerance=1e-2, random_state=0).fit(X[:300], sensitive_features=group[:300])
    kept = {use: peak_of(use, X) for use in (model.transform, model.score, model.residuals)}
    fitted = FairPCA(2, tolerance=1.0, random_state=0)
    kept[fitted.fit] = peak_of(lambda rows: fitted.fit(rows, sensitive_features=group), X)
    # The rows are 24 MB in float32 and 48 MB in float64; a block with what is made of it takes up to 34 MB.
    assert max(kept.values()) < 40e6
    assert model.transform(X).dtype == np.float32
    expected = model.score(X[:20_000].astype(np.float64))
    assert model.score(X[:20_000]) == pytest.approx(expected, abs=1e-7)


def peak_of(work, X):
    tracemalloc.start()
    work(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak
