import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.metrics import explained_variance
from fairpca.mmd import median_bandwidth
from fairpca.paper._compare import beside, difference
from fairpca.paper._data import split
from fairpca.paper._execute import execute
from fairpca.paper._judge import judge, pca_bandwidth
from fairpca.paper._methods import PLAIN_PCA, fair_pca, fpca
from fairpca.paper._page import Bullets, Heading, Page, Paragraph, Picture, Table
from fairpca.paper._published import Published, table1
from fairpca.paper._results import Outcome, Spread, summarise
from fairpca.paper._store import TaskStore
from fairpca.paper._tasks import Task
from fairpca.paper._uci import table1_methods
from fairpca.solvers import REPMS


def square(*, x, unit="m"):
    return Outcome({"x": x, "y": x**2}, 0.5, {"powers": np.array([x, x**2])})


def task(x, **settings):
    return Task("squares", f"x{x}", square, {"x": x}, **settings)


class Balance(HTMLParser):
    """Fail where tags are not closed in order, and collect the sources of images."""

    def __init__(self):
        super().__init__()
        self.open, self.sources = [], []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.sources.append(dict(attributes)["src"])
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_name_of_an_answer_follows_parameters_and_not_context():
    assert task(2).stem != replace(task(2), parameters={"x": 3}).stem
    assert task(2).stem == task(2, context={"unit": "km"}, cost=9.0).stem
    assert task(2).stem.startswith("x2-")


def test_answers_are_stored_and_read_again(tmp_path):
    store = TaskStore(tmp_path)
    assert store.load(task(2)) is None
    store.save(task(2), square(x=2))
    outcome = store.load(task(2))
    assert outcome.row == {"x": 2, "y": 4}
    assert outcome.seconds == 0.5
    np.testing.assert_array_equal(outcome.arrays["powers"], [2, 4])
    assert sorted(path.suffix for path in (tmp_path / "squares").iterdir()) == [".json", ".npz"]


@pytest.mark.parametrize("text", ["", "{", '{"row": {}}', "[]"])
def test_an_answer_that_cannot_be_read_is_made_again(text, tmp_path):
    store = TaskStore(tmp_path)
    store.save(task(2), square(x=2))
    store.path(task(2)).write_text(text)
    assert store.load(task(2)) is None
    assert execute("squares", [task(2)], store).column("y") == [4]
    assert json.loads(store.path(task(2)).read_text())["row"]["y"] == 4


def test_arrays_that_are_missing_make_an_answer_unreadable(tmp_path):
    store = TaskStore(tmp_path)
    store.save(task(2), square(x=2))
    store.path(task(2)).with_suffix(".npz").write_bytes(b"not an archive")
    assert store.load(task(2)) is None
    store.path(task(2)).with_suffix(".npz").unlink()
    assert store.load(task(2)) is None


def test_results_come_in_the_order_of_the_tasks_whatever_they_cost(tmp_path):
    tasks = [task(x, cost=float(x % 3)) for x in range(6)]
    seen = []
    results = execute("squares", tasks, TaskStore(tmp_path), callback=seen.append)
    assert results.column("y") == [0, 1, 4, 9, 16, 25]
    assert [progress.done for progress in seen] == list(range(7))
    assert seen[-1].cost_done == seen[-1].cost_total == 6.0
    again = []
    execute("squares", tasks, TaskStore(tmp_path), callback=again.append)
    assert [(progress.done, progress.total) for progress in again] == [(6, 6)]


def test_summaries_have_means_and_sample_deviations():
    rows = [{"p": 20, "a": 1.0, "b": None}, {"p": 20, "a": 4.0, "b": True}, {"p": 30, "a": 5.0, "b": None}]
    summary = summarise(rows, ["p"], ["a", "b"])
    assert summary[0] == {"p": 20, "quantity": "a", "n": 2, "mean": 2.5, "standard_deviation": np.std([1, 4], ddof=1)}
    assert summary[1]["mean"] == 1.0
    assert summary[2] == {"p": 30, "quantity": "a", "n": 1, "mean": 5.0, "standard_deviation": None}
    assert len(summary) == 3


def test_differences_are_marked_beyond_two_deviations():
    assert difference(1.1, Published(1.0, 0.06), 2) == "+0.10"
    assert difference(1.2, Published(1.0, 0.06), 2) == "+0.20 *"
    assert difference(99.996, Published(100.0, 0.0), 2) == "+0.00"
    assert difference(99.0, Published(100.0, 0.0), 2) == "-1.00 *"
    assert beside(Spread(2, 0.1, 0.02), Published(0.147, 0.049), 3) == ["0.100 ± 0.020", "0.147 ± 0.049", "-0.047"]


