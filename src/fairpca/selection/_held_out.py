"""Rows that judge models which were fitted to others."""
# SPDX-License-Identifier: MIT

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpca._utils.threads import blas_threads_for
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import Compared, Comparison, Measure
from fairpca.estimator import FairPCA
from fairpca.fitting import variance_kept
from fairpca.inference import ComparedRows, Evidence
from fairpca.rows import strata_of
from fairpca.selection._tables import part_of


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
        rows = replace(self.rows, Z=self._projections(model))
        return Evidence.of(rows, model.bandwidth_, np.random.default_rng(self.seed))

    def quietly(self) -> AbstractContextManager[None]:
        """Keep BLAS to one thread where rows are few, while several models are judged."""
        return blas_threads_for(self.rows.n_rows**2)

    def variance_kept(self, model: FairPCA) -> float:
        """Return the share of the variance of the rows, counted by their masses, that a model keeps.

        Parameters
        ----------
        model : FairPCA
            Fitted to other rows.
        """
        return variance_kept(model, self.X, self.rows.attached)

    def _projections(self, model: FairPCA) -> FloatArray:
        return np.asarray(model.transform(self.X), dtype=np.float64)


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
