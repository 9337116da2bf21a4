"""What a user says of the people behind the rows, and how they are to be compared: notions of fairness, terms."""
# SPDX-License-Identifier: MIT

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.checks import check_integer, check_name
from fairpca._utils.typing import FloatArray
from fairpca.comparison._columns import as_array
from fairpca.comparison._comparison import Contrast, Strata
from fairpca.comparison._errors import ErrorRates, read_errors
from fairpca.rows import is_dask, is_dask_frame

KINDS = "auto", "groups", "continuous"


@dataclass(frozen=True)
class Among:
    """Whom groups are compared among: everyone, or the rows with one label.

    Attributes
    ----------
    name : str
        In words, empty for everyone.
    label : int or None
        Number of the label; None for everyone.
    """

    name: str = ""
    label: int | None = None


class Notion:
    """Says among whom groups must look alike, and which with which. Nothing else in the package knows.

    Attributes
    ----------
    needs_labels : bool
        Whether the notion speaks of labels y.
    """

    needs_labels = False

    def among(self, labels: Sequence[Any], favourable: Any) -> list[Among]:
        """Return whom groups are compared among, each by itself; at least one.

        Parameters
        ----------
        labels : sequence
            The distinct labels, none where the notion needs none.
        favourable : label, or None
            The favourable label, as the user named it.
        """
        _refuse(favourable)
        return [Among()]

    def contrasts(self, strata: Strata) -> list[Contrast]:
        """Return the measures: one for two groups; of more, each against all others, in a measure of its own.

        Parameters
        ----------
        strata : Strata
            The groups, with the masses of those that are compared.
        """
        labels = strata.labels
        if len(labels) == 2:
            return [Contrast(f"{labels[0]} against {labels[1]}", np.array([[1.0], [-1.0]]))]
        return [Contrast(f"{label} against all others", against_others(strata, g)) for g, label in enumerate(labels)]


class DemographicParity(Notion):
    """Every group looks like everyone else."""


class EqualizedOdds(Notion):
    """Every group looks like everyone else with the same label, for each label."""

    needs_labels = True

    def among(self, labels: Sequence[Any], favourable: Any) -> list[Among]:
        """Return the rows of each label."""
        _refuse(favourable)
        return [Among(f"y = {label}", number) for number, label in enumerate(labels)]


class EqualOpportunity(Notion):
    """Every group looks like everyone else among the rows with the favourable label."""

    needs_labels = True

    def among(self, labels: Sequence[Any], favourable: Any) -> list[Among]:
        """Return the rows with the favourable label."""
        number = _favourable(list(labels), favourable)
        return [Among(f"y = {labels[number]}", number)]


def _refuse(favourable: Any) -> None:
    if favourable is not None:
        raise ValueError(
            f'favourable={favourable!r} has a meaning for fairness="equal_opportunity" only; others speak of every '
            "label, or of none."
        )


def _favourable(labels: list[Any], favourable: Any) -> int:
    """Return the number of the favourable label; if none is named, of 0 and 1, -1 and 1 or booleans the larger."""
    if favourable is not None:
        for number, label in enumerate(labels):
            if label == favourable or str(label) == str(favourable):
                return number
        raise ValueError(f"favourable={favourable!r} is not a label of y, which has {_listed(labels)}.")
    if len(labels) == 2 and labels[1] == 1 and labels[0] in (0, -1):
        return 1
    raise ValueError(
        f'fairness="equal_opportunity" compares the rows with the favourable label: name it by favourable=, one of '
        f"{_listed(labels)}."
    )


def _listed(labels: list[Any]) -> str:
    return ", ".join(map(repr, labels))


def against_others(strata: Strata, group: int) -> FloatArray:
    """Return the column that compares one stratum with all others together, each with the weight of its rows.

    Parameters
    ----------
    strata : Strata
        The strata.
    group : int
        The one.
    """
    column = -strata.sizes / (strata.sizes.sum() - strata.sizes[group])
    column[group] = 1.0
    return column[:, None]


NOTIONS: dict[str, type[Notion]] = {
    "demographic_parity": DemographicParity,
    "equal_opportunity": EqualOpportunity,
    "equalized_odds": EqualizedOdds,
}


Named = tuple[str, Any]
"""The name of a column, empty where it has none, and its entries."""


def columns_of(table: Any, argument: str) -> list[Named]:
    """Return the columns of a vector or table.

    Parameters
    ----------
    table : array-like or Dask collection of shape (n,) or (n, k), or mapping of names to columns
        What a user passed.
    argument : str
        Its name, for messages.
    """
    if isinstance(table, Mapping) or is_dask_frame(table) or _is_frame(table):
        names = list(table) if isinstance(table, Mapping) else list(getattr(table, "column_names", table.columns))
        if not names:
            raise ValueError(f"{argument} has no columns.")
        return [(str(name), table[name]) for name in names]
    if is_dask(table):
        return [("", table)] if table.ndim == 1 else [_numbered(table, k, argument) for k in range(table.shape[1])]
    name = getattr(table, "name", None)
    if not hasattr(table, "shape") or len(table.shape) == 2:
        array = as_array(table, argument)
        if array.ndim == 2 and array.shape[1] > 1:
            return [_numbered(array, k, argument) for k in range(array.shape[1])]
    return [(name if isinstance(name, str) else "", table)]


def _numbered(array: Any, k: int, argument: str) -> Named:
    return f"{argument}[{k}]" if array.shape[1] > 1 else "", array[:, k]


def _is_frame(table: Any) -> bool:
    """Tell a frame of pandas or polars, or a table of pyarrow, from others without importing any of them."""
    kinds = [
        getattr(sys.modules[module], name)
        for module, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"))
        if module in sys.modules
    ]
    return isinstance(table, tuple(kinds))


