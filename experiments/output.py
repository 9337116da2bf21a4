"""Tables, pages and figures as files, each written whole or not at all."""
# SPDX-License-Identifier: MIT

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from matplotlib import rc_context
from matplotlib.figure import Figure

from fairpca.report import render_page

HERE = Path(__file__).parent
PUBLISHED = json.loads((HERE / "published.json").read_text(encoding="utf-8"))
"""Published numbers: a mean and a standard deviation over ten splits each in Table 1, single runs elsewhere."""

MISSING = "-"


def write(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_bytes(content)
    return temporary.replace(path)


def write_csv(path: Path, frame: pd.DataFrame) -> Path:
    """Write a frame as CSV, numbers with all their digits."""
    return write(path, frame.to_csv(index=False, lineterminator="\n").encode())


def write_figure(folder: Path, stem: str, figure: Figure) -> list[Path]:
    """Save a figure as PNG and as SVG."""
    paths = []
    # Without a salt and with a date the same figure would be another file every time.
    with rc_context({"svg.hashsalt": stem}):
        for ending, metadata in (("png", {}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, dpi=150, format=ending, metadata=metadata)
            paths.append(write(folder / f"{stem}.{ending}", buffer.getvalue()))
    return paths


def panels(n_rows: int, n_columns: int, size: tuple[float, float], **settings: Any) -> tuple[Figure, list[Any]]:
    """Return a new figure and its axes in reading order, each of a size in inches."""
    figure = Figure(figsize=(n_columns * size[0], n_rows * size[1]), layout="constrained")
    return figure, list(figure.subplots(n_rows, n_columns, squeeze=False, **settings).ravel())


def write_page(folder: Path, name: str, values: Mapping[str, Any]) -> list[Path]:
    """Write a page, whose text is the template of that name, as Markdown and as HTML."""
    markdown = _ENVIRONMENT.get_template(f"{name}.md").render(values)
    title, _, body = markdown.partition("\n")
    html = render_page(title.removeprefix("# "), _html(body))
    return [write(folder / f"{name}.{end}", text.encode()) for end, text in (("md", markdown), ("html", html))]


def title_of(name: str) -> str:
    """Return the title of a page."""
    return (HERE / "pages" / f"{name}.md").read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]


def _html(markdown: str) -> str:
    """Return Markdown as HTML for the style sheet of a report, which aligns cells and lets wide tables scroll."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    html = re.sub(r'href="(\w+)\.md"', r'href="\1.html"', html)
    html = re.sub(r' style="text-align:\w+"', "", html).replace("<th>", '<th scope="col">')
    number = count(1)
    opened = '<div class="table" role="region" tabindex="0" aria-label="Table {}"><table>'
    return re.sub("<table>", lambda _: opened.format(next(number)), html).replace("</table>", "</table></div>")


def table(rows: Sequence[Mapping[str, str] | Sequence[str]], header: Sequence[str]) -> str:
    """Return a table in Markdown; the first column is text, the others are numbers."""
    lines = [header, *rows]
    head, *body = ["| " + " | ".join(escape(cell) for cell in cells) + " |" for cells in lines]
    return "\n".join([head, "|---" + "|---:" * (len(header) - 1) + "|", *body])


def figure(stem: str, caption: str) -> str:
    """Return a picture in Markdown, the PNG with the SVG one click away, and its caption."""
    return f"[![{escape(caption)}]({stem}.png)]({stem}.svg)\n\n{escape(caption)}"


def bullets(sentences: Iterable[str]) -> str:
    """Return a list in Markdown, or that there is nothing to list."""
    return "\n".join(f"- {escape(sentence)}" for sentence in sentences) or "None."


def escape(text: str) -> str:
    r"""Keep signs that mean something in Markdown from meaning it."""
    return re.sub(r"([\\*_|<`\[\]])", r"\\\1", text)


def spread(values: Sequence[float], digits: int) -> str:
    """Return a mean with its standard deviation, if there are several values."""
    deviation = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{deviation}"


def beside(values: Sequence[float], published: Sequence[float] | None, digits: int) -> list[str]:
    """Return three cells: own, published, and the difference, marked if it exceeds two published deviations."""
    if published is None:
        return [spread(values, digits), MISSING, MISSING]
    mean, deviation = published
    # Adding zero turns -0.0 into 0.0.
    gap = round(float(np.mean(values)) - mean, digits) + 0.0
    # A printed deviation of 0.00 may be anything up to half a unit of its last digit.
    mark = " *" if abs(gap) > 2 * max(deviation, 0.5 * 10.0**-digits) else ""
    return [spread(values, digits), f"{mean:.{digits}f} ± {deviation:.{digits}f}", f"{gap:+.{digits}f}{mark}"]


def unconverged(runs: pd.DataFrame, tolerance: float) -> str | None:
    """Say in one sentence how many runs of a method did not converge, or nothing if all did."""
    failed = runs[~runs["converged"].astype(bool)]
    if failed.empty:
        return None
    count_of_runs = f"{len(failed)} of {len(runs)} runs did not converge"
    if failed["smallest_mmd2_train"].isna().all():
        return f"{count_of_runs}: the duality gap stayed above its tolerance."
    above = failed[failed["mmd2_train"] > tolerance]
    reasons = []
    if len(above):
        ended, smallest = (_range(above[name]) for name in ("mmd2_train", "smallest_mmd2_train"))
        reasons.append(
            f"{len(above)} ended above the tolerance, with MMD² {ended} on the training rows; the smallest met on the "
            f"way was {smallest}"
        )
    if len(above) < len(failed):
        reasons.append(f"{len(failed) - len(above)} met the tolerance but stopped before the answer was stationary")
    return f"{count_of_runs}: {'; '.join(reasons)}."


def _range(values: "pd.Series[float]") -> str:
    low, high = f"{values.min():.2g}", f"{values.max():.2g}"
    return low if low == high else f"{low} to {high}"


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE / "pages"), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
)
_ENVIRONMENT.globals |= {"table": table, "figure": figure, "bullets": bullets, "escape": escape}
