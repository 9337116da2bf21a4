"""Projections of the program of FPCA: the Fantope with a bound on the group means, the squared spectral norm."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray

_MAX_NEWTON = 100


@dataclass(frozen=True)
class Projection:
    """A point of the set.

    Attributes
    ----------
    matrix : ndarray of shape (m, m)
        P, of which the null axes, where there are such, are the last row and column.
    multiplier : float
        lambda >= 0 of the constraint f'Pf <= delta^2; 0 where it is slack.
    """

    matrix: FloatArray
    multiplier: float


@dataclass(frozen=True)
class Fantope:
    """The set {P : 0 <= P <= I, tr P = d, f'Pf <= delta^2}, for P that is a multiple of I on the null axes.

    Rows of data carry no information about their null space, so an optimal P may be averaged over its rotations: one
    axis, which nothing connects with the others, stands for all null axes, however many there are.

    Parameters
    ----------
    n_components : int
        d.
    counts : ndarray of shape (m,)
        How many axes each stands for: one, but for null axes.
    mean_difference : ndarray of shape (m,) or None
        f; None leaves out its constraint.
    bound : float
        delta^2, greater than 0 if there is a mean difference.
    exact_trace : bool, default=True
        Whether tr P = d; otherwise tr P <= d.
    """

    n_components: int
    counts: FloatArray
    mean_difference: FloatArray | None = None
    bound: float = np.inf
    exact_trace: bool = True

    def project(self, matrix: FloatArray, guess: float = 0.0) -> Projection:
        """Return the nearest point of the set in the Frobenius norm.

        P(lambda), the projection of A - lambda ff' without the mean constraint, has a non-increasing f'Pf, so lambda is
        the root of one monotone function of one variable.

        Parameters
        ----------
        matrix : ndarray of shape (m, m)
            A, symmetric.
        guess : float, default=0.0
            Where to look for the multiplier first.
        """
        f = self.mean_difference
        if f is None:
            return self._spectral(matrix).point(0.0)
        outer = np.outer(f, f)
        low, high, multiplier = -1.0, np.inf, guess  # below 0: that 0 itself is slack has not been ruled out
        for _ in range(_MAX_NEWTON):
            spectrum = self._spectral(matrix - multiplier * outer)
            excess, slope = spectrum.along(f)
            excess -= self.bound
            slack = multiplier == 0.0 and excess <= 0.0
            exhausted = np.isfinite(high) and high - low <= 1e-15 * high
            if slack or exhausted or abs(excess) <= 1e-13 * self.bound:
                break
            low, high = (multiplier, high) if excess > 0 else (low, multiplier)
            multiplier = _safeguarded(multiplier, excess, slope, low, high, float(f @ f))
        return spectrum.point(multiplier)

    def upper_bound(self, matrix: FloatArray, multiplier: float) -> float:
        """Return a bound on max <M, P> over the set, attained for the optimal multiplier of the mean constraint.

        Parameters
        ----------
        matrix : ndarray of shape (m, m)
            M, symmetric.
        multiplier : float
            Any number >= 0: max <M, P> <= (sum of the d largest eigenvalues of M - lambda ff') + lambda delta^2.
        """
        offset = 0.0
        if self.mean_difference is not None:
            matrix = matrix - multiplier * np.outer(self.mean_difference, self.mean_difference)
            offset = multiplier * self.bound
        values, vectors = np.linalg.eigh(matrix)
        values, counts = values[::-1], (self.counts @ vectors**2)[::-1]
        taken = np.clip(self.n_components - (np.cumsum(counts) - counts), 0.0, counts)
        return float(taken @ (values if self.exact_trace else np.maximum(values, 0.0))) + offset

    def _spectral(self, matrix: FloatArray) -> "_Clipped":
        eigenvalues, vectors = np.linalg.eigh(matrix)
        counts = self.counts @ vectors**2
        shift = trace_shift(eigenvalues, counts, self.n_components, self.exact_trace)
        return _Clipped(eigenvalues, vectors, counts, shift, self.exact_trace)


def trace_shift(values: FloatArray, counts: FloatArray, total: float, exact: bool = True) -> float:
    """Return theta such that sum_i counts_i clip(values_i - theta, 0, 1) = total.

    Parameters
    ----------
    values, counts : ndarray of shape (m,)
        Eigenvalues and how often each occurs; the counts sum to at least `total`.
    total : float
        The trace.
    exact : bool, default=True
        False asks for a sum of at most `total`, so that theta = 0 is enough where the clipped values sum to less.
    """
    if not exact and float(counts @ np.clip(values, 0.0, 1.0)) <= total:
        return 0.0
    # The sum is piecewise linear in theta: find the piece, then solve on it.
    breakpoints = np.sort(np.concatenate([values, values - 1.0]))
    sums = np.clip(values - breakpoints[:, None], 0.0, 1.0) @ counts
    after = int(np.argmax(sums <= total))
    if after == 0 or sums[after] == total:
        return float(breakpoints[after])
    fraction = (sums[after - 1] - total) / (sums[after - 1] - sums[after])
    return float(breakpoints[after - 1] + fraction * (breakpoints[after] - breakpoints[after - 1]))


@dataclass(frozen=True)
class _Clipped:
    """Eigenvalues shifted by theta and clipped to [0, 1], with what Newton's method needs."""

    eigenvalues: FloatArray
    vectors: FloatArray
    counts: FloatArray
    shift: float
    exact_trace: bool

    @property
    def clipped(self) -> FloatArray:
        return np.clip(self.eigenvalues - self.shift, 0.0, 1.0)

    def point(self, multiplier: float) -> Projection:
        return Projection((self.vectors * self.clipped) @ self.vectors.T, multiplier)

    def along(self, f: FloatArray) -> tuple[float, float]:
        """Return f'P(lambda)f and its derivative, -<D(ff'), ff'> with D the derivative of the projection."""
        squares = (self.vectors.T @ f) ** 2
        clipped = self.clipped
        inside = (clipped > 0.0) & (clipped < 1.0)
        gaps = self.eigenvalues[:, None] - self.eigenvalues
        same = np.abs(gaps) <= 1e-14 * (1.0 + np.abs(self.eigenvalues).max())
        differences = clipped[:, None] - clipped
        ratios = np.where(same, inside[:, None] & inside, differences / np.where(same, 1.0, gaps))
        slope = -float(squares @ ratios @ squares)
        if inside.any() and (self.exact_trace or self.shift > 0.0):
            slope += float(squares[inside].sum()) ** 2 / float(self.counts[inside].sum())
        return float(squares @ clipped), slope


def _safeguarded(current: float, excess: float, slope: float, low: float, high: float, scale: float) -> float:
    """Return Newton's next multiplier if it stays in the bracket, else halve the bracket or double the multiplier."""
    newton = current - excess / slope if slope < 0.0 else np.inf  # a flat piece has no Newton step
    if newton <= 0.0 and low < 0.0:
        return 0.0
    if low < newton < high:
        return newton
    if np.isinf(high):
        return max(2.0 * current, 1.0 / scale)
    return max(0.0, (low + high) / 2.0)


@dataclass(frozen=True)
class SquaredSpectralNorm:
    """g(Z+, Z-) = mu (|Z+|^2 + |Z-|^2), or mu max(|Z+|^2, |Z-|^2) if pooled, with spectral norms.

    Pairs are arrays of shape (2, m, m), one matrix per sign of Q.

    Parameters
    ----------
    mu : float
        Weight.
    counts : ndarray of shape (m,)
        How many axes each stands for.
    pooled : bool
        Whether one bound holds for both matrices, as in the text of the paper, or each has its own.
    """

    mu: float
    counts: FloatArray
    pooled: bool

    def value(self, pair: FloatArray) -> float:
        """Return g."""
        squares = np.linalg.norm(pair, ord=2, axis=(1, 2)) ** 2
        return self.mu * float(squares.max() if self.pooled else squares.sum())

    def split(self, pair: FloatArray, step: float) -> tuple[FloatArray, FloatArray, float]:
        """Return Z, W - Z and the conjugate g*((W - Z) / step), where Z minimises step g(Z) + |Z - W|^2 / 2.

        The singular values of W are clipped at a level s where step mu s^2 + sum_i (sigma_i - s)_+^2 / 2 is least: at
        one level for each matrix or, if pooled, at one for both.

        Parameters
        ----------
        pair : ndarray of shape (2, m, m)
            W.
        step : float
            Weight of g.
        """
        # Only singular values above the level matter, and those are well determined by the Gram matrix.
        squares, vectors = np.linalg.eigh(np.swapaxes(pair, 1, 2) @ pair)
        singular, counts = np.sqrt(np.maximum(squares, 0.0)), self.counts @ vectors**2
        if self.pooled:
            levels = np.full(2, clip_level(singular.ravel(), counts.ravel(), step * self.mu))
        else:
            levels = np.array([clip_level(*each, step * self.mu) for each in zip(singular, counts, strict=True)])
        above = np.maximum(singular - levels[:, None], 0.0)
        cut = above / np.where(above > 0.0, singular, 1.0)
        excess = np.stack([_outer(*block) for block in zip(pair, vectors, cut, strict=True)])
        return pair - excess, excess, self._conjugate(np.sum(counts * above, axis=1) / step)

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