@dataclass(frozen=True, eq=False)
class People:
    """What is known of the people behind the rows, as the user passed it.

    Attributes
    ----------
    sensitive_features : vector or table of n rows, default=None
        Protected attributes; nothing is compared without.
    y : vector of n rows, default=None
        Labels.
    control_features : vector or table of n rows, default=None
        Segments within which groups are compared.
    sample_weight : vector of n rows, default=None
        How much each row counts.
    """

    sensitive_features: Any = None
    y: Any = None
    control_features: Any = None
    sample_weight: Any = None

    @property
    def tables(self) -> dict[str, Any]:
        """What was passed, by the name of the argument."""
        return {name: table for name, table in vars(self).items() if table is not None}


@dataclass(frozen=True, eq=False)
class Terms:
    """How people are to be compared.

    Attributes
    ----------
    fairness : str or Notion, default="demographic_parity"
        The notion of fairness.
    favourable : label or None, default=None
        The favourable label.
    sensitive : {"each", "intersections"}, default="each"
        Whether several attributes are compared each by itself or crossed.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping, default="auto"
        Whether attributes are groups or numbers, for all or by their names.
    min_group_size : int, default=5
        Rows that a group needs.
    small_groups : {"refuse", "merge", "leave"}, default="refuse"
        What becomes of smaller ones.
    missing : {"refuse", "group", "leave"}, default="refuse"
        What becomes of rows without an attribute.
    attribute_error : mapping or None, default=None
        How often groups are recorded wrongly.
    """

    fairness: Any = "demographic_parity"
    favourable: Any = None
    sensitive: str = "each"
    sensitive_kind: Any = "auto"
    min_group_size: int = 5
    small_groups: str = "refuse"
    missing: str = "refuse"
    attribute_error: Any = None

    @classmethod
    def of(cls, parameters: Any) -> "Terms":
        """Read and check the terms of an estimator.

        Parameters
        ----------
        parameters : object
            Has the attributes.
        """
        return cls.named(**{name: getattr(parameters, name) for name in cls.__dataclass_fields__})

    @classmethod
    def named(cls, **terms: Any) -> "Terms":
        """Take and check terms by their names.

        Parameters
        ----------
        **terms : dict
            Some of the attributes.
        """
        for name in terms:
            if name not in cls.__dataclass_fields__:
                raise TypeError(
                    f"{name!r} is no way to compare people; choose among {sorted(cls.__dataclass_fields__)}."
                )
        chosen = cls(**terms)
        chosen.check()
        return chosen

    def check(self) -> None:
        """Refuse what has no meaning, before any work."""
        notion_from(self.fairness)
        check_name("sensitive", self.sensitive, ["each", "intersections"])
        check_name("small_groups", self.small_groups, ["refuse", "merge", "leave"])
        check_name("missing", self.missing, ["refuse", "group", "leave"])
        check_integer("min_group_size", self.min_group_size, least=2)
        kinds = self.sensitive_kind.values() if isinstance(self.sensitive_kind, Mapping) else [self.sensitive_kind]
        for kind in kinds:
            check_name("sensitive_kind", kind, KINDS)
        if read_errors(self.attribute_error) and self.sensitive == "intersections":
            raise ValueError('attribute_error is for attributes of two groups, and sensitive="intersections" has more.')

    def check_confidence(self, confidence: float) -> None:
        """Refuse rates of errors that are less sure than a bound is to be.

        Parameters
        ----------
        confidence : float
            Of the bound.
        """
        for rates in read_errors(self.attribute_error).values():
            if rates.doubt >= 1.0 - confidence:
                raise ValueError(
                    f"attribute_error holds with {100 * (1.0 - rates.doubt):.4g} % confidence, too little for a bound "
                    f"with {100 * confidence:g} %: estimate the rates with more, such as 0.99, or ask for less."
                )

    @property
    def notion(self) -> Notion:
        """The notion of fairness."""
        return notion_from(self.fairness)

    def kinds_of(self, names: list[str]) -> list[str]:
        """Return the kind that each attribute is said to be."""
        if not isinstance(self.sensitive_kind, Mapping):
            return [self.sensitive_kind] * len(names)
        unknown = [repr(name) for name in self.sensitive_kind if name not in names]
        if unknown:
            raise ValueError(
                f"sensitive_kind names {', '.join(unknown)}, but sensitive_features has "
                f"{', '.join(map(repr, names)) if any(names) else 'a column without a name'}."
            )
        return [self.sensitive_kind.get(name, "auto") for name in names]

    def errors_of(self, names: list[str]) -> list[ErrorRates | None]:
        """Return what is known of the errors of each attribute."""
        errors = read_errors(self.attribute_error)
        if "" in errors and len(names) == 1:
            return [errors[""]]
        unknown = [repr(name) for name in errors if name not in names]
        if unknown:
            asked = "of which attribute it speaks" if "" in errors else f"of {', '.join(unknown)}"
            raise ValueError(
                f"attribute_error does not fit: it says {asked}, and sensitive_features has "
                f"{', '.join(map(repr, names)) if any(names) else 'a column without a name'}."
            )
        return [errors.get(name) for name in names]


def notion_from(fairness: Any) -> Notion:
    """Return the notion of fairness for a name or an object.

    Parameters
    ----------
    fairness : str or Notion
        What the user passed.
    """
    if isinstance(fairness, str):
        return NOTIONS[check_name("fairness", fairness, NOTIONS)]()
    if not isinstance(fairness, Notion):
        raise TypeError(f"fairness must be one of {sorted(NOTIONS)} or a fairpca.comparison.Notion; got {fairness!r}.")
    return fairness
