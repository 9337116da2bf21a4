"""Notions, groups, attributes, weights: what is compared is what was asked for, wherever the rows are."""
# SPDX-License-Identifier: MIT

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest

from dense_judge import judge
from fairpca import FairPCA
from fairpca.comparison import People, Terms, compare
from fairpca.mmd import Coordinates, ExactMMD, HermiteMMD
from fairpca.rows import ArrayRows, DaskRows
from people_tables import KINDS, NOTIONS, P, people

# With weights and without in turns, so that each meets every notion and every kind.
CASES = [(notion, kind, (a + b) % 2 == 0) for a, notion in enumerate(NOTIONS) for b, kind in enumerate(KINDS)]
SIGMA = 3.0
METHODS = {"exact": 2, "hermite": 4}
CONTAINERS = ["memory", "file", "dask"]
COMBINATIONS = [
    (notion, kind, method, container)
    for a, notion in enumerate(NOTIONS)
    for b, kind in enumerate(KINDS)
    for c, method in enumerate(METHODS)
    for e, container in enumerate(CONTAINERS)
    # A part of all combinations in which every pair of two occurs; Dask's rows are never compared one by one.
    if (a + b + c + e) % 3 == 0 or (method, container) == ("exact", "memory")
    if (method, container) != ("exact", "dask")
]


def in_container(container, X, table, tmp_path):
    if container == "dask":
        frame = dd.from_pandas(table, npartitions=4)
        return da.from_array(X, chunks=(250, P)), frame
    if container == "file":
        np.save(tmp_path / "X.npy", X)
        return np.load(tmp_path / "X.npy", mmap_mode="r"), table
    return X, table


@pytest.mark.parametrize(("notion", "kind", "method", "container"), COMBINATIONS)
def test_what_is_measured_is_what_was_asked_for(notion, kind, method, container, tmp_path):
    names, terms = KINDS[kind]
    # Weights and segments in turns, so that each meets every notion, kind, method and container.
    turn = sum(map(ord, notion + kind + method + container)) % 3
    X, table = people()
    rows, known = in_container(container, X, table, tmp_path)
    weight, control = turn == 1, turn == 2
    model = FairPCA(METHODS[method], tolerance=0.05, fairness=notion, mmd=method, random_state=0, **terms)
    model.fit(
        rows,
        known["y"],
        sensitive_features=known[names],
        sample_weight=known["weight"] if weight else None,
        control_features=known[["department"]] if control else None,
    )
    expected = judge(
        model.transform(X),
        model.bandwidth_,
        {name: table[name].to_numpy() for name in names},
        y=table["y"].to_numpy(),
        among=NOTIONS[notion],
        controls={"department": table["department"].to_numpy()} if control else None,
        weight=table["weight"] if weight else None,
        crossed=kind == "intersections",
        continuous=[name for name in names if name == "age"],
    )
    assert model.converged_
    assert model.sensitive_kinds_ == {name: "continuous" if name == "age" else "groups" for name in names}
    assert set(model.mmd2_by_measure_) == set(expected)
    for name, value in expected.items():
        assert value <= 0.05 + 1e-5
        # Features of a continuous attribute leave out 3e-6 at most.
        assert model.mmd2_by_measure_[name] == pytest.approx(value, abs=model.mmd2_error_ + 4e-6)
    assert [row["name"] for row in model.measures_] == list(model.mmd2_by_measure_)


def compared(notion, kind, weight, X, table):
    names, terms = KINDS[kind]
    known = People(table[names], table["y"], None, table["weight"] / 3 if weight else None)
    found = compare(known, len(X), Terms(fairness=notion, **terms), 1e-3)
    return found.attached, found.comparison


@pytest.mark.parametrize(("notion", "kind", "weight"), CASES)
def test_all_ways_agree(notion, kind, weight):
    X, table = people(n=300)
    attached, comparison = compared(notion, kind, weight, X, table)
    mean = X.mean(axis=0)
    exact = ExactMMD(X - mean, comparison.weights.of(attached), comparison, SIGMA)
    V, Q = np.split(np.linalg.qr(np.random.default_rng(1).normal(size=(P, P)))[0], [2], axis=1)
    values, gradients = exact.evaluate(V)
    blocks = DaskRows(da.from_array(X, chunks=(110, P)), da.from_array(attached, chunks=(110, -1)))
    for rows in (ArrayRows(X, attached), blocks):
        mmd = HermiteMMD(rows, Coordinates(mean, np.eye(P)), comparison, SIGMA, n_features=1500)
        found_values, found_gradients = mmd.evaluate(V)
        np.testing.assert_allclose(found_values, values, atol=1e-7)
        np.testing.assert_allclose(found_gradients, gradients, atol=1e-6)
    multipliers = np.linspace(1, 2, comparison.n_measures)
    total = np.tensordot(multipliers, gradients, axes=1)
    np.testing.assert_allclose(
        mmd.hessian(V, Q, total, multipliers), exact.hessian(V, Q, total, multipliers), atol=1e-5
    )
    estimate, error = mmd.value_and_error(V, mmd.residual_sample(np.random.default_rng(0), 100))
    assert np.all(np.abs(estimate - values) <= error + 1e-9)


def test_a_sample_of_a_continuous_attribute_measures_the_same_on_average():
    X, table = people(n=600)
    attached, comparison = compared("demographic_parity", "mixed", True, X, table)
    Z = X[:, :2] / 3
    whole = ExactMMD(Z, comparison.weights.of(attached), comparison, 1.0).value(np.eye(2))
    found = []
    for seed in range(200):
        rows = ArrayRows(X, attached).stratified_draw(300, np.random.default_rng(seed)).indices
        sampled = comparison.sampled(attached[rows])
        weights = sampled.columns.of(attached[rows])
        np.testing.assert_allclose(weights.sum(axis=0), 0, atol=1e-12)
        found.append(ExactMMD(Z[rows], sampled.weights.of(attached[rows]), sampled, 1.0).value(np.eye(2)))
    # A sample of half of the rows: what chance adds is about one n-th of the kernel's spread, and no more.
    excess = np.mean(found, axis=0) - whole
    assert np.all(excess > 0)
    assert np.all(excess < 1 / 150)
    assert excess[-1] < 1 / 600
