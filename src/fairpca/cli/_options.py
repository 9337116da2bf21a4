"""Options that several commands share."""
# SPDX-License-Identifier: MIT

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fairpca import FairPCA
from fairpca._utils.typing import AnyArray
from fairpca.tables import Roles, TableFile, TableOptions

TABLE, PEOPLE, FIT = "The table", "The people", "The fit"

Seed = Annotated[int, typer.Option(help="Of everything that is drawn.", min=0, max=2**32 - 1)]
HeldOutShare = Annotated[
    float, typer.Option("--held-out", help="Share of the rows that is kept for the audit.", min=0.01, max=0.9)
]
HeldOutRows = Annotated[
    bool, typer.Option("--held-out", help="Take only the rows of this table that the fit has held out.")
]
ModelPath = Annotated[Path, typer.Argument(help="A model of fairpca fit.", show_default=False)]
DataHome = Annotated[Path | None, typer.Option(help="Folder in which raw data are cached.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _table(*names: str, text: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=TABLE)


def _people(*names: str, text: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=PEOPLE)


def _fit(*names: str, text: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=FIT)


@dataclass(frozen=True)
class NewTable:
    """A table for a model that knows its columns."""

    table: Annotated[Path, typer.Argument(help="CSV, Parquet or Arrow file.", show_default=False)]
    delimiter: Annotated[str | None, _table(text="Of a CSV; found by itself.")] = None
    encoding: Annotated[str | None, _table(text="Of a CSV; found by itself.")] = None
    decimal: Annotated[str, _table(text="Decimal mark of a CSV, . or ,")] = "."

    def file(self) -> TableFile:
        """Return the table."""
        return TableFile(self.table, delimiter=self.delimiter, encoding=self.encoding, decimal=self.decimal)

    def options(self) -> TableOptions:
        """Return how its columns are read."""
        return TableOptions()


@dataclass(frozen=True)
class Table(NewTable):
    """A table whose columns are looked at."""

    drop: Annotated[list[str], _table(text="Columns that are not used, COL[,COL].")] = field(default_factory=list)
    missing: Annotated[str, _table(text="Missing values of features: refuse, fill or drop-rows.")] = "refuse"
    categories: Annotated[list[str], _table(text="Columns of numbers that are codes, COL[,COL].")] = field(
        default_factory=list
    )
    numbers: Annotated[list[str], _table(text="Columns of numbers that look like codes, COL[,COL].")] = field(
        default_factory=list
    )

    def options(self) -> TableOptions:
        """Return how its columns are read."""
        return TableOptions(self.missing, names(self.categories), names(self.numbers))


@dataclass(frozen=True)
class MorePeople:
    """What is known of people beside their protected attributes."""

    label: Annotated[str | None, _people(text="Column of labels.")] = None
    control: Annotated[list[str], _people(text="Segments within which groups are compared, COL[,COL].")] = field(
        default_factory=list
    )
    weight: Annotated[str | None, _people(text="Column of weights.")] = None


@dataclass(frozen=True, kw_only=True)
class People(MorePeople):
    """Who the people of a table are."""

    sensitive: Annotated[list[str], _people("--sensitive", "-s", text="Protected attributes, COL[,COL].")]
    keep_sensitive: Annotated[bool, _people("--keep-sensitive", text="Protected attributes are features, too.")] = False

    def roles(self, drop: Sequence[str]) -> Roles:
        """Return which columns are what.

        Parameters
        ----------
        drop : sequence of str
            Columns that are not used.
        """
        return Roles(
            names(self.sensitive), self.label, names(self.control), self.weight, names(drop), self.keep_sensitive
        )


@dataclass(frozen=True, kw_only=True)
class PeopleOfModel(MorePeople):
    """Who the people of a table are, where a model may say it."""

    sensitive: Annotated[
        list[str], _people("--sensitive", "-s", text="Protected attributes, COL[,COL]; the model knows its own.")
    ] = field(default_factory=list)

    def roles(self, drop: Sequence[str] = ()) -> Roles | None:
        """Return which columns are what, or None where that is left to the model.

        Parameters
        ----------
        drop : sequence of str, default=()
            Columns that are not used.
        """
        if not names(self.sensitive):
            return None
        return Roles(names(self.sensitive), self.label, names(self.control), self.weight, names(drop))


@dataclass(frozen=True)
class Terms:
    """How people are compared."""

    fairness: Annotated[str, _fit(text="demographic_parity, equal_opportunity or equalized_odds.")] = (
        "demographic_parity"
    )
    favourable: Annotated[str | None, _fit(text="The favourable label.")] = None
    intersections: Annotated[
        bool, _fit("--intersections", text="Compare combinations of attributes, not each by itself.")
    ] = False
    continuous: Annotated[list[str], _fit(text="Attributes that are amounts, not groups, COL[,COL].")] = field(
        default_factory=list
    )
    small_groups: Annotated[str, _fit(text="Groups of fewer than 5 rows: refuse, merge or leave.")] = "refuse"
    missing_sensitive: Annotated[str, _fit(text="Rows without an attribute: refuse, group or leave.")] = "refuse"

    def terms(self, labels: AnyArray | None) -> dict[str, Any]:
        """Return how people are compared, as parameters of `FairPCA`, its path and audits.

        Parameters
        ----------
        labels : ndarray or None
            The labels, among which the favourable one is found.
        """
        return {
            "fairness": self.fairness,
            "favourable": None if self.favourable is None else _label(self.favourable, labels),
            "sensitive": "intersections" if self.intersections else "each",
            "sensitive_kind": dict.fromkeys(names(self.continuous), "continuous") or "auto",
            "small_groups": self.small_groups,
            "missing": self.missing_sensitive,
        }


@dataclass(frozen=True)
class PathTerms(Terms):
    """What is asked of a path."""

    components: Annotated[
        str, _fit("--components", "-n", text="How many, or the share of variance to keep, as 0.9.")
    ] = "2"
    scales: Annotated[bool, _fit("--scales", text="Look at fine differences too, at four bandwidths.")] = False

    def settings(self, labels: AnyArray | None, seed: int) -> dict[str, Any]:
        """Return all parameters but the tolerance.

        Parameters
        ----------
        labels : ndarray or None
            As above.
        seed : int
            Of what is drawn.
        """
        return self.terms(labels) | {
            "n_components": number_or_share(self.components),
            "bandwidth": "scales" if self.scales else "median",
            "random_state": seed,
        }


@dataclass(frozen=True)
class FitTerms(PathTerms):
    """What is asked of a fit."""

    tolerance: Annotated[
        str, _fit("--tolerance", "-t", text="Largest MMD²: auto, a number, or COL=X,COL=X by attribute.")
    ] = "auto"

    def model(self, labels: AnyArray | None, seed: int) -> FairPCA:
        """Return the model, not fitted.

        Parameters
        ----------
        labels, seed
            As above.
        """
        return FairPCA(tolerance=tolerance_of(self.tolerance), **self.settings(labels, seed))


def names(given: Sequence[str]) -> tuple[str, ...]:
    r"""Return the names in options that may hold several, separated by commas; a comma after \ is part of a name.

    Parameters
    ----------
    given : sequence of str
        The options.

    Examples
    --------
    >>> names(["sex,race", r"income\, net"])
    ('sex', 'race', 'income, net')
    """
    parts = [part for option in given for part in re.split(r"(?<!\\),", option)]
    return tuple(part.replace("\\,", ",").strip() for part in parts if part.strip())


def number_or_share(text: str) -> int | float:
    """Return a number of components, or a share of the variance.

    Parameters
    ----------
    text : str
        What was given.
    """
    try:
        return int(text) if re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text) else float(text)
    except ValueError:
        raise ValueError(
            f"--components {text} must be a whole number such as 2, or a share of the variance such as 0.9."
        ) from None


def tolerance_of(text: str) -> str | float | dict[str, float]:
    """Return a tolerance.

    Parameters
    ----------
    text : str
        "auto", a number, or numbers by attribute.

    Examples
    --------
    >>> tolerance_of("1e-3"), tolerance_of("sex=1e-3,age=1e-4")
    (0.001, {'sex': 0.001, 'age': 0.0001})
    """
    if text == "auto":
        return text
    try:
        if "=" not in text:
            return float(text)
        pairs = [part.rpartition("=") for part in names([text])]
        return {name.strip(): float(value) for name, _, value in pairs}
    except ValueError:
        raise ValueError(
            f"--tolerance {text} must be auto, a number such as 1e-3, or numbers by attribute such as "
            "sex=1e-3,age=1e-4."
        ) from None


def _label(text: str, labels: AnyArray | None) -> Any:
    """Return the label that is written so."""
    if labels is None:
        return text
    by_text = {str(label): label for label in np.unique(np.asarray(labels)).tolist()}
    return by_text.get(text, text)
