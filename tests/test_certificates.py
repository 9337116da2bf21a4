"""A certificate says what an audit has shown of a model, and anyone can check it."""
# SPDX-License-Identifier: MIT

import hashlib
import json
import math
import pickle
from copy import deepcopy
from dataclasses import replace

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import fairpca
from fairpca import FairPCA, audit, load_certificate, verify
from fairpca.comparison import DemographicParity
from fairpca.exceptions import TrainingRowsWarning
from fairpca.mmd import using_engine
from people_tables import people

QUICK = {"adversaries": (), "n_permutations": 99, "random_state": 0}


class Case:
    """A fitted model, rows that it has not seen, and what was certified."""

    def __init__(self, names=("sex",), **terms):
        X, table = people(n=700)
        self.seen, self.known = X[:300], table[:300]
        self.X, self.others = X[300:], table[300:].reset_index(drop=True)
        self.names = list(names)
        self.model = FairPCA(2, tolerance=0.05, random_state=0, **terms)
        self.model.fit(self.seen, self.known["y"], sensitive_features=self.known[self.names])
        self.audit = audit(self.model, self.X, self.others["y"], sensitive_features=self.others[self.names], **QUICK)
        self.certificate = self.audit.certificate()

    def verify(self, certificate=None, model=None, rows=slice(None), **changes):
        known = {"sensitive_features": self.others[self.names][rows]} | changes
        certificate = certificate or self.certificate
        return verify(certificate, model or self.model, self.X[rows], self.others["y"][rows], **known)


@pytest.fixture(scope="module")
def case():
    return Case()


@pytest.fixture
def saved(case, tmp_path):
    path = tmp_path / "certificate.json"
    case.certificate.save(path)
    return path


def rewritten(path, change):
    """Change the fields of a saved certificate by hand, and write another digest."""
    fields = json.loads(path.read_text())
    change(fields)
    said = {name: value for name, value in fields.items() if name not in ("format", "schema", "digest")}
    fields["digest"] = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(fields))
    return path


def same(one, other):
    """Tell whether certificates are equal, NaN being equal to itself."""
    return repr(one) == repr(other)


def test_it_says_what_the_audit_found(case):
    found = case.certificate
    assert found.upper_bound == case.audit.upper_bound
    assert found.measures[0]["mmd2"] == case.audit.mmd2
    assert (found.n_rows, found.n_components, found.n_permutations) == (400, 2, 99)
    assert found.bandwidth == case.model.bandwidth_
    assert found.terms["fairness"] == "demographic_parity"
    assert set(found.versions) == {"fairpca", "numpy", "scipy", "scikit-learn"}
    assert f"{found.upper_bound:.2g}" in str(found)


def test_what_is_saved_is_loaded(case, saved):
    assert same(load_certificate(saved), case.certificate)
    assert same(load_certificate(str(saved)), case.certificate)
    text = saved.read_text()
    assert len(text) < 5000
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the file"))


def test_the_same_rows_give_the_same_numbers(case, saved):
    found = case.verify(load_certificate(saved))
    assert found.holds
    assert found.differences == []
    assert found.same_model
    assert found.same_rows
    assert found.upper_bound == pytest.approx(case.certificate.upper_bound, rel=1e-6)
    assert found.mmd2 == pytest.approx(case.certificate.measures[0]["mmd2"], rel=1e-6)
    assert "The certificate holds" in str(found)
    assert "the audited rows" in str(found)


def test_so_they_do_on_another_engine_and_with_other_draws(case):
    with using_engine("numpy"):
        found = case.verify()
    assert found.holds
    assert found.upper_bound == pytest.approx(case.certificate.upper_bound, rel=1e-5)
    assert case.verify(random_state=5).holds


def test_no_more_than_the_audited_rows_are_needed_in_any_form(case):
    found = verify(
        case.certificate, case.model, case.X.tolist(), sensitive_features={"sex": case.others["sex"].tolist()}
    )
    assert found.holds
    assert found.same_rows
    lazy = verify(
        case.certificate, case.model, da.from_array(case.X, chunks=(150, -1)), sensitive_features=case.others[["sex"]]
    )
    assert lazy.holds
    assert lazy.same_rows is None
    assert "not known" in str(lazy)


