"""A real browser, and the rules of accessibility that it can check."""
# SPDX-License-Identifier: MIT

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parents[1] / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


def absent(reason):
    """Skip, or fail where a browser is required, as in `.ci/run`."""
    (pytest.fail if os.environ.get("FAIRPCA_BROWSER") == "required" else pytest.skip)(reason)


@contextmanager
def browser():
    """Start a browser without a window."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        absent(f"no browser found: install one of {', '.join(NAMES)}")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright is not installed: pip install playwright")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


def violations(page):
    """Return what breaks the rules of WCAG 2.1 AA on a page, in words."""
    if not AXE.exists():
        absent(f"axe-core is not at {AXE}: npm install --prefix .ci --no-save axe-core")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(f"axe.run(document, {{runOnly: {RULES}}})")
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]
