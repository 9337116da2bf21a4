"""Rows in an array, and what every kind of rows must do: in an array, mapped from a file, in Dask without a cluster."""

import dask.array as da
import numpy as np
import pytest

from fairpca.data._columns import products_of_block
from fairpca.rows import ArrayRows, ColumnSummary, DaskRows, deal, normalised, shares, strata, sums_of_block
from fairpca.rows._array import BLOCK_NUMBERS

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


def first_two_doubled(X):
    return 2 * X[:, :2]


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


def test_a_sample_can_be_transformed_where_the_rows_are(rows, X, weights):
    indices = np.arange(3, N, 2)
    some, some_weights = rows.sample(indices, first_two_doubled)
    np.testing.assert_array_equal(some, 2 * X[indices, :2])
    np.testing.assert_array_equal(some_weights, weights[indices])


def test_stratified_draw_takes_rows_of_the_table_once(rows, weights):
    drawn = rows.stratified_draw(200, np.random.default_rng(5))
    assert np.all(np.diff(drawn.indices) > 0)
    codes = np.unique(strata(weights))
    np.testing.assert_array_equal(codes[drawn.strata], strata(weights)[drawn.indices])


def test_stratified_draw_gives_every_group_its_share(rows, weights):
    drawn = rows.stratified_draw(100, np.random.default_rng(5))
    _, counts = np.unique(strata(weights), return_counts=True)
    np.testing.assert_array_equal(np.bincount(drawn.strata), shares(counts, 100))
    np.testing.assert_allclose(np.bincount(drawn.strata, drawn.factors), counts)


def test_stratified_draw_is_the_same_for_all_kinds(X, weights, tmp_path):
    draws = [kind(X, weights, tmp_path).stratified_draw(150, np.random.default_rng(1)) for kind in KINDS]
    other = in_array(X, weights, tmp_path).stratified_draw(150, np.random.default_rng(2))
    for drawn in draws[1:]:
        np.testing.assert_array_equal(drawn.indices, draws[0].indices)
        np.testing.assert_array_equal(drawn.strata, draws[0].strata)
        np.testing.assert_array_equal(drawn.factors, draws[0].factors)
    assert not np.array_equal(draws[0].indices, other.indices)


def test_a_draw_is_dealt_in_parts_with_every_group(rows):
    drawn = rows.stratified_draw(160, np.random.default_rng(5))
    parts = deal(drawn.strata, 8, np.ones(len(drawn.counts), dtype=bool))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(drawn.indices)))
    shares_of_parts = np.array([np.bincount(drawn.strata[part]) for part in parts])
    assert np.ptp(shares_of_parts, axis=0).max() <= 1
    first_whole = deal(drawn.strata, 8, np.arange(len(drawn.counts)) > 0)
    assert all(np.sum(drawn.strata[part] == 0) == np.sum(drawn.strata == 0) for part in first_whole)


def test_column_summary(rows, X, weights):
    summary = ColumnSummary.of(rows, rows.total(sums_of_block), standardize=False)
    np.testing.assert_allclose(summary.scaling.mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(summary.covariance, np.cov(X.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(summary.weighted, (X - X.mean(axis=0)).T @ weights, atol=1e-12)


def test_constant_columns_have_no_deviation(X, weights):
    X[:, 1] = 0.1
    rows = ArrayRows(X, weights)
    summary = ColumnSummary.of(rows, rows.total(sums_of_block), standardize=True)
    assert summary.scaling.constant.tolist() == [False, True, False, False, False]
    assert not summary.covariance[1].any()
    assert not summary.covariance[:, 1].any()
    np.testing.assert_allclose(np.diag(summary.covariance)[[0, 2, 3, 4]], 1.0)


def test_sums_and_products_add(X, weights):
    halves = [slice(0, 400), slice(400, N)]
    sums = sums_of_block(X[halves[0]], weights) + sums_of_block(X[halves[1]], weights)
    assert sums.n_rows == N
    np.testing.assert_array_equal(sums.smallest, X.min(axis=0))
    np.testing.assert_array_equal(sums.largest, X.max(axis=0))
    mean = X.mean(axis=0)
    products = [products_of_block(X[half], weights[half], mean, np.ones(5)) for half in halves]
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