def test_another_model_is_said_to_be_another(case):
    other = FairPCA(2, tolerance=0.05, random_state=0).fit(case.seen[:-1], sensitive_features=case.known["sex"][:-1])
    found = case.verify(model=other)
    assert not found.holds
    assert not found.same_model
    assert "another model" in found.differences[0]
    assert str(found).startswith("NOT confirmed")


@pytest.mark.parametrize("name", ["components_", "mean_", "scale_", "n_live_components_", "constant_features_"])
def test_a_model_changed_anywhere_is_another(case, name):
    model = deepcopy(case.model)
    part = getattr(model, name)
    if name == "n_live_components_":
        model.n_live_components_ = 1
    elif name == "constant_features_":
        part[0] = True
    else:
        part.flat[0] = np.nextafter(part.flat[0], np.inf)
    assert not case.verify(model=model).same_model
    # What projections do not depend on does not matter.
    model = deepcopy(case.model)
    model.random_state, model.mmd2_ = 7, 0.0
    assert case.verify(model=model).holds


def test_rows_that_show_more_do_not_confirm_it(case):
    fewer = case.verify(rows=slice(0, 100))
    assert not fewer.holds
    assert fewer.same_model
    assert fewer.same_rows is False
    assert fewer.upper_bound > case.certificate.upper_bound
    assert "more than the certified" in fewer.differences[0]
    assert "too few rows, or chance" in fewer.differences[0]
    sorted_out = np.argsort(case.model.transform(case.X)[:, 0])
    halves = pd.DataFrame({"sex": np.where(np.argsort(sorted_out) < 200, "f", "m")})
    split = case.verify(sensitive_features=halves)
    assert not split.holds
    assert "the estimate itself is above it" in split.differences[0]


def test_a_weaker_claim_holds_on_other_rows_but_not_one_that_was_edited(case, saved):
    measures = [measure | {"upper_bound": 1.0} for measure in case.certificate.measures]
    found = case.verify(replace(case.certificate, measures=measures), rows=slice(0, 100))
    assert found.differences == ["The certificate was edited: its digest is not that of what it says."]
    weaker = load_certificate(rewritten(saved, lambda fields: fields["measures"][0].update(upper_bound=1.0)))
    assert case.verify(weaker, rows=slice(0, 100)).holds


def test_other_groups_are_other_comparisons(case):
    found = case.verify(sensitive_features=case.others["race"])
    assert not found.holds
    assert any("not compared on these rows: f against m" in sentence for sentence in found.differences)
    assert any("but not certified: a against" in sentence for sentence in found.differences)


def test_columns_may_come_in_another_order_and_without_names(case):
    known = case.others[["sex", "race"]]
    found = audit(case.model, case.X, sensitive_features=known, **QUICK).certificate()
    assert len(found.measures) == 4
    assert verify(found, case.model, case.X, sensitive_features=known[["race", "sex"]]).holds
    twice = np.column_stack([known["sex"], known["sex"].sample(frac=1.0, random_state=0)])
    found = audit(case.model, case.X, sensitive_features=twice, **QUICK).certificate()
    assert verify(found, case.model, case.X, sensitive_features=twice).holds


def test_few_rows_and_training_rows_confirm_nothing(case):
    sex = pd.DataFrame({"sex": np.where(np.arange(400) < 7, "f", "m")})
    assert "7 and 393 rows, and with fewer than 10" in case.verify(sensitive_features=sex).differences[0]
    found = verify(case.certificate, case.model, case.seen, sensitive_features=case.known["sex"])
    assert not found.holds
    assert "about 100 % of them were in the fit" in found.differences[0]


def test_certificates_are_refused_where_nothing_was_shown(case):
    sex = np.where(np.arange(400) < 7, "f", "m")
    with pytest.raises(ValueError, match="compares 7 and 393 rows, and fewer than 10"):
        audit(case.model, case.X, sensitive_features=sex, **QUICK).certificate()
    with pytest.warns(TrainingRowsWarning, match="in the fit"):
        found = audit(case.model, case.seen, sensitive_features=case.known["sex"], **QUICK)
    with pytest.raises(ValueError, match="about 100 % of them were in the fit, and what they show says nothing"):
        found.certificate(trust_rows=True)
    found = audit(None, case.X[:, :2], sensitive_features=case.others["sex"], **QUICK)
    with pytest.raises(ValueError, match="names its model by a fingerprint"):
        found.certificate(trust_rows=True)
    with pytest.raises(ValueError, match="it could not be checked whether these rows were in the fit"):
        found.certificate("an embedding")
    found = audit(case.model, case.X, sensitive_features=case.others["sex"], fairness=DemographicParity(), **QUICK)
    with pytest.raises(ValueError, match="cannot travel"):
        found.certificate()


