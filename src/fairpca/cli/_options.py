"""The options of every command: a command is given one dataclass of them, made of groups that several share."""
# SPDX-License-Identifier: MIT
# ruff: noqa: RUF009

# Ruff does not know that functions in defaults of these dataclasses return fields.

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property, partial
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from fairpca import FairPCA
    from fairpca._utils.typing import AnyArray
    from fairpca.tables import Roles, TableFile, TableOptions

# Help is shown without waiting for scikit-learn: what an option means is imported where it is asked.

Names = tuple[str, ...]
"""Names of an option that can be given several times, and hold several with commas between them."""

LIMITS = "auc=0.6,mmd2=0.01"
ERRORS = '{"sex": {"recorded": {"F": 0.02, "M": 0.05}}}'


def _option(default: Any, *names: str, text: str, panel: str | None = None, **settings: Any) -> Any:
    """Return a field that is an option; one whose default is ... must be given."""
    return _field(default, typer.Option(default, *names, help=text, rich_help_panel=panel, **settings))


def _argument(text: str, default: Any = ...) -> Any:
    return _field(default, typer.Argument(default, help=text))


def _field(default: Any, shown: Any) -> Any:
    return field(default=MISSING if default is ... else default, metadata={"typer": shown})


def parameters(kind: Any) -> list[Parameter]:
    """Return the options of a command as parameters of a function, as typer reads them.

    Parameters
    ----------
    kind : type
        The dataclass of its options.
    """
    hints = get_type_hints(kind)
    # What must be given comes first in the help; otherwise the order is that of the fields.
    ordered = sorted(fields(kind), key=lambda each: each.default is not MISSING)
    return [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            default=each.metadata["typer"],
            annotation=list[str] if hints[each.name] == Names else hints[each.name],
        )
        for each in ordered
    ]


