"""What is said of people: missing values, small groups, kinds, weights; and what cannot be compared."""
# SPDX-License-Identifier: MIT

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA, fair_pca_path
from fairpca.exceptions import AttributeInTableWarning, LeftOutWarning
from fairpca.metrics import mmd2, mmd2_by_measure
from people_tables import people


@pytest.fixture
def table():
    return people(seed=3, n=300)


def fitted(X, known, *names, **parameters):
    arguments = {
        name: parameters.pop(name) for name in ("y", "control_features", "sample_weight") if name in parameters
    }
    model = FairPCA(2, **({"tolerance": 0.05} | parameters))
    return model.fit(X, arguments.pop("y", None), sensitive_features=known[list(names)], **arguments)


# Weights


@pytest.mark.thorough
@pytest.mark.parametrize("names", [["sex"], ["race", "age"]], ids=str)
@pytest.mark.parametrize("tolerance", [5e-2, 1e-3])
def test_whole_weights_are_repeated_rows(table, names, tolerance):
    X, known = table
    weight = known["weight"].to_numpy().copy()
    weight[::7] = 0
    often = np.repeat(np.arange(len(X)), weight)
    weighted = FairPCA(2, tolerance=tolerance).fit(X, sensitive_features=known[names], sample_weight=weight)
    repeated = FairPCA(2, tolerance=tolerance).fit(X[often], sensitive_features=known[names].iloc[often])
    for attribute in (
        *("components_", "mean_", "scale_", "explained_variance_", "explained_variance_ratio_", "singular_values_"),
        *("bandwidth_", "noise_variance_", "mmd2_"),
    ):
        np.testing.assert_allclose(getattr(weighted, attribute), getattr(repeated, attribute), rtol=1e-10, atol=1e-10)
    for one, other in zip(weighted.measures_, repeated.measures_, strict=True):
        assert one["weight"] == other["weight"] == other["n_rows"]
        assert one["mmd2"] == pytest.approx(other["mmd2"], abs=1e-12)
    assert weighted.converged_


def test_the_unit_of_other_weights_does_not_matter(table):
    X, known = table
    weight = np.random.default_rng(1).gamma(2.0, size=len(X))
    one, other = (fitted(X, known, "sex", sample_weight=unit * weight) for unit in (1.0, 4096.0))
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-9)
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=1e-9)
    # As many rows, weighted: the variance is about that of the plain table, not 4096 times it.
    assert one.measures_[0]["weight"] == pytest.approx(len(X))


def test_weights_without_groups_are_a_weighted_pca(table):
    X, _ = table
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    with pytest.warns(UserWarning, match="plain PCA"):
        model = FairPCA(3, standardize=False, tolerance=1e-3).fit(X, sample_weight=weight)
    covariance = np.cov(X.T, fweights=weight)
    np.testing.assert_allclose(model.explained_variance_, np.linalg.eigvalsh(covariance)[::-1][:3], rtol=1e-10)


