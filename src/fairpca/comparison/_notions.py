"""Notions of fairness: which strata are compared with which."""
# SPDX-License-Identifier: MIT

from typing import Protocol

import numpy as np

from fairpca.comparison._comparison import Contrast, Strata


class Notion(Protocol):
    """Says which strata must look alike. Nothing else in the package knows."""

    def contrasts(self, strata: Strata) -> list[Contrast]:
        """Return the measures, at least one."""


class DemographicParity:
    """Every group looks like everyone else.

    Two groups are compared with each other, in one measure. Of more, each is compared with all others together, in a
    measure of its own.
    """

    def contrasts(self, strata: Strata) -> list[Contrast]:
        """Return one measure for two groups, one a group for more."""
        labels = strata.labels
        if len(labels) == 2:
            return [Contrast(f"{labels[0]} against {labels[1]}", np.array([[1.0], [-1.0]]))]
        return [Contrast(f"{label} against all others", against_others(strata, g)) for g, label in enumerate(labels)]


def against_others(strata: Strata, group: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
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


NOTIONS: dict[str, type[Notion]] = {"demographic_parity": DemographicParity}
