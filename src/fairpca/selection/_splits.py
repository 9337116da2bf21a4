"""Rows that a model is fitted to, and rows that judge it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from fairpca._utils.checks import check_integer
from fairpca._utils.typing import BoolArray, IntArray
from fairpca.comparison import Compared
from fairpca.inference import ComparedRows
from fairpca.rows import strata_of


@dataclass(frozen=True, eq=False)
class Parts:
    """A split of the rows.

    Attributes
    ----------
    fitted, held_out : ndarray of int
        Positions of the rows.
    """

    fitted: IntArray
    held_out: IntArray


def folds(cv: Any, compared: Compared, generator: np.random.Generator) -> list[Parts]:
    """Return the splits of a cross-validation.

    Parameters
    ----------
    cv : int, splitter of scikit-learn or iterable of pairs
        What the user asked for; with a number every fold gets its share of each group.
    compared : Compared
        Who is compared with whom.
    generator : numpy.random.Generator
        Deals rows out.
    """
    strata = strata_of(compared.attached)
    if not isinstance(cv, Integral):
        rows = np.arange(len(strata))
        splits = check_cv(cv, strata, classifier=True).split(np.zeros((len(rows), 1)), strata)
        return [Parts(rows[fitted], rows[held_out]) for fitted, held_out in splits]
    check_integer("cv", cv, least=2)
    _check_rows_for_folds(compared, int(cv))
    fold = np.empty(len(strata), dtype=np.int64)
    fold[_by_stratum(strata, generator)] = np.arange(len(strata)) % int(cv)
    return [Parts(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(cv))]


def one_split(share: float, compared: Compared, generator: np.random.Generator) -> Parts:
    """Return one split, with the same share of each group held out.

    Parameters
    ----------
    share : float
        The share that is held out.
    compared : Compared
        Who is compared with whom.
    generator : numpy.random.Generator
        Draws the rows.
    """
    strata = strata_of(compared.attached)
    steps = np.floor(share * np.arange(len(strata) + 1) + generator.random())
    held_out = np.zeros(len(strata), dtype=bool)
    held_out[_by_stratum(strata, generator)] = np.diff(steps) > 0
    return Parts(np.flatnonzero(~held_out), np.flatnonzero(held_out))


def check_parts(parts: Parts, compared: Compared, to_fit: int, to_judge: int, asked: str) -> None:
    """Refuse a split that leaves too few rows of a group on either side of it.

    Parameters
    ----------
    parts : Parts
        The split.
    compared : Compared
        Who is compared with whom.
    to_fit, to_judge : int
        Rows that every side of what is compared needs among those that are fitted to, and among those held out.
    asked : str
        The argument that asked for the split, for messages.
    """
    for name, sides in _sides(compared).items():
        fitted, held_out = (min(int(side[rows].sum()) for side in sides) for rows in (parts.fitted, parts.held_out))
        if fitted < to_fit or held_out < to_judge:
            raise ValueError(
                f"{asked} leaves {fitted} rows of one side of {name!r} to fit to and {held_out} to judge by; at least "
                f"{to_fit} and {to_judge} are needed. Split otherwise, or merge small groups."
            )


def _check_rows_for_folds(compared: Compared, n_folds: int) -> None:
    for name, sides in _sides(compared).items():
        least = min(int(side.sum()) for side in sides)
        if least < n_folds:
            raise ValueError(
                f"cv={n_folds} needs a row of every group in each fold, but one side of {name!r} has {least} rows: use "
                "fewer folds, or merge small groups."
            )


def _sides(compared: Compared) -> dict[str, list[BoolArray]]:
    """Return which rows are on each side of every measure; those of a continuous attribute are on one."""
    rows = ComparedRows.of(np.zeros((len(compared.attached), 0)), compared)
    found: dict[str, list[BoolArray]] = {}
    for j, measure in enumerate(compared.measures):
        columns = rows.columns_of(j)
        signs = [columns > 0, columns < 0] if measure.kind == "groups" else [columns != 0]
        found[measure.measured.name] = [np.asarray(sign.any(axis=1)) for sign in signs]
    return found


def _by_stratum(strata: IntArray, generator: np.random.Generator) -> IntArray:
    """Return rows one stratum after the other, in random order within each."""
    return np.lexsort([generator.random(len(strata)), strata])