BAD_WEIGHTS = {
    "negative": (lambda w: np.where(np.arange(len(w)) < 2, -1.0, w), "has 2 entries below 0"),
    "zero": (lambda w: 0 * w, "is zero for 300 of 300 rows"),
    "nan": (lambda w: np.where(np.arange(len(w)) < 3, np.nan, w), "has 3 entries that are NaN or infinite"),
    "short": (lambda w: w[:-1], "has 299 entries but X has 300 rows"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_weights_that_cannot_be_used_are_refused(table, case):
    X, known = table
    change, message = BAD_WEIGHTS[case]
    weight = change(known["weight"].to_numpy().astype(float))
    with pytest.raises(ValueError, match=f"sample_weight {message}"):
        fitted(X, known, "sex", sample_weight=weight)
    with pytest.raises(ValueError, match=f"sample_weight {message}"):
        FairPCA(2, tolerance=1e-3).fit(
            da.from_array(X, chunks=(100, -1)),
            sensitive_features=known["sex"].to_numpy(),
            sample_weight=da.from_array(weight, chunks=70),
        )
    with pytest.raises(TypeError, match="sample_weight must hold numbers"):
        fitted(X, known, "sex", sample_weight=known["race"])


# Missing values


@pytest.mark.parametrize("container", ["memory", "dask"])
def test_missing_values_are_refused_a_group_or_left(table, container):
    X, known = table
    race = known["race"].to_numpy().astype(object)
    race[:30] = None
    rows, column = (X, race) if container == "memory" else (da.from_array(X, chunks=(120, -1)), da.from_array(race, 90))
    with pytest.raises(ValueError, match=r"sensitive_features has 30 missing values.* or use missing=\"group\""):
        FairPCA(2, tolerance=1e-3).fit(rows, sensitive_features=column)
    settings = {"tolerance": 0.05, "random_state": 0, "mmd": "hermite"}
    group = FairPCA(2, missing="group", **settings).fit(rows, sensitive_features=column)
    assert [row["name"][:7] for row in group.measures_] == ["a again", "b again", "c again", "missing"]
    assert group.measures_[3]["n_rows"] == 300
    left = FairPCA(2, missing="leave", **settings).fit(rows, sensitive_features=column)
    assert [row["n_rows"] for row in left.measures_] == [270] * 3
    # Who is left out of the comparison counts for the variance.
    np.testing.assert_allclose(left.mean_, X.mean(axis=0))
    expected = mmd2_by_measure(
        left.transform(X)[30:], sensitive_features=race[30:].astype(str), bandwidth=left.bandwidth_
    )
    assert left.mmd2_by_measure_ == pytest.approx(expected, abs=1e-9)


def test_missing_numbers_are_left(table):
    X, known = table
    age = known["age"].to_numpy().copy()
    age[:40] = np.nan
    with pytest.raises(ValueError, match="40 missing values"):
        FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=age)
    model = FairPCA(2, tolerance=0.01, missing="leave").fit(X, sensitive_features=age)
    assert model.measures_[0]["n_rows"] == 260
    expected = mmd2(model.transform(X)[40:], sensitive_features=age[40:], bandwidth=model.bandwidth_)
    assert model.mmd2_ == pytest.approx(expected, abs=1e-9)


# Small groups


def with_small_groups(known):
    race = known["race"].to_numpy().astype(object)
    race[:3], race[3:5] = "x", "z"
    return race


def test_small_groups_are_refused_merged_or_left(table):
    X, known = table
    race = with_small_groups(known)
    with pytest.raises(ValueError, match=r"fewer than min_group_size=5 rows: 'x' \(3 rows\), 'z' \(2 rows\)\. Merge"):
        FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=race)
    merged = FairPCA(2, tolerance=0.1, small_groups="merge").fit(X, sensitive_features=race)
    assert [row["name"] for row in merged.measures_][-1] == "x + z against all others"
    with pytest.warns(LeftOutWarning, match=r"left out of .*: 'x' \(3 rows\), 'z' \(2 rows\) of sensitive_features\."):
        left = FairPCA(2, tolerance=0.1, small_groups="leave").fit(X, sensitive_features=race)
    assert [row["n_rows"] for row in left.measures_] == [295] * 3
    assert FairPCA(2, tolerance=1.0, min_group_size=2).fit(X, sensitive_features=race).measures_[3]["n_rows"] == 300


def test_a_merged_group_that_is_still_small_takes_the_next(table):
    X, known = table
    sex = known["sex"].to_numpy().astype(object)
    sex[:7], sex[7:9] = "some", "few"
    model = FairPCA(2, tolerance=0.1, small_groups="merge").fit(X, sensitive_features=sex)
    assert model.measures_[-1]["name"] == "few + some against all others"


def test_segments_without_two_groups_are_left_with_a_word(table):
    X, known = table
    department = np.where(known["sex"] == "m", known["department"], "law")
    known = known.assign(department=np.where(np.arange(300) < 20, "men", department))
    X, known = (
        X[(known["department"] != "men") | (known["sex"] == "m")],
        known[(known["department"] != "men") | (known["sex"] == "m")],
    )
    with pytest.raises(ValueError, match=r"sex among department = art has groups of fewer .*: 'f' \(0 rows\)"):
        fitted(X, known, "sex", control_features=known["department"])
    with pytest.warns(LeftOutWarning, match="where fewer than two groups are left to compare"):
        model = fitted(X, known, "sex", control_features=known["department"], small_groups="leave")
    assert [row["among"] for row in model.measures_] == ["department = law"]


# Tolerances, notions, kinds


def test_tolerances_by_attribute(table):
    X, known = table
    model = fitted(X, known, "sex", "race", tolerance={"sex": 0.1, "race": 0.02})
    assert [row["tolerance"] for row in model.measures_] == [0.1, 0.02, 0.02, 0.02]
    assert all(row["budget_used"] <= 1 for row in model.measures_)
    with pytest.raises(ValueError, match=r"names the attributes 'sex', 'rice', but those compared are 'sex', 'race'"):
        fitted(X, known, "sex", "race", tolerance={"sex": 0.1, "rice": 0.02})


