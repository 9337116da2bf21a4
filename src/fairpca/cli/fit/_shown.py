"""What a fit from a table prints."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterable

from rich.console import Console

from fairpca.cli._phrases import in_options
from fairpca.cli._plain import plain
from fairpca.cli._words import columns_table, out, show_audit
from fairpca.cli.fit._found import Fitted
from fairpca.tables import PreparedTable


def show_columns(prepared: PreparedTable, notes: tuple[str, ...]) -> None:
    """Print what the columns are taken for, and what a user must know of them.

    Parameters
    ----------
    prepared : PreparedTable
        The table.
    notes : tuple of str
        What is to be said of it.
    """
    console = out()
    console.print(columns_table(prepared.columns))
    rows = f"{len(prepared.rows_train):,} rows to fit, {len(prepared.rows_new):,} held out"
    console.print(f"\n{rows}, {prepared.encoder.n_features} features.")
    show_notes(console, notes)


def show_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a user must know.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    notes : iterable of str
        The sentences.
    """
    for note in notes:
        console.print(f"[yellow]note:[/yellow] {plain(in_options(note))}")


def show(found: Fitted, files: dict[str, str], shown: int) -> None:
    """Print the answer in words, the notes that were not shown yet, and where the files are.

    Parameters
    ----------
    found : Fitted
        What was found.
    files : dict of str to str
        What is where.
    shown : int
        How many of the notes were shown before.
    """
    console = out()
    console.print(f"\n{plain(found.model.summary())}")
    kept = 100 * float(found.before.explained_variance_ratio_.sum())
    console.print(f"Plain PCA keeps {kept:.1f} % of the variance.")
    console.print(f"\n[bold]On the {found.audit.n_rows:,} rows held out[/bold]")
    show_audit(console, found.audit)
    show_notes(console, found.notes[shown:])
    console.print("\n[bold]Files[/bold]")
    for what, path in files.items():
        console.print(f"  {what:<12} {plain(path)}")
    console.print(f"\nBegin with {plain(files['report'])}")
