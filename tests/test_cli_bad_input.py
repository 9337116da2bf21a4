"""Whatever is wrong with a table, an option or a model ends in one sentence and the exit code 2."""
# SPDX-License-Identifier: MIT

import gzip
import json
import os
import resource
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cli_refused import LINES
from cli_tables import PLAIN, people, run, said, written
from damaged_files import members_of, zipped
from fairpca import FairPCA
from fairpca.saving._archive import UNSIGNED, digest_of

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
        "lacking_two": table.drop(columns=["age", "income"]),
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
        "newer": zipped(members | {"model.json": signed(members["model.json"], format_version=2)}),
        "truncated": content[:-100],
        "tampered": zipped(members | {"model.json": members["model.json"].replace(b'"age"', b'"agf"')}),
    }
    for name, each in changed.items():
        (folder / name).write_bytes(each)
    return {name: folder / name for name in [*changed, "fair_pca"]}


def signed(text, **changes):
    """Return a document with other fields and the checksum that belongs to it."""
    text = json.dumps(json.loads(text) | changes | {"sha256": UNSIGNED}).encode()
    return text.replace(UNSIGNED.encode(), digest_of(text).encode(), 1)


@pytest.mark.parametrize(("line", "words"), REFUSED, ids=[line for line, _ in REFUSED])
def test_command_lines(place, tmp_path, monkeypatch, line, words):
    monkeypatch.chdir(tmp_path)
    before = sorted(place["d"].rglob("*")), place["good"].read_bytes(), place["model"].read_bytes()
    arguments = [part.format(**place) for part in shlex.split(line)]
    assert_refused(run(*arguments), words.format(**place))
    assert (sorted(place["d"].rglob("*")), place["good"].read_bytes(), place["model"].read_bytes()) == before
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


# Tables

HEADER = "age,income,sex\n"
ROWS = "".join(f"{20 + k % 40},{1000 + 7 * k},{'fm'[k % 2]}\n" for k in range(60))
GOOD = (HEADER + ROWS).encode()


def parquet(**columns):
    buffer = pa.BufferOutputStream()
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue().to_pybytes()


def column(**changes):
    """Return the good table with other columns."""
    columns = {"age": [20 + k % 40 for k in range(60)], "income": [1000 + 7 * k for k in range(60)]}
    return pd.DataFrame(columns | {"sex": ["f", "m"] * 30} | changes).to_csv(index=False).encode()


TABLES = {
    "a ragged row": (GOOD + b"1,2\n", "has 2 fields in line 62, where the header has 3"),
    "Parquet of nothing": (parquet(a=pa.array([], pa.int64()), sex=pa.array([], pa.string())), "no rows"),
    "a group of one": (column(sex=["x"] + ["f", "m"] * 29 + ["f"]), "'x' (1 row)"),
    "a missing attribute": (column(sex=[""] + ["f", "m"] * 29 + ["f"]), "--missing-sensitive group"),
    "a missing number": (column(age=["?", *range(59)]), "use --missing fill or --missing drop-rows"),
    "dates": (
        column(income=[f"2020-01-{1 + k % 28:02}" for k in range(60)]),
        "'income' is a date: name it in --dates to make numbers of it, or leave it out with --drop",
    ),
    "one usable row": (b"age,income,sex\n1,2,f\n", ""),
    "two rows": (b"age,income,sex\n1,2,f\n2,3,m\n", ""),
}


def fit_to(path, folder, *options):
    return run("fit", path, "-s", "sex", "--no-path", "--out", folder / "out", *options)


@pytest.mark.parametrize("name", TABLES)
def test_tables(tmp_path, name):
    content, words = TABLES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert_refused(fit_to(path, tmp_path), words)
    assert not list((tmp_path / "out").iterdir())


WEIGHTS = {
    "negative": ([-1] + [1] * 59, "holds a negative number in row 1"),
    "none": ([0] * 60, "has no weight above 0"),
    "texts": (["x"] + [1] * 59, "must hold numbers; it holds 'x' in row 1"),
    "missing": ([""] + [1] * 59, "values are missing in 'w' (1)"),
    "infinite": (["inf"] + [1] * 59, "holds an infinite number in row 1"),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(tmp_path, name):
    values, words = WEIGHTS[name]
    (tmp_path / "table.csv").write_bytes(column(w=values))
    assert_refused(fit_to(tmp_path / "table.csv", tmp_path, "--weight", "w"), words)


def damaged(seed):
    """Return a table that chance has damaged so that it is none any more."""
    rng = np.random.default_rng(seed)
    lines = GOOD.decode().splitlines()
    k = int(rng.integers(1, len(lines)))
    way = seed % 8
    if way == 0:
        lines[k] += "," * int(rng.integers(1, 5))
    elif way == 1:
        lines[k] = lines[k].rpartition(",")[0]
    elif way == 2:
        lines[k] = lines[k].replace(",", "\0,", 1)
    elif way == 3:
        lines[k] = lines[k].replace(",", ',"', 1)
    elif way == 4:
        lines[k] = ",".join(["", *lines[k].split(",")[1:]])
    elif way == 5:
        return gzip.compress(GOOD)[: int(rng.integers(3, len(gzip.compress(GOOD)) - 8))]
    elif way == 6:
        whole = parquet(age=list(range(100)), sex=["f", "m"] * 50)
        return whole[: int(rng.integers(4, len(whole)))]
    else:
        return rng.choice([b"PAR1", b"ARROW1", b"PK\3\4", b"\x1f\x8b", b"BZh", b"\xff\xff\xff\xff"]) + rng.bytes(300)
    return "\n".join(lines).encode()


@pytest.mark.parametrize("seed", range(64))
def test_tables_that_chance_has_damaged(tmp_path, seed):
    (tmp_path / "table.csv").write_bytes(damaged(seed))
    assert_refused(fit_to(tmp_path / "table.csv", tmp_path))


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