def test_what_is_learned_of_each_measure(table):
    X, known = table
    model = fitted(X, known, "sex", "race", tolerance=0.01)
    frame = pd.DataFrame(model.measures_)
    assert frame.columns.tolist()[:7] == ["name", "attribute", "among", "kind", "n_rows", "sides", "weight"]
    assert frame["attribute"].tolist() == ["sex", "race", "race", "race"]
    assert model.mmd2_ == pytest.approx(frame["mmd2"].max())
    np.testing.assert_allclose(frame["budget_used"], frame["mmd2"] / 0.01)
    assert np.all(frame["budget_used"][frame["multiplier"] > 0] > 0.9)
    assert np.any(frame["multiplier"] > 0)


def test_equal_opportunity_needs_the_favourable_label(table):
    X, known = table
    words = known["y"].map({0: "rejected", 1: "hired"})
    settings = {"fairness": "equal_opportunity"}
    model = fitted(X, known, "sex", y=words, favourable="hired", **settings)
    same = fitted(X, known, "sex", y=known["y"], **settings)
    assert model.mmd2_ == pytest.approx(same.mmd2_, rel=1e-9)
    assert model.measures_[0]["among"] == "y = hired"
    with pytest.raises(ValueError, match="name it by favourable=, one of 'hired', 'rejected'"):
        fitted(X, known, "sex", y=words, **settings)
    with pytest.raises(ValueError, match="favourable='fired' is not a label of y, which has 'hired', 'rejected'"):
        fitted(X, known, "sex", y=words, favourable="fired", **settings)
    with pytest.raises(ValueError, match='has a meaning for fairness="equal_opportunity" only'):
        fitted(X, known, "sex", favourable="hired")


def test_labels_of_several_classes(table):
    X, known = table
    grade = np.arange(300) % 3
    model = fitted(X, known, "sex", y=grade, fairness="equalized_odds")
    assert [row["among"] for row in model.measures_] == ["y = 0", "y = 1", "y = 2"]
    one = fitted(X, known, "sex", y=grade, fairness="equal_opportunity", favourable=2)
    assert [row["n_rows"] for row in one.measures_] == [100]


@pytest.mark.parametrize("notion", ["equal_opportunity", "equalized_odds"])
def test_labels_are_asked_for_in_one_sentence(table, notion):
    X, known = table
    with pytest.raises(ValueError, match=f"fairness='{notion}' speaks of labels: pass them as y, one for each row"):
        fitted(X, known, "sex", fairness=notion)


def test_a_label_constant_in_a_group_is_named(table):
    X, known = table
    y = np.where(known["sex"] == "f", 0, known["y"])
    with pytest.raises(ValueError, match=r"sex among y = 1 has groups of fewer than .*: 'f' \(0 rows\)"):
        fitted(X, known, "sex", y=y, fairness="equalized_odds")


def test_kinds_are_found_or_said(table):
    X, known = table
    assert fitted(X, known, "sex", "age").sensitive_kinds_ == {"sex": "groups", "age": "continuous"}
    decade = known.assign(age=known["age"] // 20)
    assert fitted(X, decade, "age", small_groups="merge").sensitive_kinds_ == {"age": "groups"}
    kinds = {"age": "continuous"}
    assert fitted(X, decade, "sex", "age", sensitive_kind=kinds).sensitive_kinds_["age"] == "continuous"
    with pytest.raises(TypeError, match='sensitive_features is said to be "continuous", but holds labels'):
        fitted(X, known, "sex", sensitive_kind="continuous")
    with pytest.raises(ValueError, match="sensitive_kind names 'height', but sensitive_features has 'sex', 'age'"):
        fitted(X, known, "sex", "age", sensitive_kind={"height": "groups"})
    with pytest.raises(ValueError, match="has infinite numbers"):
        fitted(X, known.assign(age=np.where(np.arange(300) == 3, np.inf, known["age"])), "age")


def test_neither_units_nor_outliers_of_a_number_matter(table):
    X, known = table
    age = known["age"].to_numpy()
    stretched = np.where(age == age.max(), 1e9, np.exp(age / 10))
    one, other = (FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=values) for values in (age, stretched))
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-9)


