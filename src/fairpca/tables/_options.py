"""What a user says of the columns: which role they have, and how they are to be read."""
# SPDX-License-Identifier: MIT

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import combinations
from typing import Any

from fairpca._utils.checks import check_flag, check_integer, check_name
from fairpca.exceptions import TableError

MISSING_VALUES = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")
"""Texts that stand for no value. "None" is none of them, for it may be an answer."""

MISSING = ("refuse", "fill", "drop-rows")
MOST_CATEGORIES = 100
"""Values of a category, and groups of an attribute, at most."""

FEW = 20
"""Rows, or different values, up to which their number says little: codes may be numbers, and numbers groups."""


@dataclass(frozen=True)
class Roles:
    """Which columns are what.

    Columns without a role are features. Labels, segments and weights never are; protected attributes only if they are
    asked to be kept.

    Parameters
    ----------
    sensitive : str or sequence of str
        Protected attributes.
    label : str, default=None
        Labels, for notions of fairness that speak of them.
    control : str or sequence of str, default=()
        Segments within which groups are compared.
    weight : str, default=None
        How much each row counts.
    drop : str or sequence of str, default=()
        Columns that are not used.
    keep_sensitive : bool, default=False
        Whether protected attributes are features too.

    Examples
    --------
    >>> from fairpca.tables import Roles
    >>> Roles("sex", label="income").of("sex")
    'sensitive'
    """

    sensitive: tuple[str, ...]
    label: str | None = None
    control: tuple[str, ...] = ()
    weight: str | None = None
    drop: tuple[str, ...] = ()
    keep_sensitive: bool = False

    def __post_init__(self) -> None:
        for argument in ("sensitive", "control", "drop"):
            object.__setattr__(self, argument, _names(argument, getattr(self, argument)))
        for argument in ("label", "weight"):
            value = getattr(self, argument)
            if not (value is None or isinstance(value, str)):
                raise TypeError(f"{argument} must be the name of a column or None; got {value!r}.")
        check_flag("keep_sensitive", self.keep_sensitive)
        if not self.sensitive:
            raise ValueError("sensitive names no column; name the protected attributes.")
        names = [name for _, name in self._named]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"column {twice[0]!r} is named twice among the roles; give it one.")

    @property
    def _named(self) -> list[tuple[str, str]]:
        """Roles and the columns that have them."""
        named = {"sensitive": self.sensitive, "control": self.control, "dropped": self.drop}
        named |= {"label": _names("label", self.label), "weight": _names("weight", self.weight)}
        return [(role, name) for role, names in named.items() for name in names]

    @cached_property
    def by_column(self) -> dict[str, str]:
        """The role of each column that has one."""
        return {name: role for role, name in self._named}

    def of(self, name: str) -> str:
        """Return the role of a column."""
        return self.by_column.get(name, "feature")

    def is_feature(self, name: str) -> bool:
        """Tell whether a column is among the features."""
        role = self.of(name)
        return role == "feature" or (role == "sensitive" and self.keep_sensitive)

    def check(self, names: Sequence[str], label: str) -> None:
        """Refuse names that a table does not have."""
        for name, role in self.by_column.items():
            check_column("drop" if role == "dropped" else role, name, names, label)


@dataclass(frozen=True)
class TableOptions:
    """How columns are read.

    Parameters
    ----------
    missing : {"refuse", "fill", "drop-rows"}, default="refuse"
        What becomes of missing values. "refuse": an error counts them. "fill": in features, a missing number is the
        mean of the rows to fit, and a missing category is a category of its own; a missing label, segment or weight
        is refused all the same. "drop-rows": rows that lack anything that is used are left out and counted. Protected
        attributes may be missing except under "drop-rows"; `FairPCA(missing=...)` says what becomes of such rows.
    categories : str or sequence of str, default=()
        Columns that are categories, whatever they look like, such as numbers that are codes.
    numbers : str or sequence of str, default=()
        Columns that are numbers, although they have leading zeros or count the rows.
    dates : str or sequence of str, default=()
        Columns of dates, which become days since 1970, and of times, which become hours. "name=DMY" says in which order
        day, month and year stand (DMY, MDY or YMD), where the values leave it open.
    most_categories : int, default=100
        Distinct values that a category may have at most; more are free text.
    missing_values : sequence of str, default=MISSING_VALUES
        Texts that stand for no value, in files and in frames: "", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN",
        "nan", "NAN", "null" and "NULL". Among numbers other words may stand for no value, such as "unknown" and "-".
    """

    missing: str = "refuse"
    categories: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    most_categories: int = MOST_CATEGORIES
    missing_values: tuple[str, ...] = MISSING_VALUES

    def __post_init__(self) -> None:
        check_name("missing", self.missing, MISSING)
        for argument in ("categories", "numbers", "dates", "missing_values"):
            object.__setattr__(self, argument, _names(argument, getattr(self, argument)))
        check_integer("most_categories", self.most_categories, least=2)
        for one, other in combinations(self._named, 2):
            both = sorted({*self._named[one]} & {*self._named[other]})
            if both:
                raise ValueError(f"column {both[0]!r} is named both in {one} and in {other}; choose one.")

    @cached_property
    def date_orders(self) -> dict[str, str | None]:
        """The columns of dates, and where it is said the order of day, month and year in them."""
        return {column: order or None for column, order in map(_column_and_order, self.dates)}

    @property
    def _named(self) -> dict[str, Collection[str]]:
        return {"categories": self.categories, "numbers": self.numbers, "dates": self.date_orders}

    def check(self, names: Sequence[str], label: str) -> None:
        """Refuse names that a table does not have."""
        for argument, named in self._named.items():
            for name in named:
                check_column(argument, name, names, label)


def _column_and_order(name: str) -> tuple[str, str]:
    column, _, order = name.rpartition("=")
    return (column, order) if column and order in ("DMY", "MDY", "YMD") else (name, "")


def check_column(argument: str, name: str, names: Sequence[str], label: str) -> None:
    """Refuse the name of a column that is not there, and suggest the nearest."""
    if name not in names:
        raise TableError(f"{argument}={name!r} is no column of {label}; {suggestion(name, names)}")


def suggestion(name: str, names: Sequence[str]) -> str:
    """Return the end of a sentence: the names nearest to one that was asked for, or the first of all."""
    folded = {other.casefold(): other for other in names}
    near = [folded[each] for each in get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)]
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    more = ", ..." if len(names) > 10 else ""
    return f"it has {', '.join(map(repr, names[:10]))}{more}."


def _names(argument: str, value: Any) -> tuple[str, ...]:
    listed = (value,) if isinstance(value, str) else () if value is None else tuple(value)
    if not all(isinstance(name, str) for name in listed):
        raise TypeError(f"{argument} must be names of columns; got {value!r}.")
    return tuple(dict.fromkeys(listed))
