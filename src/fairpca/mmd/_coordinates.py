"""From raw blocks of rows to the coordinates that a discrepancy works in, and its derivatives back."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca import compiled
from fairpca._utils.threads import MEMORY_NUMBERS
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.comparison import Comparison
from fairpca.mmd._kernel import Clusters
from fairpca.rows import PILOT_ROWS, Rows, RowsInMemory, sum_of_block

MANY_COLUMNS = 500
"""Columns from which on products of all columns with each other take longer than a search in few directions."""

FEW_COORDINATES = 64
"""Coordinates up to which compiled loops, which make no centred copy of the rows, are faster than products of BLAS."""


@dataclass(frozen=True)
class Coordinates:
    """Linear coordinates y = matrix'(x - mean) of raw rows x.

    Attributes
    ----------
    mean : ndarray of shape (p,)
        Mean of the raw rows.
    matrix : ndarray of shape (p, r)
        For principal axes of scaled columns diag(1 / scale) @ axes; zero columns for null axes.
    """

    mean: FloatArray
    matrix: FloatArray

    def centred(self, block: AnyArray) -> FloatArray:
        """Return x - mean in float64.

        Parameters
        ----------
        block : ndarray of shape (n_block, p)
            Raw rows, float32 or float64.
        """
        return np.subtract(block, self.mean, dtype=np.float64)

    def project(self, block: AnyArray) -> FloatArray:
        """Return y for each row of a block, of shape (n_block, r).

        Parameters
        ----------
        block : ndarray of shape (n_block, p)
            Raw rows.
        """
        if self.matrix.shape[1] > FEW_COORDINATES or not compiled.is_compiled():
            return (self.matrix.T @ self.centred(block).T).T
        out = np.empty((self.matrix.shape[1], len(block)))
        compiled.native.project(_plain(block), _plain(self.mean), _plain(self.matrix), out)
        return out.T

    def pulled_back(self, block: AnyArray, gradients: FloatArray) -> FloatArray:
        """Return sum_i (x_i - mean) f_i', of shape (p, m): the gradient by the matrix, given those by the y_i.

        Parameters
        ----------
        block : ndarray of shape (n_block, p)
            Raw rows x_i.
        gradients : ndarray of shape (n_block, m)
            f_i.
        """
        if not compiled.is_compiled():
            return self.centred(block).T @ gradients
        out = np.empty((block.shape[1], gradients.shape[1]))
        compiled.native.pull_back(_plain(block), _plain(self.mean), np.ascontiguousarray(gradients.T), out)
        return out

    def towards(self, matrix: FloatArray) -> "Coordinates":
        """Return other coordinates of the same rows, by a matrix of shape (p, r)."""
        return Coordinates(self.mean, matrix)

    def along(self, V: FloatArray) -> "Coordinates":
        """Return the coordinates V'y, which are all that a block of rows has to know of the frame V.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        return Coordinates(self.mean, self.matrix @ V)


@dataclass(frozen=True, eq=False)
class PilotSample:
    """Some rows in coordinates that are too many to make all of them.

    Attributes
    ----------
    rows : RowsInMemory
        Raw rows.
    coordinates : Coordinates
        From these to y / sigma.
    """

    rows: RowsInMemory
    coordinates: Coordinates

    def __matmul__(self, V: FloatArray) -> FloatArray:
        """Return V'y / sigma of each row."""
        return self._projected(self.coordinates.along(V))

    def along_first(self, n_axes: int | None) -> FloatArray:
        """Return the first coordinates of each row; all of them for None."""
        return self._projected(replace(self.coordinates, matrix=self.coordinates.matrix[:, :n_axes]))

    def made(self) -> "FloatArray | PilotSample":
        """Return the coordinates of all rows, or where these are too many what makes those that are asked for."""
        return self if self.coordinates.matrix.shape[1] > MANY_COLUMNS else self.along_first(None)

    def _projected(self, coordinates: Coordinates) -> FloatArray:
        return self.rows.sample(np.arange(self.rows.n_rows), coordinates.project)[0]