_table, _people, _fit, _gate = (
    partial(_option, panel=panel) for panel in ("The table", "The people", "The fit", "The gate")
)
_columns = {"metavar": "COL[,COL]"}
_json = partial(_option, False, "--json", text="Print one JSON document.")
_seed = partial(_option, 0, text="Random seed.", min=0, max=2**32 - 1)
_share = partial(_option, 0.3, "--held-out", text="Share of the rows that is kept for the audit.", min=0.01, max=0.9)
_held_out = partial(_option, False, "--held-out", text="Take only the rows of this table that the fit has held out.")
_trust_rows = partial(_option, False, "--trust-rows", text="Take rows for new ones where that cannot be checked.")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Limits of figures, for builds that are to fail."""

    fail_above: Names = _gate((), text="End with code 1 where a figure is above its limit.", metavar=LIMITS)
    junit: Path | None = _gate(None, text="File for the limits as JUnit XML.", metavar="FILE")
    github: bool = _gate(False, "--github", text="Annotate a run of GitHub Actions with them.")

    @cached_property
    def limits(self) -> dict[str, float]:
        """The limits by names of figures."""
        from fairpca.auditing import FIGURES

        pairs = [part.rpartition("=") for part in self.fail_above]
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


@dataclass(frozen=True, kw_only=True)
class OfModel:
    """A model from a file."""

    model: Path = _argument("A model of fairpca fit.")


@dataclass(frozen=True, kw_only=True)
class OfCertificate:
    """A certificate, and what was certified."""

    certificate: Path = _argument("A certificate of fairpca fit or audit.")
    model: Path = _argument("A model of fairpca fit.")


@dataclass(frozen=True, kw_only=True)
class NewTable:
    """A table for a model that knows its columns."""

    table: Path = _argument("CSV, Excel, Parquet or Arrow file.")
    delimiter: str | None = _table(None, text="Of a CSV; detected by default.")
    encoding: str | None = _table(None, text="Of a CSV; detected by default.")
    decimal: str | None = _table(None, text="Decimal mark of texts, . or , (detected by default).")
    sheet: str | None = _table(None, text="Of an Excel workbook; by default the first.")

    @cached_property
    def file(self) -> TableFile:
        """The table, opened once, for what was read of it is kept."""
        from fairpca.tables import TableFile

        return TableFile(
            self.table, delimiter=self.delimiter, encoding=self.encoding, decimal=self.decimal, sheet=self.sheet
        )


@dataclass(frozen=True, kw_only=True)
class Table(NewTable):
    """A table whose columns are looked at."""

    drop: Names = _table((), text="Columns that are not used.", **_columns)
    missing: str = _table("refuse", text="Missing values of features: refuse, fill or drop-rows.")
    categories: Names = _table((), text="Columns of numbers that are codes.", **_columns)
    numbers: Names = _table((), text="Columns of numbers that look like codes.", **_columns)
    dates: Names = _table((), text="Columns of dates or times, as COL or COL=DMY.", **_columns)
    missing_values: Names = _table((), text="More texts that stand for no value.", metavar="TEXT[,TEXT]")

    @property
    def options(self) -> TableOptions:
        """How its columns are read."""
        from fairpca.tables import TableOptions

        more = (*TableOptions().missing_values, *self.missing_values)
        return TableOptions(self.missing, self.categories, self.numbers, self.dates, missing_values=more)


@dataclass(frozen=True, kw_only=True)
class PeopleOfModel(NewTable):
    """A table, and who its people are, where a model may say it."""

    sensitive: Names = _people(
        (), "--sensitive", "-s", text="Protected attributes; the model knows its own.", **_columns
    )
    label: str | None = _people(None, text="Column of labels.", metavar="COL")
    control: Names = _people((), text="Segments within which groups are compared.", **_columns)
    weight: str | None = _people(None, text="Column of weights.", metavar="COL")

    @property
    def roles(self) -> Roles | None:
        """Which columns are what, or None where that is left to the model."""
        from fairpca.tables import Roles

        if self.sensitive:
            return Roles(self.sensitive, self.label, self.control, self.weight)
        others = {"--label": self.label, "--control": self.control, "--weight": self.weight}
        if given := [name for name, value in others.items() if value]:
            raise ValueError(f"{given[0]} goes with --sensitive; name the protected attributes too.")
        return None


@dataclass(frozen=True, kw_only=True)
class People(PeopleOfModel, Table):
    """A table, and who its people are."""

    sensitive: Names = _people(..., "--sensitive", "-s", text="Protected attributes.", **_columns)
    keep_sensitive: bool = _people(False, "--keep-sensitive", text="Protected attributes are features, too.")

    @cached_property
    def roles(self) -> Roles:
        """Which columns are what."""
        from fairpca.tables import Roles

        return Roles(self.sensitive, self.label, self.control, self.weight, self.drop, self.keep_sensitive)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How people are compared."""

    fairness: str = _fit("demographic_parity", text="demographic_parity, equal_opportunity or equalized_odds.")
    favourable: str | None = _fit(None, text="The favourable label.")
    intersections: bool = _fit(False, "--intersections", text="Compare combinations of attributes, not each by itself.")
    continuous: Names = _fit((), text="Attributes that are amounts, not groups.", **_columns)
    small_groups: str = _fit("refuse", text="Groups of fewer than 5 rows: refuse, merge or leave.")
    missing_sensitive: str = _fit("refuse", text="Rows without an attribute: refuse, group or leave.")
    attribute_error: str | None = _fit(
        None, text=f"How often two groups are recorded wrongly: {ERRORS}.", metavar="JSON"
    )

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
            "sensitive_kind": dict.fromkeys(self.continuous, "continuous") or "auto",
            "small_groups": self.small_groups,
            "missing": self.missing_sensitive,
            "attribute_error": None if self.attribute_error is None else _read(self.attribute_error),
        }
        Comparison.named(**terms)
        return terms

    def check(self, roles: Roles) -> None:
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
        _check_sensitive("continuous", self.continuous, roles)


@dataclass(frozen=True, kw_only=True)
class PathTerms(Terms):
    """What is asked of a path."""

    components: str = _fit("2", "--components", "-n", text="How many, or the share of variance to keep, as 0.9.")
    scales: bool = _fit(False, "--scales", text="Look at fine differences too, at four bandwidths.")

    def check(self, roles: Roles) -> None:
        """Refuse what does not go with the columns that were named, before any work.

        Parameters
        ----------
        roles : Roles
            As above.
        """
        super().check(roles)
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


@dataclass(frozen=True, kw_only=True)
class FitTerms(PathTerms):
    """What is asked of a fit."""

    tolerance: str = _fit(
        "auto", "--tolerance", "-t", text="Largest MMD²: auto, a number, or COL=X,COL=X by attribute."
    )

    def check(self, roles: Roles) -> None:
        """Refuse what does not go with the columns that were named, before any work.

        Parameters
        ----------
        roles : Roles
            As above.
        """
        super().check(roles)
        tolerance = tolerance_of(self.tolerance)
        if isinstance(tolerance, dict):
            _check_sensitive("tolerance", tolerance, roles)


