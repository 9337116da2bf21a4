"""The semidefinite program of FPCA, written in the axes in which its steps are cheap."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.baselines._fantope import Fantope, Projection
from fairpca.data import PrincipalAxes

_NEGLIGIBLE = 1e-12


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


@dataclass(frozen=True)
class Moments:
    """How two groups differ in mean and covariance.

    Attributes
    ----------
    C : ndarray of shape (r, r)
        X'X / (n |X|_F).
    Q : ndarray of shape (r, r)
        Difference of the group covariances, each with its own divisor.
    f : ndarray of shape (r,)
        Difference of the group means.
    """

    C: FloatArray
    Q: FloatArray
    f: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, first: BoolArray | None, masses: FloatArray | None = None) -> "Moments":
        """Take the moments of centred rows; `first` marks the rows of one group, None means no groups.

        Parameters
        ----------
        rows : ndarray of shape (n, r)
            Centred rows.
        first : ndarray of bool of shape (n,) or None
            Rows of one group; None without groups.
        masses : ndarray of shape (n,), default=None
            Masses of the rows; by default 1.
        """
        weighted = rows if masses is None else np.sqrt(masses)[:, None] * rows
        mass, r = float(len(rows) if masses is None else masses.sum()), rows.shape[1]
        C = weighted.T @ weighted / (mass * np.linalg.norm(weighted))
        if first is None:
            return cls(C, np.zeros((r, r)), np.zeros(r))
        parts = [mean_and_covariance(rows[mask], None if masses is None else masses[mask]) for mask in (first, ~first)]
        (mean, covariance), (other_mean, other_covariance) = parts
        return cls(C, covariance - other_covariance, mean - other_mean)

    def shifts(self, form: str) -> tuple[float, float]:
        """Return a and b that make Q + a I and b I - Q positive semidefinite, also on null axes."""
        eigenvalues = np.linalg.eigvalsh(self.Q)
        a, b = max(0.0, -float(eigenvalues[0])), max(0.0, float(eigenvalues[-1]))
        return (a, b) if form == "published" else (max(a, b), max(a, b))


def mean_and_covariance(rows: FloatArray, masses: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the covariance (divisor n) of rows.

    Parameters
    ----------
    rows : ndarray of shape (n, r)
        Rows.
    masses : ndarray of shape (n,) or None
        Their masses; None where all are 1.
    """
    mean = np.average(rows, axis=0, weights=masses)
    centred = rows - mean
    if masses is None:
        return mean, centred.T @ centred / len(rows)
    return mean, (masses[:, None] * centred).T @ centred / masses.sum()


