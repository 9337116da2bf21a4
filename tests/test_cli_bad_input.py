"""Whatever is wrong with a table, an option or a model ends in one sentence and the exit code 2."""
# SPDX-License-Identifier: MIT

import json
import os
import resource
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cli_refused import LINES
from cli_tables import PLAIN, people, run, said, written
from damaged_files import members_of, signed, zipped
from fairpca import FairPCA

REFUSED = [tuple(part.strip() for part in line.split(" | ")) for line in LINES.strip().splitlines()]

NEVER_SAID = [
    *("Traceback", "Errno", "Arrow", "codec", "dtype", "ndarray", "NoneType", "object at", ".part", "random_state"),
    *("sensitive_features", "control_features", "sample_weight", "sensitive_kind", "n_components", "n_features"),
    *("min_group_size", "most_categories", "favourable=", "missing=", "fairness=", "tolerance=", "Error"),
]


def assert_refused(outcome, words=""):
    """Check that a command has ended in one sentence that someone who knows no Python can read."""
    assert outcome.exit_code == 2, (outcome.exit_code, outcome.output)
    (line,) = [each for each in said(outcome) if not each.startswith("try: fairpca ")]
    assert line.startswith("error: ")
    assert line.endswith((".", "?"))
    assert words in line
    assert not [word for word in NEVER_SAID if word in line], line
    assert len(line) < 700


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return the names of a folder with a table, models, a certificate, and what is wrong with some."""
    folder = tmp_path_factory.mktemp("refused")
    good = written(folder / "good.csv")
    assert run("fit", good, "-s", "sex", *PLAIN, "--no-path", "--out", folder / "out").exit_code == 0
    odds = ["--label", "hired", "--fairness", "equalized_odds", "--drop", "race,town,weight"]
    assert run("fit", good, "-s", "sex", *odds, "--no-path", "--out", folder / "odds").exit_code in (0, 1)
    names = {"d": folder, "good": good, "model": folder / "out/model.fairpca", "cert": folder / "out/certificate.json"}
    return names | tables_in(folder) | models_in(folder, names["model"])


def tables_in(folder):
    table = people()
    tables = {
        "other": people(seed=9),
        "lacking": table.rename(columns={"income": "incomes"}),
        "lonely": table.assign(sex=table["sex"].where(table.index > 0, "x")),
        "nameless": table.assign(sex=table["sex"].where(table.index > 0, None)),
        "dated": table.assign(age=[f"2020-01-{1 + k % 28:02}" for k in table.index]),
        "gaps": table.assign(age=table["age"].astype(object).where(table.index != 3, None)),
        "strange": table.assign(work=table["work"].where(table.index > 2, "sea")),
        "words": table.assign(age=table["age"].astype(object).where(table.index != 4, "old")),
    }
    return {name: written(folder / f"{name}.csv", each) for name, each in tables.items()}


def models_in(folder, model):
    content = model.read_bytes()
    members = members_of(content)
    rng = np.random.default_rng(0)
    FairPCA(2).fit(rng.normal(size=(60, 4)), sensitive_features=["a", "b"] * 30).save(folder / "fair_pca")
    changed = {
        "newer": zipped(members | {"model.json": signed(json.loads(members["model.json"]) | {"format_version": 2})}),
        "truncated": content[:-100],
    }
    for name, each in changed.items():
        (folder / name).write_bytes(each)
    return {name: folder / name for name in [*changed, "fair_pca"]}


@pytest.mark.parametrize(("line", "words"), REFUSED, ids=[line for line, _ in REFUSED])
def test_command_lines(place, tmp_path, monkeypatch, line, words):
    monkeypatch.chdir(tmp_path)
    before = sorted(place["d"].rglob("*")), place["good"].read_bytes(), place["model"].read_bytes()
    arguments = [part.format(**place) for part in shlex.split(line)]
    assert_refused(run(*arguments), words.format(**place))
    assert (sorted(place["d"].rglob("*")), place["good"].read_bytes(), place["model"].read_bytes()) == before
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def fit_to(path, folder, *options):
    return run("fit", path, "-s", "sex", "--no-path", "--out", folder / "out", *options)


def test_a_certificate_that_was_edited(place, tmp_path):
    fields = json.loads(place["cert"].read_text())
    for k, change in enumerate([{"schema": 1}, {"seed": "x"}, {"measures": []}, {"more": 1}]):
        path = tmp_path / f"{k}.json"
        path.write_text(json.dumps(fields | change))
        assert_refused(run("verify", path, place["model"], place["good"]))


# The disk


@contextmanager
def at_most(size, what=resource.RLIMIT_FSIZE):
    """Let the disk take no more of any file, or the system no more memory."""
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_full_disk_leaves_nothing_behind(place, tmp_path, ending):
    target = tmp_path / f"projected.{ending}"
    with at_most(1000):
        outcome = run("transform", place["model"], place["good"], "--out", target)
    assert outcome.exit_code == 2, outcome.output
    assert said(outcome) == [f"error: {target}: file too large."]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("size", "name"), [(500, "model.fairpca"), (40_000, "report.html")])
def test_a_full_disk_ends_a_fit_that_leaves_nothing(place, tmp_path, size, name):
    with at_most(size):
        outcome = run("fit", place["good"], "-s", "sex", *PLAIN, "--no-path", "--out", tmp_path)
    assert outcome.exit_code == 2
    assert said(outcome) == [f"error: {tmp_path / name}: file too large."]
    assert list(tmp_path.iterdir()) == []


def test_a_system_without_memory():
    run("plan", "0.01")
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    with at_most(in_use + 2**20, resource.RLIMIT_AS):
        outcome = run("plan", "0.01", "--components", "1000")
    assert outcome.exit_code == 2, outcome.output
    assert said(outcome) == ["error: there is not enough memory for this; use fewer rows, columns or components."]


def test_a_device_that_is_full():
    command = [sys.executable, "-c", "from fairpca.cli import main; main()", "plan", "0.01", "--json"]
    with Path("/dev/full").open("w") as full:
        outcome = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert outcome.returncode == 2
    assert outcome.stderr.splitlines() == ["error: the disk is full."]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(place, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    assert_refused(fit_to(place["good"], tmp_path / "closed"), "cannot be written: permission denied")
