"""Notions, groups, attributes, weights: what is compared is what was asked for, wherever the rows are."""
# SPDX-License-Identifier: MIT

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest

from dense_judge import judge
from fairpca import FairPCA
from people_tables import KINDS, NOTIONS, P, people

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
