"""How much each row counts."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import FloatArray
from fairpca.comparison._dask_columns import in_blocks, mapped_parts, parts_of
from fairpca.comparison._labels import as_labels
from fairpca.rows import compute, is_dask


@dataclass(frozen=True)
class WeightSums:
    """What must be known of weights before they are used; a sum of two is that of both.

    Attributes
    ----------
    n_rows, n_missing, n_negative, n_zero : int
        Rows, and those of them with NaN or infinity, with a weight below 0, and with the weight 0.
    total : float
        Sum of the weights.
    whole : bool
        Whether all are whole numbers.
    """

    n_rows: int
    n_missing: int
    n_negative: int
    n_zero: int
    total: float
    whole: bool

    def __add__(self, other: "WeightSums") -> "WeightSums":
        return WeightSums(
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            self.n_negative + other.n_negative,
            self.n_zero + other.n_zero,
            self.total + other.total,
            self.whole and other.whole,
        )

    def check(self, n_rows: int) -> None:
        """Refuse weights that cannot be used."""
        if self.n_rows != n_rows:
            raise ValueError(f"sample_weight has {self.n_rows} entries but X has {n_rows} rows.")
        if self.n_missing:
            raise ValueError(
                f"sample_weight has {self.n_missing} entries that are NaN or infinite; 0 leaves a row out."
            )
        if self.n_negative:
            raise ValueError(f"sample_weight has {self.n_negative} entries below 0; weights count people.")
        if self.n_zero > n_rows - 2:
            raise ValueError(
                f"sample_weight is zero for {self.n_zero} of {n_rows} rows, which count as absent; two are needed."
            )
        if not np.isfinite(self.total):
            raise ValueError("sample_weight adds up to more than the largest number; divide all of it by a constant.")

    @property
    def scale(self) -> float:
        """What weights are multiplied by: whole numbers count rows; others then sum to the number of rows above 0."""
        return 1.0 if self.whole else (self.n_rows - self.n_zero) / self.total


def read_weights(sample_weight: Any, rows: int | tuple[int, ...]) -> Any:
    """Return how much each row counts: a row of mass 2 as two equal rows.

    Parameters
    ----------
    sample_weight : array-like, or Dask series or array, of shape (n,), or None
        What the user passed.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.

    Returns
    -------
    masses : ndarray, or dask.array.Array, of shape (n, 1), or None
        Masses >= 0; None where no weights were passed.
    """
    if sample_weight is None:
        return None
    if isinstance(rows, tuple) and is_dask(sample_weight):
        return _of_parts(parts_of(sample_weight, "sample_weight"), rows)
    values = numbers_of_weights(sample_weight)
    sums = sums_of_weights(values)
    sums.check(rows if isinstance(rows, int) else sum(rows))
    scaled = sums.scale * values
    return scaled if isinstance(rows, int) else in_blocks(scaled, rows)


def _of_parts(parts: list[Any], chunks: tuple[int, ...]) -> Any:
    delayed = require("dask", "dask").delayed
    found = compute(*(delayed(sums_of_weights)(delayed(numbers_of_weights)(part)) for part in parts))
    sums = reduce(add, found)
    sums.check(sum(chunks))
    lengths = tuple(each.n_rows for each in found)
    values = mapped_parts(numbers_of_weights, parts, lengths, chunks, np.dtype(np.float64))
    return sums.scale * values


def numbers_of_weights(part: Any) -> FloatArray:
    """Return weights as float64 numbers, of shape (n_part, 1).

    Parameters
    ----------
    part : array-like of shape (n_part,)
        Weights.
    """
    values = as_labels(part, "sample_weight")
    try:
        return values.astype(np.float64)[:, None]
    except (TypeError, ValueError) as error:
        raise TypeError("sample_weight must hold numbers, one for each row.") from error


def sums_of_weights(values: FloatArray) -> WeightSums:
    """Return what must be known of some weights.

    Parameters
    ----------
    values : ndarray of shape (n_part, 1)
        Weights.
    """
    finite = values[np.isfinite(values)]
    return WeightSums(
        n_rows=len(values),
        n_missing=len(values) - len(finite),
        n_negative=int(np.count_nonzero(finite < 0)),
        n_zero=int(np.count_nonzero(finite == 0)),
        total=float(finite.sum()),
        whole=bool(np.all(finite == np.rint(finite))),
    )
