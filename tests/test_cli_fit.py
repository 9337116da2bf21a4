"""fairpca fit: what it writes agrees with the model, with itself, and with what others compute."""
# SPDX-License-Identifier: MIT

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import fairpca
from cli_tables import PLAIN, answer, people, run, said, written
from comparisons import dense_mmd2
from fairpca.tables import Roles, prepare

FILES = {"report.html", "model.fairpca", "model.fairpca.rows", "projected.csv", "loadings.csv", "certificate.json"}
FILES |= {"metrics.json"}
SEX = ["--sensitive", "sex", *PLAIN, "--no-path"]


class Story:
    """A table, and what a fit has made of it."""

    def __init__(self, folder):
        self.table, self.frame, self.out = written(folder / "people.csv"), people(), folder / "out"
        self.outcome = run("fit", self.table, "--sensitive", "sex", *PLAIN, "--out", self.out)
        self.metrics = json.loads((self.out / "metrics.json").read_text())
        self.model = fairpca.load(self.out / "model.fairpca")
        self.projected = pd.read_csv(self.out / "projected.csv")


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    return Story(tmp_path_factory.mktemp("story"))


def encoded(frame):
    """Return features as anyone would make them."""
    dummies = pd.get_dummies(frame["work"]).to_numpy(dtype=float)
    numbers = frame[["age", "income", "hours", "debt"]].to_numpy(dtype=float)
    return np.column_stack([numbers, dummies, frame["owner"] == "true"])


def test_it_writes_its_files_and_says_so(story):
    assert story.outcome.exit_code == 0, story.outcome.output
    assert said(story.outcome) == []
    assert {path.name for path in story.out.iterdir()} == FILES
    for name in FILES:
        assert str(story.out / name) in story.outcome.stdout
    assert "140 rows to fit, 60 held out, 8 features." in story.outcome.stdout
    assert "…" not in story.outcome.stdout
    assert "\x1b" not in story.outcome.stdout


def test_numbers_are_those_of_the_model(story):
    fitted, found = story.model.model_, story.metrics
    assert found["mmd2"] == fitted.mmd2_
    assert found["variance_kept"] == fitted.explained_variance_ratio_.sum()
    assert found["tolerance"] == fitted.tolerance_
    assert found["bandwidth"] == fitted.bandwidth_
    assert found["converged"]
    assert found["rows"] == {"fitted": 140, "held_out": 60, "dropped": {}, "held_out_share": 0.3, "seed": 0}
    assert found["variance_kept"] < found["variance_kept_by_pca"]


def test_numbers_are_those_that_others_compute(story):
    prepared = prepare(story.table, Roles("sex", drop=PLAIN[1].split(",")), held_out=0.3, random_state=0)
    Z = story.projected[["component1", "component2"]].to_numpy()
    X = encoded(story.frame)
    sex = story.frame["sex"].to_numpy()
    for rows, expected in (
        (prepared.rows_train, story.metrics["mmd2"]),
        (prepared.rows_new, story.metrics["audit"]["measures"][0]["mmd2"]),
    ):
        assert dense_mmd2(Z[rows], sex[rows], story.metrics["bandwidth"]) == pytest.approx(expected, rel=1e-6)
    scaled = (X / X[prepared.rows_train].std(axis=0))[prepared.rows_train]
    share = Z[prepared.rows_train].var(axis=0).sum() / scaled.var(axis=0).sum()
    assert share == pytest.approx(story.metrics["variance_kept"], rel=1e-9)
    singular = np.linalg.svd(scaled - scaled.mean(axis=0), compute_uv=False) ** 2
    assert singular[:2].sum() / singular.sum() == pytest.approx(story.metrics["variance_kept_by_pca"], rel=1e-6)


def test_loadings_give_the_projections(story):
    loadings = pd.read_csv(story.out / "loadings.csv")
    assert loadings["feature"].tolist() == [
        *("age", "income", "hours", "debt", "work=none", "work=private", "work=public", "owner")
    ]
    scaled = (encoded(story.frame) - loadings["mean"].to_numpy()) / loadings["scale"].to_numpy()
    Z = scaled @ loadings[["component1", "component2"]].to_numpy()
    np.testing.assert_allclose(story.projected[["component1", "component2"]], Z, atol=1e-9)
    assert story.projected["row"].tolist() == list(range(1, 201))


