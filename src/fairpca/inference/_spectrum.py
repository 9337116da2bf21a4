"""How MMD^2 varies by chance: the spectrum of the covariance of what is compared, in the space of the kernel."""
# SPDX-License-Identifier: MIT

import math
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.sparse.linalg import eigsh
from scipy.special import ndtri
from scipy.stats import chi2, qmc
from sklearn.utils import gen_batches

from fairpca._utils.threads import single_threaded_blas
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.inference._compared_rows import SAMPLE_ROWS, ComparedRows

ACCURACY = 1e-8
"""Of the integral that tail probabilities come from, and the size at which its integrand is cut off."""

N_FREQUENCIES = 256
"""Frequencies of the features by which a covariance is known: its leading eigenvalues to a percent or two."""


@contextmanager
def _interrupts_afterwards() -> Iterator[None]:
    """Hold an interrupt back until the block has ended.

    The first Sobol sequence of a process reads its direction numbers where scipy drops exceptions: an interrupt would
    be lost, and the numbers with it.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        before(heard[0], None)


@dataclass(frozen=True, eq=False)
class SobolFeatures:
    r"""Features whose inner products approximate Gaussian kernels.

    .. math:: k(z, z') \approx \frac1D \sum_{k=1}^{D} \cos(\omega_k'(z - z')), \qquad
              \phi(z) = D^{-1/2} (\cos \omega_k'z, \sin \omega_k'z)_k,

    with frequencies from a scrambled Sobol sequence through the normal quantile function, divided by sigma.

    Attributes
    ----------
    frequencies : ndarray of shape (d, D)
        omega_k for sigma = 1.
    """

    frequencies: FloatArray

    @classmethod
    def draw(cls, d: int, n_frequencies: int, generator: np.random.Generator) -> "SobolFeatures":
        """Draw frequencies.

        Parameters
        ----------
        d : int
            Number of coordinates.
        n_frequencies : int
            D, a power of 2.
        generator : numpy.random.Generator
            Draws them.
        """
        with _interrupts_afterwards():
            sequence = qmc.Sobol(d, rng=generator)
        points = sequence.random(n_frequencies)
        return cls(ndtri(np.clip(points, 1e-12, 1.0 - 1e-12)).T.copy())

    def shared_by(self, factors: Sequence[float]) -> "SobolFeatures":
        """Return features of the mean of kernels of several scales, which share the frequencies in turns.

        Parameters
        ----------
        factors : sequence of float
            The scales.
        """
        turns = np.resize(np.asarray(factors, dtype=np.float64), self.frequencies.shape[1])
        return SobolFeatures(self.frequencies / turns)

    def of(self, Z: FloatArray, bandwidth: float) -> AnyArray:
        """Return features of rows, of shape (n, 2 D), in single precision.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        bandwidth : float
            sigma.
        """
        angles = ((Z / bandwidth) @ self.frequencies).astype(np.float32)
        n, D = angles.shape
        features = np.empty((n, 2 * D), dtype=np.float32)
        np.cos(angles, out=features[:, :D])
        np.sin(angles, out=features[:, D:])
        features *= np.float32(1.0 / np.sqrt(D))
        return features


def _matched(first: float, second: float, third: float) -> tuple[float, float, float]:
    """Return c, a and nu of c + a chi^2_nu with sums of l, l^2 and l^3 as given; where there is no more, a constant."""
    if third <= 0.0 or second <= 0.0:
        return first, 0.0, 0.0
    scale, freedom = third / second, second**3 / third**2
    return first - scale * freedom, scale, freedom


def _inverted(x: float, sizes: FloatArray, freedoms: FloatArray, farthest: float = 2.0**14) -> float | None:
    """Return Imhof's integral up to some u at most; None where so few variables count that it hardly converges."""

    def log_rho(u: float) -> float:
        return float(np.sum(freedoms * np.log1p((sizes * u) ** 2))) / 4.0

    def integrand(u: float) -> float:
        if u == 0.0:
            return 0.5 * float(freedoms @ sizes - x)
        theta = 0.5 * (float(freedoms @ np.arctan(sizes * u)) - x * u)
        return math.sin(theta) * math.exp(-log_rho(u)) / u

    last = 1.0
    while math.exp(-log_rho(last)) / last > ACCURACY:
        last *= 2.0
        if last > farthest:
            return None
    edges = [0.0, *np.geomspace(1.0, max(2.0, last), 2 + int(math.log2(last))).tolist()]
    parts = [quad(integrand, a, b, limit=200, epsabs=ACCURACY / 10)[0] for a, b in pairwise(edges)]
    return 0.5 + math.fsum(parts) / math.pi


@dataclass(frozen=True)
class Spectrum:
    r"""Sums of powers of the eigenvalues of a covariance, and the largest.

    A sum of squares of normal variables with variances l_i has the mean k_1 = \sum l_i, the variance
    k_2 = 2 \sum l_i^2 and the third cumulant k_3 = 8 \sum l_i^3.

    Attributes
    ----------
    first, second, third : float
        Sums of l_i, l_i^2 and l_i^3.
    largest : float
        The largest l_i.
    leading : tuple of float, default=()
        The largest of them, decreasing, as far as they are known.
    """

    first: float
    second: float
    third: float
    largest: float
    leading: tuple[float, ...] = ()

    @classmethod
    def of_matrix(cls, matrix: FloatArray) -> "Spectrum":
        """Take a symmetric, nonnegative matrix."""
        # On a busy machine threads that wait for each other would make this fifty times slower.
        with single_threaded_blas():
            square, leading = matrix @ matrix, _leading_eigenvalues(matrix)
            return cls(
                first=float(np.trace(matrix)),
                second=float(np.trace(square)),
                third=float(np.vdot(square, matrix)),
                largest=leading[0],
                leading=leading,
            )

    def times(self, other: "Spectrum") -> "Spectrum":
        """Return the spectrum of the Kronecker product of two matrices."""
        n_known = max(len(self.leading), len(other.leading))
        return Spectrum(
            self.first * other.first,
            self.second * other.second,
            self.third * other.third,
            self.largest * other.largest,
            tuple(np.sort(np.outer(self.leading, other.leading).ravel())[::-1][:n_known].tolist()),
        )

    @property
    def deviation(self) -> float:
        """Deviation of the sum of squares."""
        return math.sqrt(2.0 * self.second)

    def p_value(self, value: float) -> float:
        r"""Return the probability that the sum of squares Q = \sum_i l_i X_i^2 is at least a value.

        The leading l_i count one by one. The others are taken for c + a \chi^2_\nu with their three moments. By Imhof's
        inversion of the characteristic function, with h_j degrees of freedom of each,

        .. math:: P(Q > x) = \frac12 + \frac1\pi \int_0^\infty \frac{\sin \theta(u)}{u \rho(u)} du, \quad
                  \theta = \tfrac12 \sum_j h_j \arctan(l_j u) - \tfrac12 x u, \quad
                  \rho = \prod_j (1 + l_j^2 u^2)^{h_j / 4}.

        Three moments of everything would do in the tail, but not in the middle where few of the l_i are large.

        Parameters
        ----------
        value : float
            x.
        """
        if self.third <= 0.0:
            return 1.0
        moments = self.first, self.second, self.third
        shift, scale, freedom = _matched(*moments)
        rough = float(chi2.sf((value - shift) / scale, freedom))
        # Of smaller probabilities moments alone say more than the integral.
        if not len(self.leading) or rough < 100 * ACCURACY:
            return rough
        sizes = np.asarray(self.leading) / self.first
        rest = [max(0.0, total / self.first**k - float(np.sum(sizes**k))) for k, total in enumerate(moments, 1)]
        shift, scale, freedom = _matched(*rest)
        freedoms = np.append(np.ones(len(sizes)), freedom)
        found = _inverted(value / self.first - shift, np.append(sizes, scale), freedoms)
        return rough if found is None or found < 100 * ACCURACY else min(1.0, found)


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Measured rows with features.

    Attributes
    ----------
    rows : ComparedRows
        The rows.
    features : SobolFeatures
        Draws of frequencies.
    bandwidth : float
        sigma.
    """

    rows: ComparedRows
    features: SobolFeatures
    bandwidth: float

    @classmethod
    def draw(
        cls,
        rows: ComparedRows,
        bandwidth: float,
        generator: np.random.Generator,
        factors: Sequence[float] = (1.0,),
    ) -> "FeatureRows":
        """Draw frequencies for rows, and for a kernel that is the mean of those of bandwidths sigma times factors."""
        features = SobolFeatures.draw(rows.Z.shape[1], N_FREQUENCIES, generator)
        return cls(rows, features.shared_by(factors), bandwidth)

    def by_chance(self, measure: int) -> Spectrum:
        """Return the spectrum under which a measure varies if attributes are permuted.

        All rows that take part have one covariance S then, and the columns w of the measure the products A = W'W: the
        covariance of all sums is the Kronecker product of both.

        Parameters
        ----------
        measure : int
            Which.
        """
        rows = np.flatnonzero(self.rows.taking_part(measure))
        columns, masses, shares = self.rows.columns_of(measure)[rows], self.rows.masses[rows], self.rows.shares[rows]
        squares = shares * masses**2
        covariance = self._covariance(rows, masses, squares) / squares.sum()
        pooled = Spectrum.of_matrix(covariance * _of_samples(masses, squares))
        return Spectrum.of_matrix((columns * shares[:, None]).T @ columns).times(pooled)

    def by_sides(self, measure: int) -> Spectrum:
        """Return the spectrum under which a measure varies whatever the groups are: each side has its own covariance.

        Parameters
        ----------
        measure : int
            Which; one that compares groups.
        """
        total = np.zeros((2 * len(self.features.frequencies.T),) * 2)
        for column in self.rows.columns_of(measure).T:
            for side in sides_of(column):
                # Each side is a mean with the weights of its rows.
                weights = np.abs(column[side])
                squares = self.rows.shares[side] * weights**2
                total += self._covariance(side, weights, squares) * _of_samples(weights, squares)
        return Spectrum.of_matrix(total)

    def _covariance(self, rows: AnyArray, masses: FloatArray, squares: FloatArray) -> FloatArray:
        """Return sum_i squares_i (phi_i - mean)(phi_i - mean)' with the mean by masses."""
        size = 2 * len(self.features.frequencies.T)
        first, plain, second = np.zeros(size), np.zeros(size), np.zeros((size, size))
        for batch in gen_batches(len(rows), SAMPLE_ROWS):
            phi = self.features.of(self.rows.Z[rows[batch]], self.bandwidth)
            first += masses[batch] @ phi
            plain += squares[batch] @ phi
            scaled = phi * np.sqrt(squares[batch]).astype(np.float32)[:, None]
            second += scaled.T @ scaled
        mean = first / masses.sum()
        cross = np.outer(plain, mean)
        return np.asarray(second - cross - cross.T + squares.sum() * np.outer(mean, mean))


def _of_samples(masses: FloatArray, squares: FloatArray) -> float:
    """Return n / (n - 1) for as many rows as count alike."""
    n = masses.sum() ** 2 / squares.sum()
    return float(n / max(n - 1.0, 1.0))


def _leading_eigenvalues(matrix: FloatArray, count: int = 12) -> tuple[float, ...]:
    """Return the largest eigenvalues, decreasing: a dozen says more of a tail than three moments do."""
    if len(matrix) <= 3 * count or not matrix.any():
        found = np.linalg.eigvalsh(matrix)
    else:
        found = eigsh(matrix, k=count, v0=np.diag(matrix).copy(), tol=1e-6, return_eigenvectors=False)
    return tuple(np.sort(np.maximum(found, 0.0))[::-1][:count].tolist())


def sides_of(column: FloatArray) -> list[AnyArray]:
    """Return the rows of positive and those of negative weight in what is compared.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Weights of rows.
    """
    return [side for side in (np.flatnonzero(column > 0), np.flatnonzero(column < 0)) if len(side)]
