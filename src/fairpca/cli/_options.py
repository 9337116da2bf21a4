"""Options that several commands share."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fairpca import FairPCA
    from fairpca._utils.typing import AnyArray
    from fairpca.tables import Roles, TableFile, TableOptions

TABLE, PEOPLE, FIT, GATE = "The table", "The people", "The fit", "The gate"
COLUMNS = "COL[,COL]"
LIMITS = "auc=0.6,mmd2=0.01"
ERRORS = '{"sex": {"recorded": {"F": 0.02, "M": 0.05}}}'

Seed = Annotated[int, typer.Option(help="Random seed.", min=0, max=2**32 - 1)]
HeldOutShare = Annotated[
    float, typer.Option("--held-out", help="Share of the rows that is kept for the audit.", min=0.01, max=0.9)
]
HeldOutRows = Annotated[
    bool, typer.Option("--held-out", help="Take only the rows of this table that the fit has held out.")
]
ModelPath = Annotated[Path, typer.Argument(help="A model of fairpca fit.", show_default=False)]
DataHome = Annotated[Path | None, typer.Option(help="Folder in which raw data are cached.", show_default=False)]
TrustRows = Annotated[bool, typer.Option("--trust-rows", help="Take rows for new ones where that cannot be checked.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _option(panel: str, *names: str, text: str, metavar: str | None = None, show_default: bool = True) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=panel, show_default=show_default)


_table, _people, _fit = (partial(_option, panel) for panel in (TABLE, PEOPLE, FIT))
_gate = partial(_option, GATE, show_default=False)


@dataclass(frozen=True)
class Gate:
    """Limits of figures, for builds that are to fail."""

    fail_above: Annotated[
        list[str], _gate(text="End with code 1 where a figure is above its limit.", metavar=LIMITS)
    ] = field(default_factory=list)
    junit: Annotated[Path | None, _gate(text="File for the limits as JUnit XML.", metavar="FILE")] = None
    github: Annotated[bool, _gate("--github", text="Annotate a run of GitHub Actions with them.")] = False

    @cached_property
    def limits(self) -> dict[str, float]:
        """The limits by names of figures."""
        from fairpca.auditing import FIGURES

        pairs = [part.rpartition("=") for part in names(self.fail_above)]
        if unknown := [name or text for name, _, text in pairs if name.strip() not in FIGURES]:
            raise ValueError(f"--fail-above {unknown[0]} is no figure of an audit; there are {', '.join(FIGURES)}.")
        found = {name.strip(): _number(value) for name, _, value in pairs}
        if not all(map(math.isfinite, found.values())) or len(found) < len(pairs):
            raise ValueError(
                f"--fail-above {','.join(self.fail_above)} must give each figure a number, as in {LIMITS}."
            )
        if not found and (self.junit or self.github):
            raise ValueError(f"{'--junit' if self.junit else '--github'} reports limits; name them with --fail-above.")
        return found


@dataclass(frozen=True)
class NewTable:
    """A table for a model that knows its columns."""

    table: Annotated[Path, typer.Argument(help="CSV, Excel, Parquet or Arrow file.", show_default=False)]
    delimiter: Annotated[str | None, _table(text="Of a CSV; detected by default.")] = None
    encoding: Annotated[str | None, _table(text="Of a CSV; detected by default.")] = None
    decimal: Annotated[str | None, _table(text="Decimal mark of texts, . or , (detected by default).")] = None
    sheet: Annotated[str | None, _table(text="Of an Excel workbook; by default the first.")] = None

    @cached_property
    def file(self) -> TableFile:
        """The table, opened once, for what was read of it is kept."""
        from fairpca.tables import TableFile

        return TableFile(
            self.table, delimiter=self.delimiter, encoding=self.encoding, decimal=self.decimal, sheet=self.sheet
        )


@dataclass(frozen=True)
class Stream(NewTable):
    """People who come after the audit."""

    table: Annotated[Path, typer.Argument(help="CSV, Excel, Parquet or Arrow file, or - for rows as they come.")] = (
        Path("-")
    )


@dataclass(frozen=True)
class Table(NewTable):
    """A table whose columns are looked at."""

    drop: Annotated[list[str], _table(text="Columns that are not used.", metavar=COLUMNS)] = field(default_factory=list)
    missing: Annotated[str, _table(text="Missing values of features: refuse, fill or drop-rows.")] = "refuse"
    categories: Annotated[list[str], _table(text="Columns of numbers that are codes.", metavar=COLUMNS)] = field(
        default_factory=list
    )
    numbers: Annotated[list[str], _table(text="Columns of numbers that look like codes.", metavar=COLUMNS)] = field(
        default_factory=list
    )

    dates: Annotated[list[str], _table(text="Columns of dates or times, as COL or COL=DMY.", metavar=COLUMNS)] = field(
        default_factory=list
    )
    missing_values: Annotated[list[str], _table(text="More texts that stand for no value.", metavar="TEXT[,TEXT]")] = (
        field(default_factory=list)
    )

    def options(self) -> TableOptions:
        """Return how its columns are read."""
        from fairpca.tables import TableOptions

        return TableOptions(
            self.missing,
            names(self.categories),
            names(self.numbers),
            names(self.dates),
            missing_values=(*TableOptions().missing_values, *names(self.missing_values)),
        )


@dataclass(frozen=True)
class MorePeople:
    """What is known of people beside their protected attributes."""

    label: Annotated[str | None, _people(text="Column of labels.", metavar="COL")] = None
    control: Annotated[list[str], _people(text="Segments within which groups are compared.", metavar=COLUMNS)] = field(
        default_factory=list
    )
    weight: Annotated[str | None, _people(text="Column of weights.", metavar="COL")] = None


@dataclass(frozen=True, kw_only=True)
class People(MorePeople):
    """Who the people of a table are."""

    sensitive: Annotated[list[str], _people("--sensitive", "-s", text="Protected attributes.", metavar=COLUMNS)]
    keep_sensitive: Annotated[bool, _people("--keep-sensitive", text="Protected attributes are features, too.")] = False

    def roles(self, drop: Sequence[str]) -> Roles:
        """Return which columns are what.

        Parameters
        ----------
        drop : sequence of str
            Columns that are not used.
        """
        from fairpca.tables import Roles

        return Roles(
            names(self.sensitive), self.label, names(self.control), self.weight, names(drop), self.keep_sensitive
        )


@dataclass(frozen=True, kw_only=True)
class PeopleOfModel(MorePeople):
    """Who the people of a table are, where a model may say it."""

    sensitive: Annotated[
        list[str],
        _people("--sensitive", "-s", text="Protected attributes; the model knows its own.", metavar=COLUMNS),
    ] = field(default_factory=list)

    def roles(self, drop: Sequence[str] = ()) -> Roles | None:
        """Return which columns are what, or None where that is left to the model.

        Parameters
        ----------
        drop : sequence of str, default=()
            Columns that are not used.
        """
        from fairpca.tables import Roles

        if not names(self.sensitive):
            others = {"--label": self.label, "--control": self.control, "--weight": self.weight}
            if given := [option for option, value in others.items() if value]:
                raise ValueError(f"{given[0]} goes with --sensitive; name the protected attributes too.")
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
    continuous: Annotated[list[str], _fit(text="Attributes that are amounts, not groups.", metavar=COLUMNS)] = field(
        default_factory=list
    )
    small_groups: Annotated[str, _fit(text="Groups of fewer than 5 rows: refuse, merge or leave.")] = "refuse"
    missing_sensitive: Annotated[str, _fit(text="Rows without an attribute: refuse, group or leave.")] = "refuse"
    attribute_error: Annotated[
        str | None,
        _fit(text=f"How often two groups are recorded wrongly: {ERRORS}.", metavar="JSON"),
    ] = None

    def terms(self, labels: AnyArray | None) -> dict[str, Any]:
        """Return how people are compared, as parameters of `FairPCA`, its path and audits.

        Parameters
        ----------
        labels : ndarray or None
            The labels, among which the favourable one is found.
        """
        from fairpca._utils.checks import check_name
        from fairpca.comparison import Terms as Comparison

        check_name("missing_sensitive", self.missing_sensitive, ["refuse", "group", "leave"])
        terms = {
            "fairness": self.fairness,
            "favourable": None if self.favourable is None else _label(self.favourable, labels),
            "sensitive": "intersections" if self.intersections else "each",
            "sensitive_kind": dict.fromkeys(names(self.continuous), "continuous") or "auto",
            "small_groups": self.small_groups,
            "missing": self.missing_sensitive,
            "attribute_error": None if self.attribute_error is None else _read(self.attribute_error),
        }
        Comparison.named(**terms)
        return terms

    def check_people(self, roles: Roles) -> None:
        """Refuse what does not go with the columns that were named, before any work.

        Parameters
        ----------
        roles : Roles
            Which columns are what.
        """
        self.terms(None)
        if self.fairness != "demographic_parity" and roles.label is None:
            raise ValueError(f"--fairness {self.fairness} speaks of labels; name their column with --label.")
        if self.favourable is not None and self.fairness != "equal_opportunity":
            raise ValueError("--favourable has a meaning for --fairness equal_opportunity only.")
        _check_sensitive("continuous", names(self.continuous), roles)


@dataclass(frozen=True)
class PathTerms(Terms):
    """What is asked of a path."""

    components: Annotated[
        str, _fit("--components", "-n", text="How many, or the share of variance to keep, as 0.9.")
    ] = "2"
    scales: Annotated[bool, _fit("--scales", text="Look at fine differences too, at four bandwidths.")] = False

    def check_people(self, roles: Roles) -> None:
        """Refuse what does not go with the columns that were named, before any work.

        Parameters
        ----------
        roles : Roles
            As above.
        """
        super().check_people(roles)
        number_or_share(self.components)

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

    def check_people(self, roles: Roles) -> None:
        """Refuse what does not go with the columns that were named, before any work.

        Parameters
        ----------
        roles : Roles
            As above.
        """
        super().check_people(roles)
        tolerance = tolerance_of(self.tolerance)
        if isinstance(tolerance, dict):
            _check_sensitive("tolerance", tolerance, roles)

    def model(self, labels: AnyArray | None, seed: int) -> FairPCA:
        """Return the model, not fitted.

        Parameters
        ----------
        labels, seed
            As above.
        """
        from fairpca import FairPCA

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
    if re.fullmatch(r"\s*\+?\d{1,18}\s*", text) and int(text) > 0:
        return int(text)
    if 0 < (share := _number(text)) < 1:
        return share
    raise ValueError(
        f"--components {text or repr(text)} must be a whole number of at least 1, such as 2, or a share of the "
        "variance between 0 and 1, such as 0.9."
    )


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
    pairs = [part.rpartition("=") for part in names([text])]
    by_name = {name.strip(): _number(value) for name, _, value in pairs}
    named = "=" in text
    are_named = len(by_name) == len(pairs) > 0 and all(bool(name) == named for name in by_name)
    if not are_named or not all(0 < value < math.inf for value in by_name.values()):
        raise ValueError(
            f"--tolerance {text or repr(text)} must be auto, a number above 0 such as 1e-3, or such numbers by "
            "attribute, as in sex=1e-3,age=1e-4."
        )
    return by_name if named else by_name[""]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _check_sensitive(option: str, named: Iterable[str], roles: Roles) -> None:
    """Refuse attributes that are not among the protected ones."""
    for name in named:
        if name not in roles.sensitive:
            raise ValueError(f"--{option} names {name!r}, which is not among --sensitive {', '.join(roles.sensitive)}.")


def _read(text: str) -> Any:
    """Return what JSON says of errors."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"--attribute-error {text!r} is no JSON ({error}), such as {ERRORS}.") from None


def _label(text: str, labels: AnyArray | None) -> Any:
    """Return the label that is written so."""
    if labels is None:
        return text
    import numpy as np

    by_text = {str(label): label for label in np.unique(np.asarray(labels)).tolist()}
    return by_text.get(text, text)