def test_transform_gives_the_projections_again(story, tmp_path):
    outcome = run("transform", story.out / "model.fairpca", story.table, "--out", tmp_path / "again.csv")
    assert outcome.exit_code == 0
    assert said(outcome) == []
    assert (tmp_path / "again.csv").read_bytes() == (story.out / "projected.csv").read_bytes()


def test_certificate_and_report_say_what_the_audit_found(story):
    certificate = fairpca.load_certificate(story.out / "certificate.json")
    assert certificate.upper_bound == story.metrics["audit"]["upper_bound"]
    assert certificate.n_rows == 60
    page = (story.out / "report.html").read_text()
    assert "people.csv" in page
    assert "Female against Male" in page


def test_json_is_all_that_is_printed_and_what_is_written(story, tmp_path):
    printed = answer("fit", story.table, *SEX, "--out", tmp_path)
    written_too = json.loads((tmp_path / "metrics.json").read_text())
    assert printed == written_too
    for name in ("seconds", "files"):
        del printed[name]
    assert printed == {name: story.metrics[name] for name in printed}


def test_the_same_seed_gives_the_same_files_and_another_seed_others(story, tmp_path):
    for seed in (0, 1):
        assert run("fit", story.table, *SEX, "--seed", seed, "--out", tmp_path / str(seed)).exit_code == 0
    # A model has the seconds of its fit.
    for name in ("projected.csv", "loadings.csv", "certificate.json"):
        content = (story.out / name).read_bytes()
        assert (tmp_path / "0" / name).read_bytes() == content
        assert (tmp_path / "1" / name).read_bytes() != content


# What can be asked for

BY_RACE, TOWNS = [f"race: {name} against all others" for name in "ABC"], ("north", "south")
CROSSED = [f"{sex} & {race} against all others" for sex in ("Female", "Male") for race in "ABC"]
LABELLED = "-s sex --label hired --drop race,town,weight"


def measures(found):
    return [measure["name"] for measure in found["measures"]]


def roles(found):
    return {column["column"]: column["role"] for column in found["columns"]}


def features(found):
    return sum(column["features"] for column in found["columns"])


def fitted_to(tmp_path, *options, table=None, code=0):
    path = written(tmp_path / "people.csv", table)
    return answer("fit", path, "--no-path", "--out", tmp_path / "out", *options, code=code)


ASKED = {
    "-s sex,race -t sex=0.05,race=0.2 --drop hired,town,weight": ["sex: Female against Male", *BY_RACE],
    "-s sex --sensitive race --intersections --small-groups merge --drop hired,town,weight": CROSSED,
    "-s age --drop sex,race,hired,town,weight": ["dependence on age"],
    "-s weight --continuous weight --drop sex,race,hired,town": ["dependence on weight"],
    f"{LABELLED} --fairness equalized_odds": ["Female against Male among y = no", "Female against Male among y = yes"],
    f"{LABELLED} --fairness equal_opportunity --favourable yes": ["Female against Male among y = yes"],
    f"{LABELLED} --fairness equal_opportunity --favourable 7": ["Female against Male among y = 7"],
    "-s sex --control town --drop hired,race,weight": [f"Female against Male among town = {t}" for t in TOWNS],
}


@pytest.mark.parametrize("options", ASKED)
def test_people_are_compared_as_it_was_asked_for(tmp_path, options):
    table = people()
    if "7" in options:
        table["hired"] = np.where(table["hired"] == "yes", 7, 3)
    found = fitted_to(tmp_path, *options.split(), table=table)
    assert measures(found) == ASKED[options]
    if "-t" in options:
        assert [measure["tolerance"] for measure in found["measures"]] == [0.05, 0.2, 0.2, 0.2]
        assert roles(found)["race"] == "sensitive"


def test_components_may_be_a_share_of_the_variance(tmp_path):
    found = fitted_to(tmp_path, "-s", "sex", *PLAIN, "-n", "0.6")
    assert found["n_components"] == 3
    assert found["variance_kept_by_pca"] > 0.6


