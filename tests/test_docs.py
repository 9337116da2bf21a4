"""What the README and the pages tell their readers to run runs as printed, and their links lead somewhere."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from matplotlib import pyplot
from sklearn import config_context

from fairpca.datasets import DatasetUnavailableError
from snippets import beside, extras, snippets

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
RUNNABLE = [page for page in PAGES if snippets(page.read_text(encoding="utf-8"))]
AT_ONCE = {"README.md", "models.md", "new-people.md", "scale.md"}
"""Pages that `make test` runs, in one process; `make thorough` runs all, each as its reader would."""

RUN_PAGE = [sys.executable, "-W", "error::UserWarning", str(ROOT / "docs" / "_ext" / "run_page.py")]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def name_of(page):
    return str(page.relative_to(ROOT))


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
@pytest.mark.parametrize("page", [page for page in RUNNABLE if page.name in AT_ONCE], ids=name_of)
def test_snippets_run(page, quiet_place):
    namespace = {"__name__": "snippet"}
    for snippet in snippets(page.read_text(encoding="utf-8")):
        if snippet.language != "python":
            continue
        # Empty lines in front give errors the line numbers of the page.
        code = compile("\n" * snippet.line + snippet.source, str(page), "exec")
        try:
            exec(code, namespace)
        except DatasetUnavailableError as error:
            pytest.skip(str(error))


@pytest.mark.thorough
@pytest.mark.parametrize("page", RUNNABLE[1:], ids=name_of)
def test_a_reader_needs_no_more_than_the_page_names(page):
    done = subprocess.run([*RUN_PAGE, str(page), "--alone"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_modules_of_other_extras_are_out_of_reach(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# No extra\n\n```python\nimport pandas\n```\n", encoding="utf-8")
    done = subprocess.run([*RUN_PAGE, str(page), "--alone"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "No module named 'pandas'" in done.stderr
    page.write_text("`pip install 'fairpca[frame]'`\n\n```python\nimport pandas\n```\n", encoding="utf-8")
    assert subprocess.run([*RUN_PAGE, str(page), "--alone"], capture_output=True).returncode == 0


def wanted_by(page):
    """Return what a page tells its reader to install, as for pip."""
    text = page.read_text(encoding="utf-8")
    return (",".join(sorted(extras(text))), *sorted(beside(text)))


@pytest.mark.slow
@pytest.mark.parametrize("wanted", sorted({wanted_by(page) for page in RUNNABLE[1:]}), ids=" ".join)
def test_pages_run_in_a_fresh_environment(wanted, tmp_path):
    """Install the package with some extras as a reader would, and run all pages that name just these."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    # What runs a page looks up which modules belong to which extra by `packaging`.
    targets = [f"{ROOT}[{wanted[0]}]" if wanted[0] else str(ROOT), *wanted[1:], "packaging"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *targets], check=True)
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    failed = {}
    for page in RUNNABLE[1:]:
        if wanted_by(page) == wanted:
            done = subprocess.run([python, *RUN_PAGE[1:], str(page)], capture_output=True, text=True, env=alone)
            failed |= {page.name: done.stderr} if done.returncode else {}
    assert not failed, "\n".join(failed.values())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_fences_have_a_language(page):
    fences = [line for line in page.read_text(encoding="utf-8").splitlines() if line[:3] == "```"]
    # A fence without a language, or with another one, would escape the tests above.
    languages = {fence for fence in fences if fence != "```" and not fence.startswith("```{")}
    assert languages <= {"```python", "```console", "```bibtex", "```text"}
    assert fences.count("```") == len(fences) // 2


def places(page):
    """Return where links into a page can lead: its headings, as they are in addresses."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        address, _, place = link.partition("#")
        if address.startswith(("http:", "https:", "mailto:")):
            continue
        target = (page.parent / address).resolve() if address else page
        if "auto_examples" in target.parts:
            target = ROOT / "examples" / f"{target.stem}.py"
        assert target.exists(), f"{link} leads nowhere"
        assert not place or place in places(target), f"{link} has no such place"
