"""An audit says what a reduction of new people reveals of their attributes, whatever reduced them."""
# SPDX-License-Identifier: MIT

import json

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest
from sklearn.decomposition import PCA

from fairpca import FairPCA, FairPCACV, audit
from fairpca.exceptions import TrainingRowsWarning
from fairpca.metrics import mmd2, mmd2_by_measure
from fairpca.mmd import Scales
from people_tables import people

QUICK = {"adversaries": (), "n_permutations": 99, "random_state": 0}


@pytest.fixture(scope="module")
def halves():
    X, table = people(n=1000)
    return X[:500], table[:500], X[500:], table[500:].reset_index(drop=True)


def test_of_any_reduction(halves):
    X, _, new, others = halves
    pca = PCA(2).fit(X)
    settings = {"sensitive_features": others["sex"], "bandwidth": 2.0, **QUICK}
    of_pca = audit(pca, new, **settings)
    of_components = audit(pca.components_, new - pca.mean_, **settings)
    of_rows = audit(None, pca.transform(new), **settings)
    assert of_pca.to_dict() == of_rows.to_dict()
    assert of_components.mmd2 == pytest.approx(of_pca.mmd2, rel=1e-9)
    assert of_pca.p_value < 0.05


def test_numbers_are_those_of_the_definitions(halves):
    X, known, new, others = halves
    model = FairPCA(2, tolerance=1e-3, random_state=0).fit(X, sensitive_features=known[["sex", "race"]])
    found = audit(model, new, sensitive_features=others[["sex", "race"]], **QUICK)
    expected = mmd2_by_measure(
        model.transform(new), sensitive_features=others[["sex", "race"]], bandwidth=model.bandwidth_
    )
    assert found.bandwidth == model.bandwidth_
    assert {measure["name"]: measure["mmd2"] for measure in found.measures} == pytest.approx(expected, rel=1e-9)
    unbiased = mmd2(model.transform(new), sensitive_features=others["sex"], bandwidth=model.bandwidth_, unbiased=True)
    assert found.measures[0]["unbiased"] == pytest.approx(unbiased, rel=1e-9)
    for measure in found.measures:
        assert measure["excess"] == measure["mmd2"] - measure["chance_level"]
        assert measure["p_value"] <= 1
        assert measure["p_value_adjusted"] >= measure["p_value_scales"]
        assert 0 < measure["upper_bound"] < measure["finite_sample_bound"]
    assert found.upper_bound == max(measure["upper_bound"] for measure in found.measures)
    assert found.p_value == min(measure["p_value_adjusted"] for measure in found.measures)
    assert found.excess == found.mmd2 - found.chance_level


def test_one_scale_is_judged_by_its_own_kernel_and_several_by_the_next_to_sigma(halves):
    X, known, _, _ = halves
    for factors, judged in (((0.25,), 0.25), ((0.5, 0.25), 0.5), ((2, 1, 0.5), 1.0)):
        model = FairPCA(2, tolerance=0.05, bandwidth=Scales(factors)).fit(X, sensitive_features=known["sex"])
        with pytest.warns(TrainingRowsWarning):
            found = audit(model, X, sensitive_features=known["sex"], **QUICK)
        assert found.bandwidth == judged * model.bandwidth_
        if len(factors) == 1:
            assert found.mmd2 == pytest.approx(model.mmd2_, rel=1e-9)
    chosen = FairPCACV(FairPCA(2, bandwidth=Scales((0.25,))), target=1.0, tolerances=[0.5], random_state=0)
    chosen.fit(X, sensitive_features=known["sex"])
    assert chosen.certificate_.bandwidth == 0.25 * chosen.bandwidth_


@pytest.mark.thorough
def test_adversaries_read_what_is_there_and_nothing_else(rng):
    n = 1200
    sex = rng.choice(["f", "m"], size=n)
    age = rng.gamma(3.0, 8.0, size=n)
    race = rng.choice(["a", "b", "c"], size=n)
    Z = np.column_stack([rng.normal(size=n) + (sex == "f"), rng.normal(size=n) + 0.1 * age])
    found = audit(None, Z, sensitive_features={"sex": sex, "age": age, "race": race}, random_state=0)
    assert {record["adversary"] for record in found.adversaries} == {"linear", "svm", "boosting", "neighbours"}
    for record in found.adversaries:
        if record["attribute"] == "sex":
            assert record["auc"] > 0.65
            assert record["p_value"] < 1e-3
        if record["attribute"] == "age":
            assert record["r2"] > 0.25
            assert record["p_value"] < 1e-3
        if record["attribute"] == "race":
            assert 0.4 < record["auc"] < 0.6
            assert record["p_value"] > 0.01


