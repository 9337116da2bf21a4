"""Who is compared with whom: strata, contrasts, and the few weights that span them."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest

from comparisons import by_group, by_weights
from fairpca.comparison import (
    Comparison,
    Contrast,
    DemographicParity,
    Notion,
    Strata,
    check_tolerances,
    notion_from,
)
from fairpca.comparison._cells import distinct_cells

LABELS = np.array(["c", "a", "b", "a", "b", "b", "c", "c", "c", "a"])


def one_against_others(labels, group):
    return np.where(labels == group, 1 / np.sum(labels == group), -1 / np.sum(labels != group))


def test_two_groups_are_compared_with_each_other():
    labels = np.where(LABELS == "a", "a", "b")
    codes, comparison = by_group(labels)
    assert comparison.names == ("a against b",)
    assert comparison.n_measures == 1
    np.testing.assert_allclose(comparison.columns.of(codes)[:, 0], one_against_others(labels, "a"))
    np.testing.assert_array_equal(comparison.weights.of(codes), comparison.columns.of(codes))
    np.testing.assert_array_equal(comparison.forms, [[[1.0]]])


def test_each_of_three_groups_is_compared_with_all_others():
    codes, comparison = by_group(LABELS)
    assert comparison.names == tuple(f"{group} against all others" for group in "abc")
    assert (comparison.n_measures, comparison.n_strata) == (3, 3)
    for column, group in zip(comparison.columns.of(codes).T, "abc", strict=True):
        np.testing.assert_allclose(column, one_against_others(LABELS, group))


def test_groups_are_compared_by_names_and_codes_of_any_kind():
    codes, comparison = by_group([2.5, 1, 1, 2.5], 0.5)
    assert comparison.names == ("1.0 against 2.5",)
    assert codes.tolist() == [[1], [0], [0], [1]]
    assert comparison.tolerances.tolist() == [0.5]


def test_few_weights_span_all_columns(rng):
    codes, comparison = by_group(rng.integers(0, 7, size=200))
    weights, columns = comparison.weights.of(codes), comparison.columns.of(codes)
    # The seven columns, each times the rows outside its group, sum to 0.
    assert weights.shape == (200, 6)
    np.testing.assert_allclose(weights @ comparison.mixing, columns, atol=1e-15)
    B = rng.normal(size=(200, 200))
    K = B @ B.T
    expected = np.einsum("ic,ij,jc->c", columns, K, columns)
    np.testing.assert_allclose(np.einsum("jab,ab->j", comparison.forms, weights.T @ K @ weights), expected)


def test_measures_of_several_columns_sum_over_them(rng):
    weights = rng.normal(size=(3, 3))[rng.integers(0, 3, size=50)]
    codes, comparison = by_weights(weights, np.array([0, 1, 1]))
    np.testing.assert_allclose(comparison.columns.of(codes), weights)
    spanning = comparison.weights.of(codes)
    found = np.einsum("jab,ab->j", comparison.forms, spanning.T @ spanning)
    squares = np.sum(weights**2, axis=0)
    np.testing.assert_allclose(found, [squares[0], squares[1] + squares[2]])


def test_rows_that_take_no_part_have_no_weight():
    _, comparison = by_group(LABELS)
    np.testing.assert_array_equal(comparison.weights.of(np.array([[-1]], dtype=np.int8)), 0)
    np.testing.assert_array_equal(comparison.columns.of(np.array([[-1]], dtype=np.int8)), 0)


def test_a_sample_weighs_every_stratum_as_all_rows_do():
    labels = np.repeat(["a", "b", "c"], [10, 100, 1000])
    codes, comparison = by_group(labels)
    chosen = np.r_[0:5, 10:60, 110:120]
    sampled = comparison.sampled(codes[chosen])
    for stratum in range(3):
        own, drawn = codes == stratum, codes[chosen] == stratum
        np.testing.assert_allclose(
            np.sum(sampled.columns.of(codes[chosen]) * drawn, axis=0),
            np.sum(comparison.columns.of(codes) * own, axis=0),
        )
    np.testing.assert_array_equal(sampled.forms, comparison.forms)
    np.testing.assert_array_equal(sampled.tolerances, comparison.tolerances)


def test_measures_that_say_the_same_are_one_with_the_strictest_tolerance():
    contrast = np.array([[1.0], [-1.0], [0.0]])
    measures = [Contrast("a", contrast), Contrast("c", np.array([[0.5], [0.5], [-1.0]])), Contrast("b", -contrast)]
    unique, index = Comparison.of(np.array([3.0, 4.0, 5.0]), measures, [1e-2, 1e-3, 1e-4]).unique()
    assert index.tolist() == [0, 1, 0]
    assert unique.names == ("a", "c")
    assert unique.tolerances.tolist() == [1e-4, 1e-3]
    np.testing.assert_array_equal(unique.contrasts, np.hstack([measures[0].columns, measures[1].columns]))


def test_measures_that_all_differ_stay_as_they_are():
    measures = [Contrast("a", np.array([[1.0], [-1.0], [0.0]])), Contrast("c", np.array([[0.5], [0.5], [-1.0]]))]
    comparison = Comparison.of(np.array([3.0, 4.0, 5.0]), measures, [1e-2, 1e-3])
    unique, index = comparison.unique()
    assert unique is comparison
    assert index.tolist() == [0, 1]


@pytest.mark.parametrize("labels", [[[1, -1], [0, 2], [1, -1], [0, 1]], [[2], [0]], [[], []]])
def test_distinct_cells_come_in_order(labels):
    cells = np.array(labels, dtype=np.int64)
    found, index = distinct_cells(cells)
    np.testing.assert_array_equal(found, np.unique(cells, axis=0))
    np.testing.assert_array_equal(found[index], cells)


def test_measures_without_rows_are_refused():
    column = np.array([[1.0], [-1.0]])
    with pytest.raises(ValueError, match="the measure 'x' has no rows to compare in 1 of its strata; every measure"):
        Comparison.of(np.array([3.0, 0.0]), [Contrast("x", column)], 1e-3)
    with pytest.raises(ValueError, match="the measure 'x' has no rows to compare; every measure"):
        Comparison.of(np.array([3.0, 2.0]), [Contrast("x", 0 * column)], 1e-3)


def test_tolerances_are_one_for_all_or_one_for_each():
    assert by_group(LABELS, 0.5)[1].tolerances.tolist() == [0.5, 0.5, 0.5]
    assert by_group(LABELS, [0.5, 0.25, 0])[1].tolerances.tolist() == [0.5, 0.25, 0]
    with pytest.raises(ValueError, match=r"tolerance has 2 numbers, but there are 3 measures: a against all others, b"):
        by_group(LABELS, [0.5, 0.25])
    with pytest.raises(ValueError, match=r"tolerance of 'b against all others'=-1 must be a finite number >= 0"):
        by_group(LABELS, [0.5, -1, 0])
    with pytest.raises(TypeError, match=r"tolerance of 'measure 1' must be a number; got 'x'"):
        check_tolerances([0.5, "x"])
    assert check_tolerances(1).shape == ()


class FirstAgainstLast(Notion):
    """A notion of one's own."""

    def contrasts(self, strata):
        column = np.zeros((len(strata.labels), 1))
        column[0], column[-1] = 1, -1
        return [Contrast(f"{strata.labels[0]} or {strata.labels[-1]}", column)]


def test_notions_are_names_or_objects():
    assert isinstance(notion_from("demographic_parity"), DemographicParity)
    notion = FirstAgainstLast()
    assert notion_from(notion) is notion
    for refused in (FirstAgainstLast, 3, None, object()):
        with pytest.raises(TypeError, match="fairness must be one of"):
            notion_from(refused)
    _, comparison = by_group(LABELS, fairness=notion)
    assert comparison.names == ("a or c",)
    np.testing.assert_allclose(comparison.columns.of(np.array([[0], [1], [2]]))[:, 0], [1 / 3, 0, -1 / 4])


def test_strata_of_equal_size_are_against_the_others_what_they_are_alone():
    strata = Strata(("x", "y", "z"), np.array([2.0, 2.0, 2.0]))
    columns = [contrast.columns[:, 0].tolist() for contrast in DemographicParity().contrasts(strata)]
    assert columns == [[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]]