REDUCTIONS = {
    "PCA": (lambda: PCA(2), "components_"),
    "whitened": (lambda: PCA(2, whiten=True), "explained_variance_"),
    "truncated": (lambda: TruncatedSVD(2, random_state=0), "components_"),
    "pipeline": (lambda: make_pipeline(StandardScaler(), TruncatedSVD(2)), "scale_"),
    "kernel": (lambda: KernelPCA(2, kernel="rbf"), "eigenvectors_"),
    "columns": (lambda: ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", "drop", [2])]), None),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_whatever_is_audited_can_be_certified(case, name, tmp_path):
    make, part = REDUCTIONS[name]
    reduction, known = make().fit(case.seen), {"sensitive_features": case.others["sex"]}
    found = audit(reduction, case.X, fitted_rows=case.seen, **known, **QUICK).certificate()
    found.save(tmp_path / "c.json")
    loaded = load_certificate(tmp_path / "c.json")
    assert same(loaded, found)
    assert found.overlap == {"found": 0, "by_chance": 0.0, "share": 0.0}
    assert verify(loaded, pickle.loads(pickle.dumps(reduction)), case.X, fitted_rows=case.seen, **known).holds
    assert "could not be checked" in str(verify(loaded, reduction, case.X, **known))
    trusted = verify(loaded, reduction, case.X, trust_rows=True, **known)
    assert "That they were not in the fit is what the caller says." in str(trusted)
    if part is not None:
        changed = deepcopy(reduction)
        setattr(changed[0] if name == "pipeline" else changed, part, getattr(changed, part, np.ones(8)) * 2.0)
        assert not verify(loaded, changed, case.X, trust_rows=True, **known).same_model


def test_components_and_embeddings_can_be_certified(case):
    components, known = np.eye(2, 8), {"sensitive_features": case.others["sex"], "trust_rows": True}
    found = audit(components, case.X, sensitive_features=case.others["sex"], **QUICK).certificate(trust_rows=True)
    assert verify(found, components.tolist(), case.X, **known).holds
    named = audit(None, case.X[:, :2], sensitive_features=case.others["sex"], **QUICK)
    certificate = named.certificate("the first two columns", trust_rows=True)
    assert str(certificate).startswith("Certificate for 'the first two columns' of 2 components")
    assert "it is of this name, as the caller says" in str(verify(certificate, None, case.X[:, :2], **known))


def test_what_adversaries_and_any_classifier_can_do_travels_and_a_failed_audit_is_said(case, tmp_path):
    codes = (case.X[:, :1] > 0).astype(float)
    known = {"sensitive_features": case.others["sex"]}
    settings = QUICK | {"adversaries": ("linear", "boosting")}
    found = audit(None, codes, **known, **settings)
    certificate = found.certificate("signs", trust_rows=True)
    assert [each["auc"] for each in certificate.adversaries] == [each["auc"] for each in found.adversaries]
    assert certificate.any_classifier is None or found.any_classifier.upper_bound <= 0.5
    apart = audit(None, case.X[:, :2] + 3.0 * (case.others["sex"] == "f").to_numpy()[:, None], **known, **settings)
    failed = apart.certificate("apart", trust_rows=True)
    assert "The audit failed, for groups can be told apart" in str(failed)
    rows = case.X[:, :2] + 3.0 * (case.others["sex"] == "f").to_numpy()[:, None]
    verified = verify(failed, None, rows, trust_rows=True, **known)
    assert verified.holds
    assert "But the audit failed, for groups can be told apart" in str(verified)
    failed.save(tmp_path / "c.json")
    better = rewritten(tmp_path / "c.json", lambda fields: fields["adversaries"][1].update(auc=0.5, p_value=0.9))
    assert "boosting of sex" in str(verify(load_certificate(better), None, rows, trust_rows=True, **known))


@pytest.mark.parametrize(
    ("names", "terms"),
    [
        (["sex", "race"], {"sensitive": "intersections", "small_groups": "merge"}),
        (["sex"], {"fairness": "equal_opportunity", "favourable": np.int64(1)}),
        (["age", "sex"], {"sensitive_kind": {"age": "continuous"}}),
    ],
)
def test_every_way_to_compare_travels(names, terms, tmp_path):
    case = Case(names, **terms)
    case.certificate.save(tmp_path / "certificate.json")
    loaded = load_certificate(tmp_path / "certificate.json")
    assert same(loaded, case.certificate)
    assert [math.isnan(measure["finite_sample_bound"]) for measure in loaded.measures] == [
        measure["kind"] == "continuous" for measure in loaded.measures
    ]
    assert case.verify(loaded).holds


TAMPERED = {
    "a lower bound": lambda fields: fields["measures"][0].update(upper_bound=1e-4),
    "another p-value": lambda fields: fields["measures"][0].update(p_value=0.05),
    "more rows": lambda fields: fields["measures"][0].update(n_rows=40_000),
    "no bound that always holds": lambda fields: fields["measures"][0].update(finite_sample_bound=None),
    "another bandwidth": lambda fields: fields.update(bandwidth=100.0),
    "another model": lambda fields: fields.update(model="0" * 64),
}


@pytest.mark.parametrize("change", TAMPERED)
def test_numbers_that_were_changed_do_not_hold(case, saved, change):
    found = case.verify(load_certificate(rewritten(saved, TAMPERED[change])))
    assert not found.holds
    assert found.differences


REFUSED = {
    "an unknown schema": (lambda f: f.update(schema=3), "has the schema 3; this version of fairpca reads schema 2"),
    "another format": (lambda f: f.update(format="png"), "does not say that its format is"),
    "a field that lacks": (lambda f: f.pop("seed"), "lacks 'seed'"),
    "an unknown field": (lambda f: f.update(code="import os"), "fields that nobody knows: 'code'"),
    "a text for a number": (lambda f: f.update(bandwidth="1"), "has '1' in 'bandwidth', which must be a number above"),
    "a short fingerprint": (lambda f: f.update(model="abc"), "has 'abc' in 'model', which must be a SHA-256"),
    "no measures": (lambda f: f.update(measures=[]), r"has \[\] in 'measures'"),
    "a measure that lacks": (lambda f: f["measures"][0].pop("mmd2"), "measure 0, lacks 'mmd2'"),
    "few rows": (lambda f: f["measures"][0].update(sides=[5, 395]), "fewer than 10 on a side"),
    "an unknown notion": (lambda f: f["terms"].update(fairness="luck"), "unknown here: fairness='luck' is unknown"),
}


@pytest.mark.parametrize("case_name", REFUSED)
def test_files_that_say_something_else_are_refused(saved, case_name):
    change, message = REFUSED[case_name]
    with pytest.raises(ValueError, match=message):
        load_certificate(rewritten(saved, change))


UNREADABLE = "is no certificate: its text cannot be read as JSON"
BROKEN = {
    "half": (lambda text: text[: len(text) // 2], UNREADABLE),
    "no JSON": (lambda text: b"cos\nsystem\n(S'true'\ntR.", UNREADABLE),
    "nan": (lambda text: text.replace(b'"seed": ', b'"seed": NaN, "x": ', 1), UNREADABLE),
    "twice": (lambda text: text.replace(b"{", b'{"seed": 1,', 1), UNREADABLE),
    "no text": (lambda text: b"\xff\xfe\x00", UNREADABLE),
    "a list": (lambda text: b"[1, 2]", "is no certificate"),
    "too long": (lambda text: b" " * (10 * 2**20 + 1), "more than 10 MB"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_files_that_are_no_certificates_are_refused(saved, how):
    change, words = BROKEN[how]
    saved.write_bytes(change(saved.read_bytes()))
    with pytest.raises(ValueError, match=words):
        load_certificate(saved)
    with pytest.raises(FileNotFoundError):
        load_certificate(saved.with_name("nothing.json"))


def test_what_cannot_be_verified_is_refused(case, saved):
    with pytest.raises(TypeError, match="reads it from a file; got str"):
        case.verify(str(saved))
    for model in (FairPCA(2), make_pipeline(FunctionTransformer(abs)).fit(case.seen), "model", 3.0):
        with pytest.raises(TypeError, match="model must be what was certified"):
            case.verify(model=model)
    assert fairpca.verify is verify