@dataclass(frozen=True, kw_only=True)
class Fit(Gate, FitTerms, People):
    """Options of fairpca fit; those of the last base come first."""

    held_out: float = _share()
    with_path: bool = _option(True, "--path/--no-path", text="Show the trade-off in the report.")
    promise: float | None = _option(
        None, text="Certify a release: no decision made from it has a gap above this, as 0.10."
    )
    compare_maps: bool = _option(
        False, "--compare-maps", text="Choose the map of a release among fair PCA and plain PCA."
    )
    points: int = _option(0, text="People whose coordinates the report draws; by default it draws densities.", max=600)
    pdf: bool = _option(False, "--pdf", text="Print the report to a PDF too, by a browser on PATH.")
    seed: int = _seed()
    out: Path = _option(Path("fairpca-out"), "--out", "-o", text="Folder for the results.")
    as_json: bool = _json()

    def model(self, labels: AnyArray | None) -> FairPCA:
        """Return the model, not fitted.

        Parameters
        ----------
        labels : ndarray or None
            As above.
        """
        from fairpca import FairPCA

        return FairPCA(tolerance=tolerance_of(self.tolerance), **self.settings(labels, self.seed))


@dataclass(frozen=True, kw_only=True)
class Transform(NewTable, OfModel):
    """Options of fairpca transform."""

    out: Path = _option(Path("projected.csv"), "--out", "-o", text="File: .csv, .tsv, .parquet, .arrow or .feather.")
    keep: Names = _option((), text="Columns to write as they are.", **_columns)
    unknown: str = _option("warn", text="Categories that the fit did not know: warn or refuse.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class Audit(Gate, Terms, PeopleOfModel, Table):
    """Options of fairpca audit."""

    model: Path | None = _option(None, "--model", "-m", text="Audit its projections, not the columns.")
    held_out: bool = _held_out()
    as_is: bool = _option(False, "--as-is", text="Audit columns in their own units, as for projections.")
    certificate: Path | None = _option(None, text="File for what was shown.")
    trust_rows: bool = _trust_rows()
    seed: int = _seed()
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class TradeOff(PathTerms, People):
    """Options of fairpca path."""

    seed: int = _seed()
    out: Path | None = _option(None, "--out", "-o", text="CSV for the curve.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class Compare(FitTerms, People):
    """Options of fairpca compare."""

    methods: Names = _option((), text="Only these; by default all that can do it.", metavar="NAME[,NAME]")
    target: float = _option(0.1, text="The largest gap that is fair enough, and the promise.", min=0.001, max=0.999)
    held_out: float = _share()
    seed: int = _seed()
    out: Path | None = _option(None, "--out", "-o", text="File for a page.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Options of fairpca plan."""

    epsilon: float | None = _argument("The MMD² that is to be ruled out.", None)
    components: int = _option(2, "--components", "-n", text="Of the projection.", min=1, max=1000)
    groups: str = _option("0.5,0.5", text="Rows, or shares, of the two groups today.")
    rows: int | None = _option(None, text="Rows today, where groups are shares.")
    power: float = _option(0.8, text="Probability of success where groups do not differ.")
    confidence: float = _option(0.95, text="Of the bound.")
    promise: float | None = _option(None, text="Plan for fairpca fit --promise instead.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class Verify(Gate, PeopleOfModel, OfCertificate):
    """Options of fairpca verify."""

    held_out: bool = _held_out()
    trust_rows: bool = _trust_rows()
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class Watch(PeopleOfModel, OfCertificate):
    """Options of fairpca monitor."""

    table: Path = _argument("CSV, Excel, Parquet or Arrow file, or - for rows as they come.", Path("-"))
    state: Path | None = _option(None, text="File of what is known; by default CERTIFICATE.monitor.")
    plot: Path | None = _option(None, text="File for a picture of the evidence.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class DataSets:
    """Options of fairpca datasets."""

    name: str | None = _argument("Which; without it all are listed.", None)
    out: Path | None = _option(None, "--out", "-o", text="File: .csv, .tsv, .parquet, .arrow.")
    data_home: Path | None = _option(None, text="Folder in which raw data are cached.")
    as_json: bool = _json()


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Options of fairpca demo."""

    output: Path = _option(Path("demo"), text="Folder for the picture and the report.")
    tolerance: float = _option(1e-3, text="Largest MMD^2 allowed on the training rows.")
    seed: int = _option(0, text="Seed of the split.")


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


def joined(given: Iterable[str]) -> str:
    """Return names as one option takes them.

    Parameters
    ----------
    given : iterable of str
        The names.
    """
    return ",".join(name.replace(",", "\\,") for name in given)


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
