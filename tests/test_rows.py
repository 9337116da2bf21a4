"""Rows in an array, and what every kind of rows must do: in an array, mapped from a file, in Dask without a cluster."""

import dask.array as da
import numpy as np
import pytest

from fairpca.rows import ArrayRows, ColumnSummary, DaskRows, normalised, shares, strata
from fairpca.rows._array import BLOCK_NUMBERS
from fairpca.rows._columns import products_of_block, sums_of_block

N, P = 1003, 5


@pytest.fixture(name="X")
def rows_in_memory(rng):
    return rng.normal(size=(N, P)) * np.arange(1, P + 1) + 10


@pytest.fixture
def weights():
    """Return two weights a row: a rare first group, and one column in which half of the rows take no part."""
    rare = np.arange(N) % 50 == 7
    first = np.where(rare, 1 / rare.sum(), -1 / (~rare).sum())
    return np.stack([first, (np.arange(N) % 2) * first], axis=1)


def in_array(X, weights, tmp_path):
    return ArrayRows(X, weights)


def in_file(X, weights, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return ArrayRows(np.load(tmp_path / "X.npy", mmap_mode="r"), weights)


def in_dask(X, weights, tmp_path):
    # Blocks of different heights, one of them empty.
    chunks = (100, 0, 300, len(X) - 400)
    return DaskRows(da.from_array(X, chunks=(chunks, 2)), da.from_array(weights, chunks=(chunks, 2)))


KINDS = [in_array, in_file, in_dask]


@pytest.fixture(params=KINDS)
def rows(request, X, weights, tmp_path):
    return request.param(X, weights, tmp_path)


def weighted_sum(X, weights, power):
    return X.T**power @ weights


def heights(X, weights):
    return [len(X)]


def test_sizes(rows):
    assert (rows.n_rows, rows.n_columns) == (N, P)


def test_total_adds_over_all_rows(rows, X, weights):
    np.testing.assert_allclose(rows.total(weighted_sum, 2), (X**2).T @ weights, rtol=1e-11, atol=1e-11)


def test_total_has_the_same_bits_every_time(rows):
    np.testing.assert_array_equal(rows.total(weighted_sum, 1), rows.total(weighted_sum, 1))


def test_total_shows_the_table_in_its_own_type(X, weights, tmp_path):
    for kind in KINDS:
        sums = kind(X.astype(np.float32), weights, tmp_path).total(dtypes_of_block)
        assert set(sums) == {"float32 float64"}


def dtypes_of_block(X, weights):
    return [f"{X.dtype} {weights.dtype}"]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_small(kind, tmp_path):
    n = 2 * BLOCK_NUMBERS + 2000
    pieces = kind(np.zeros((n, 1)), np.zeros((n, 1)), tmp_path).total(heights)
    assert sum(pieces) == n
    assert max(pieces) <= BLOCK_NUMBERS


def test_an_error_in_a_block_is_raised(rows):
    with pytest.raises(ZeroDivisionError):
        rows.total(fails)


def fails(X, weights):
    return 1 // 0


def test_sample(rows, X, weights):
    indices = np.array([0, 1, 99, 100, 101, 399, 400, N - 1])
    some, some_weights = rows.sample(indices)
    np.testing.assert_array_equal(some, X[indices])
    np.testing.assert_array_equal(some_weights, weights[indices])


def test_stratified_sample_takes_rows_of_the_table_once_with_their_weights(rows, X, weights):
    some, some_weights = rows.stratified_sample(200, np.random.default_rng(5))
    places = [np.flatnonzero((row == X).all(axis=1)) for row in some]
    assert all(len(place) == 1 for place in places)
    indices = np.concatenate(places)
    assert np.all(np.diff(indices) > 0)
    np.testing.assert_array_equal(some_weights, weights[indices])


def test_stratified_sample_gives_every_group_its_share(rows, weights):
    _, some_weights = rows.stratified_sample(100, np.random.default_rng(5))
    codes, counts = np.unique(strata(weights), return_counts=True)
    found, drawn = np.unique(strata(some_weights), return_counts=True)
    np.testing.assert_array_equal(found, codes)
    np.testing.assert_array_equal(drawn, shares(counts, 100))


def test_stratified_sample_is_the_same_for_all_kinds(X, weights, tmp_path):
    samples = [kind(X, weights, tmp_path).stratified_sample(150, np.random.default_rng(1))[0] for kind in KINDS]
    others = in_array(X, weights, tmp_path).stratified_sample(150, np.random.default_rng(2))[0]
    np.testing.assert_array_equal(samples[0], samples[1])
    np.testing.assert_array_equal(samples[0], samples[2])
    assert samples[0].shape != others.shape or not np.array_equal(samples[0], others)


def test_column_summary(rows, X, weights):
    summary = ColumnSummary.of(rows)
    np.testing.assert_allclose(summary.mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(summary.deviation, X.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(summary.covariance, np.cov(X.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(summary.weighted, (X - X.mean(axis=0)).T @ weights, atol=1e-12)


def test_constant_columns_have_no_deviation(X, weights):
    X[:, 1] = 0.1
    summary = ColumnSummary.of(ArrayRows(X, weights))
    assert summary.deviation[1] == 0.0
    assert not summary.covariance[1].any()
    assert not summary.covariance[:, 1].any()
    assert np.all(summary.deviation[[0, 2, 3, 4]] > 0)


def test_sums_and_products_add(X, weights):
    halves = [slice(0, 400), slice(400, N)]
    sums = sums_of_block(X[halves[0]], weights) + sums_of_block(X[halves[1]], weights)
    assert sums.n_rows == N
    np.testing.assert_array_equal(sums.smallest, X.min(axis=0))
    np.testing.assert_array_equal(sums.largest, X.max(axis=0))
    mean = X.mean(axis=0)
    products = [products_of_block(X[half], weights[half], mean) for half in halves]
    np.testing.assert_allclose((products[0] + products[1]).gram, (X - mean).T @ (X - mean))


def test_strata_tell_groups_apart():
    weights = np.array([[0.5, -1.0], [0.2, -3.0], [0.5, 0.0], [-0.5, 0.0], [0.0, 0.0]])
    codes = strata(weights)
    assert codes[0] == codes[1]
    assert len(set(codes.tolist())) == 4


def test_shares_are_at_most_the_group_and_never_zero():
    np.testing.assert_array_equal(shares(np.array([3, 10_000, 500]), 60), [3, 39, 12])


def test_normalised_columns_have_unit_parts():
    scaled = normalised(np.array([[1.0, 0.0], [3.0, 2.0], [-2.0, 2.0]]))
    np.testing.assert_allclose(scaled, [[0.25, 0.0], [0.75, 0.5], [-1.0, 0.5]])
