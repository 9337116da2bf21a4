"""Every Python snippet of the README and the pages runs, those of one file one after the other."""

import re
from pathlib import Path

import pytest
from matplotlib import pyplot
from sklearn import config_context

from fairpca.datasets import DatasetUnavailableError

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(page):
    """Return the snippets of a page, each with the number of the line before it."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)), found[1]) for found in SNIPPET.finditer(text)]


@pytest.fixture
def quiet_place(tmp_path, monkeypatch):
    """Run in an empty folder, draw on no screen, and leave neither settings nor figures behind."""
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    with config_context():
        yield tmp_path
    pyplot.close("all")


# Dask calls pandas 3 with an argument that pandas 4 drops, when it writes Parquet.
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page, quiet_place):
    namespace = {"__name__": "snippet"}
    for line, source in snippets(page):
        # Empty lines in front give errors the line numbers of the page.
        code = compile("\n" * line + source, str(page), "exec")
        try:
            exec(code, namespace)
        except DatasetUnavailableError as error:
            pytest.skip(str(error))


def test_there_are_snippets_to_run():
    assert len([page for page in PAGES if snippets(page)]) >= 3
    fences = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines() if line[:3] == "```"]
    # A fence without a language, or with another one, would escape the test above.
    assert {fence for fence in fences if fence != "```"} <= {"```python", "```console"}
    assert fences.count("```") == len(fences) // 2
