"""From a model and new rows to a report: a page and the facts behind it."""
# SPDX-License-Identifier: MIT

import html
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fairpca._utils.checks import check_integer
from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca._utils.progress import say_with
from fairpca.auditing import AuditResult, Verdict
from fairpca.comparison import People
from fairpca.report._case import Case, about_from, check_model, check_path, check_release, prepare
from fairpca.report._render import render_audit, render_report
from fairpca.report._summary import summarise, summarise_audit

MOST_POINTS = 600
BROWSERS = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
]
OF_AUDITS = ("adversaries", "confidence", "n_permutations")


@dataclass(frozen=True, eq=False)
class Report:
    """A page that can be handed on, and the facts that it shows.

    Attributes
    ----------
    html : str
        The page: one file that needs no other, and no network.
    summary : dict
        The facts, as plain numbers, texts, lists and dicts, which `json.dumps` takes.
    """

    html: str = field(repr=False)
    summary: dict[str, Any] = field(repr=False)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write the page, in one step.

        Parameters
        ----------
        file : path
            Where to, for example "report.html". One that ends in .pdf is printed by a browser that is installed:
            Chromium, Chrome or Edge.

        Returns
        -------
        file : Path
            The same.
        """
        path = Path(file)
        with writing(path) as temporary:
            if path.suffix.lower() == ".pdf":
                print_page(self.html, temporary)
            else:
                temporary.write_text(self.html, encoding="utf-8", newline="\n")
        return path

    def __str__(self) -> str:
        return f"{self.summary['title']}\n\n{self.verdict}"

    @property
    def verdict(self) -> str:
        """Is it fair enough, how sure, for whom, and what next, in words."""
        return str(Verdict(**self.summary["verdict"]))

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which cannot touch the notebook."""
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.summary["title"])}" width="100%" '
            f'height="700" srcdoc="{html.escape(self.html)}"></iframe>'
        )


def make_report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
    path: Any = None,
    before: Any = None,
    release: Any = None,
    audit: AuditResult | None = None,
    audit_before: AuditResult | None = None,
    about: Any = None,
    title: str | None = None,
    file: str | os.PathLike[str] | None = None,
    n_points: int = 0,
    callback: Callable[[str], None] | None = None,
    random_state: int = 0,
    **audited: Any,
) -> Report:
    """Say in one page whether reduced data are fair enough, how sure that is, and what it costs.

    Parameters
    ----------
    model : FairPCA or FairPCACV
        A fitted model.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
        Rows that were used neither to fit nor to choose the model; what is said holds for such rows only.
    y : array-like of shape (n_samples,), default=None
        Labels, for notions of fairness that speak of them, and for parity gaps of a task.
    sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k)
        Protected attributes.
    control_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
        Segments: groups are compared within each.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts.
    path : FairPCAPath, default=None
        The trade-off, fitted to the training rows: gives the page a slider.
    before : fitted transformer or array of components, default=None
        What the model is compared with, in the same units. None takes the loosest model of `path` where that is plain
        PCA, else plain PCA of these rows, and the page says so.
    release : Release, default=None
        What is released of the projections, with the certificate that it got on these rows: the verdict is that on
        the release, and the page says what other promises would have cost.
    audit, audit_before : AuditResult, default=None
        Audits of both on these rows, where they were made already.
    about : About or mapping, default=None
        What else is known of the data: its name and date, kinds of columns, columns left out, the command run.
    title : str, default=None
        Of the page; at most 200 characters of it are shown.
    file : path, default=None
        Where to write the page; by default it is only returned.
    n_points : int, default=0
        Rows that are drawn as points, at most 600. Whoever has the page can read their coordinates, so that none are
        drawn by default: groups are shown as densities.
    callback : callable, default=None
        Called with a few words on what is being done; `print` shows them.
    random_state : int, default=0
        Draws the points, and what audits draw.
    **audited : dict
        Passed to `fairpca.audit`: `adversaries`, `confidence`, `n_permutations`.

    Returns
    -------
    report : Report
        `html`, `summary`, `save`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.report import make_report
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 150)
    >>> X = rng.normal(size=(300, 5)) + 1.5 * (group == "b")[:, None] * [1, 0, 0, 0, 0]
    >>> model = FairPCA(2).fit(X[::2], sensitive_features=group[::2])
    >>> report = make_report(model, X[1::2], sensitive_features=group[1::2])
    >>> report.summary["asked"]["n_rows"], len(report.html) < 400_000
    (150, True)
    """
    require("jinja2", "report")
    say = say_with(callback)
    check_integer("n_points", n_points, least=0, most=MOST_POINTS)
    check_integer("random_state", random_state, least=0, most=2**32 - 1)
    if unknown := [name for name in audited if name not in OF_AUDITS]:
        raise TypeError(f"make_report has no argument {unknown[0]!r}; audits take {', '.join(OF_AUDITS)} from it.")
    if file is not None and not Path(file).parent.is_dir():
        raise FileNotFoundError(
            f"file={os.fspath(file)!r}: there is no folder {str(Path(file).parent)!r}; make it first."
        )
    fitted = check_model(model)
    check_path(path, fitted)
    check_release(release, fitted)
    people = People(sensitive_features, y, control_features, sample_weight)
    settings = {"random_state": random_state, "callback": callback} | audited
    others, audits = (path, before, release), (audit_before, audit)
    case = prepare(fitted, X, people, *others, audits, about_from(about), title, n_points, settings)
    say("writing the report")
    report = _small_report(case)
    if file is not None:
        report.save(file)
    return report


def report_of_audit(audit: AuditResult, file: str | os.PathLike[str] | None = None, title: str | None = None) -> Report:
    """Return the page of `AuditResult.report`."""
    require("jinja2", "report")
    summary = summarise_audit(audit, title)
    report = Report(render_audit(summary), summary)
    if file is not None:
        report.save(file)
    return report


def _small_report(case: Case, most_bytes: int = 400_000) -> Report:
    """Return the report of a case, with fewer points where names are so many and long that it would be large."""
    summary = summarise(case)
    report = Report(render_report(summary), summary)
    if len(report.html.encode()) <= most_bytes or not summary["n_points"]:
        return report
    return _small_report(replace(case, n_points=summary["n_points"] // 2), most_bytes)


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
        command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", *as_root]
        command += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}", page.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
        if not printed.exists():
            raise OSError(f"{browser} printed no PDF (exit code {done.returncode}); write an HTML page and print it.")
        shutil.copyfile(printed, file)
