"""fairpca compare: every fair reduction that can do what is asked, on the same rows held out."""
# SPDX-License-Identifier: MIT

from pathlib import Path

from fairpca._utils.warn import warn_user
from fairpca.cli._options import FitTerms, Table, number_or_share, tolerance_of
from fairpca.cli._output import Stages, check_file, nothing_on_failure, numbers_table, out, plain, print_json
from fairpca.cli._study import read
from fairpca.comparison import Terms
from fairpca.exceptions import TableWarning
from fairpca.methods import Asked, MethodComparison, Part, compare_parts, names_of_methods, notes_of, table_of
from fairpca.tables import Roles


def run_compare(
    choice: Table,
    roles: Roles,
    asked: FitTerms,
    methods: tuple[str, ...],
    target: float,
    share: float,
    seed: int,
    page: Path | None,
    as_json: bool,
) -> int:
    """Fit every method to the same rows, and report of the rows held out.

    Parameters
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
    asked : FitTerms
        What is asked of the fits.
    methods : tuple of str
        Which methods; none stands for all.
    target : float
        The largest gap.
    share : float
        Share of the rows that is held out.
    seed : int
        Of everything that is drawn.
    page : Path or None
        Where to write a page.
    as_json : bool
        Whether to print JSON.

    Returns
    -------
    code : int
        0, or 1 where FairPCA does not meet its tolerance.
    """
    asked.check_people(roles)
    if asked.scales:
        raise ValueError("--scales: FairPCA-scales is among the methods that are compared; leave it out.")
    names_of_methods(methods or None)
    check_file("--out", page, [choice.table])
    with Stages() as stages:
        prepared, _, notes = read(choice, roles, share, seed, stages)
        for note in (*prepared.notes, *notes):
            warn_user(note, TableWarning)
        with prepared, nothing_on_failure([] if page is None else [page]):
            rest = Part(prepared.X_train, prepared.people_train)
            wanted = Asked(
                number_or_share(asked.components),
                tolerance_of(asked.tolerance),
                target,
                methods or None,
                Terms.named(**asked.terms(prepared.people_train.y)),
                seed,
                stages.say,
            )
            found = compare_parts(rest, Part(prepared.X_new, prepared.people_new), wanted)
            if page is not None:
                found.save(page)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found, page)
    return 0 if all(row["converged"] for row in found.methods if row["method"] == "FairPCA") else 1


def show(found: MethodComparison, page: Path | None) -> None:
    """Print what was found.

    Parameters
    ----------
    found : MethodComparison
        The findings.
    page : Path or None
        Where the page is.
    """
    console = out()
    for sentence in found.recommendation:
        console.print(plain(sentence))
    headings, rows = table_of(found)
    console.print()
    console.print(numbers_table(f"On {found.n_rows['held_out']:,} rows held out", headings, rows))
    for note in notes_of(found):
        console.print(plain(note))
    if page is not None:
        console.print(f"page: {plain(str(page))}")
