"""Who is compared with whom: strata, contrasts, and the few weights that span them."""
# SPDX-License-Identifier: MIT

import numpy as np

from comparisons import by_group
from fairpca.comparison import Comparison, Contrast


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
