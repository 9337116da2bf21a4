"""Rows in an array, and what every kind of rows must do: in an array, mapped from a file, in Dask without a cluster."""

import dask.array as da
import numpy as np
import pytest

from fairpca._utils.threads import BLOCK_NUMBERS
from fairpca.comparison import RowWeights
from fairpca.data import summarised
from fairpca.rows import ArrayRows, DaskRows, shares, stratified_parts

N, P = 1003, 5
N_STRATA = 4


@pytest.fixture(name="X")
def rows_in_memory(rng):
    return rng.normal(size=(N, P)) * np.arange(1, P + 1) + 10


@pytest.fixture
def attached():
    """Return the stratum of each row, two of the four rare, some rows without one; and its mass, which may be 0."""
    rows = np.arange(N)
    codes = np.where(rows % 100 == 3, -1, 2 * (rows % 25 != 7) + rows % 2)
    return np.stack([codes, rows % 7], axis=1).astype(np.int8)


def in_array(X, attached, tmp_path):
    return ArrayRows(X, attached)


def in_file(X, attached, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return ArrayRows(np.load(tmp_path / "X.npy", mmap_mode="r"), attached)


def in_dask(X, attached, tmp_path):
    # Blocks of different heights, one of them empty.
    chunks = (100, 0, 300, len(X) - 400)
    return DaskRows(da.from_array(X, chunks=(chunks, 2)), da.from_array(attached, chunks=(chunks, 2)))


KINDS = [in_array, in_file, in_dask]


@pytest.fixture(params=KINDS)
def rows(request, X, attached, tmp_path):
    return request.param(X, attached, tmp_path)


def product(X, attached, power):
    return X.T**power @ attached


def first_two_doubled(X):
    return 2 * X[:, :2]


def heights(X, attached):
    return [len(X)]


def test_total_adds_over_all_rows(rows, X, attached):
    assert (rows.n_rows, rows.n_columns) == X.shape
    found = rows.total(product, 2)
    np.testing.assert_allclose(found, (X**2).T @ attached, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(rows.total(product, 2), found)


def test_total_shows_the_table_in_its_own_type(X, attached, tmp_path):
    for kind in KINDS:
        sums = kind(X.astype(np.float32), attached, tmp_path).total(dtypes_of_block)
        assert set(sums) == {"float32 int8"}


def dtypes_of_block(X, attached):
    return [f"{X.dtype} {attached.dtype}"]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_small(kind, tmp_path):
    n = 2 * BLOCK_NUMBERS + 2000
    pieces = kind(np.zeros((n, 1)), np.zeros((n, 1)), tmp_path).total(heights)
    assert sum(pieces) == n
    assert max(pieces) <= BLOCK_NUMBERS


def test_a_sample_can_be_transformed_where_the_rows_are(rows, X, attached):
    indices = np.arange(3, N, 2)
    some, some_attached = rows.sample(indices, first_two_doubled)
    np.testing.assert_array_equal(some, 2 * X[indices, :2])
    np.testing.assert_array_equal(some_attached, attached[indices])


def test_stratified_draw_gives_every_stratum_its_share(rows, attached):
    drawn = rows.stratified_draw(100, np.random.default_rng(5))
    counts = np.bincount(attached[attached[:, 0] != -1, 0])
    np.testing.assert_array_equal(drawn.counts, counts)
    np.testing.assert_array_equal(drawn.drawn, shares(counts, 100))
    np.testing.assert_array_equal(np.bincount(drawn.strata), shares(counts, 100))


def test_stratified_draw_is_the_same_for_all_kinds(X, attached, tmp_path):
    draws = [kind(X, attached, tmp_path).stratified_draw(150, np.random.default_rng(1)) for kind in KINDS]
    other = in_array(X, attached, tmp_path).stratified_draw(150, np.random.default_rng(2))
    for drawn in draws[1:]:
        np.testing.assert_equal(vars(drawn), vars(draws[0]))
    assert not np.array_equal(draws[0].indices, other.indices)


def test_a_draw_is_dealt_in_parts_with_every_stratum(rows):
    drawn = rows.stratified_draw(160, np.random.default_rng(5))
    parts = stratified_parts(drawn.strata, 8, np.ones(N_STRATA, dtype=bool))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(drawn.indices)))
    shares_of_parts = np.array([np.bincount(drawn.strata[part], minlength=N_STRATA) for part in parts])
    assert np.ptp(shares_of_parts, axis=0).max() <= 1
    first_whole = stratified_parts(drawn.strata, 8, np.arange(N_STRATA) > 0)
    assert all(np.sum(drawn.strata[part] == 0) == np.sum(drawn.strata == 0) for part in first_whole)


def test_shares_are_at_most_the_stratum_and_never_zero():
    np.testing.assert_array_equal(shares(np.array([3, 10_000, 500]), 60), [3, 39, 12])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_number_that_is_not_finite_is_named(X, attached, tmp_path, kind, value):
    X[320, 4], X[330, 0], X[800, 1] = value, np.nan, np.nan
    rows = kind(X, attached, tmp_path)
    with pytest.raises(ValueError, match=rf"X has {value} in .*column 4"):
        rows.check_finite()
    with pytest.raises(ValueError, match=r"row 320.*column 'x4'|column 'x4'.*row 320"):
        rows.check_finite(np.array([f"x{j}" for j in range(P)]))


@pytest.fixture
def columns(rng):
    """Return two weights for each stratum."""
    return RowWeights.of_strata(rng.normal(size=(N_STRATA, 2)))


def test_columns_are_summarised(rows, X, attached, columns):
    summary = summarised(rows, False, columns)
    masses = attached[:, 1].astype(float)
    mean = np.average(X, axis=0, weights=masses)
    assert summary.mass == masses.sum()
    np.testing.assert_allclose(summary.scaling.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(summary.covariance, np.cov(X.T, bias=True, aweights=masses), atol=1e-12)
    weights = masses[:, None] * np.where(attached[:, :1] == -1, 0, columns.table[attached[:, 0]])
    np.testing.assert_allclose(summary.weighted, (X - mean).T @ weights, rtol=1e-11, atol=1e-11)


def test_constant_columns_have_no_deviation(X, attached, columns):
    X[:, 1] = 0.1
    summary = summarised(ArrayRows(X, attached), True, columns)
    assert summary.scaling.constant.tolist() == [False, True, False, False, False]
    assert not summary.covariance[1].any()
    assert not summary.covariance[:, 1].any()
    np.testing.assert_allclose(np.diag(summary.covariance)[[0, 2, 3, 4]], 1.0)
