"""CSV files and pictures, written whole or not at all."""
# SPDX-License-Identifier: MIT

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca.paper._results import Row


def write_csv(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows as CSV; a column that a row lacks, or None, is an empty cell.

    Parameters
    ----------
    path : Path
        The file.
    rows : sequence of dict
        The rows. Numbers are written with all their digits.

    Returns
    -------
    path : Path
        The file.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def save_figure(figure: Any, folder: Path, stem: str) -> list[Path]:
    """Save a figure as PNG and as SVG, and close it.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure.
    folder : Path
        Where to.
    stem : str
        Name of the files without ending.

    Returns
    -------
    paths : list of Path
        The files.
    """
    pyplot = require("matplotlib.pyplot", "plot")
    paths = [folder / f"{stem}.png", folder / f"{stem}.svg"]
    # Without a salt and with a date the same figure would be another file every time.
    with pyplot.rc_context({"svg.hashsalt": stem}):
        for path, metadata in zip(paths, ({}, {"Date": None}), strict=True):
            with writing(path) as temporary:
                figure.savefig(temporary, dpi=150, format=path.suffix[1:], metadata=metadata)
    pyplot.close(figure)
    return paths


def panels(n_rows: int, n_columns: int, size: tuple[float, float], **settings: Any) -> tuple[Any, list[Any]]:
    """Return a new figure and its axes in reading order.

    Parameters
    ----------
    n_rows, n_columns : int
        How many.
    size : tuple of float
        Width and height of each in inches.
    **settings : dict
        Passed to `matplotlib.pyplot.subplots`.
    """
    pyplot = require("matplotlib.pyplot", "plot")
    figure, axes = pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(n_columns * size[0], n_rows * size[1]),
        layout="constrained",
        squeeze=False,
        **settings,
    )
    return figure, list(axes.ravel())


def numbered(items: Iterable[Any]) -> str:
    """Return items as one phrase.

    Examples
    --------
    >>> numbered([20, 50, 100])
    '20, 50 and 100'
    """
    texts = [str(item) for item in items]
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)