@pytest.mark.thorough
@pytest.mark.parametrize(("n_groups", "n_draws"), [(2, 40), pytest.param(3, 25, marks=pytest.mark.slow)])
def test_p_values_of_adversaries_are_uniform_by_lot(rng, n_groups, n_draws):
    p_values = []
    for seed in range(n_draws):
        groups = rng.permutation(np.arange(160) % n_groups)
        settings = {"adversaries": "neighbours", "n_permutations": 19, "random_state": seed}
        (record,) = audit(None, rng.normal(size=(160, 2)), sensitive_features=groups, **settings).adversaries
        p_values.append(record["p_value"])
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_one_bandwidth_is_blind_to_what_several_see(rng):
    # Groups that alternate: alike from afar, apart at close range.
    n = 1000
    group = np.arange(n) % 2
    Z = np.column_stack([rng.integers(0, 30, size=n) + 0.5 * group, rng.normal(size=n)])
    found = audit(None, Z, sensitive_features=group, adversaries=(), bandwidth=1.0, random_state=0)
    assert found.measures[0]["p_value"] > 0.05
    assert found.measures[0]["p_value_scales"] < 0.01


def test_parity_gaps_of_a_task(halves):
    _, _, new, others = halves
    sees_all = audit(None, new, others["y"], sensitive_features=others[["sex", "age"]], **QUICK)
    (record,) = sees_all.parity
    assert record["attribute"] == "sex"
    assert 0.5 < record["accuracy"] < 1
    assert 0 <= record["equal_opportunity"] <= record["equalized_odds"] <= 1
    classes = audit(None, new, np.arange(500) % 3, sensitive_features=others["sex"], **QUICK)
    assert classes.parity == []


