"""A report says what model and audits found, in one small file that loads nothing."""
# SPDX-License-Identifier: MIT

import json
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA, FairPCACV, Release, audit, fair_pca_path
from fairpca.auditing import judge
from fairpca.exceptions import TrainingRowsWarning
from fairpca.report import About, make_report
from people_tables import people

QUICK = {"adversaries": ("linear",), "n_permutations": 49}
MOST_BYTES, MOST_SCRIPT = 400_000, 40_000
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'><b>&amp;",
    "\u202eevil\u2066\u200f",
    "\x00 a\nb",
    "x" * 10_000,
]


class Parts(HTMLParser):
    """Elements of a page with their attributes, and the text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text, self.scripts, self.inside = [], "", [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = tag if tag in {"script", "style"} else self.inside
        if tag == "script":
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag):
        self.inside = "" if tag == self.inside else self.inside

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif not self.inside:
            self.text += data


class Case:
    """A fitted model and rows that it has not seen."""

    def __init__(self, names=("sex",), n_components=2, with_path=False, tolerance=0.004, **terms):
        X, table = people(n=500)
        self.seen, self.known, self.X, self.others = X[:300], table[:300], X[300:], table[300:].reset_index(drop=True)
        self.names = list(names)
        self.model = FairPCA(n_components, tolerance=tolerance, random_state=0, **terms)
        self.model.fit(self.seen, self.known["y"], sensitive_features=self.known[self.names])
        self.path = None
        if with_path:
            tolerances = [1.0, 0.02, 0.004, 0.001] if tolerance < 0.05 else [1.0, 0.05]
            self.path = fair_pca_path(
                self.seen, self.known[self.names], n_components, tolerances=tolerances, y=self.known["y"], **terms
            )

    def report(self, X=None, **changes):
        known = {"sensitive_features": self.others[self.names], "y": self.others["y"], "path": self.path}
        return self.model.report(self.X if X is None else X, **(known | QUICK | changes))


@pytest.fixture(scope="module")
def case():
    return Case(with_path=True)


@pytest.fixture(scope="module")
def report(case):
    return case.report()


def check(report):
    """Check what holds for every report, and return its parts."""
    json.dumps(report.summary, allow_nan=False)
    assert len(report.html.encode()) <= MOST_BYTES
    parts = Parts(report.html)
    assert sum(len(text) for kind, text in parts.scripts if "type" not in kind) < MOST_SCRIPT
    loading = [(tag, name) for tag, found in parts.elements for name in found if name in {"src", "srcset", "data"}]
    targets = [found["href"] for _, found in parts.elements if "href" in found]
    assert not loading
    assert all(target.startswith("#") for target in targets)
    assert not re.search(r"https?://|url\(|@import", report.html)
    assert not any(name.startswith("on") or name == "style" for _, found in parts.elements for name in found)
    assert "nan" not in re.findall(r"\w+", parts.text)
    ids = [found["id"] for _, found in parts.elements if "id" in found]
    assert len(ids) == len(set(ids))
    return parts


def test_facts_are_those_of_model_and_audit(case, report):
    text = check(report).text
    assert "Certificate for the model" in text
    assert "Read this first" not in text
    known = case.others["sex"]
    found = audit(
        case.model, case.X, case.others["y"], sensitive_features=case.others[["sex"]], random_state=0, **QUICK
    )
    said = report.summary["audit"]
    (measure,) = said["measures"]
    for name in ("mmd2", "chance_level", "p_value", "upper_bound"):
        assert measure["after"][name] == pytest.approx(found.measures[0][name])
    assert measure["sides"] == [int((known == "f").sum()), int((known == "m").sum())]
    assert said["adversaries"][0]["after"]["auc"] == pytest.approx(found.adversaries[0]["auc"])
    assert said["parity"][0]["after"]["accuracy"] == pytest.approx(found.parity[0]["accuracy"])
    kept = report.summary["kept"]
    assert kept["after"] == pytest.approx(case.model.score(case.X))
    assert kept["before"] == pytest.approx(case.path.models_[0].score(case.X))
    assert "same training rows" in kept["origin"]
    assert report.summary["asked"]["n_rows"] == 200
    assert report.summary["asked"]["n_rows_fitted"] == 300
    assert report.summary["origin"]["model_digest"] == found.origin.model


QUESTIONS = {"Is it fair enough?": "answer", "How sure?": "certainty", "For whom?": "people", "What next?": "steps"}


@pytest.mark.parametrize("kind", ["fair", "unfair", "few rows", "released"])
def test_a_stranger_finds_the_answers_word_for_word(kind, rng):
    """Each question of a reader is a heading, and below it stands the answer that the audit prints as well."""
    n = 300 if kind == "few rows" else 8000
    group = rng.integers(0, 2, size=n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 2.0 * group * (kind == "unfair")
    seen, new = slice(0, n // 2), slice(n // 2, n)
    model = FairPCA(2, tolerance=1.9 if kind == "unfair" else 0.01).fit(
        X[seen], sensitive_features={"sex": group[seen]}
    )
    known = {"sensitive_features": {"sex": group[new]}}
    release = None
    if kind == "released":
        release = Release().fit(model.transform(X[seen]), sensitive_features={"sex": group[seen]})
        release.certify(model.transform(X[new]), **known, target=0.1)
    found = model.report(X[new], release=release, about={"date": "2026-01-02", "data": "people"}, **known, **QUICK)
    text, said = check(found).text, found.summary["verdict"]
    assert said["fair"] is {"fair": True, "unfair": False, "few rows": None, "released": True}[kind]
    for question, name in QUESTIONS.items():
        _, _, below = text.partition(question)
        for sentence in said[name] if name == "steps" else [said[name]]:
            assert sentence[1:] in below
            assert sentence in str(found)
    first = text.partition("What next?")[0]
    for fact in ("2026-01-02", "people", found.summary["origin"]["model_digest"][:12], "Variance kept", "How sure"):
        assert fact in first
    assert "p = " not in first
    assert ("Drop 'column 0' and fit again" in text) == (kind == "unfair")


def test_the_same_is_written_every_time(case, report, tmp_path):
    again = case.report(file=tmp_path / "report.html")
    assert again.html == report.html
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_models_of_the_path_are_those_of_the_slider(case, report):
    found = report.summary["trade_off"]
    models = [*case.path.models_]
    assert found["start"] == 2
    models[2] = case.model
    for said, model in zip(found["models"], models, strict=True):
        new = audit(model, case.X, sensitive_features=case.others["sex"], adversaries=(), n_permutations=19)
        assert said["variance"] == pytest.approx(model.score(case.X))
        assert said["by_attribute"][0]["fitted"] == pytest.approx(model.mmd2_)
        assert said["by_attribute"][0]["new"] == pytest.approx(new.mmd2)
        assert said["by_attribute"][0]["chance"] == pytest.approx(new.chance_level)
    start = found["models"][2]
    assert start["variance"] == report.summary["kept"]["after"]
    assert start["by_attribute"][0]["new"] == pytest.approx(report.summary["audit"]["measures"][0]["after"]["mmd2"])
    curves = np.array([groups for (groups,) in found["curves"]])
    assert curves.shape[:2] == (4, 3)
    assert curves.min() >= 0
    assert curves.max() == 999
    data = json.loads(next(text for kind, text in Parts(report.html).scripts if "type" in kind))
    assert data["densities"] == found["curves"]


def test_without_a_path_one_sentence_says_how_to_have_it(case):
    found = case.report(path=None)
    text = check(found).text
    assert "path=fair_pca_path(X_train, sensitive_features, 2)" in text
    assert 'id="slider"' not in found.html
    assert "fitted to the new rows themselves" in found.summary["kept"]["origin"]
    scaled = (case.X - case.model.mean_) / case.model.scale_
    best = PCA(2).fit(scaled).explained_variance_ratio_.sum()
    assert found.summary["kept"]["before"] == pytest.approx(best)


def test_before_may_be_given(case):
    scaler = StandardScaler().fit(case.seen)
    before = make_pipeline(scaler, PCA(2).fit(scaler.transform(case.seen)))
    found = case.report(path=None, before=before)
    assert found.summary["kept"]["name"] == "Plain PCA"
    assert found.summary["kept"]["before"] == pytest.approx(case.path.models_[0].score(case.X))
    with pytest.raises(ValueError, match="before works in other units"):
        case.report(before=PCA(2).fit(1e3 * case.seen))


def test_ready_audits_are_used_and_others_refused(case):
    known = case.others[["sex"]]
    ready = audit(case.model, case.X, sensitive_features=known, adversaries=(), n_permutations=19, confidence=0.9)
    found = case.report(audit=ready)
    assert found.summary["audit"]["confidence"] == 0.9
    assert found.summary["audit"]["n_permutations"] == 19
    assert "90 %" in Parts(found.html).text
    assert "Adversaries learn" not in found.html
    assert "Audit with adversaries" in found.html
    assert found.summary["audit"]["adversaries"] == []
    other = audit(case.model, case.X[:50], sensitive_features=known[:50], adversaries=(), n_permutations=19)
    for name in ("audit", "audit_before"):
        with pytest.raises(ValueError, match=f"{name} is of 50 rows"):
            case.report(**{name: other})
    with pytest.raises(TypeError, match="audit must be an AuditResult"):
        case.report(audit={})


@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_any_number_of_components(n_components):
    found = Case(n_components=n_components, with_path=True, tolerance=0.1).report(n_points=20)
    parts = check(found)
    assert len(found.summary["densities"][0]) == min(n_components, 3)
    assert (found.summary["scatter"] is None) == (n_components == 1)
    assert ("Loadings of the columns on components 1 and 2" in parts.text) == (n_components > 1)


def test_continuous_attributes_are_shown_in_thirds():
    found = Case(["age"], with_path=True).report()
    parts = check(found)
    (attribute,) = found.summary["attributes"]
    assert [group["label"] for group in attribute["groups"]] == ["lowest third", "middle third", "highest third"]
    assert max(group["n_rows"] for group in attribute["groups"]) <= 70
    assert "HSIC" in parts.text
    assert "R²" in parts.text


def test_several_attributes_can_be_chosen():
    found = Case(["sex", "race", "age"], with_path=True, tolerance=0.05).report()
    parts = check(found)
    assert [attribute["name"] for attribute in found.summary["attributes"]] == ["sex", "race", "age"]
    assert sum(found_.get("type") == "radio" for _, found_ in parts.elements) == 6
    fitted = found.summary["trade_off"]["models"][-1]["by_attribute"]
    assert len({row["fitted"] for row in fitted}) == 3


def test_only_those_who_are_compared_are_drawn():
    case = Case(fairness="equal_opportunity")
    found = case.report(n_points=100)
    assert "equal opportunity" in check(found).text
    drawn = sum(group["n_rows"] for group in found.summary["attributes"][0]["groups"])
    assert drawn == int((case.others["y"] == 1).sum())
    assert min(found.summary["attributes"][0]["codes"]) >= 0


def test_many_groups_are_few_colours(rng):
    X, _ = people(n=600)
    group = np.array([f"group {k:02}" for k in rng.integers(0, 12, size=600)])
    model = FairPCA(2, tolerance=0.5).fit(X[:300], sensitive_features=group[:300])
    found = model.report(X[300:], sensitive_features=group[300:], **QUICK)
    check(found)
    (attribute,) = found.summary["attributes"]
    assert len(attribute["groups"]) == 8
    assert attribute["groups"][-1]["label"] == "5 other groups"
    assert sum(each["n_rows"] for each in attribute["groups"]) == 300
    assert "5 small groups are drawn as one" in found.html
    assert found.html.count('class="panel"') == 2 * 2 * 8
    assert len(found.summary["audit"]["measures"]) == 12


def test_weights_count(case):
    weight = case.others["weight"].to_numpy().astype(float)
    weight[:20] = 0.0
    found = case.report(sample_weight=weight, path=None)
    check(found)
    twice = np.repeat(np.arange(200), weight.astype(int))
    repeated = case.model.report(
        case.X[twice], case.others["y"][twice], sensitive_features=case.others[["sex"]].iloc[twice], **QUICK
    )
    assert "Rows are weighted" in found.html
    for side in ("before", "after"):
        assert found.summary["kept"][side] == pytest.approx(repeated.summary["kept"][side])
        one, other = (each.summary["audit"]["measures"][0][side] for each in (found, repeated))
        assert one["mmd2"] == pytest.approx(other["mmd2"])


def test_what_was_not_met_is_said_first(case):
    with pytest.warns(UserWarning, match="did not meet"):
        model = FairPCA(7, tolerance=1e-9).fit(case.seen, sensitive_features=case.known["sex"])
    found = model.report(case.X, sensitive_features=case.others["sex"], **QUICK)
    text = check(found).text
    assert "Read this first. The tolerance was not met" in text
    assert text.index("Read this first") < text.index("Is it fair enough?")


def test_training_rows_are_said_first(case):
    with pytest.warns(TrainingRowsWarning):
        found = case.model.report(case.seen, sensitive_features=case.known["sex"], **QUICK)
    text = check(found).text
    assert "of these 300 rows equal one of the fit" in text
    assert "and what they show says nothing of new people: no certificate" in text
    assert found.summary["verdict"]["fair"] is None
    assert "300 people ·" in " ".join(text.split())


def test_groups_too_small_to_say_anything(case):
    sex = np.where(np.arange(200) < 7, "f", "m")
    found = case.model.report(case.X, sensitive_features=sex, **QUICK)
    text = check(found).text
    assert "too few rows for a bound on smooth scores" in text
    assert "not known" in text
    assert "There is none" in text
    assert found.summary["audit"]["measures"][0]["after"]["upper_bound"] is None


@pytest.mark.parametrize("name", HOSTILE, ids=["script", "end", "quotes", "directions", "control", "long"])
def test_names_are_text(name, case):
    columns = [f"{name}{k}" for k in range(case.X.shape[1])]
    seen, new = pd.DataFrame(case.seen, columns=columns), pd.DataFrame(case.X, columns=columns)
    known, others = ({name: np.where(each["sex"] == "f", name, "m")} for each in (case.known, case.others))
    model = FairPCA(2, tolerance=0.02).fit(seen, sensitive_features=known)
    path = fair_pca_path(seen, known, 2, tolerances=[1.0, 0.01])
    about = About(
        data=name,
        columns=[{"name": column, "kind": name, "note": name} for column in columns],
        left_out={name: name},
        notes=[name],
        command=name,
    )
    found = model.report(new, sensitive_features=others, path=path, about=about, title=name, **QUICK)
    parts = check(found)
    assert [tag for tag, _ in parts.elements].count("script") == 2
    assert not {"img", "b"} & {tag for tag, _ in parts.elements}
    assert max(len(each["title"]) for _, each in parts.elements if "title" in each) <= 200 if len(name) > 100 else True
    if name.isprintable() and len(name) < 100:
        assert name in parts.text
    assert not set("\x00\u202e\u2066") & set(parts.text.replace("\u2068", ""))


def test_nobodys_coordinates_are_in_the_page_unless_points_are_asked_for(case, report):
    assert report.summary["scatter"] is None
    assert report.summary["n_points"] == 0
    weight = np.where(np.arange(200) < 20, 0.0, 1.0)
    found = case.report(n_points=600, sample_weight=weight)
    assert "Table: coordinates of the people drawn" in check(found).text
    drawn = [group["n_drawn"] for group in found.summary["attributes"][0]["groups"]]
    assert sum(drawn) == found.summary["n_points"] == 180
    assert all(f"({number})" in found.html for number in drawn)
    with pytest.raises(ValueError, match="n_points=601 must be between 0 and 600"):
        case.report(n_points=601)


def test_a_row_far_from_all_others_does_not_squeeze_them(case):
    X = case.X.copy()
    X[0] = 1e6
    found = case.report(X=X, path=None, n_points=200)
    assert "1 far from all others is drawn at the edge" in check(found).text
    low, high = found.summary["scatter"]["ranges"]["x"]
    assert high - low < 100


def test_rows_that_do_not_vary(case):
    found = case.report(X=np.ones_like(case.X), path=None)
    assert "These rows do not vary" in check(found).text
    assert found.summary["kept"]["after"] is None


def test_a_chosen_tolerance_can_be_reported(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = FairPCACV(FairPCA(2), tolerances=[0.1, 0.01], target=1.9, random_state=0)
        chosen.fit(case.seen, sensitive_features=case.known["sex"])
    found = make_report(chosen, case.X, sensitive_features=case.others["sex"], **QUICK)
    assert found.summary["kept"]["after"] == pytest.approx(chosen.best_estimator_.score(case.X))


def test_what_cannot_be_reported_is_refused(case):
    known = {"sensitive_features": case.others["sex"]}
    for model in (PCA(2).fit(case.seen), "model"):
        with pytest.raises(TypeError, match="model must be a fitted FairPCA"):
            make_report(model, case.X, **known)
    short = fair_pca_path(case.seen, case.known["sex"], 1, tolerances=[0.1])
    for name, value, error, words in (
        ("path", [case.model], TypeError, "path must be a fitted FairPCAPath"),
        ("path", short, ValueError, "path has models of 1 components, but the model has 2"),
        ("sensitive_features", None, ValueError, "a report needs the attributes"),
        ("about", {"day": "today"}, ValueError, "about has 'day', which is unknown"),
        *(("about", about, TypeError, "about") for about in ("German", {"left_out": ["id"]}, {"columns": ["id"]})),
        ("bandwidth", 1.0, TypeError, "no argument 'bandwidth'; audits take adversaries, confidence"),
        ("file", "nowhere/report.html", FileNotFoundError, "there is no folder"),
    ):
        with pytest.raises(error, match=words):
            case.report(**{name: value})


def test_facts_of_the_data_are_shown(case):
    about = About(
        data="people.csv",
        held_out=0.4,
        columns=[{"name": "age", "kind": "number", "note": "scaled"}],
        left_out={"id": "a name for each row"},
        notes=["Two rows were dropped."],
        command="fairpca report people.csv --sensitive sex",
    )
    text = check(case.report(about=about, title="T" * 300)).text
    for words in ("people.csv", "40.0\xa0% held out", "scaled", "a name for each row", "Two rows", "--sensitive sex"):
        assert words in text
    assert "T" * 199 + "…" in text
    assert "T" * 200 not in text


@pytest.mark.parametrize("reduction", [TruncatedSVD(2), make_pipeline(StandardScaler(), PCA(2)), None])
def test_whatever_was_audited_has_a_page(reduction, case, tmp_path):
    reduction = reduction and clone(reduction).fit(case.seen)
    known = {"sensitive_features": case.others[case.names], "y": case.others["y"]}
    found = audit(reduction, case.X, **known, **QUICK)
    page = found.report(tmp_path / "page.html")
    text = check(page).text
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    for words in (judge(found).answer, "AUC", "What next?", "For whom?", "There is none:"):
        assert words in text
    assert str(found.verdict) in str(page)


def test_the_first_screen_of_a_release_speaks_of_the_release(rng):
    sex, n = rng.choice(["f", "m"], 6000), 3000
    X = rng.normal(size=(6000, 4)) + 0.8 * (sex == "m")[:, None]
    y = (X[:, 1] + rng.normal(size=6000) > 0).astype(int)
    model = FairPCA(2, tolerance=1.9).fit(X[:n], sensitive_features=sex[:n])
    release = Release(random_state=0).fit(model.transform(X[:n]), sensitive_features=sex[:n])
    release.certify(model.transform(X[n:]), sensitive_features=sex[n:], target=0.15)
    report = model.report(X[n:], y[n:], sensitive_features=sex[n:], release=release, **QUICK)
    text = " ".join(check(report).text.split())
    tiles = text[text.index("Variance kept by") : text.index("What next?")]
    auc = 0.5 + 0.15 - 0.15**2 / 2
    # What the projections reveal is said to be before the release, and never stands alone.
    assert f"at most {np.ceil(100 * auc):.0f} of 100" in tiles
    assert re.search(r"guessing; \d\d of 100 before the release", tiles)
    assert "at most 15 points in any decision" in tiles
    costs = report.summary["promise"]["costs"]
    aucs = [cost["label_auc"] for cost in costs if cost["label_auc"] is not None]
    assert 0.5 < aucs[0] < aucs[-1]
    assert "AUC of the label" in text


def test_half_a_character_can_be_written(case, tmp_path):
    """Lone surrogates, such as file names in other encodings have, are in no encoding of files."""
    case.report(title="\ud800", about={"data": "a\udcff.csv"}, file=tmp_path / "report.html")
    assert "a�.csv" in (tmp_path / "report.html").read_text(encoding="utf-8")