def test_a_group_for_each_row_is_refused(table):
    X, _ = table
    with pytest.raises(ValueError, match=r"has 300 groups, 'p0' \(1 row\), .*; at most 100 can be compared"):
        FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=[f"p{k}" for k in range(300)])


@pytest.mark.parametrize("argument", ["y", "control_features", "sample_weight"])
def test_lengths_and_indexes_that_do_not_match_are_named(table, argument):
    X, known = table
    frame = pd.DataFrame(X, index=known.index)
    column = known[{"y": "y", "control_features": "department", "sample_weight": "weight"}[argument]]
    settings = {"fairness": "equalized_odds"} if argument == "y" else {}
    with pytest.raises(ValueError, match=f"{argument} has 299 entries but X has 300 rows"):
        fitted(X, known, "sex", **{argument: column[:-1].to_numpy()}, **settings)
    with pytest.raises(ValueError, match=f"{argument} has the row labels of X in another order"):
        fitted(frame, known, "sex", **{argument: column[::-1]}, **settings)


# Columns that reveal an attribute


def test_a_column_that_reveals_the_attribute_is_named(table):
    X, known = table
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(frame, known, "sex", "age")
    frame["female"] = (known["sex"] == "f") * 1.0
    frame["years left"] = 100 - known["age"]
    with pytest.warns(
        AttributeInTableWarning, match="'female' reveals sex; 'years left' reveals age. Fair components may"
    ):
        fitted(frame, known, "sex", "age")
    with pytest.warns(AttributeInTableWarning, match="column 8 reveals sensitive_features"):
        FairPCA(2, tolerance=0.05).fit(frame.to_numpy(), sensitive_features=known["sex"].to_numpy())


def test_all_rows_say_whether_a_column_reveals_an_attribute(rng):
    n = 10_000
    group = np.repeat([0, 1, 2], [n // 2, n // 2 - 1, 1])
    X = rng.normal(size=(n, 4))
    # On most rows alone; of one rare group; of all.
    X[:, 0] = np.where(np.arange(n) == 4999, 7.0, group)
    X[:, 1] = group == 2
    X[:, 2] = 2 - group
    with pytest.warns(AttributeInTableWarning, match="column 1, column 2 reveals sensitive_features"):
        FairPCA(2, tolerance=1.9, min_group_size=2, small_groups="merge").fit(X, sensitive_features=group)


@pytest.mark.parametrize("argument", ["y", "control_features"])
def test_missing_labels_and_segments_have_no_option_of_their_own(table, argument):
    X, known = table
    values = known["race"].where(np.arange(len(X)) > 2)
    model = FairPCA(2, tolerance=0.05, fairness="equalized_odds" if argument == "y" else "demographic_parity")
    with pytest.raises(
        ValueError, match=f"{argument} has 3 missing values.*; drop those rows, or give them a label"
    ) as e:
        model.fit(X, sensitive_features=known["sex"], **{argument: values})
    assert "missing=" not in str(e.value)


# Elsewhere in the house


def test_a_path_for_every_notion(table):
    X, known = table
    settings = {"y": known["y"], "fairness": "equalized_odds", "sample_weight": known["weight"]}
    path = fair_pca_path(X, known[["sex", "age"]], 2, tolerances=[0.1, 0.02], **settings)
    assert [len(model.measures_) for model in path.models_] == [4, 4]
    assert path.converged_.all()
    expected = mmd2(
        path.models_[1].transform(X),
        known["y"],
        sensitive_features=known[["sex", "age"]],
        sample_weight=known["weight"],
        fairness="equalized_odds",
        bandwidth=path.models_[1].bandwidth_,
    )
    assert path.mmd2s_[1] == pytest.approx(expected, rel=1e-6)


def test_metadata_find_their_way(table):
    X, known = table
    with sklearn.config_context(enable_metadata_routing=True):
        model = FairPCA(2, fairness="equalized_odds", tolerance=1e-3).set_fit_request(
            sensitive_features=True, control_features=True, sample_weight=True
        )
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipeline.set_params(fairpca__tolerance=0.05, fairpca__min_group_size=2)
        arguments = {"sensitive_features": known["sex"], "sample_weight": known["weight"]}
        pipeline.fit(X, known["y"], **arguments, control_features=known["department"])
        assert len(pipeline[-1].measures_) == 4
        assert pipeline[-1].measures_[0]["weight"] < known["weight"].sum()
