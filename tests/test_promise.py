"""What is promised of every classifier: in audits, certificates, reports, plans, and from a table in one command."""
# SPDX-License-Identifier: MIT

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline

import fairpca
from cli_tables import PLAIN, answer, people, refused, run, said, written
from fairpca import FairPCA, Release, any_classifier_bound, audit, load_certificate, verify
from fairpca.auditing import certificate_of_release
from fairpca.planning import plan_promise
from fairpca.report import make_report

SEX = ["--sensitive", "sex", *PLAIN, "--no-path"]
FILES = {"release.fairpca", "released.csv", "promise.json"}


class Released:
    """Rows to fit, held-out rows and fresh ones, and a certified release of FairPCA's projections."""

    def __init__(self, output="centres"):
        rng = np.random.default_rng(0)
        n = 21_000
        self.group = rng.choice(["a", "b"], n)
        self.X = rng.normal(size=(n, 4)) * [2, 1, 1, 0.5]
        self.X[:, 0] += 0.5 * (self.group == "b")
        self.fit, self.held, self.fresh = slice(0, 3000), slice(3000, 6000), slice(6000, None)
        self.model = FairPCA(2, random_state=0).fit(*self.rows("fit")[0], **self.rows("fit")[1])
        release = Release(random_state=0, n_cells=24, output=output)
        release.fit(self.model.transform(self.X[self.fit]), **self.rows("fit")[1])
        release.certify(self.model.transform(self.X[self.held]), **self.rows("held")[1], target=0.1)
        self.release, self.pipeline = release, make_pipeline(self.model, release)
        (X,), known = self.rows("held")
        self.certificate = certificate_of_release(self.pipeline, X, **known)

    def rows(self, which):
        part = getattr(self, which)
        return (self.X[part],), {"sensitive_features": self.group[part]}

    def verify(self, certificate, which, model=None):
        (X,), known = self.rows(which)
        return verify(certificate, self.pipeline if model is None else model, X, **known)


@pytest.fixture(scope="module")
def case():
    return Released()


# Audits


def test_the_verdict_on_a_release_is_that_of_its_bound_for_every_classifier(case):
    (X,), known = case.rows("fresh")
    found = audit(case.pipeline, X, **known, adversaries="boosting", random_state=0)
    assert str(found).startswith("Verdict: Fair enough for the attribute: no gap between groups is above 10 points")
    assert "No classifier, however it is built, tells a from b in these data" in str(found)
    assert found.any_classifier.balanced_accuracy == pytest.approx(0.55)
    assert found.adversaries[0]["balanced_accuracy"] < 0.55
    assert found.to_dict()["any_classifier"]["upper_bound"] == found.any_classifier.upper_bound == 0.1
    own = any_classifier_bound(case.pipeline.transform(X), **known)
    assert own.upper_bound < 0.1
    # The rows of the certificate have chosen the level: their smaller bound is no promise.
    (X,), known = case.rows("held")
    assert audit(case.pipeline, X, **known, adversaries=(), random_state=0).any_classifier.upper_bound == 0.1


# Certificates


def test_a_certificate_travels_and_is_shown_again(case, tmp_path):
    case.certificate.save(tmp_path / "promise.json")
    loaded = load_certificate(tmp_path / "promise.json")
    assert loaded == case.certificate
    assert loaded.bound.balanced_accuracy == pytest.approx(0.55)
    again = case.verify(loaded, "held")
    assert (again.holds, again.same_model, again.same_rows, again.upper_bound) == (True, True, True, 0.1)
    fresh = case.verify(loaded, "fresh")
    assert (fresh.holds, fresh.same_rows) == (True, False)
    assert fresh.upper_bound < 0.1
    assert "a distance between groups of at most" in str(fresh)


def test_what_does_not_confirm_it_is_said(case):
    assert "100 % of them were in the fit" in str(case.verify(case.certificate, "fit"))
    other = make_pipeline(case.model, Released("codes").release)
    assert "This is another release" in str(case.verify(case.certificate, "held", other))
    case.few = slice(6000, 6100)
    assert "so few cannot show it" in str(case.verify(case.certificate, "few"))
    (X,), known = case.rows("fresh")
    apart = X + 4.0 * (known["sensitive_features"] == "b")[:, None]
    assert "their distance itself is above it" in str(verify(case.certificate, case.pipeline, apart, **known))


