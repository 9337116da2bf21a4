"""Sphinx extension: pages show what their code shows when it is run, at every build."""
# SPDX-License-Identifier: MIT

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from snippets import snippets

FIGURES = "_build/pages"
"""Where figures of pages are kept, relative to the pages."""

AT_ONCE = 2


def run_pages(app: Sphinx, env: Any, names: list[str]) -> None:
    """Run the pages that are going to be read."""
    pages = [Path(env.doc2path(name)) for name in names if env.doc2path(name).suffix == ".md"]
    runnable = [page for page in pages if snippets(page.read_text(encoding="utf-8"))]
    (Path(app.srcdir) / FIGURES).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda page: _run(Path(app.srcdir), page), runnable))


def _run(source: Path, page: Path) -> None:
    into = source / FIGURES / page.relative_to(source).parent
    into.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).with_name("run_page.py")
    # A page whose code warns its reader does not explain itself.
    command = [sys.executable, "-W", "error::UserWarning", str(script), str(page), "--into", str(into)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ExtensionError(f"{page} does not run:\n{done.stderr}")


def show(app: Sphinx, name: str, content: list[str]) -> None:
    """Put what was shown below the code that showed it."""
    kept = Path(app.srcdir) / FIGURES / f"{name}.json"
    if not kept.exists() or app.env.doc2path(name).suffix != ".md":
        return
    text = content[0]
    for shown in reversed(json.loads(kept.read_text(encoding="utf-8"))):
        text = text[: shown["end"]] + _block(shown, Path("/", FIGURES, name).parent) + text[shown["end"] :]
    content[0] = text


def _block(shown: dict[str, Any], folder: Path) -> str:
    block = f"\n\n```{{code-block}} text\n:class: output\n\n{shown['text']}\n```\n" if shown["text"] else ""
    for figure in shown["figures"]:
        block += f"\n\n```{{image}} {folder / figure}\n:class: shown\n:alt: what the code above draws\n```\n"
    return block


def setup(app: Sphinx) -> dict[str, bool]:
    """Register."""
    app.connect("env-before-read-docs", run_pages)
    app.connect("source-read", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
