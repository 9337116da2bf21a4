"""How much each row counts, its features where an attribute is continuous, and its weights in what is compared."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np

from fairpca._utils.checks import LARGEST
from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison._columns import as_labels
from fairpca.comparison._dask_columns import in_blocks, mapped_parts, parts_of
from fairpca.rows import FieldSums, compute, is_dask, strata_of

N_FEATURES = 11
"""Features of the attribute's kernel: what more of them would add to HSIC is `LEFT_OUT`."""

LEFT_OUT = 3e-6
"""What features leave of k(u, u) = 1, at most, for any u in [0, 1]."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """Where a value stands among all: the share of the rows below it, and half of those that equal it.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Distinct values, increasing; of very many a part, and what lies between is interpolated.
    places : ndarray of shape (k,)
        Where they stand, between 0 and 1.

    Examples
    --------
    >>> ranks = Ranks.among(np.array([3.0, 10.0, np.nan, 3.0, 5.0]))
    >>> ranks.of(np.array([10.0, 5.0, np.nan, 3.0]))
    array([0.875, 0.625,   nan, 0.25 ])
    """

    values: FloatArray
    places: FloatArray

    @classmethod
    def among(cls, values: FloatArray, masses: FloatArray | None = None, most: int = 2**16) -> "Ranks":
        """Find where values stand.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Numbers, NaN where there is none; one at least is there.
        masses : ndarray of shape (n,), default=None
            Their masses; by default all are equal.
        most : int, default=2**16
            Distinct values at most that are kept, each then exact to one in so many.
        """
        counts = ~np.isnan(values) if masses is None else ~np.isnan(values) & (masses > 0)
        distinct, index = np.unique(values[counts], return_inverse=True)
        sums = np.bincount(index.ravel(), None if masses is None else masses[counts], minlength=len(distinct))
        places = (np.cumsum(sums) - sums / 2) / sums.sum()
        if len(distinct) > most:
            chosen = np.linspace(0, len(distinct) - 1, most).round().astype(np.int64)
            distinct, places = distinct[chosen], places[chosen]
        return cls(distinct, places)

    def of(self, values: FloatArray) -> FloatArray:
        """Return where numbers stand; NaN stays."""
        return np.where(np.isnan(values), np.nan, np.interp(values, self.values, self.places))


def features_of(places: FloatArray) -> FloatArray:
    """Return features phi with phi(u)'phi(v) = exp(-(u - v)^2 / (2 s^2)) to within `LEFT_OUT`.

    They are the leading principal axes of the kernel on [0, 1], the same for every attribute. What they leave out can
    only lower the independence criterion, by `LEFT_OUT` at most: |C_xr|^2 <= tr C_xx tr C_rr for the covariance of
    rows x and what is left out r, and tr C_xx <= 1.

    Parameters
    ----------
    places : ndarray of shape (n,)
        u in [0, 1].

    Returns
    -------
    features : ndarray of shape (n, N_FEATURES)
        phi(u) of each.
    """
    landmarks, matrix = _landmarks()
    return _kernel(places, landmarks) @ matrix


@cache
def _landmarks(count: int = 20, n_points: int = 2048) -> tuple[FloatArray, FloatArray]:
    """Return u_l, denser near the ends, and the matrix with phi(u) = k(u, u_l) @ matrix.

    Twice as many landmarks as features span the kernel to rounding; the axes are those of evenly spaced points.
    """
    landmarks = (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2
    sizes, vectors = np.linalg.eigh(_kernel(landmarks, landmarks))
    kept = sizes > 1e-13 * sizes[-1]
    spanning = vectors[:, kept] / np.sqrt(sizes[kept])
    points = _kernel((np.arange(n_points) + 0.5) / n_points, landmarks) @ spanning
    axes = np.linalg.eigh(points.T @ points)[1][:, ::-1]
    return landmarks, spanning @ axes[:, :N_FEATURES]


def _kernel(places: FloatArray, landmarks: FloatArray) -> FloatArray:
    # By the median heuristic: of half of the pairs of numbers in [0, 1] the distance is below 1 - sqrt(1/2).
    bandwidth = (1.0 - math.sqrt(0.5)) / math.sqrt(2.0)
    return np.exp(-0.5 * ((places[:, None] - landmarks) / bandwidth) ** 2)


MASS = 1
"""Where the mass of a row is among the numbers attached to it; without it every row has the mass 1."""


@dataclass(frozen=True, eq=False)
class WeightSums(FieldSums):
    """What must be known of weights before they are used.

    Attributes
    ----------
    n_rows, n_missing, n_negative, n_zero, n_broken : int
        Rows, and those of them with NaN or infinity, with a weight below 0, with the weight 0, and with one that is no
        whole number.
    total : float
        Sum of the weights.
    """

    n_rows: int
    n_missing: int
    n_negative: int
    n_zero: int
    n_broken: int
    total: float

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
        # Their squares are summed too.
        if self.total > LARGEST:
            raise ValueError(
                f"sample_weight adds up to {self.total:.3g}, and sums of squares overflow beyond {LARGEST:g}; divide "
                "all of it by a constant."
            )

    @property
    def scale(self) -> float:
        """What weights are multiplied by: whole numbers count rows; others then sum to the number of rows above 0."""
        # Beyond 2^53 a whole number is no count.
        are_counts = not self.n_broken and self.total < 2**53
        return 1.0 if are_counts else (self.n_rows - self.n_zero) / self.total


def read_weights(sample_weight: Any, rows: int | tuple[int, ...], *, as_they_are: bool = False) -> Any:
    """Return how much each row counts: a row of mass 2 as two equal rows.

    Parameters
    ----------
    sample_weight : array-like, or Dask series or array, of shape (n,), or None
        What the user passed.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.
    as_they_are : bool, default=False
        Whether weights that are no counts are left as they are, since more rows will come.

    Returns
    -------
    masses : ndarray, or dask.array.Array, of shape (n, 1), or None
        Masses >= 0; None where no weights were passed.
    """
    if sample_weight is None:
        return None
    if isinstance(rows, tuple) and is_dask(sample_weight):
        return _of_parts(parts_of(sample_weight, "sample_weight"), rows, as_they_are)
    values = numbers_of_weights(sample_weight)
    sums = sums_of_weights(values)
    sums.check(rows if isinstance(rows, int) else sum(rows))
    scaled = values if as_they_are else sums.scale * values
    return scaled if isinstance(rows, int) else in_blocks(scaled, rows)


def _of_parts(parts: list[Any], chunks: tuple[int, ...], as_they_are: bool) -> Any:
    delayed = require("dask", "dask").delayed
    found = compute(*(delayed(sums_of_weights)(delayed(numbers_of_weights)(part)) for part in parts))
    sums = reduce(add, found)
    sums.check(sum(chunks))
    lengths = tuple(each.n_rows for each in found)
    values = mapped_parts(numbers_of_weights, parts, lengths, chunks, np.dtype(np.float64))
    return values if as_they_are else sums.scale * values


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
        n_broken=int(np.count_nonzero(finite != np.rint(finite))),
        total=float(finite.sum()),
    )


def masses_of(attached: AnyArray) -> FloatArray | None:
    """Return the mass of each row; None where all have the mass 1.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows.
    """
    return attached[:, MASS].astype(np.float64, copy=False) if attached.shape[1] > MASS else None


@dataclass(frozen=True, eq=False)
class DenseColumns:
    r"""Columns of a continuous attribute in some strata.

    Row i of mass m_i has the weights w_ic = m_i s (phi_c(u_i) - mean_c): with s = 1 / sum_i m_i over these strata
    sum_c w_c'Kw_c is the Hilbert-Schmidt independence criterion of rows and attribute, see `features_of`.

    Attributes
    ----------
    position : int
        Where u, the ranks of the attribute, is among the numbers attached to rows; NaN for rows without.
    means : ndarray of shape (N_FEATURES,)
        The means of the features.
    scales : ndarray of shape (n_strata + 1,)
        s for rows of each stratum; 0 at the end, for rows that take no part.
    """

    position: int
    means: FloatArray
    scales: FloatArray

    def of(self, attached: AnyArray) -> FloatArray:
        """Return s (phi_c(u_i) - mean_c), of shape (n, N_FEATURES)."""
        scales = self.scales[strata_of(attached)]
        values = attached[:, self.position]
        taking_part = (scales > 0) & ~np.isnan(values)
        weights = np.zeros((len(attached), N_FEATURES))
        weights[taking_part] = scales[taking_part, None] * (features_of(values[taking_part]) - self.means)
        return weights

    def sampled(self, attached: AnyArray, shares: FloatArray) -> "DenseColumns":
        """Return the same for some of the rows: those of each stratum stand for all of its rows.

        Parameters
        ----------
        attached : ndarray of shape (n, k)
            What is attached to the rows.
        shares : ndarray of shape (n_strata,)
            Mass of each stratum in the sample, relative to that of all rows.
        """
        scales = self.scales * np.append(1.0 / np.where(shares > 0, shares, 1.0), 1.0)
        masses = masses_of(attached)
        weights = scales[strata_of(attached)] * (1.0 if masses is None else masses)
        values = attached[:, self.position]
        taking_part = (weights > 0) & ~np.isnan(values)
        weights = weights[taking_part]
        means = weights @ features_of(values[taking_part]) / weights.sum()
        return replace(self, means=means, scales=scales / weights.sum())


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Weights of rows.

    Attributes
    ----------
    table : ndarray of shape (n_strata + 1, n_columns_of_strata)
        The weights of a row of mass 1 of each stratum; zeros at the end, for rows that take no part.
    dense : tuple of DenseColumns
        Columns that differ from row to row, which come after those of the table.
    mixing : ndarray of shape (n_table_and_dense, n_columns) or None
        What the weights are mixed by; None where they are taken as they are.
    """

    table: FloatArray
    dense: tuple[DenseColumns, ...] = ()
    mixing: FloatArray | None = None

    @classmethod
    def of_strata(cls, table: FloatArray, dense: tuple[DenseColumns, ...] = ()) -> "RowWeights":
        """Take the weights of each stratum."""
        return cls(np.vstack([table, np.zeros((1, table.shape[1]))]), dense)

    @property
    def n_columns(self) -> int:
        """Number of weights of a row."""
        if self.mixing is not None:
            return self.mixing.shape[1]
        return self.table.shape[1] + N_FEATURES * len(self.dense)

    def of(self, attached: AnyArray) -> FloatArray:
        """Return the weights of rows.

        Parameters
        ----------
        attached : ndarray of shape (n, k)
            The stratum of each row, -1 where it takes no part; then, where rows have them, its mass and its attributes.
        """
        weights = self.table[strata_of(attached)]
        if self.dense:
            weights = np.hstack([weights, *(columns.of(attached) for columns in self.dense)])
        masses = masses_of(attached)
        if masses is not None:
            weights = weights * masses[:, None]
        return weights if self.mixing is None else weights @ self.mixing

    def mixed(self, mixing: FloatArray) -> "RowWeights":
        """Return other weights that are linear combinations of these, of shape (n_columns, n_others)."""
        if not self.dense:
            return RowWeights(self.table @ mixing)
        return replace(self, mixing=mixing if self.mixing is None else self.mixing @ mixing)
