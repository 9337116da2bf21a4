"""Projections that are measured, wherever they are and however many."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from fairpca._utils.checks import check_mmd
from fairpca._utils.typing import FloatArray
from fairpca.comparison import MASS, Compared, Comparison, People, Terms, check_same_rows, compare
from fairpca.inference import (
    SAMPLE_ROWS,
    SHARE_OF_CHANCE,
    ComparedRows,
    measure_in_blocks,
    mmd2_of_all_pairs,
    sampling_levels,
)
from fairpca.mmd import Measurement, Scales, bandwidth_rows, median_bandwidth, rows_by_mass
from fairpca.rows import ArrayRows, DaskRows, Rows, compressed, dense, is_dask, is_sparse, number_blocks, sum_of_block

EXACT_PAIRS = 2e9
"""Pairs of rows up to which all are compared, in some seconds: 60,000 rows."""

ACCURACY = 1e-8
"""Errors that are small enough."""

DENSE_NUMBERS = 2**25
"""Numbers up to which sparse projections are made dense, 256 MB."""


@dataclass(frozen=True, eq=False)
class Projected:
    """Projections of people who are compared.

    Attributes
    ----------
    rows : ArrayRows or DaskRows
        The projections, with the stratum of each row attached.
    compared : Compared
        Who is compared with whom.
    method : {"auto", "exact", "hermite"}
        How MMD^2 is computed.
    """

    rows: ArrayRows | DaskRows
    compared: Compared
    method: str

    @classmethod
    def of(cls, Z: Any, people: People, terms: Terms, tolerance: float, method: str) -> "Projected":
        """Check projections and what is known of people.

        Parameters
        ----------
        Z : array-like, sparse array or matrix, or Dask array or frame, of shape (n, d)
            Projections.
        people : People
            What is known of the rows.
        terms : Terms
            How they are compared.
        tolerance : float
            For all measures.
        method : {"auto", "exact", "hermite"}
            How MMD^2 is to be computed.
        """
        check_same_rows(Z, people.tables)
        if is_dask(Z):
            blocks = number_blocks(Z)
            chosen = _chosen(method, blocks.shape[0])
            compared = compare(people, blocks.chunks[0], terms, tolerance)
            rows = DaskRows(blocks, compared.attached)
            if not np.isfinite(rows.total(sum_of_block)).all():
                rows.check_finite()
            if chosen != "exact":
                return cls(rows, compared, chosen)
            held = rows.taken(np.arange(rows.n_rows))
            return cls(held, replace(compared, attached=held.attached), chosen)
        table = _in_memory(Z)
        chosen = _chosen(method, len(table))
        compared = compare(people, len(table), terms, tolerance)
        return cls(ArrayRows(table, compared.attached), compared, chosen)

    @property
    def comparison(self) -> Comparison:
        """What is compared."""
        assert self.compared.comparison is not None
        return self.compared.comparison

    def mmd2(self, scales: Scales, *, unbiased: bool = False) -> Measurement:
        """Return MMD^2 of each measure, with its errors.

        Parameters
        ----------
        scales : Scales
            sigma, or how to find it, and its multiples.
        unbiased : bool, default=False
            Whether what samples of one distribution show on average is subtracted.
        """
        sigma = self._median_bandwidth if isinstance(scales.bandwidth, str) else scales.bandwidth
        kernel = sigma, scales.factors
        if self.method == "exact":
            found = Measurement.exact(mmd2_of_all_pairs(self.seen, *kernel))
        else:
            accuracy = np.full(self.comparison.n_measures, ACCURACY)
            found = measure_in_blocks(self.rows, self.comparison, sigma, accuracy, scales.factors)
        if not unbiased:
            return found
        levels = sampling_levels(self.seen, *kernel)
        share = 0.0 if self.method == "exact" else SHARE_OF_CHANCE
        return Measurement(found.values - levels, found.errors + share * levels)

    @cached_property
    def seen(self) -> ComparedRows:
        """All rows where all pairs are compared, else a sample that stands for them."""
        if self.method != "exact":
            return ComparedRows.drawn(self.rows, self.compared, SAMPLE_ROWS, np.random.default_rng(0))
        Z, _ = self.rows.sample(np.arange(self.rows.n_rows))
        return ComparedRows.of(Z.astype(np.float64, copy=False), self.compared)

    @property
    def _median_bandwidth(self) -> float:
        rows: Rows = self.rows
        has_masses = self.compared.attached.shape[1] > MASS
        chosen = rows_by_mass(rows.attached_column(MASS)) if has_masses else bandwidth_rows(rows.n_rows)
        return median_bandwidth(rows.sample(chosen)[0].astype(np.float64, copy=False))


def _chosen(method: str, n: int) -> str:
    asked = check_mmd(method, "method")
    if asked != "auto":
        return asked
    return "exact" if n * n / 2 <= EXACT_PAIRS else "hermite"


def _in_memory(Z: Any) -> FloatArray:
    if not is_sparse(Z):
        rows: FloatArray = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
        return rows
    if np.prod(Z.shape) > DENSE_NUMBERS:
        raise ValueError(
            f"Z is a sparse table of shape {Z.shape}, too large to be made dense; project its rows first, for example "
            "by FairPCA.transform, which takes sparse rows."
        )
    return dense(compressed(Z))
