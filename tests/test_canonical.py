"""The order of the work does not depend on the order of the table."""

import numpy as np
import pytest
from hypothesis import example, given, settings

from fairpca import FairPCA
from fairpca.compiled import using_engine
from fairpca.data import _hashes
from fairpca.data._canonical import CanonicalOrder
from odd_tables import Odd, odd


def ordered_table(order, X):
    return X[np.ix_(order.rows, order.columns)]


@settings(max_examples=60, deadline=None)
@example(Odd("one-hot", 213, 4, 1, 2, 0.0, "float64", False, 1, 1.0))
@example(Odd("low rank", 0, 6, 2, 2, 0.0, "float64", False, 1, 1.0))
@given(odd())
def test_tables_that_differ_by_order_are_one_table(case):
    X, groups, rng = case.X, case.groups, np.random.default_rng(case.seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    other, other_groups = X[np.ix_(rows, columns)], groups[rows]
    one = CanonicalOrder.of(X, groups)
    two = CanonicalOrder.of(other, other_groups)
    varying = np.sum(X.min(axis=0) < X.max(axis=0))
    # Columns that only rounding tells apart may come in any order.
    np.testing.assert_allclose(
        ordered_table(one, X)[:, :varying], ordered_table(two, other)[:, :varying], rtol=4e-12, atol=0
    )
    # Of equal rows either group may come first: they are merged before any sum.
    ordered = np.unique(ordered_table(one, X)[:, :varying], axis=0, return_inverse=True)[1].ravel()
    codes, again, exchanged = (
        np.sort(2 * ordered + labels).tolist()
        for labels in (groups[one.rows], other_groups[two.rows], 1 - other_groups[two.rows])
    )
    # Which group is called which does not enter: a table may be itself with both columns and groups exchanged.
    assert codes in (again, exchanged)


@settings(max_examples=30, deadline=None)
@example(Odd("normal", 1085, 27, 1, 2, 0.0, "float32", False, 1, 1.0))
@example(Odd("scales", 0, 22, 1, 2, 0.0, "float64", False, 1, 1.0))
@given(odd())
def test_units_and_names_do_not_enter(case):
    X, groups = case.X.astype(float), case.groups
    plain = CanonicalOrder.of(X, groups)
    # Other units change the last digits of the numbers themselves, which can be all that tells rows apart.
    units = 2.0 ** np.arange(-5, X.shape[1] - 5)
    for other in (
        CanonicalOrder.of(X * units, groups),
        CanonicalOrder.of(X, np.where(groups == 1, "a", "b")),
    ):
        np.testing.assert_array_equal(other.rows, plain.rows)
        np.testing.assert_array_equal(other.columns, plain.columns)


def test_rows_and_columns_that_differ_in_their_last_digits_are_told_apart(rng):
    years = 2.0e9 + rng.permutation(300)
    X = np.column_stack([years, np.ones(300), years + 0.25])
    X[0, 1] = 2.0
    rows, columns = rng.permutation(300), rng.permutation(3)
    other = X[np.ix_(rows, columns)]
    one, two = CanonicalOrder.of(X, None), CanonicalOrder.of(other, None)
    np.testing.assert_array_equal(ordered_table(one, X), ordered_table(two, other))


@given(odd())
@settings(max_examples=20, deadline=None)
def test_back_in_the_order_of_the_caller(case):
    order = CanonicalOrder.of(case.X, None)
    ordered = ordered_table(order, case.X)
    np.testing.assert_array_equal(ordered[:, order.places], case.X[order.rows])


@pytest.mark.thorough
@pytest.mark.parametrize("standardize", [True, False])
def test_the_answer_is_the_same_to_the_last_bit(rng, standardize):
    group = np.repeat(["a", "b"], [180, 120])
    X = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8))
    X[group == "b"] += rng.normal(size=8)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    model = FairPCA(2, tolerance=1e-5, standardize=standardize, random_state=0).fit(X, sensitive_features=group)
    other = FairPCA(2, tolerance=1e-5, standardize=standardize, random_state=0).fit(
        X[np.ix_(rows, columns)], sensitive_features=group[rows]
    )
    assert other.result_.variance_kept == model.result_.variance_kept
    assert other.result_.n_gradients == model.result_.n_gradients
    np.testing.assert_allclose(other.components_, model.components_[:, columns], atol=1e-14)


def test_rows_of_one_column_without_variance():
    order = CanonicalOrder.of(np.ones((3, 2)), None)
    np.testing.assert_array_equal(order.rows, [0, 1, 2])
    np.testing.assert_array_equal(order.columns, [0, 1])


@pytest.mark.parametrize("shape", [(700, 57), (1, 1), (1, 5), (3, 70_000), (70_000, 3)])
def test_both_engines_make_the_same_hashes(native, shape, rng):
    X = rng.normal(size=shape)
    X[:, 0] = np.where(X[:, 0] < 0, -0.0, np.round(X[:, 0]))
    by_column = np.ascontiguousarray(X.T)
    found = {}
    for engine in ("compiled", "numpy"):
        with using_engine(engine):
            cells = _hashes.cell_hashes(by_column, np.abs(by_column).max(axis=1), 24)
            found[engine] = [
                cells,
                _hashes.cell_hashes(by_column, np.abs(by_column).max(axis=1), _hashes.FRACTION),
                _hashes.sums_along_columns(cells, cells[0]),
                _hashes.sums_along_rows(cells, cells[:, 0].copy()),
                _hashes.row_hashes(X),
            ]
    for one, other in zip(*found.values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_compiled_hashes_refuse_arrays_that_do_not_fit(native):
    cells, three = np.zeros((2, 3), np.uint64), np.zeros(3, np.uint64)
    with pytest.raises(ValueError, match="agree in shape"):
        native.sums_along_rows(cells, three, three)
    with pytest.raises(ValueError, match="agree in shape"):
        native.row_hashes(np.zeros((3, 2)), three, three)
    with pytest.raises(ValueError, match="52 bits"):
        native.cell_hashes(np.zeros((2, 3)), np.ones(2), 53, cells)
    with pytest.raises(TypeError, match="format 'L'"):
        native.sums_along_columns(cells.astype(float), three, three)