def test_every_cell_of_table_1_is_there():
    for data in ("compas", "german", "adult"):
        for d in (2, 10):
            of_the_paper = [method for method in table1_methods(d) if method.kind != "budget"]
            for method in of_the_paper:
                cells = table1(data, d, method.name)
                assert list(cells) == ["variance_percent", "accuracy_percent", "mmd2", "dp"]
                assert 0 < cells["variance_percent"].mean <= 100
                assert 0 < cells["mmd2"].mean < 1
            assert all(table1(data, d, method.name) == {} for method in table1_methods(d) if method.kind == "budget")
    assert table1("german", 3, "PCA") == {}
    assert table1("adult", 10, "FairPCA(1e-6)")["variance_percent"] == Published(15.49, 6.44)
    assert table1("compas", 2, "FPCA(0, 0.01)")["dp"] == Published(0.10, 0.06)


def test_pages_say_the_same_in_markdown_and_html():
    page = Page("A & B")
    page.add(Heading("P* < 1"), Paragraph("x_1 | y"), Bullets(["one"], ["two"]), Picture("plot", "seen"))
    page.add(Table("cells", ["name", "value"], [["a_b", "1"], ["c", "2 *"]]))
    markdown, html = page.markdown(), page.html()
    assert markdown.startswith("# A & B\n\n## P* < 1\n\nx\\_1 \\| y\n\n- [one](two.md)")
    assert "| name | value |\n|---|---:|\n| a\\_b | 1 |\n| c | 2 \\* |" in markdown
    assert "[![seen](plot.png)](plot.svg)" in markdown
    for part in ("A &amp; B", "P* &lt; 1", "<td>a_b</td><td>1</td>", '<a href="two.html">one</a>'):
        assert part in html
    parser = Balance()
    parser.feed(html.replace("<!DOCTYPE html>", ""))
    assert parser.open == []
    assert parser.sources == ["plot.png"]


def test_names_of_methods():
    assert [method.name for method in table1_methods(2)] == [
        *("PCA", "FPCA(0.1, 0.01)", "FPCA(0, 0.01)", "FairPCA(1e-3)", "FairPCA(1e-6)", "Budget(1e-3)", "Budget(1e-6)")
    ]
    assert fpca(0.0, 0.1) in table1_methods(10)
    assert fair_pca(1e-5).slug == "fairpca-1e-5"


def test_table_1_runs_algorithm_1_to_the_letter_and_the_default_solver_beside_it():
    models = {method.name: method.estimator(2, 1.0, 0) for method in table1_methods(2) if method.tolerance}
    for tolerance in ("1e-3", "1e-6"):
        algorithm_1, default = models[f"FairPCA({tolerance})"], models[f"Budget({tolerance})"]
        assert algorithm_1.tolerance == default.tolerance == float(tolerance)
        assert algorithm_1.init == "auxiliary"
        assert algorithm_1.solver == REPMS(n_restarts=0)
        assert default.solver == FairPCA(tolerance=1e-3).solver
        assert default.init == FairPCA(tolerance=1e-3).init


def test_the_bandwidth_is_that_of_fair_pca():
    parts = split("german", 0)
    fitted, _ = judge(fair_pca(1e-2), parts, 2, seed=0)
    own = fitted.estimator.set_params(bandwidth="median").fit(parts.X_train, sensitive_features=parts.a_train)
    assert pca_bandwidth(parts.X_train, 2) == pytest.approx(own.bandwidth_)


def test_a_judgement_is_measured_on_the_right_rows():
    parts = split("german", 1)
    fitted, row = judge(PLAIN_PCA, parts, 2, seed=1)
    Z = fitted.estimator.transform(parts.X_train)
    assert row["bandwidth"] == pytest.approx(median_bandwidth(Z))
    assert row["variance_percent_train"] == pytest.approx(100 * fitted.estimator.explained_variance_ratio_.sum())
    assert row["variance_percent_test"] == pytest.approx(100 * explained_variance(parts.X_test, fitted.components))
    assert row["accuracy_percent_paper"] > row["accuracy_percent_holdout"]
    assert row["eod_paper"] == max(row["eop_paper"], row["dp_paper"])