@dataclass(frozen=True)
class MeasuredRows:
    """Rows that are compared, seen in coordinates and in units of the bandwidth.

    Attributes
    ----------
    rows : Rows
        Raw rows x_i, with the stratum of each attached.
    coordinates : Coordinates
        From raw rows to y.
    comparison : Comparison
        What is compared.
    bandwidth : float
        sigma.
    """

    rows: Rows
    coordinates: Coordinates
    comparison: Comparison
    bandwidth: float

    def along(self, V: FloatArray, rotation: FloatArray) -> Coordinates:
        """Return the coordinates z = R'V'y / sigma, in which the kernel is exp(-|z - z'|^2 / 2)."""
        return self.coordinates.along(V @ (rotation / self.bandwidth))

    def may_be_within(self, n_axes: int) -> bool:
        """Tell whether the coordinates along so many axes are few against the table, and fit into memory."""
        return 4 * n_axes <= self.rows.n_columns and n_axes * self.rows.n_rows <= MEMORY_NUMBERS

    def within(self, axes: FloatArray) -> "MeasuredRows":
        """Return the same for frames in the span of axes of shape (r, k), with the coordinates along them made."""
        rows = self.rows.mapped(self.coordinates.along(axes).project)
        return replace(self, rows=rows, coordinates=Coordinates(np.zeros(axes.shape[1]), np.eye(axes.shape[1])))

    def spaced(self) -> FloatArray:
        """Return y / sigma of the rows that `seen_from_the_bulk` has for a sample."""
        sample, _ = self.rows.sample(spaced_indices(self.rows.n_rows), self.coordinates.project)
        return sample / self.bandwidth

    def gradient(self, total: FloatArray, rotation: FloatArray) -> FloatArray:
        """Return the gradient with respect to V, given sum_i (x_i - mean) f_i' with the gradients f_i = dh / dz_i."""
        return (self.coordinates.matrix.T @ total) @ (rotation.T / self.bandwidth)

    def gradients(self, totals: FloatArray, rotation: FloatArray) -> FloatArray:
        """Return the gradients with respect to V of several functions, given such sums side by side."""
        parts = np.split(totals, totals.shape[1] // len(rotation), axis=1)
        return np.stack([self.gradient(part, rotation) for part in parts])

    def by_measure(self, products: FloatArray) -> FloatArray:
        """Return h_j = <P_j, G> for products G of the weights with each other."""
        return np.einsum("jab,ab->j", self.comparison.forms, products)

    def sum_of_columns(self, columns: FloatArray) -> FloatArray:
        """Return the sums of a number for each column over the columns of each measure."""
        values = np.zeros(self.comparison.n_measures)
        np.add.at(values, self.comparison.owner, columns)
        return values

    def seen_from_the_bulk(self) -> tuple["MeasuredRows", FloatArray | PilotSample]:
        """Return the same with an origin among most of the rows, and y / sigma of a sample from there.

        The sample are rows evenly spaced through the table, at most `PILOT_ROWS`. A row that is far from the others
        moves the mean away from all of them: approximations that suit the neighbourhood of the origin would suit no
        row, and differences from it would have few digits.
        """
        rows = self.rows.taken(spaced_indices(self.rows.n_rows))
        in_bandwidths = Coordinates(self.coordinates.mean, self.coordinates.matrix / self.bandwidth)
        pilot = PilotSample(rows, in_bandwidths)
        sample = pilot.along_first(FEW_COORDINATES if in_bandwidths.matrix.shape[1] > MANY_COLUMNS else None)
        bulk = bulk_of(sample)
        # A mean within a bandwidth of that of the bulk will do as the origin.
        if np.abs(sample[bulk].mean(axis=0)).max() <= 1.0:
            return self, pilot.made()
        mean = rows.taken(np.flatnonzero(bulk)).total(sum_of_block) / np.count_nonzero(bulk)
        moved = replace(self, coordinates=replace(self.coordinates, mean=mean))
        return moved, PilotSample(rows, replace(in_bandwidths, mean=mean)).made()


def spaced_indices(n_rows: int) -> IntArray:
    """Return at most `PILOT_ROWS` evenly spaced row numbers.

    Parameters
    ----------
    n_rows : int
        Number of rows to choose from.
    """
    count = min(n_rows, PILOT_ROWS)
    return np.arange(count, dtype=np.int64) * n_rows // count


def bulk_of(Z: FloatArray, share: float = 0.95) -> BoolArray:
    """Return which rows belong to the bulk: all, but for few that are too far away for the kernel to see.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows in units of the bandwidth.
    share : float, default=0.95
        Share of the rows that must be in one cluster for the others to be left out.
    """
    origins = Clusters.of(Z).origins
    if origins is None:
        return np.ones(len(Z), dtype=bool)
    clusters, counts = np.unique(origins, return_counts=True)
    if counts.max() < share * len(Z):
        return np.ones(len(Z), dtype=bool)
    return np.asarray(origins == clusters[counts.argmax()])


def principal_rotation(Z: FloatArray) -> FloatArray:
    """Return the rotation to the principal axes of projected rows, by decreasing variance.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projected rows.

    Returns
    -------
    rotation : ndarray of shape (d, d)
        Z @ rotation has a diagonal covariance.
    """
    centred = Z - Z.mean(axis=0)
    return np.ascontiguousarray(np.linalg.eigh(centred.T @ centred)[1][:, ::-1])


def _plain(array: AnyArray) -> AnyArray:
    """Return numbers as the compiled loops read them: C-contiguous, float32 or float64."""
    dtype = array.dtype if array.dtype in (np.float32, np.float64) else np.float64
    return np.ascontiguousarray(array, dtype=dtype)
