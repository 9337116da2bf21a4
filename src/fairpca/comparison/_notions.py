"""Notions of fairness: among whom, and which groups are compared with which."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison._comparison import Contrast, Strata


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