def test_units_do_not_matter(halves):
    _, _, new, others = halves
    plain, large = (audit(None, unit * new, sensitive_features=others["sex"], **QUICK) for unit in (1.0, 1024.0))
    assert large.p_value == plain.p_value
    assert large.upper_bound == pytest.approx(plain.upper_bound, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [6000, pytest.param(21_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("d", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_many_rows(rng, n, d):
    groups = rng.choice(["a", "b", "c"], p=[0.02, 0.48, 0.5], size=n)
    Z = rng.normal(size=(n, d))
    Z[groups == "b", 0] += 0.15
    lazy = da.from_array(Z, chunks=(4000, d))
    for rows in (Z, lazy) if n == 6000 else (Z,):
        found = audit(None, rows, sensitive_features=groups, **QUICK)
        expected = mmd2_by_measure(Z, sensitive_features=groups, bandwidth=found.bandwidth)
        for measure in found.measures:
            assert abs(measure["mmd2"] - expected[measure["name"]]) <= measure["mmd2_error"] + 1e-12
            assert measure["upper_bound"] > measure["unbiased"]
        b = next(measure for measure in found.measures if measure["name"].startswith("b against"))
        assert b["p_value_moments"] < 1e-3
        assert found.p_value == 0.01


def test_dask_tables_and_attributes(halves):
    X, known, new, others = halves
    model = FairPCA(2, random_state=0).fit(X, sensitive_features=known["sex"])
    sex = (others["sex"] == "f").to_numpy()
    lazy = audit(model, da.from_array(new, chunks=(100, -1)), sensitive_features=da.from_array(sex, chunks=90), **QUICK)
    plain = audit(model, new, sensitive_features=sex, **QUICK)
    assert lazy.mmd2 == pytest.approx(plain.mmd2, rel=1e-9)
    assert lazy.p_value == plain.p_value


@pytest.mark.parametrize("columns", ["constant", "null", "far", "equal"])
def test_ugly_projections(columns):
    rng = np.random.default_rng(2)
    Z, groups = rng.normal(size=(200, 3)), np.arange(200) % 2
    if columns == "constant":
        Z[:, 1] = 7.0
    if columns == "null":
        Z[:, 1:] = 0.0
    if columns == "far":
        Z[:2] *= 1e8
    if columns == "equal":
        Z[:] = 1.0
    found = audit(None, Z, sensitive_features=groups, n_permutations=99, random_state=0)
    assert np.isfinite(found.upper_bound)
    assert 0.01 < found.p_value <= 1.0
    assert all(record["p_value"] > 1e-4 for record in found.adversaries)


def test_weights_missing_values_and_controls(halves):
    _, _, new, others = halves
    sex = others["sex"].astype(object).copy()
    sex[:50] = None
    found = audit(
        None,
        new,
        sensitive_features=sex,
        control_features=others["department"],
        sample_weight=others["weight"],
        missing="leave",
        adversaries="linear",
        n_permutations=99,
        random_state=0,
    )
    assert len(found.measures) == 2
    assert sum(measure["n_rows"] for measure in found.measures) == 450
    assert found.adversaries[0]["n_rows"] == 225


def test_fewer_than_ten_rows_on_a_side_are_not_certified(rng):
    found = audit(None, rng.normal(size=(60, 2)), sensitive_features=np.arange(60) < 8, **QUICK)
    assert np.isnan(found.upper_bound)
    assert "Fewer than 10 rows on a side" in str(found)
    assert found.measures[0]["finite_sample_bound"] > 0


@pytest.mark.parametrize("sizes", [(8, 30), (19, 400), (25, 25), (21, 6000)])
def test_adversaries_need_twenty_rows_of_two_groups(rng, sizes):
    groups = np.repeat([0, 1], sizes)
    age = rng.uniform(size=len(groups))
    found = audit(
        None,
        rng.normal(size=(len(groups), 2)),
        sensitive_features={"group": groups, "age": age},
        adversaries=("svm", "neighbours"),
        n_permutations=19,
        random_state=0,
    )
    tried = [(record["attribute"], record["adversary"]) for record in found.adversaries]
    ages = [] if len(groups) < 40 else [("age", "svm"), ("age", "neighbours")]
    assert tried == ([("group", "svm"), ("group", "neighbours")] if min(sizes) >= 20 else []) + ages


def test_words_tables_and_pictures(halves, tmp_path):
    _, _, new, others = halves
    settings = {"adversaries": ("linear", "svm"), "n_permutations": 199, "random_state": 0}
    told = audit(None, new, others["y"], sensitive_features=others[["sex", "age"]], **settings)
    words = str(told)
    assert "With 95 % confidence the MMD^2 of the population is at most" in words
    assert words.startswith("Verdict: Not fair enough: the data reveal sex and age")
    assert "A logistic regression of the labels is right on" in words
    assert json.loads(json.dumps(told.to_dict()))["n_rows"] == 500
    assert isinstance(told.to_frame(), pd.DataFrame)
    assert len(told.to_frame("adversaries")) == 4
    figure = told.plot().figure_
    figure.savefig(tmp_path / "audit.png")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [m["name"] for m in told.measures]
    by_lot = np.random.default_rng(3).permutation(np.arange(500) % 2)
    alike = str(audit(None, new, sensitive_features=by_lot, **settings))
    assert alike.startswith("Verdict: Not shown to be fair for the attribute")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"sensitive_features": None}, ValueError, "an audit needs the attributes"),
        ({"sensitive_features": np.ones(50)}, ValueError, "has one group only"),
        ({"confidence": 95}, ValueError, "confidence=95 must be a number of at least 0.5 and less than 1"),
        ({"adversaries": "oracle"}, ValueError, "adversaries='oracle' is unknown; choose one of"),
        ({"callback": "loud"}, TypeError, "callback must be a function of a text, such as print, or None; got 'loud'"),
        ({"colour": "blue"}, TypeError, "'colour' is no way to compare people"),
        ({"reduction": np.eye(2)}, ValueError, r"reduction has shape \(2, 2\), but X has 3 columns"),
        ({"reduction": PCA(2)}, ValueError, "not fitted"),
    ],
)
def test_bad_input(rng, change, error, message):
    arguments = {"reduction": None, "X": rng.normal(size=(50, 3)), "sensitive_features": np.arange(50) % 2} | change
    with pytest.raises(error, match=message):
        audit(arguments.pop("reduction"), arguments.pop("X"), **arguments)


def test_it_says_what_it_is_at(halves):
    _, _, new, others = halves
    said, settings = [], QUICK | {"adversaries": "svm"}
    audit(None, new, others["y"], sensitive_features=others["sex"], callback=said.append, **settings)
    assert said == ["projecting", "measuring", "permutations: 0 of 99", "adversaries: svm", "parity gaps of a task"]
