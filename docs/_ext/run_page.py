"""Run what a page tells its reader to run, in an empty folder, and keep what that shows.

python docs/_ext/run_page.py docs/start.md                      # as the page is, in this environment
python docs/_ext/run_page.py docs/start.md --alone              # with the extras that the page names and no others
python docs/_ext/run_page.py docs/start.md --into FOLDER        # keep texts and figures there
"""
# SPDX-License-Identifier: MIT

import argparse
import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allowed_modules import block_all_but
from snippets import Snippet, beside, extras, snippets

WIDTH = 84
"""Characters of a line of output."""


def run(page: Path, into: Path | None) -> list[dict[str, Any]]:
    """Run the snippets of a page one after the other.

    Parameters
    ----------
    page : Path
        The page.
    into : Path, default=None
        Folder for figures; without it they are dropped.

    Returns
    -------
    shown : list of dict
        For each snippet where it `end`s in the page, the `text` it shows, and the names of its `figures`.
    """
    namespace: dict[str, Any] = {"__name__": "page"}
    shown = []
    for number, snippet in enumerate(snippets(page.read_text(encoding="utf-8"))):
        text = _python(snippet, page, namespace) if snippet.language == "python" else _console(snippet)
        figures = list(_figures(into, f"{page.stem}-{number}"))
        shown.append({"end": snippet.end, "text": _wrapped(text.rstrip()), "figures": figures})
    return shown


def _python(snippet: Snippet, page: Path, namespace: dict[str, Any]) -> str:
    # Empty lines in front give errors the line numbers of the page.
    tree = ast.parse("\n" * snippet.line + snippet.source, str(page))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, str(page), "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(page), "eval"), namespace)
            print(_in_words(value), end="")
    return printed.getvalue()


def _in_words(value: Any) -> str:
    """Return what a notebook would show of a value; models and pictures speak for themselves."""
    if value is None or hasattr(value, "get_params") or hasattr(value, "figure_"):
        return ""
    if hasattr(value, "to_string"):
        return str(value.to_string(max_rows=12, line_width=120))
    return repr(value)


def _wrapped(text: str) -> str:
    """Return sentences in lines that fit; tables, which have gaps, stay as they are."""
    lines = []
    for line in text.splitlines():
        inner = line.strip()
        indent = line[: len(line) - len(line.lstrip())]
        fits = len(line) <= WIDTH or "  " in inner
        lines += [line] if fits else textwrap.wrap(inner, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
    return "\n".join(lines)


def _console(snippet: Snippet) -> str:
    texts = []
    # The command of this environment, at the width of the page.
    settings = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": str(WIDTH)}
    for command in snippet.source.splitlines():
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env=settings)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{command!r} ended with {done.returncode}: {done.stderr}")
        texts.append(done.stdout)
    return "".join(texts)


def _figures(into: Path | None, name: str) -> Iterator[str]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        if into is not None:
            file = f"{name}-{number}.png"
            pyplot.figure(number).savefig(into / file, dpi=200)
            yield file
    pyplot.close("all")


def main() -> None:
    """Run one page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--alone", action="store_true", help="no packages but those of the extras that the page names")
    parser.add_argument("--into", type=Path, help="folder for figures and for shown.json")
    arguments = parser.parse_args()
    page = arguments.page.resolve()
    into = None if arguments.into is None else arguments.into.resolve()
    os.environ["MPLBACKEND"] = "Agg"
    if arguments.alone:
        text = page.read_text(encoding="utf-8")
        block_all_but(extras(text), beside(text))
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        shown = run(page, into)
    if into is not None:
        (into / f"{page.stem}.json").write_text(json.dumps(shown), encoding="utf-8")


if __name__ == "__main__":
    main()
