"""The experiments of the paper: all pages come, a stopped run goes on, bad options are refused."""

import csv
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import EXPERIMENTS, main
from experiments.output import beside, escape, table, write_page
from experiments.synthetic import group_losses
from fairpca.baselines import ReconstructionFairPCA
from fairpca.datasets import make_ellipses

ROOT = Path(__file__).parents[1]
SMALL = ["--quick", "--data", "german", "--components", "2", "--splits", "1", "--dimensions", "6"]
FILES = ("_runs.csv", "_summary.csv", "_timings.csv", ".md", ".html")


def read(folder, name):
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def line(rows, **values):
    (row,) = [row for row in rows if all(row[name] == value for name, value in values.items())]
    return row


def stored(folder):
    """Return when each stored fit was written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob(".fits/**/output.pkl")}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Return the folder of a small run of all experiments."""
    folder = tmp_path_factory.mktemp("paper")
    assert main(["all", *SMALL, "--output", str(folder)]) == 0
    return folder


@pytest.mark.thorough
def test_every_page_comes_with_its_numbers_and_figures(everything):
    index = (everything / "index.html").read_text()
    for name in EXPERIMENTS:
        assert all((everything / f"{name}{ending}").stat().st_size > 0 for ending in FILES)
        assert f'href="{name}.html"' in index
        html = (everything / f"{name}.html").read_text()
        shown = [part.partition('"')[0] for part in html.split('src="')[1:]]
        assert shown
        for picture in shown:
            assert (everything / picture).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
            assert (everything / picture).with_suffix(".svg").exists()
    assert not list(everything.rglob("*.part"))


@pytest.mark.thorough
def test_own_published_and_difference_stand_side_by_side(everything):
    summary = line(read(everything, "table1_summary"), method="PCA", quantity="variance_percent_test")
    own = float(summary["mean"])
    assert (summary["published_mean"], summary["published_standard_deviation"]) == ("11.42", "0.47")
    assert float(summary["difference"]) == pytest.approx(own - 11.42)
    page = (everything / "table1.md").read_text()
    assert f"| PCA | {own:.2f} | 11.42 ± 0.47 | {own - 11.42:+.2f}" in page
    assert page.count("| 76.87 ± 1.39 |") == 2
    assert "Quick run: FairPCA(1e-6) and Budget(1e-6) are left out for d > 2" in page


@pytest.mark.thorough
def test_fair_pca_meets_its_tolerance_and_pca_does_not(everything):
    rows = read(everything, "table1_runs")
    kept = {row["method"]: float(row["variance_percent_train"]) for row in rows}
    mmd2 = {row["method"]: float(row["mmd2_train"]) for row in rows}
    assert mmd2["PCA"] > 0.05
    assert all(mmd2[f"{name}({tau})"] <= float(tau) for name in ("FairPCA", "Budget") for tau in ("1e-3", "1e-6"))
    assert kept["Budget(1e-3)"] > kept["FairPCA(1e-3)"] > kept["FPCA(0, 0.01)"]
    scored = line(rows, method="PCA")
    assert float(scored["accuracy_percent_paper"]) > float(scored["accuracy_percent_holdout"])
    assert scored["eod_paper"] == max(scored["eop_paper"], scored["dp_paper"], key=float)


@pytest.mark.thorough
def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path):
    arguments = ["communality", *SMALL, "--splits", "2"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "experiments", *arguments, "--output", str(killed)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as process:
        while not stored(killed) and process.poll() is None:
            time.sleep(0.002)
        process.kill()
    assert process.returncode != 0
    finished = stored(killed)
    assert 0 < len(finished) < 6
    assert not (killed / "communality_runs.csv").exists()
    for folder, jobs in ((killed, "1"), (whole, "2")):
        assert main([*arguments, "--output", str(folder), "--jobs", jobs]) == 0
    assert finished.items() <= stored(killed).items()
    for name in ("communality_runs.csv", "communality_summary.csv", "communality.md"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["contrast", "--splits", "0"], "argument --splits: 0 must be at least 1."),
        (["contrast", "--output", "file/out"], "Not a directory"),
        (["table1", "--data-home", "home"], "The data set 'compas' is neither cached nor could it be fetched"),
    ],
)
def test_bad_options_are_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # An index that cannot be reached.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err
    assert not (tmp_path / "paper").exists()


def test_large_differences_are_marked():
    assert beside([1.234, 2.234], None, 1) == ["1.7 ± 0.7", "-", "-"]
    assert beside([39.0], [39.28, 5.17], 2) == ["39.00", "39.28 ± 5.17", "-0.28"]
    assert beside([10.0], [39.28, 5.17], 2)[2] == "-29.28 *"
    # A printed deviation of 0.00 may be anything up to half a unit of its last digit.
    assert beside([100.004], [100.0, 0.0], 2)[2] == "+0.00"


def test_pages_say_the_same_in_markdown_and_html(tmp_path):
    cells = table([["a_b <i>", "2 *"]], ["name", "value"])
    write_page(tmp_path, "contrast", {"goals": cells, "n_rows": 5, "tolerance": 0.1})
    markdown, html = ((tmp_path / f"contrast.{ending}").read_text() for ending in ("md", "html"))
    assert "| name | value |\n|---|---:|\n| a\\_b \\<i> | 2 \\* |" in markdown
    assert "<td>a_b &lt;i&gt;</td>\n<td>2 *</td>" in html
    assert '<a href="contrast.svg"><img src="contrast.png" alt="Two ellipses' in html
    assert "style=" not in html.partition("<main")[2]
    assert escape("P* [n_rows]") == r"P\* \[n\_rows\]"


def test_losses_of_groups_are_those_of_the_baseline():
    X, groups = make_ellipses(100, random_state=0)
    model = ReconstructionFairPCA(1, standardize=False).fit(X, sensitive_features=groups)
    np.testing.assert_allclose(group_losses(X, groups, model.components_), model.group_losses_)