@pytest.mark.parametrize(
    ("name", "value"), [("target", 0.05), ("confidence", 0.99), ("promise", "Nobody can tell."), ("n_rows", 10**6)]
)
def test_a_changed_file_is_refused(case, tmp_path, name, value):
    path = tmp_path / "promise.json"
    case.certificate.save(path)
    fields = json.loads(path.read_text()) | {name: value}
    path.write_text(json.dumps(fields))
    with pytest.raises(ValueError, match="says in words what its numbers do not say"):
        load_certificate(path)


def test_changed_numbers_are_found_on_the_audited_rows(case, tmp_path):
    path = tmp_path / "promise.json"
    case.certificate.save(path)
    fields = json.loads(path.read_text())
    fields["measures"][0]["distance"] /= 2
    path.write_text(json.dumps(fields))
    found = case.verify(load_certificate(path), "held")
    assert not found.holds
    assert "was edited" in found.differences[0]
    assert "their distance or groups are not those of the certificate" in str(found)


def test_a_certificate_needs_the_rows_of_the_release_and_a_certified_one(case):
    (X,), known = case.rows("fresh")
    with pytest.raises(ValueError, match="not the rows, groups and weights that the release was certified on"):
        certificate_of_release(case.pipeline, X, **known)
    with pytest.raises(ValueError, match="a certified Release of cells"):
        certificate_of_release(make_pipeline(PCA(2).fit(X)), X, **known)


def test_a_release_for_a_task_has_a_certificate_that_others_can_check(tmp_path):
    rng = np.random.default_rng(0)
    seen, group = rng.normal(size=(4000, 3)), rng.choice(["a", "b"], 4000)
    y = (seen[:, 0] + rng.normal(size=4000) > 0).astype(int)
    held = {"sensitive_features": group[2000:]}
    release = Release("task", n_cells=16, random_state=0).fit(seen[:2000], y[:2000], sensitive_features=group[:2000])
    release.certify(seen[2000:], **held, target=0.15)
    certificate_of_release(release, seen[2000:], **held).save(tmp_path / "task.json")
    certificate = load_certificate(tmp_path / "task.json")
    assert certificate.kind == "task"
    assert verify(certificate, release, seen[2000:], **held).holds
    release.places_.scores.models[0].values[:] += 1.0
    assert not verify(certificate, release, seen[2000:], **held).same_model


# What promises cost, and how many people they take


def test_costs_rise_with_promises_and_are_those_of_the_levels(case):
    (X,), known = case.rows("held")
    costs = case.release.trade_off(case.model.transform(X), **known)
    assert [cost["target"] for cost in costs] == [0.05, 0.1, 0.15, 0.2]
    cells = [cost["n_cells"] or 0 for cost in costs]
    assert cells == sorted(cells)
    assert cells[1] == case.release.level_
    Z = case.model.transform(X)
    share = case.release.transform(Z).var(axis=0).sum() / Z.var(axis=0).sum()
    assert costs[1]["variance"] == pytest.approx(share)


def test_a_report_begins_with_the_promise_and_says_what_others_cost(case):
    (X,), known = case.rows("held")
    report = make_report(case.model, X, **known, release=case.release, adversaries=())
    assert "Verdict: What is released is fair enough: no decision made from it alone" in str(report)
    assert str(report).index("Verdict: What is released") < str(report).index("No classifier, however it is built")
    assert [cost["target"] for cost in report.summary["promise"]["costs"]] == [0.05, 0.1, 0.15, 0.2]
    assert make_report(case.model, X, **known, adversaries=()).summary["promise"] is None
    with pytest.raises(TypeError, match="release must be a certified Release"):
        make_report(case.model, X, **known, release=Release())


def test_a_plan_of_a_promise_is_kept_by_groups_that_do_not_differ():
    found = plan_promise(0.1, groups=(0.5, 0.5))
    (m, n), rng = found.needed[16], np.random.default_rng(0)
    codes, group = rng.integers(0, 16, (20, m + n)), np.repeat([0, 1], [m, n])
    bounds = [any_classifier_bound(drawn, sensitive_features=group).upper_bound for drawn in codes]
    assert np.mean(bounds) == pytest.approx(0.1, abs=0.005)
    assert plan_promise(groups=(m, n)).supported[16] == pytest.approx(0.1, abs=1e-3)


# From a table in one command


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("promise")
    table = written(folder / "people.csv", people(6000))
    written(folder / "new.csv", people(4000, seed=5))
    outcome = run("fit", table, *SEX, "--promise", "0.1", "--out", folder / "out")
    assert outcome.exit_code == 0, outcome.output
    return folder, outcome.stdout