def test_more_rows_are_held_out_where_groups_are_small(tmp_path):
    path = written(tmp_path / "few.csv", people(60))
    outcome = run("fit", path, *SEX, "--out", tmp_path / "out")
    found = json.loads((tmp_path / "out/metrics.json").read_text())
    assert 0.3 < found["rows"]["held_out_share"] <= 0.5
    assert min(found["audit"]["measures"][0]["sides"]) >= 10
    assert (tmp_path / "out/certificate.json").exists()
    assert "of the rows are held out, not 30 %" in outcome.stdout
    assert any("of the rows are held out, not 30 %" in note for note in found["notes"])
    again = run("verify", tmp_path / "out/certificate.json", tmp_path / "out/model.fairpca", path, "--held-out")
    assert again.exit_code == 0, again.output


def test_without_a_certificate_none_of_another_fit_is_left(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/certificate.json").write_text("of another fit")
    path = written(tmp_path / "few.csv", people(30))
    outcome = run("fit", path, *SEX, "--out", tmp_path / "out")
    assert outcome.exit_code in (0, 1)
    assert {each.name for each in (tmp_path / "out").iterdir()} == FILES - {"certificate.json"}
    assert "No certificate was written" in outcome.stdout
    assert "certificate.json" not in outcome.stdout


# Files


ODD = {
    "a, b": r"a\, b",
    'say "so"': 'say "so"',
    "größe 身長 🙂": "größe 身長 🙂",
    "<script>alert(1)</script>": "<script>alert(1)</script>",
    "[red]x[/red]": "[red]x[/red]",
    "sex \u202e\u200f": "sex \u202e\u200f",
    "missing=fill": "missing=fill",
    "\x1b[31mred": "\x1b[31mred",
}


@pytest.mark.parametrize("name", ODD)
def test_columns_may_have_any_name(tmp_path, name):
    name, option = name.strip(), ODD[name].strip()
    table = people().rename(columns={"sex": name, "work": f"{name} too"})
    table[name] = table[name].map({"Female": f"{name}-F", "Male": "M"})
    path = written(tmp_path / "odd.csv", table)
    outcome = run("fit", path, "-s", option, *PLAIN, "--no-path", "--out", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.output
    assert not [letter for letter in "\x1b\u202e\u200f" if letter in outcome.output]
    found = json.loads((tmp_path / "out/metrics.json").read_text(encoding="utf-8"))
    assert roles(found)[name] == "sensitive"
    assert fairpca.load(tmp_path / "out/model.fairpca").roles.sensitive == (name,)
    assert "<script>alert" not in (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert any(row.startswith(name) for row in pd.read_csv(tmp_path / "out/loadings.csv")["feature"])
    again = run("verify", tmp_path / "out/certificate.json", tmp_path / "out/model.fairpca", path, "--held-out")
    assert again.exit_code == 0, again.output


# How it ends


def test_a_tolerance_that_is_not_met_ends_in_1(tmp_path):
    path = written(tmp_path / "people.csv")
    outcome = run("fit", path, *SEX, "--tolerance", "1e-8", "--components", "7", "--out", tmp_path / "out")
    assert outcome.exit_code == 1
    assert "Not what was asked for" in outcome.stdout
    found = json.loads((tmp_path / "out/metrics.json").read_text())
    assert not found["converged"]
    assert found["mmd2"] > found["tolerance"]


def started(*arguments):
    code = "from fairpca.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        # Processes started in the background ignore interrupts, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_an_interrupted_fit_leaves_no_half_of_a_file(tmp_path):
    path = written(tmp_path / "many.csv", people(30_000))
    process = started(
        "fit", path, "-s", "sex,race", "--drop", "hired,town,weight", "-n", "4", "--out", tmp_path / "out"
    )
    # The columns are shown when the table has been read, just before the fit begins.
    while "rows to fit" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert [line for line in errors.splitlines() if line[:2] != "- "] == [
        "interrupted: every file is whole, or as it was before."
    ]
    assert list((tmp_path / "out").iterdir()) == []


def test_whoever_reads_the_results_may_stop():
    with started("plan", "0.01", "--json") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 1
