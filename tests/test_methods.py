"""Fair reductions on equal terms: the same rows, honest choices, reasons where a method cannot do what is asked."""
# SPDX-License-Identifier: MIT

import json
import math

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import fairpca
from fairpca.baselines import FPCA
from fairpca.comparison import People, Terms
from fairpca.methods import KNOWN, Asked, Part, compare_parts
from fairpca.methods._known import why_not

N = 900
FAST = ["FairPCA", "LEACE"]


def rows(n=N, seed=0):
    """Return rows of which two groups differ in means and spread, and a label that a shared column knows."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m"], size=n)
    X = rng.normal(size=(n, 6)) * [3, 2, 1, 1, 1, 1]
    X[:, 0] += 2 * (group == "m")
    X[group == "m", 2] *= 2
    y = np.where(X[:, 0] + 2 * X[:, 1] + rng.normal(size=n) > 1, "yes", "no")
    return X, y, group


@pytest.fixture(scope="module")
def found():
    X, y, group = rows()
    return fairpca.compare(X, y, sensitive_features=group, target=0.3, random_state=0)


def test_every_method_is_tried_on_the_same_parts(found):
    assert [row["method"] for row in found.methods] == list(KNOWN)
    assert not found.left_out
    assert found.n_rows == {"fit": 441, "choosing": 189, "held_out": 270}
    assert {len(model.components_) for model in found.models.values()} == {2}
    assert found.row("FairPCA")["mmd2"] < found.row("PCA")["mmd2"] / 4
    assert found.row("FairPCA")["adversary_score"] < found.row("PCA")["adversary_score"]
    assert all(0.5 < row["task_auc"] <= 1 for row in found.methods)


def test_figures_are_those_of_audits_of_the_rows_held_out():
    X, y, group = rows()
    parts = [Part(X[part], People(group[part], y[part])) for part in (slice(0, 600), slice(600, N))]
    asked = Asked(2, "auto", 0.3, FAST, Terms(), 0, print)
    found = compare_parts(*parts, asked)
    assert [row["method"] for row in found.methods] == ["PCA", *FAST]
    sigma = found.models["PCA"].bandwidth_
    for name, model in found.models.items():
        people = {"sensitive_features": group[600:], "y": y[600:]}
        audit = fairpca.audit(model, X[600:], **people, bandwidth=sigma, random_state=0)
        row = found.row(name)
        assert row["mmd2"] == pytest.approx(audit.mmd2)
        assert row["upper_bound"] == pytest.approx(audit.upper_bound)
        assert row["adversary_score"] == max(each["auc"] for each in audit.adversaries)
        # Least squares by their definition, on the 420 rows that fit and on those held out.
        assert row["variance_kept"] == pytest.approx(variance_predicted(model, X[600:]), abs=0.02)


def variance_predicted(model, X):
    """Return the share of the variance of scaled rows that a linear regression on their projections predicts."""
    rows, Z = StandardScaler().fit_transform(X), model.transform(X)
    Z = np.column_stack([np.ones(len(Z)), Z])
    return 1 - np.sum((rows - Z @ np.linalg.lstsq(Z, rows)[0]) ** 2) / np.sum(rows**2)


def test_choices_are_made_on_other_rows_than_those_reported(found):
    chosen, choosing = found.choices, {row["method"]: row for row in found.choosing}
    assert set(chosen) == {"variance", "task", "promise"}
    alike = [row for row in choosing.values() if row["gap"] <= 0.3]
    assert choosing[chosen["variance"]] in alike
    assert choosing[chosen["variance"]]["variance_kept"] >= 0.99 * max(row["variance_kept"] for row in alike)
    assert all(math.isnan(row["adversary_score"]) for row in choosing.values())
    assert all(found.row(name)["mmd2"] != choosing[name]["mmd2"] for name in choosing)
    words = " ".join(found.recommendation)
    assert f"{chosen['variance']} keeps {100 * found.row(chosen['variance'])['variance_kept']:.1f} %" in words


def test_what_is_promised_is_certified_on_the_rows_held_out(found):
    release = found.release
    assert not found.no_promise
    assert release.certificate_.upper_bound == 0.3
    assert release.certificate_.n_rows == found.n_rows["held_out"]
    assert release.level_ == found.row(found.choices["promise"])["promise_cells"]
    X, _, group = rows(20_000, seed=1)
    Z = release.transform(found.models[found.choices["promise"]].transform(X))
    assert fairpca.any_classifier_bound(Z, sensitive_features=group).measures[0]["distance"] <= 0.3


def test_oblique_maps_are_judged_by_what_can_be_had_of_their_coordinates():
    """Where label and group lie close together, SPLINCE stretches rows, and its reconstructions are worse than none."""
    rng = np.random.default_rng(0)
    group, y = rng.integers(2, size=(2, 3000))
    X = rng.normal(size=(3000, 2)) @ [[1, 0.95], [0, 0.3]] + np.outer(group, [0, 0.8]) + np.outer(y, [0.1, 0.9])
    asked = {"methods": ["LEACE", "SPLINCE"], "n_components": 1, "random_state": 0}
    found = fairpca.compare(X, y, sensitive_features=group, **asked)
    for name in ("LEACE", "SPLINCE"):
        model, kept = found.models[name], found.row(name)["variance_kept"]
        back = StandardScaler().fit(X).transform(X - model.inverse_transform(model.transform(X)) + X.mean(0))
        assert 1 - back.var(axis=0).sum() / 2 - 0.02 < kept < found.row("PCA")["variance_kept"]
        assert kept == pytest.approx(variance_predicted(model, X), abs=0.02)
    assert 1 - back.var(axis=0).sum() / 2 < 0 < kept


QUESTIONS = {
    "notion": ({"fairness": "equalized_odds"}, "fairness='equalized_odds'"),
    "segments": ({"control_features": np.arange(N) % 2}, "segments"),
    "crossed": ({"sensitive": "intersections"}, "intersections"),
}


@pytest.mark.parametrize(("asked", "reason"), QUESTIONS.values(), ids=QUESTIONS)
def test_methods_that_cannot_do_it_are_listed_with_the_reason(asked, reason):
    X, y, group = rows()
    other = np.random.default_rng(1).choice(["a", "b"], N)
    groups = np.column_stack([group, other]) if "sensitive" in asked else group
    found = fairpca.compare(
        X, y, sensitive_features=groups, methods=["FairPCA", "LEACE", "FPCA"], random_state=0, **asked
    )
    assert [row["method"] for row in found.methods] == ["PCA", "FairPCA"]
    assert reason in found.left_out["LEACE"]
    assert reason in found.left_out["FPCA"]
    assert "Not compared: LEACE: " in str(found)


def test_several_groups_and_weights_leave_the_methods_that_know_them():
    X, _, group = rows()
    three = np.where(X[:, 5] > 0.5, "x", group)
    weights = np.random.default_rng(0).integers(1, 3, N)
    found = fairpca.compare(
        X, sensitive_features={"group": three}, sample_weight=weights, methods=["LEACE", "FPCA"], random_state=0
    )
    assert [row["method"] for row in found.methods] == ["PCA", "LEACE"]
    assert "3 groups" in found.left_out["FPCA"]
    assert set(found.choices) == {"variance", "promise"}


def test_amounts_are_scored_by_what_is_explained_of_them_and_nothing_is_promised():
    X, _, _ = rows()
    found = fairpca.compare(
        X, sensitive_features=X[:, 0] + 1.0, sensitive_kind="continuous", methods="LEACE", random_state=0
    )
    assert found.score == "R²"
    assert found.choices["promise"] is None
    assert "promises speak of groups" in str(found)
    assert found.row("LEACE")["adversary_score"] < found.row("PCA")["adversary_score"]


@pytest.mark.parametrize(
    ("n_columns", "is_named", "is_tried"), [(1001, False, False), (1001, True, True), (9, False, True)]
)
def test_a_method_that_takes_minutes_is_tried_where_it_is_named(n_columns, is_named, is_tried):
    reason = why_not("FPCA", FPCA(2), People(["a", "b"]), Terms(), n_columns, is_named)
    assert ("name it in methods" not in reason) == is_tried


def test_reductions_of_ones_own_are_compared_too():
    X, _, group = rows()
    found = fairpca.compare(X, sensitive_features=group, methods={"<b>mine</b>": PCA(3)}, random_state=0)
    assert [row["method"] for row in found.methods] == ["PCA", "<b>mine</b>"]
    assert found.models["<b>mine</b>"].n_components_ == 3
    with pytest.raises(TypeError, match=r"methods\['x'\] must be an estimator"):
        fairpca.compare(X, sensitive_features=group, methods={"x": 3})


def test_a_page_holds_the_recommendation_one_picture_and_all_methods(found, tmp_path):
    page = found.save(tmp_path / "methods.html").read_text()
    assert page.count('role="img"') == 1
    assert all(row["method"] in page for row in found.methods)
    assert found.recommendation[0].partition(":")[2].strip()[:40] in page
    assert "http" not in page.replace("http-equiv", "")
    X, _, group = rows()
    odd = fairpca.compare(X, sensitive_features=group, methods={"<b>mine</b>": PCA(2)}, random_state=0)
    assert "<b>mine" not in odd.save(tmp_path / "odd.html").read_text()


def test_figures_as_text_frame_and_json(found):
    frame = found.to_frame()
    assert frame.loc["LEACE", "mmd2"] == found.row("LEACE")["mmd2"]
    assert json.loads(json.dumps(found.to_dict()))["choices"] == found.choices
    assert f"{100 * found.row('LEACE')['variance_kept']:.1f} %" in str(found)


REFUSED = {
    "unknown method": ({"methods": "LEECE"}, "LEACE"),
    "no method": ({"methods": 3}, "names among PCA, FairPCA"),
    "target": ({"target": 1.5}, "target"),
    "too few held out": ({"held_out": 0.01}, r"held_out=0.01 leaves .* to judge by"),
    "too few to choose": ({"held_out": 0.98}, r"to choose with leaves"),
    "no attribute": ({"sensitive_features": None}, "sensitive_features=None"),
    "components": ({"n_components": 7}, "n_components"),
}


@pytest.mark.parametrize(("asked", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_refused_in_a_sentence(asked, words):
    X, y, group = rows()
    with pytest.raises((TypeError, ValueError), match=words):
        fairpca.compare(X, y, **{"sensitive_features": group, "random_state": 0} | asked)


def test_a_group_that_falls_away_in_a_part_is_named():
    X, y, group = rows()
    group[:12] = "x"
    with pytest.raises(ValueError, match="one side of 'x against all others'"):
        fairpca.compare(X, y, sensitive_features=group, random_state=0)
