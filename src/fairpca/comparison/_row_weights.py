"""Weights of rows in what is compared, from the few numbers that are attached to each row."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison._attribute import N_FEATURES, features_of
from fairpca.rows import strata_of

NOWHERE = -1
"""Stratum of a row that takes no part."""

MASS = 1
"""Where the mass of a row is among the numbers attached to it; without it every row has the mass 1."""


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
        Where u, the standing of the attribute, is among the numbers attached to rows; NaN for rows without.
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
            The stratum of each row, or `NOWHERE`; then, where rows have them, its mass and its attributes.
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
