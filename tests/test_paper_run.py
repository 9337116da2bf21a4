import csv
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.optimize import minimize

from fairpca.baselines import ReconstructionFairPCA
from fairpca.metrics import mmd2
from fairpca.paper import EXPERIMENTS, _figure1, run
from fairpca.paper._contrast import group_losses, sample

SMALL = {"data": ("german",), "n_components": (2,), "dimensions": (10,), "splits": 1, "quick": True}


pytestmark = pytest.mark.thorough


def read(folder, name):
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def line(rows, **values):
    (row,) = [row for row in rows if all(row[name] == value for name, value in values.items())]
    return row


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Return the folder of a small run of all experiments, and the files that the run says it wrote."""
    folder = tmp_path_factory.mktemp("paper")
    return folder, run("all", folder, **SMALL)


def test_every_file_is_there_and_none_is_left_over(everything):
    folder, paths = everything
    assert {path for path in folder.iterdir() if path.name != ".tasks"} == set(paths)
    assert len(set(paths)) == len(paths)
    for name in EXPERIMENTS[:-1]:
        for ending in ("_runs.csv", "_summary.csv", "_timings.csv", ".md", ".html"):
            assert folder / f"{name}{ending}" in paths
    assert not list(folder.rglob("*.part"))


def test_figures_are_written_twice(everything):
    _, paths = everything
    pictures = [path for path in paths if path.suffix == ".png"]
    stems = {path.stem for path in pictures}
    assert {
        "figure1_150_exact",
        "figure1_150_drawn",
        "table1",
        "communality_german",
        "biplots_german",
        "leakage",
        "contrast",
    } <= stems
    for path in pictures:
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert path.stat().st_size > 10_000
        assert "</svg>" in path.with_suffix(".svg").read_text()[-20:]


def test_pages_show_figures_that_exist_and_the_index_leads_to_all_pages(everything):
    folder, paths = everything
    index = (folder / "index.md").read_text()
    for name in EXPERIMENTS[:-1]:
        assert f"({name}.md)" in index
        assert f'href="{name}.html"' in (folder / "index.html").read_text()
        html = (folder / f"{name}.html").read_text()
        shown = [part.partition('"')[0] for part in html.split('src="')[1:]]
        assert shown
        assert all(folder / source in paths for source in shown)


def test_own_published_and_difference_stand_side_by_side(everything):
    folder, _ = everything
    summary = line(read(folder, "table1_summary"), method="PCA", quantity="variance_percent_test")
    own = float(summary["mean"])
    assert (summary["published_mean"], summary["published_standard_deviation"]) == ("11.42", "0.47")
    assert float(summary["difference"]) == pytest.approx(own - 11.42)
    cells = f"| PCA | {own:.2f} | 11.42 ± 0.47 | {own - 11.42:+.2f}"
    assert cells in (folder / "table1.md").read_text()
    assert f"<td>PCA</td><td>{own:.2f}</td><td>11.42 ± 0.47</td>" in (folder / "table1.html").read_text()


def test_both_protocols_and_what_is_left_out_are_on_the_page(everything):
    page = (everything[0] / "table1.md").read_text()
    assert "Published protocol" in page
    assert "Held-out protocol" in page
    assert "trained on the very test rows" in page
    assert "Quick run: FairPCA(1e-6) and Budget(1e-6) are left out for d > 2" in page.replace("\\", "")
    assert "Budget(tau) is FairPCA with its default solver" in page.replace("\\", "")
    assert page.count("| 76.87 ± 1.39 |") == 2


def test_fair_pca_meets_its_tolerance_and_pca_does_not(everything):
    rows = read(everything[0], "table1_runs")
    assert [row["method"] for row in rows] == [
        *("PCA", "FPCA(0.1, 0.01)", "FPCA(0, 0.01)", "FairPCA(1e-3)", "FairPCA(1e-6)", "Budget(1e-3)", "Budget(1e-6)")
    ]
    assert float(line(rows, method="PCA")["mmd2_train"]) > 0.05
    assert float(line(rows, method="FairPCA(1e-3)")["mmd2_train"]) <= 1e-3
    assert float(line(rows, method="FairPCA(1e-6)")["mmd2_train"]) <= 1e-6
    kept = {row["method"]: float(row["variance_percent_train"]) for row in rows}
    assert kept["Budget(1e-3)"] > kept["FairPCA(1e-3)"] > kept["FPCA(0, 0.01)"]


def test_a_fit_that_did_not_converge_is_recorded_and_explained(everything):
    folder, _ = everything
    row = line(read(folder, "figure1_runs"), method="FairPCA(1e-5)", moments="drawn")
    assert row["converged"] == "False"
    assert float(row["smallest_mmd2_train"]) > 1e-5
    assert "FairPCA(1e-5): 1 of 1 runs did not converge" in (folder / "figure1.md").read_text()


def test_no_plane_meets_the_tolerance_of_figure_1(everything):
    row = line(read(everything[0], "figure1_runs"), method="FairPCA(1e-5)", moments="drawn")
    X, groups = _figure1.sample(150, "drawn")

    def discrepancy(normal):
        plane = np.linalg.svd(normal[None])[2][1:]
        return mmd2(X @ plane.T, sensitive_features=groups, bandwidth=float(row["bandwidth"]))

    starts = np.random.default_rng(0).normal(size=(200, 3))
    best = sorted(starts, key=discrepancy)[:3]
    smallest = min(minimize(discrepancy, start, method="Nelder-Mead").fun for start in best)
    assert float(row["mmd2_train"]) == pytest.approx(smallest, rel=1e-2)


@pytest.mark.parametrize(("moments", "delta"), [("exact", "0"), ("exact", "0.3"), ("drawn", "0.3")])
def test_figure_1_shows_what_moments_do_not_see(everything, moments, delta):
    rows = {row["method"]: row for row in read(everything[0], "figure1_runs") if row["moments"] == moments}
    fpca, pca, fair = (rows[name] for name in (f"FPCA({delta}, 0.01)", "PCA", "FairPCA(1e-5)"))
    assert float(fpca["variance_percent_train"]) == pytest.approx(float(pca["variance_percent_train"]), abs=0.1)
    assert 0.5 < float(fpca["mmd2_train"]) / float(pca["mmd2_train"]) < 2
    assert float(fair["mmd2_train"]) < 0.01 * float(fpca["mmd2_train"])
    assert (fair["converged"] == "True") == (moments == "exact")


def test_fits_are_shared_within_a_folder(everything):
    folder, _ = everything
    stored = {path.name for path in (folder / ".tasks" / "table1").glob("*.json")}
    # Table 1 and the spectra; communality and biplots add nothing.
    assert len(stored) == 7 + 3
    seen = []
    run("communality", folder, callback=seen.append, **SMALL)
    assert [(progress.done, progress.total) for progress in seen] == [(3, 3)]
    values = {row["method"]: row["communality"] for row in read(folder, "communality_runs")}
    for row in read(folder, "table1_runs"):
        assert values.get(row["method"], row["communality"]) == row["communality"]


def test_biplots_list_the_loadings_of_every_feature(everything):
    rows = read(everything[0], "biplots_runs")
    assert len(rows) == 3 * 57
    pca = [row for row in rows if row["method"] == "PCA"]
    assert sum(float(row["communality"]) for row in pca) == pytest.approx(2)
    first = [float(row["loading_1"]) for row in pca]
    assert np.linalg.norm(first) == pytest.approx(1)
    table = line(read(everything[0], "table1_runs"), method="PCA")
    assert line(pca, feature="age")["communality"] == table["communality"]


def test_spectra_add_up_and_fpca_leaks(everything):
    rows = read(everything[0], "leakage_runs")
    for method in ("FPCA(0, 0.01)", "FPCA(0, 0.1)", "FairPCA(1e-3)"):
        chosen = [row for row in rows if row["method"] == method]
        assert len(chosen) == 57
        assert sum(float(row["variance_percent"]) for row in chosen) == pytest.approx(100)
        assert sum(float(row["eigenvalue"]) for row in chosen) == pytest.approx(10, abs=1e-3)
    behind = [
        float(row["eigenvalue"]) for row in rows if row["method"] != "FairPCA(1e-3)" and row["eigenvector"] == "11"
    ]
    assert min(behind) > 0.1


def test_the_two_goals_choose_different_directions(everything):
    rows = read(everything[0], "contrast_runs")
    equal, fair = line(rows, method="ReconstructionFairPCA"), line(rows, method="FairPCA")
    assert abs(float(equal["direction_1"])) > 0.99
    assert abs(float(fair["direction_2"])) > 0.99
    assert float(equal["loss_group_0"]) == pytest.approx(float(equal["loss_group_1"]))
    assert float(equal["loss_group_0"]) < float(fair["loss_group_0"])
    assert float(fair["mmd2"]) < 5e-3 < float(equal["mmd2"])


def test_losses_of_groups_are_those_of_the_baseline():
    X, groups = sample()
    model = ReconstructionFairPCA(1, standardize=False).fit(X, sensitive_features=groups)
    np.testing.assert_allclose(group_losses(X, groups, model.components_), model.group_losses_)


def test_synthetic_2_has_both_variants_and_tolerances(everything):
    folder, _ = everything
    rows = read(folder, "synthetic2_runs")
    assert {(row["variant"], row["method"]) for row in rows} == {
        (variant, method)
        for variant in ("text", "published")
        for method in ("PCA", "FPCA(0, 0.01)", "FairPCA(1e-3)", "FairPCA(1e-5)")
    }
    for row in rows:
        if row["method"].startswith("FairPCA") and row["converged"] == "True":
            assert float(row["mmd2_train"]) <= float(row["method"][8:-1])
    assert "left out" in (folder / "synthetic2.md").read_text()


@pytest.mark.slow
def test_a_fresh_run_in_two_processes_gives_the_same_numbers(everything, tmp_path):
    folder, _ = everything
    run("table1", tmp_path, jobs=2, **SMALL)
    for name in ("table1_runs.csv", "table1_summary.csv", "table1.svg", "table1.html"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    assert len(read(tmp_path, "table1_timings")) == 7


def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path):
    settings = SMALL | {"splits": 3, "n_components": (2,)}
    code = f"from fairpca.paper import run; run('communality', {str(tmp_path / 'killed')!r}, **{settings!r})"
    stored = tmp_path / "killed" / ".tasks" / "table1"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as process:
        while not list(stored.glob("*.json")) and process.poll() is None:
            time.sleep(0.002)
        process.kill()
    assert process.returncode != 0
    finished = {path: path.stat().st_mtime_ns for path in stored.glob("*.json")}
    assert 0 < len(finished) < 9
    assert not (tmp_path / "killed" / "communality_runs.csv").exists()
    run("communality", tmp_path / "killed", **settings)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    run("communality", tmp_path / "whole", **settings)
    for name in ("communality_runs.csv", "communality_summary.csv", "communality.md"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"experiment": "table2"}, ValueError, r"experiment='table2' is unknown; choose one of \['all', 'biplots'"),
        ({"splits": 0}, ValueError, r"splits=0 must be at least 1\."),
        ({"splits": 1.5}, TypeError, r"splits must be an integer; got 1\.5\."),
        ({"jobs": -1}, ValueError, r"jobs=-1 must be at least 1\."),
        ({"data": ("german", "lsac")}, ValueError, "data='lsac' is unknown"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_written(arguments, error, message, tmp_path):
    with pytest.raises(error, match=message):
        run(**({"experiment": "contrast", "output": tmp_path / "out"} | arguments))
    assert not (tmp_path / "out").exists()


def test_an_output_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"output='.*out' cannot be used: .*file is a file, not a folder\."):
        run("contrast", tmp_path / "file" / "out")