@dataclass(frozen=True)
class FPCAProblem:
    """Maximise <C, P> - g(S+ P, S- P) over the Fantope, in the axes that make Q diagonal.

    There S+ and S- are diagonal, with S+'S+ + S-'S- = (a + b) I, and a mean constraint with delta = 0 has become
    the absence of one axis.

    Attributes
    ----------
    axes : ndarray of shape (p, q)
        The axes on which P may be anything.
    null_axes : ndarray of shape (p, k)
        Axes without variance, on which P is a multiple of I.
    excluded_axes : ndarray of shape (p, 0) or (p, 1)
        The direction of f if delta = 0: P is 0 there.
    C : ndarray of shape (q, q)
        Variance term.
    q : ndarray of shape (q,)
        Eigenvalues of Q.
    shifts : tuple of float
        a and b.
    penalty : SquaredSpectralNorm
        g.
    fantope : Fantope
        The set.
    scale : float
        max <C, P> without any constraint, which plain PCA attains: the unit of objective and gap.
    """

    axes: FloatArray
    null_axes: FloatArray
    excluded_axes: FloatArray
    C: FloatArray
    q: FloatArray
    shifts: tuple[float, float]
    penalty: SquaredSpectralNorm
    fantope: Fantope
    scale: float

    @classmethod
    def of(
        cls,
        rows: FloatArray,
        principal: PrincipalAxes,
        first: BoolArray | None,
        n_components: int,
        delta: float,
        mu: float,
        form: str,
        masses: FloatArray | None = None,
    ) -> "FPCAProblem":
        """Set up the program for centred rows.

        Parameters
        ----------
        rows : ndarray of shape (n, p)
            Centred rows.
        principal : PrincipalAxes
            Their principal axes, with all null axes.
        first : ndarray of bool of shape (n,) or None
            Rows of one of the two groups; None leaves both fairness terms out.
        n_components, delta, mu, form
            As in `FPCA`.
        masses : ndarray of shape (n,), default=None
            Masses of the rows; by default 1.
        """
        live, null = np.split(principal.axes, [principal.rank], axis=1)
        moments = Moments.of(rows @ live, first, masses)
        norm = float(np.linalg.norm(moments.f))
        has_means = norm > _NEGLIGIBLE * np.sqrt(principal.variances.sum())
        bounded = has_means and delta > 0.0
        excluded = moments.f[:, None] / norm if has_means and not bounded else np.empty((principal.rank, 0))
        inside = np.linalg.qr(excluded, mode="complete")[0][:, excluded.shape[1] :]
        q, rotation = np.linalg.eigh(inside.T @ moments.Q @ inside)
        basis = inside @ rotation
        return cls(
            axes=live @ basis,
            null_axes=null,
            excluded_axes=live @ excluded,
            C=basis.T @ moments.C @ basis,
            q=q,
            shifts=moments.shifts(form),
            penalty=SquaredSpectralNorm(mu, null.shape[1], pooled=form == "text"),
            fantope=Fantope(
                n_components,
                null.shape[1],
                mean_difference=basis.T @ moments.f if bounded else None,
                bound=delta**2 if bounded else np.inf,
                exact_trace=form == "published",
            ),
            scale=float(np.sort(np.diag(moments.C))[::-1][:n_components].sum()),
        )

    @property
    def is_linear(self) -> bool:
        """Whether the penalty is absent."""
        return self.penalty.mu == 0.0 or sum(self.shifts) <= _NEGLIGIBLE * self.scale

    @property
    def roots(self) -> FloatArray:
        """Diagonals of S+ and S-, shape (2, q)."""
        a, b = self.shifts
        return np.sqrt(np.maximum(np.stack([self.q + a, b - self.q]), 0.0))

    def images(self, point: Projection) -> Pair:
        """Return (S+ P, S- P)."""
        return Pair(self.roots[:, :, None] * point.matrix, np.sqrt(self.shifts) * point.scalar)

    def adjoint(self, pair: Pair) -> tuple[FloatArray, float]:
        """Return the symmetric part of S+'Z+ + S-'Z-."""
        total = np.einsum("si,sij->ij", self.roots, pair.matrices)
        return (total + total.T) / 2.0, float(np.sqrt(self.shifts) @ pair.scalars)

    def objective(self, point: Projection) -> float:
        """Return <C, P> - g(S+ P, S- P)."""
        return float(np.vdot(self.C, point.matrix)) - self.penalty.value(self.images(point))

    def full_matrix(self, point: Projection) -> FloatArray:
        """Return P in the original features."""
        return self.axes @ point.matrix @ self.axes.T + point.scalar * (self.null_axes @ self.null_axes.T)

    def spectrum(self, point: Projection) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues of P, decreasing, and its eigenvectors as columns; the excluded axis comes last."""
        eigenvalues, vectors = np.linalg.eigh(point.matrix)
        n_null, n_excluded = self.null_axes.shape[1], self.excluded_axes.shape[1]
        values = np.concatenate([eigenvalues, np.full(n_null, point.scalar), np.zeros(n_excluded)])
        axes = np.hstack([self.axes @ vectors, self.null_axes, self.excluded_axes])
        # Rounding must not decide between the excluded axis and others at 0.
        values = np.clip(values, 0.0, 1.0)
        order = np.argsort(-values, kind="stable")
        return values[order], axes[:, order]
