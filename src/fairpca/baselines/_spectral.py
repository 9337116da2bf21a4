"""The squared spectral norm of a pair of matrices: its proximal operator and its conjugate."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray


@dataclass(frozen=True)
class Pair:
    """Two square matrices, one per sign of Q, each with a multiple of the identity on the null axes.

    Attributes
    ----------
    matrices : ndarray of shape (2, q, q)
        Live blocks.
    scalars : ndarray of shape (2,)
        Values on the null axes.
    """

    matrices: FloatArray
    scalars: FloatArray

    def __add__(self, other: "Pair") -> "Pair":
        return Pair(self.matrices + other.matrices, self.scalars + other.scalars)

    def __sub__(self, other: "Pair") -> "Pair":
        return Pair(self.matrices - other.matrices, self.scalars - other.scalars)

    def __mul__(self, factor: float) -> "Pair":
        return Pair(self.matrices * factor, self.scalars * factor)

    def squared_norm(self, n_null: int) -> float:
        """Return the squared Frobenius norm, null axes counted `n_null` times."""
        return float(np.vdot(self.matrices, self.matrices) + n_null * np.vdot(self.scalars, self.scalars))


@dataclass(frozen=True)
class SquaredSpectralNorm:
    """g(Z+, Z-) = mu (|Z+|^2 + |Z-|^2), or mu max(|Z+|^2, |Z-|^2) if pooled, with spectral norms.

    Parameters
    ----------
    mu : float
        Weight.
    n_null : int
        Number of null axes on which the scalars stand.
    pooled : bool
        Whether one bound holds for both matrices, as in the text of the paper, or each has its own.
    """

    mu: float
    n_null: int
    pooled: bool

    def value(self, pair: Pair) -> float:
        """Return g."""
        norms = np.linalg.norm(pair.matrices, ord=2, axis=(1, 2)) if pair.matrices.size else np.zeros(2)
        if self.n_null:
            norms = np.maximum(norms, np.abs(pair.scalars))
        squares = norms**2
        return self.mu * float(squares.max() if self.pooled else squares.sum())

    def split(self, pair: Pair, step: float) -> tuple[Pair, Pair, float]:
        """Return Z, W - Z and the conjugate g*((W - Z) / step), where Z minimises step g(Z) + |Z - W|^2 / 2.

        The singular values of W are clipped at a level s where step mu s^2 + sum_i (sigma_i - s)_+^2 / 2 is least: at
        one level for each matrix or, if pooled, at one for both.

        Parameters
        ----------
        pair : Pair
            W.
        step : float
            Weight of g.
        """
        # Only singular values above the level matter, and those are well determined by the Gram matrix.
        squares, vectors = np.linalg.eigh(np.swapaxes(pair.matrices, 1, 2) @ pair.matrices)
        singular = np.sqrt(np.maximum(squares, 0.0))
        on_null = np.abs(pair.scalars)
        levels = self._levels(singular, on_null, step * self.mu)
        above = np.maximum(singular - levels[:, None], 0.0)
        cut = above / np.where(above > 0.0, singular, 1.0)
        excess = np.stack([_outer(*block) for block in zip(pair.matrices, vectors, cut, strict=True)])
        null_excess = np.sign(pair.scalars) * np.maximum(on_null - levels, 0.0)
        rest = Pair(excess, null_excess)
        nuclear = above.sum(axis=1) + self.n_null * np.abs(null_excess)
        return pair - rest, rest, self._conjugate(nuclear / step)

    def _levels(self, singular: FloatArray, on_null: FloatArray, weight: float) -> FloatArray:
        values = np.column_stack([singular, on_null])
        counts = np.ones_like(values)
        counts[:, -1] = self.n_null
        if self.pooled:
            return np.full(2, clip_level(values.ravel(), counts.ravel(), weight))
        return np.array([clip_level(v, c, weight) for v, c in zip(values, counts, strict=True)])

    def _conjugate(self, nuclear: FloatArray) -> float:
        """Return g* from the nuclear norms of its arguments."""
        if self.mu == 0.0:
            return 0.0 if not nuclear.any() else np.inf
        squares = nuclear.sum() ** 2 if self.pooled else float(nuclear @ nuclear)
        return float(squares) / (4.0 * self.mu)


def clip_level(values: FloatArray, counts: FloatArray, weight: float) -> float:
    """Return the s >= 0 that minimises weight s^2 + sum_i counts_i (values_i - s)_+^2 / 2.

    Parameters
    ----------
    values, counts : ndarray of shape (m,)
        Numbers >= 0 and how often each occurs.
    weight : float
        Price of the level, >= 0.
    """
    order = np.argsort(values)[::-1]
    values, counts = values[order], counts[order]
    # With the j largest values above it, the level is their sum over 2 weight + j: the last j that is consistent.
    levels = np.cumsum(counts * values) / np.maximum(2.0 * weight + np.cumsum(counts), np.finfo(float).tiny)
    consistent = np.flatnonzero((values >= levels) & (counts > 0))
    return float(levels[consistent[-1]]) if len(consistent) else 0.0


def _outer(matrix: FloatArray, vectors: FloatArray, cut: FloatArray) -> FloatArray:
    """Return W E diag(cut) E' from the few columns of E that are cut."""
    used = vectors[:, cut > 0.0]
    return (matrix @ (used * cut[cut > 0.0])) @ used.T
