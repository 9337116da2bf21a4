"""What Hermite features leave out of MMD^2, estimated on independent subsamples of the rows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from fairpca._typing import FloatArray, IntArray
from fairpca.mmd._coordinates import MeasuredRows
from fairpca.mmd._gaussian import kernel_products
from fairpca.mmd._hermite_basis import HermiteBasis
from fairpca.rows import StratifiedDraw, normalised

N_PARTS = 16
"""Independent subsamples; the spread of their answers gives the error of the mean."""

CONFIDENCE = 0.999
"""Probability with which the error stays within the stated one."""


@dataclass(frozen=True)
class ResidualSample:
    r"""Random rows in parts, each with its share of every group.

    With D features Phi the kernel is k = Phi'Phi + R. The features give the part of h that belongs to Phi, and a pass
    over the rows the diagonal of R. What remains, sum_{i != j} w_i w_j R(z_i, z_j), is small and has no preferred sign:
    a U-statistic on a few thousand rows knows it far better than the bound (sum_i \|w_i\| sqrt(R_ii))^2 does.

    Attributes
    ----------
    data : MeasuredRows
        All rows.
    drawn : StratifiedDraw
        Those in the sample. Only their projections are ever in memory.
    parts : list of ndarray of int
        Positions in `drawn` of the rows of each part.
    """

    data: MeasuredRows
    drawn: StratifiedDraw
    parts: list[IntArray]

    @classmethod
    def draw(cls, data: MeasuredRows, generator: np.random.Generator, part_rows: int) -> "ResidualSample":
        """Draw rows.

        Parameters
        ----------
        data : MeasuredRows
            All rows.
        generator : numpy.random.Generator
            Draws them and deals them to the parts.
        part_rows : int
            Rows of each part, fewer where the table is short.
        """
        drawn = data.rows.stratified_draw(min(data.rows.n_rows, N_PARTS * part_rows), generator)
        return cls(data, drawn, drawn.deal(N_PARTS, generator))

    def estimate(self, V: FloatArray, basis: HermiteBasis) -> tuple[FloatArray, FloatArray]:
        """Return sum_{i != j} w_ic w_jc R(z_i, z_j) for each column c, and how far the estimate may be off.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        basis : HermiteBasis
            The features.

        Returns
        -------
        values, errors : ndarray of shape (n_columns,)
            The estimates, and the half widths of their confidence intervals.
        """
        Z, weights = self.data.rows.sample(self.drawn.indices, self.data.along(V, basis.rotation).project)
        weights = weights * self.drawn.factors[:, None]
        answers = np.array([_left_out(Z[part], normalised(weights[part]), basis) for part in self.parts])
        quantile = student.ppf((1 + CONFIDENCE) / 2, len(answers) - 1)
        return answers.mean(axis=0), quantile * answers.std(axis=0, ddof=1) / np.sqrt(len(answers))


def _left_out(Z: FloatArray, weights: FloatArray, basis: HermiteBasis) -> FloatArray:
    """Return the U-statistic of R for each column of weights."""
    n_columns = weights.shape[1]
    # Column c is a difference of two distributions: pairs within either and across are averaged separately.
    sides = np.hstack([np.maximum(weights, 0.0), np.minimum(weights, 0.0)])
    features = basis.values(np.ascontiguousarray(Z.T))
    residual = 1 - np.einsum("fi,fi->i", features, features)
    moments = features @ sides
    products = kernel_products(Z, sides, 1.0)
    squares = np.einsum("ic,ic->c", sides, sides)
    within = np.einsum("ic,ic->c", sides, products) - np.einsum("fc,fc->c", moments, moments) - residual @ sides**2
    within /= 1 - squares
    first, second = np.hsplit(moments, 2)
    across = np.einsum("ic,ic->c", sides[:, :n_columns], products[:, n_columns:]) - np.einsum("fc,fc->c", first, second)
    return within[:n_columns] + within[n_columns:] + 2 * across
