"""How people are to be compared, as a user says it: notions of fairness, terms."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.checks import check_integer, check_name
from fairpca._utils.typing import FloatArray
from fairpca.comparison._comparison import Contrast, Strata
from fairpca.comparison._errors import ErrorRates, read_errors

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
        if favourable is not None:
            raise ValueError(
                f'favourable={favourable!r} has a meaning for fairness="equal_opportunity" only; others speak of every '
                "label, or of none."
            )
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
        super().among(labels, favourable)
        return [Among(f"y = {label}", number) for number, label in enumerate(labels)]


class EqualOpportunity(Notion):
    """Every group looks like everyone else among the rows with the favourable label."""

    needs_labels = True

    def among(self, labels: Sequence[Any], favourable: Any) -> list[Among]:
        """Return the rows with the favourable label."""
        number = _favourable(list(labels), favourable)
        return [Among(f"y = {labels[number]}", number)]


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

    def __post_init__(self) -> None:
        """Refuse what has no meaning, before any work."""
        if isinstance(self.fairness, str):
            check_name("fairness", self.fairness, NOTIONS)
        elif not isinstance(self.fairness, Notion):
            raise TypeError(
                f"fairness must be one of {sorted(NOTIONS)} or a fairpca.comparison.Notion; got {self.fairness!r}."
            )
        check_name("sensitive", self.sensitive, ["each", "intersections"])
        check_name("small_groups", self.small_groups, ["refuse", "merge", "leave"])
        check_name("missing", self.missing, ["refuse", "group", "leave"])
        check_integer("min_group_size", self.min_group_size, least=2)
        kinds = self.sensitive_kind.values() if isinstance(self.sensitive_kind, Mapping) else [self.sensitive_kind]
        for kind in kinds:
            check_name("sensitive_kind", kind, KINDS)
        if read_errors(self.attribute_error) and self.sensitive == "intersections":
            raise ValueError('attribute_error is for attributes of two groups, and sensitive="intersections" has more.')

    @classmethod
    def of(cls, parameters: Any) -> "Terms":
        """Read the terms of an estimator.

        Parameters
        ----------
        parameters : object
            Has the attributes.
        """
        return cls(**{name: getattr(parameters, name) for name in cls.__dataclass_fields__})

    @classmethod
    def named(cls, **terms: Any) -> "Terms":
        """Take terms that a user says by their names.

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
        return cls(**terms)

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
        return NOTIONS[self.fairness]() if isinstance(self.fairness, str) else self.fairness

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