def test_fit_prints_the_promise_first_and_writes_what_it_is_of(place):
    folder, shown = place
    promise = "No classifier, however it is built, tells Female from Male in these data with a balanced accuracy above"
    assert f"{promise} 55 % or" in shown
    assert shown.index(promise) < shown.index("components keep")
    assert "no decision made from them alone has a demographic parity gap above 10 points (95 % confidence)" in shown
    assert "It chooses nothing" in shown
    assert {path.name for path in (folder / "out").iterdir()} >= FILES
    certificate = load_certificate(folder / "out/promise.json")
    found = json.loads((folder / "out/metrics.json").read_text())
    assert found["promise"]["upper_bound"] == certificate.target == 0.1
    assert certificate.n_rows == found["rows"]["held_out"]
    assert (folder / "out/report.html").read_text().index(promise) > 0


def test_released_rows_are_cells_that_no_one_reads_and_carry_no_row_numbers(place):
    folder, _ = place
    released = pd.read_csv(folder / "out/released.csv")
    assert list(released) == ["component1", "component2"]
    n_cells = load_certificate(folder / "out/promise.json").n_cells
    assert len(released.drop_duplicates()) == n_cells
    model = fairpca.load(folder / "out/release.fairpca")
    np.testing.assert_allclose(model.transform(folder / "people.csv"), released, rtol=1e-12)
    new, sex = model.transform(folder / "new.csv"), pd.read_csv(folder / "new.csv")["sex"]
    reader = HistGradientBoostingClassifier(class_weight="balanced").fit(new[:2000], sex[:2000])
    assert balanced_accuracy_score(sex[2000:], reader.predict(new[2000:])) < 0.55
    assert (
        run("transform", folder / "out/release.fairpca", folder / "new.csv", "--out", folder / "n.csv").exit_code == 0
    )
    assert list(pd.read_csv(folder / "n.csv")) == ["component1", "component2"]


def test_verify_confirms_on_the_same_rows_and_on_new_ones(place):
    folder, _ = place
    args = folder / "out/promise.json", folder / "out/release.fairpca"
    same = answer("verify", *args, folder / "people.csv", "--held-out")
    assert (same["holds"], same["same_rows"]) == (True, True)
    new = run("verify", *args, folder / "new.csv")
    assert new.exit_code == 0
    assert new.stdout.startswith("No classifier, however it is built")
    few = written(folder / "few.csv", people(300, seed=6))
    assert run("verify", *args, few).exit_code == 1
    assert "holds none" in refused("verify", args[0], folder / "out/model.fairpca", folder / "new.csv")


def test_audit_states_the_promise(place):
    folder, _ = place
    model = folder / "out/release.fairpca"
    outcome = run("audit", folder / "new.csv", "--model", model)
    assert outcome.stdout.startswith("Verdict: Fair enough for sex: no gap between groups is above 10 points")
    assert "No classifier, however it is built" in outcome.stdout
    certificate = ["--certificate", folder / "c.json"]
    words = refused("audit", folder / "people.csv", "--model", model, "--held-out", *certificate)
    assert "the level of this release was chosen on the rows" in words


def test_a_promise_out_of_reach_is_one_sentence_and_code_1_and_nothing_is_written(place, tmp_path):
    few = written(tmp_path / "few.csv")
    outcome = run("fit", few, *SEX, "--promise", "0.1", "--out", tmp_path / "out")
    assert outcome.exit_code == 1
    (line,) = said(outcome)
    assert line.startswith("error: --promise 0.1 is out of reach: with 24 and 36 rows")
    assert "It takes at least" in line
    assert "Nothing was written" in line
    assert not list((tmp_path / "out").iterdir())


def test_labels_are_taken(place, tmp_path):
    folder, _ = place
    odds = ["-s", "sex", "--label", "hired", "--fairness", "equalized_odds", "--drop", "race,town,weight", "--no-path"]
    found = answer("fit", folder / "people.csv", *odds, "--promise", "0.2", "--out", tmp_path)
    assert "an equalized odds gap above 20 points" in found["promise"]["words"]


@pytest.mark.thorough
def test_a_fit_without_a_promise_leaves_none_of_another(tmp_path):
    table = written(tmp_path / "people.csv", people(3000))
    assert run("fit", table, *SEX, "--promise", "0.2", "--out", tmp_path / "out").exit_code == 0
    assert answer("fit", table, *SEX, "--out", tmp_path / "out")["promise"] is None
    assert not {path.name for path in (tmp_path / "out").iterdir()} & FILES
