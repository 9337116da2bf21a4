"""fairpca transform, audit, path, compare, plan and verify; what commands say of themselves."""
# SPDX-License-Identifier: MIT

import json
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

import fairpca
from cli_tables import PLAIN, answer, people, refused, run, said, written
from fairpca.planning import plan_promise
from fairpca.tables import Roles, prepare

SEX = ["--sensitive", "sex", *PLAIN]
DROPPED = PLAIN[1].split(",")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a table and what fits to it have written."""
    folder = tmp_path_factory.mktemp("commands")
    table = written(folder / "people.csv")
    written(folder / "other.csv", people(seed=7))
    for name, more in {"out": [], "stricter": ["-t", "1e-3"]}.items():
        assert run("fit", table, *SEX, *more, "--no-path", "--out", folder / name).exit_code == 0
    return folder


def args(place, name="out"):
    """Return a certificate, a model and the table."""
    return place / name / "certificate.json", place / name / "model.fairpca", place / "people.csv"


# transform


def test_transform_needs_no_more_than_the_features_in_any_order(place, tmp_path):
    table = people()[["work", "owner", "debt", "hours", "income", "age"]]
    path = written(tmp_path / "new.csv", table.assign(extra="x"))
    assert run("transform", args(place)[1], path, "--out", tmp_path / "p.csv").exit_code == 0
    assert (tmp_path / "p.csv").read_bytes() == (place / "out/projected.csv").read_bytes()


def test_unknown_categories_are_counted(place, tmp_path):
    path = written(tmp_path / "new.csv", people().assign(work=lambda t: t["work"].where(t.index > 2, "sea")))
    outcome = run("transform", args(place)[1], path, "--out", tmp_path / "p.csv", "--keep", "sex,race", "--json")
    assert outcome.exit_code == 0
    assert list(pd.read_csv(tmp_path / "p.csv")) == ["row", "sex", "race", "component1", "component2"]
    assert json.loads(outcome.stdout)["unknown"] == [{"column": "work", "category": "sea", "rows": 3}]
    assert said(outcome)[0].startswith("note: ")
    assert "'sea' in 'work' (3 rows)" in outcome.stderr


def test_rows_that_lack_a_value_are_left_out_if_the_fit_did_so(tmp_path):
    table = people().assign(age=lambda t: t["age"].astype(object).where(t.index % 50 != 7))
    path = written(tmp_path / "gaps.csv", table)
    run("fit", path, *SEX, "--missing", "drop-rows", "--no-path", "--out", tmp_path)
    outcome = run("transform", tmp_path / "model.fairpca", path, "--out", tmp_path / "p.csv", "--json")
    found = json.loads(outcome.stdout)
    assert (found["rows"], found["dropped"]) == (196, 4)
    assert "4 rows of" in outcome.stderr


# audit


def test_the_audit_of_rows_held_out_is_that_of_the_fit(place):
    metrics = json.loads((place / "out/metrics.json").read_text())
    found = answer("audit", place / "people.csv", "--model", args(place)[1], "--held-out")
    assert found.pop("verdict")
    assert found == metrics["audit"]


WAYS = {
    "filled": ["-s", "sex", "--keep-sensitive", "--missing", "fill", "--missing-sensitive", "group"],
    "dropped": ["-s", "sex", "--missing", "drop-rows"],
    "left": ["-s", "sex", "--missing", "fill", "--missing-sensitive", "leave"],
    "weighted": ["-s", "race", "--missing", "fill", "--weight", "weight"],
    "odds": ["-s", "sex", "--missing", "drop-rows", "--label", "hired", "--fairness", "equalized_odds"],
    "segments": ["-s", "sex", "--missing", "drop-rows", "--control", "town"],
    "codes": ["-s", "code", "--missing", "fill", "--categories", "code,town", "--small-groups", "merge"],
    "fine": ["-s", "race", "--missing", "fill", "--scales", "--seed", "5", "--held-out", "0.4"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_so_it_is_however_people_were_read_and_compared(tmp_path, way):
    table = people(300).assign(
        age=lambda t: t["age"].astype(object).where(t.index % 10 != 3),
        work=lambda t: t["work"].where(t.index % 20 != 5),
        sex=lambda t: t["sex"].where(t.index % 9 != 0),
        weight=lambda t: t["weight"].where(t.index % 6 != 0, 0),
        code=lambda t: 100 + t.index % 25,
    )
    path = written(tmp_path / "people.csv", table)
    roles = {"sex", "race", "hired", "town", "weight", "code"} - set(WAYS[way])
    fitted = run("fit", path, *WAYS[way], "--drop", ",".join(sorted(roles)), "--no-path", "--out", tmp_path, "--json")
    assert fitted.exit_code in (0, 1), fitted.output
    model, certificate = tmp_path / "model.fairpca", tmp_path / "certificate.json"
    seed = ["--seed", "5"] if way == "fine" else []
    found = answer("audit", path, "--model", model, "--held-out", *seed)
    assert found.pop("verdict")
    assert found == json.loads(fitted.stdout)["audit"]
    if certificate.exists():
        assert run("verify", certificate, model, path, "--held-out").exit_code == 0


def test_an_audit_of_new_people_can_be_certified(place, tmp_path):
    certificate = tmp_path / "certificate.json"
    found = answer("audit", place / "other.csv", "-m", args(place)[1], "--certificate", certificate)
    assert found["n_rows"] == 200
    assert fairpca.load_certificate(certificate).upper_bound == found["upper_bound"]
    again = run("verify", certificate, args(place)[1], place / "other.csv")
    assert again.exit_code == 0
    assert "(the audited rows)" in again.stdout


def test_rows_of_the_fit_are_told_from_new_ones(place):
    outcome = run("audit", place / "people.csv", "--model", args(place)[1])
    assert outcome.exit_code == 0
    (line,) = said(outcome)
    assert line.startswith("note: 140 of these 200 rows equal one of the fit, where about 0 new ones would by chance")
    assert line.endswith("says nothing of new people; --held-out takes those of this table that were held out.")
    assert said(run("audit", place / "other.csv", "--model", args(place)[1])) == []


def test_so_they_are_where_people_have_weights(tmp_path):
    path = written(tmp_path / "people.csv")
    run("fit", path, "-s", "sex", "--weight", "weight", "--drop", "race,hired,town", "--no-path", "--out", tmp_path)
    assert "about 70 % of them were in the fit" in run("audit", path, "--model", tmp_path / "model.fairpca").stderr
    held_out = run("audit", path, "--model", tmp_path / "model.fairpca", "--held-out")
    assert held_out.exit_code == 0, held_out.output


def test_columns_are_audited_in_one_unit_or_their_own(place):
    table = place / "people.csv"
    X = prepare(table, Roles("sex", drop=DROPPED), held_out=0.0).X_train
    scaled = answer("audit", table, *SEX)
    expected = fairpca.audit(None, (X - X.mean(0)) / X.std(0), sensitive_features=people()["sex"], random_state=0)
    assert scaled["mmd2"] == pytest.approx(expected.mmd2)
    as_is = answer("audit", table, *SEX, "--as-is")
    assert as_is["mmd2"] == fairpca.audit(None, X, sensitive_features=people()["sex"], random_state=0).mmd2
    assert as_is["mmd2"] != scaled["mmd2"]


def test_a_model_is_audited_for_other_attributes(place):
    found = answer("audit", place / "other.csv", "--model", args(place)[1], "-s", "race")
    assert [measure["name"] for measure in found["measures"]] == [f"{name} against all others" for name in "ABC"]


# path and compare


def test_a_path_is_that_of_the_library(tmp_path):
    file, table = tmp_path / "curve.csv", written(tmp_path / "people.csv", people(100))
    found = answer("path", table, *SEX, "--out", file)
    prepared = prepare(table, Roles("sex", drop=DROPPED), held_out=0.0)
    path = fairpca.FairPCAPath(fairpca.FairPCA(2, random_state=0)).fit(prepared.X_train, **vars(prepared.people_train))
    curve = pd.DataFrame(found["path"])
    np.testing.assert_array_equal(curve["tolerance"], path.tolerances_)
    np.testing.assert_array_equal(curve["variance_kept"], path.variances_)
    np.testing.assert_array_equal(curve["mmd2"], path.mmd2s_)
    assert curve["met"].all()
    assert (curve["mmd2"] <= curve["tolerance"] * (1 + 1e-6)).all()
    assert pd.read_csv(file).equals(curve)
    printed = run("path", table, *SEX).stdout
    assert f"{100 * curve['variance_kept'].iloc[0]:.1f} %" in printed


def test_a_comparison_is_what_the_methods_show_on_rows_held_out(place, tmp_path):
    page = tmp_path / "methods.html"
    asked = ("compare", place / "people.csv", *SEX, "--methods", "FairPCA,LEACE,FPCA")
    found = answer(*asked, "--out", page)
    rows = {row["method"]: row for row in found["methods"]}
    assert list(rows) == ["PCA", "FairPCA", "LEACE", "FPCA"]
    assert rows["FairPCA"]["mmd2"] < rows["PCA"]["mmd2"]
    prepared = prepare(place / "people.csv", Roles("sex", drop=DROPPED), held_out=0.3, random_state=0)
    assert sum(found["n_rows"].values()) == len(prepared.X_train) + len(prepared.X_new)
    assert found["n_rows"]["held_out"] == len(prepared.X_new)
    assert found["recommendation"][0].partition(":")[2].strip()[:30] in page.read_text(encoding="utf-8")
    printed = run(*asked).stdout
    assert found["recommendation"][0] in printed
    assert f"{100 * rows['FairPCA']['variance_kept']:.1f} %" in printed
    table = printed[printed.index("On ") :].splitlines()[:7]
    assert all(len(line) <= 80 for line in table), table


def test_methods_that_cannot_compare_are_named_with_the_reason(place):
    options = ["-s", "race", "--drop", "sex,hired,town,weight", "--methods", "LEACE,FPCA"]
    found = answer("compare", place / "people.csv", *options)
    assert [row["method"] for row in found["methods"]] == ["PCA", "LEACE"]
    assert "got 3 groups" in found["left_out"]["FPCA"]
    assert "Not compared: FPCA: " in run("compare", place / "people.csv", *options).stdout


# plan and verify


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["0.02", "--groups", "200,800"], {"epsilon": 0.02, "groups": (200, 800)}),
        (["0.02", "--groups", "0.2,0.8", "-n", "3"], {"epsilon": 0.02, "groups": (0.2, 0.8), "n_components": 3}),
        (["--rows", "500", "--power", "0.5", "--confidence", "0.9"], {"rows": 500, "power": 0.5, "confidence": 0.9}),
    ],
)
def test_a_plan_is_that_of_the_library(options, settings):
    expected = fairpca.plan(settings.pop("epsilon", None), **settings)
    groups = {name: settings[name] for name in ("groups", "rows", "confidence") if name in settings}
    promise = plan_promise(**groups)
    found = answer("plan", *options)
    assert found.pop("promise") == json.loads(json.dumps(asdict(promise)))
    assert found == json.loads(json.dumps({name: as_list(value) for name, value in asdict(expected).items()}))
    assert run("plan", *options).stdout.strip() == f"{expected}\n{promise}".strip()


def as_list(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_a_certificate_holds_on_the_rows_held_out(place):
    found = answer("verify", *args(place), "--held-out")
    assert found["holds"]
    assert found["same_model"]
    assert found["same_rows"]
    assert found["upper_bound"] == pytest.approx(fairpca.load_certificate(args(place)[0]).upper_bound)
    assert "The certificate holds" in run("verify", *args(place), "--held-out").stdout


def test_another_model_is_not_confirmed(place):
    certificate, _, table = args(place)
    outcome = run("verify", certificate, args(place, "stricter")[1], table, "--held-out")
    assert outcome.exit_code == 1
    assert outcome.stdout.startswith("NOT confirmed")
    assert "another model" in " ".join(outcome.stdout.split())


SPOILED = {
    "as it was": lambda table: table,
    "shuffled": lambda table: table.sample(frac=1.0, random_state=0),
    "shorter": lambda table: table[:-1],
    "longer": lambda table: pd.concat([table, people(1, seed=9)]),
    "edited": lambda table: table.assign(debt=table["debt"] + 0.1 * (np.arange(len(table)) == 7)),
}


@pytest.mark.parametrize("how", SPOILED)
def test_the_table_of_the_fit_confirms_nothing_and_another_holds_none_of_its_rows_out(place, tmp_path, how):
    certificate, model, _ = args(place)
    table = written(tmp_path / "t.csv", SPOILED[how](people()))
    outcome = run("verify", certificate, model, table)
    assert outcome.exit_code == 1
    assert "about 70 % of them were in the fit" in " ".join(outcome.stdout.split())
    assert run("verify", certificate, model, table, "--trust-rows").exit_code == 1
    if how != "as it was":
        for command in (["verify", certificate, model, table], ["audit", table, "--model", model]):
            assert "is not the table of the fit, or not as it was then" in refused(*command, "--held-out")


def test_without_the_file_of_its_rows_a_model_confirms_nothing_unless_the_caller_is_trusted(place, tmp_path):
    certificate, model, table = args(place)
    alone = tmp_path / "model.fairpca"
    alone.write_bytes(model.read_bytes())
    outcome = run("verify", certificate, alone, table, "--held-out")
    assert outcome.exit_code == 1
    assert "Put the file of its rows (MODEL.rows) beside it, or pass --trust-rows" in " ".join(outcome.stdout.split())
    trusted = run("verify", certificate, alone, table, "--held-out", "--trust-rows")
    assert trusted.exit_code == 0
    assert "is what the caller says" in " ".join(trusted.stdout.split())
    words = refused("audit", place / "other.csv", "-m", alone, "--certificate", tmp_path / "c.json")
    assert "could not be checked" in words


def test_other_rows_may_show_more(place):
    certificate, model, _ = args(place)
    found = answer("verify", certificate, model, place / "other.csv", "-s", "race", code=1)
    assert not found["holds"]


# demo and what commands say of themselves


def test_demo_prints_a_table_and_saves_a_picture(tmp_path):
    outcome = run("demo", "--output", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.output
    assert "FairPCA" in outcome.output
    assert "parity gap" in outcome.output
    assert (tmp_path / "out" / "projections.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["projections.png", "report.html"]


def test_demo_into_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    refused("demo", "--output", tmp_path / "file" / "out")
    assert "--tolerance -1.0 must be" in refused("demo", "--output", tmp_path, "--tolerance", "-1")


def test_without_the_extra_the_install_line_is_given():
    code = "import sys; sys.modules['typer'] = None; from fairpca.cli import main; main()"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert outcome.returncode == 2
    assert "pip install 'fairpca[cli]'" in outcome.stderr


COMMANDS = ["fit", "transform", "audit", "path", "compare", "plan", "verify"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command):
    outcome = run(command, "--help")
    assert outcome.exit_code == 0
    assert f"Example: fairpca {command}" in " ".join(outcome.stdout.split())
    assert "--json" in outcome.stdout


def test_all_commands_are_listed():
    outcome = run("--help")
    assert outcome.exit_code == 0
    assert all(command in outcome.stdout for command in COMMANDS)
    assert run("--version").stdout.strip() == fairpca.__version__
