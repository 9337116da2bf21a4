"""From a page to a PDF, by the browser that is installed."""
# SPDX-License-Identifier: MIT

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)


def find_browser() -> str:
    """Return the path of a browser that can print, or say which are known."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise FileNotFoundError(
            f"a PDF is printed by a browser, and none of {', '.join(BROWSERS)} was found on PATH; install one, or "
            "write an HTML page and print it."
        )
    return found


def print_page(html: str, file: Path, seconds: float = 60.0) -> None:
    """Print a page to a PDF.

    Parameters
    ----------
    html : str
        The page.
    file : Path
        Where to.
    seconds : float, default=60.0
        That the browser may take.
    """
    browser = find_browser()
    # The page is our own and loads nothing; a browser of root starts in no other way.
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        page, printed = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8", newline="\n")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
        ]
        command += [*as_root, f"--print-to-pdf={printed}", page.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
        if not printed.exists():
            raise OSError(f"{browser} printed no PDF (exit code {done.returncode}); write an HTML page and print it.")
        shutil.copyfile(printed, file)
