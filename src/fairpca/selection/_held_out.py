"""Rows that a model is fitted to, and held-out rows that judge it."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, IntArray
from fairpca.comparison import Compared, Comparison, Measure, People
from fairpca.estimator import FairPCA
from fairpca.fitting import variance_kept
from fairpca.inference import ComparedRows, Evidence
from fairpca.mmd import factor_to_judge
from fairpca.rows import is_sparse, strata_of


def by_position(table: Any) -> Any:
    """Return a table whose rows are identified, and may be chosen, by their positions alone.

    Labels of rows were compared once, on the whole table; the same labels in a part would be compared again.

    Parameters
    ----------
    table : array-like, frame, sparse array or matrix, or mapping of n rows
        What a user passed.
    """
    if is_sparse(table):
        # Other formats cannot be indexed by rows.
        return table.tocsr()
    return table.reset_index(drop=True) if hasattr(table, "reset_index") else table


def part_of(table: Any, rows: IntArray) -> Any:
    """Return some of the rows of a table, in a container of the same kind.

    Parameters
    ----------
    table : array-like, frame or mapping of n rows
        What a user passed; None stays None.
    rows : ndarray of int of shape (k,)
        Which.
    """
    if table is None:
        return None
    if isinstance(table, Mapping):
        return {name: part_of(column, rows) for name, column in table.items()}
    if hasattr(table, "iloc"):
        return table.iloc[rows].reset_index(drop=True)
    if hasattr(table, "take") and hasattr(table, "slice"):
        # Arrays and tables of pyarrow, which cannot be indexed by rows.
        return table.take(rows)
    if isinstance(table, (list, tuple)):
        # Not by way of an array, which would turn labels of different kinds into strings.
        return [table[row] for row in rows.tolist()]
    return table[rows] if hasattr(table, "shape") else np.asarray(table)[rows]


def people_at(people: People, rows: IntArray) -> People:
    """Return what is known of some of the people.

    Parameters
    ----------
    people : People
        What is known of all.
    rows : ndarray of int of shape (k,)
        Which.
    """
    return People(**{name: part_of(table, rows) for name, table in people.tables.items()})


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
    # One stratum after the other, in random order within each.
    held_out[np.lexsort([generator.random(len(strata)), strata])] = np.diff(steps) > 0
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


def _sides(compared: Compared) -> dict[str, list[BoolArray]]:
    """Return which rows are on each side of every measure; those of a continuous attribute are on one."""
    rows = ComparedRows.of(np.zeros((len(compared.attached), 0)), compared)
    found: dict[str, list[BoolArray]] = {}
    for j, measure in enumerate(compared.measures):
        columns = rows.columns_of(j)
        signs = [columns > 0, columns < 0] if measure.kind == "groups" else [columns != 0]
        found[measure.measured.name] = [np.asarray(sign.any(axis=1)) for sign in signs]
    return found


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out rows, and who among them is compared with whom.

    Attributes
    ----------
    X : table of shape (n, p)
        The rows.
    rows : ComparedRows
        Their weights; projections come from models.
    measures : tuple of Measure
        What is compared, with the rows that are held out.
    seed : int
        With which samples and frequencies are drawn, the same for all models.
    """

    X: Any
    rows: ComparedRows
    measures: tuple[Measure, ...]
    seed: int

    @classmethod
    def of(cls, X: Any, compared: Compared, held_out: IntArray, seed: int) -> "HeldOut":
        """Take some of all rows, compared as all are: parts have the same measures, however few rows a group has there.

        Parameters
        ----------
        X : table of shape (n, p)
            All rows.
        compared : Compared
            Who among them is compared with whom.
        held_out : ndarray of int of shape (k,)
            Which are held out.
        seed : int
            With which samples and frequencies are drawn.
        """
        rows = ComparedRows.of(np.zeros((len(compared.attached), 0)), _as_if_present(compared, held_out))
        rows = rows.chosen(held_out)
        measures = tuple(_on_rows(measure, rows, j) for j, measure in enumerate(compared.measures))
        return cls(part_of(X, held_out), rows, measures, seed)

    def measured(self, model: FairPCA) -> Evidence:
        """Return what the rows show after projection by a model.

        Parameters
        ----------
        model : FairPCA
            Fitted to other rows.
        """
        rows = replace(self.rows, Z=np.asarray(model.transform(self.X), dtype=np.float64))
        return Evidence.of(rows, judged_bandwidth(model), np.random.default_rng(self.seed))

    def variance_kept(self, model: FairPCA) -> float:
        """Return the share of the variance of the rows, counted by their masses, that a model keeps.

        Parameters
        ----------
        model : FairPCA
            Fitted to other rows.
        """
        return variance_kept(model, self.X, self.rows.attached)


def judged_bandwidth(model: FairPCA) -> float:
    """Return the bandwidth by which a model is judged: of several the one next to sigma.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    """
    return model.bandwidth_ * factor_to_judge(model.bandwidth_factors_)


def _on_rows(measure: Measure, rows: ComparedRows, j: int) -> Measure:
    """Return a measure with the numbers of those rows that are held out."""
    columns, inside = rows.columns_of(j), rows.taking_part(j)
    sides = tuple(int(sign.any(axis=1).sum()) for sign in (columns > 0, columns < 0))
    return replace(
        measure,
        n_rows=int(inside.sum()),
        weight=float(rows.masses[inside].sum()),
        sides=sides if measure.kind == "groups" else (),
    )


def _as_if_present(compared: Compared, held_out: IntArray) -> Compared:
    """Return a comparison in which strata of which no row is held out leave their weight to the others of their side.

    Without it the weights of a side would not sum to one: rare combinations of attributes are not in every fold.
    """
    assert compared.comparison is not None
    comparison = _rebalanced(compared.comparison, strata_of(compared.attached)[held_out])
    return replace(compared, comparison=comparison)


def _rebalanced(comparison: Comparison, strata: AnyArray) -> Comparison:
    present = np.bincount(strata[strata >= 0], minlength=comparison.n_strata) > 0
    contrasts = np.zeros_like(comparison.contrasts)
    for side in (np.maximum(comparison.contrasts, 0.0), np.minimum(comparison.contrasts, 0.0)):
        kept = side * present[:, None]
        sums = kept.sum(axis=0)
        contrasts += kept * (side.sum(axis=0) / np.where(sums == 0, 1.0, sums))
    return replace(comparison, contrasts=contrasts)
