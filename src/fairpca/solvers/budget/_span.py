"""A part of the axes, and the problem on it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Discrepancy, EvaluationCounts, FairSubspaceProblem

DEPENDENT = 1e-10
"""Singular value, relative to the largest, below which directions add nothing to each other."""


@dataclass(frozen=True, eq=False)
class Span:
    """The span of the first m axes, of a few directions in the live axes after them, and of some null axes.

    S is diagonal, so the first axes and the directions do not meet in it: with these rotated to be diagonal too, the
    problem on the span is one in principal axes again.

    Attributes
    ----------
    n_axes : int
        Number of all axes.
    n_leading : int
        m.
    tail : ndarray of shape (rank - m, c)
        Orthonormal directions in the live axes from m on, by decreasing variance.
    n_null : int
        Number of null axes, the last ones.
    """

    n_axes: int
    n_leading: int
    tail: FloatArray
    n_null: int

    @classmethod
    def of(cls, problem: FairSubspaceProblem, n_leading: int, directions: FloatArray) -> "Span":
        """Find the span.

        Parameters
        ----------
        problem : FairSubspaceProblem
            The problem on all axes.
        n_leading : int
            m.
        directions : ndarray of shape (p, c)
            Vectors that it holds, as far as they lie in the live axes.
        """
        p, rank = len(problem.variances), problem.rank
        tails = directions[n_leading:rank]
        lengths = np.linalg.norm(tails, axis=0)
        tails = tails[:, lengths > 0] / lengths[lengths > 0]
        basis, sizes, _ = np.linalg.svd(tails, full_matrices=False)
        basis = basis[:, sizes > DEPENDENT * sizes.max(initial=0.0)]
        rotation = np.linalg.eigh((basis * problem.variances[n_leading:rank, None]).T @ basis)[1][:, ::-1]
        return cls(p, n_leading, basis @ rotation, min(p - rank, problem.n_components))

    @property
    def rank(self) -> int:
        """Number of its live axes."""
        return self.n_leading + self.tail.shape[1]

    @property
    def directions(self) -> FloatArray:
        """Its directions beside the first axes and null ones, in all axes."""
        return self.lift(np.eye(self.rank + self.n_null)[:, self.n_leading : self.rank])

    def lift(self, inside: FloatArray) -> FloatArray:
        """Return vectors of the span in all axes.

        Parameters
        ----------
        inside : ndarray of shape (k, c)
            Vectors in the axes of the span.
        """
        m, rank = self.n_leading, self.n_leading + len(self.tail)
        lifted = np.zeros((self.n_axes, inside.shape[1]))
        lifted[:m] = inside[:m]
        lifted[m:rank] = self.tail @ inside[m : self.rank]
        lifted[self.n_axes - self.n_null :] = inside[self.rank :]
        return lifted

    def lower(self, vectors: FloatArray) -> FloatArray:
        """Return what of vectors in all axes lies in the span.

        Parameters
        ----------
        vectors : ndarray of shape (..., p, c)
            The vectors.
        """
        m, rank = self.n_leading, self.n_leading + len(self.tail)
        tails, null = self.tail.T @ vectors[..., m:rank, :], vectors[..., self.n_axes - self.n_null :, :]
        return np.concatenate([vectors[..., :m, :], tails, null], axis=-2)

    def outside(self, vectors: FloatArray) -> FloatArray:
        """Return what of vectors in all axes lies in the live axes, but not in the span."""
        m, rank = self.n_leading, self.n_leading + len(self.tail)
        left = np.zeros_like(vectors)
        left[m:rank] = vectors[m:rank] - self.tail @ (self.tail.T @ vectors[m:rank])
        return left

    def restricted(self, problem: FairSubspaceProblem) -> FairSubspaceProblem:
        """Return a problem for frames in the span, with new counters."""
        m, rank = self.n_leading, problem.rank
        tails = np.einsum("ij,i,ij->j", self.tail, problem.variances[m:rank], self.tail)
        return replace(
            problem,
            variances=np.concatenate([problem.variances[:m], tails, np.zeros(self.n_null)]),
            discrepancy=DiscrepancyWithin(problem.discrepancy, self),
            rank=self.rank,
            mean_differences=self.lower(problem.mean_differences),
            total=problem.total_variance,
            counts=EvaluationCounts(),
        )


class DiscrepancyWithin:
    """A discrepancy of frames in a span.

    Parameters
    ----------
    discrepancy : Discrepancy
        That of frames in all axes.
    span : Span
        The span.
    """

    def __init__(self, discrepancy: Discrepancy, span: Span) -> None:
        self._whole = discrepancy
        self._span = span
        self.n_measures = discrepancy.n_measures
        self.n_rows = discrepancy.n_rows
        self.is_exact = discrepancy.is_exact
        self.has_exact_hessian = discrepancy.has_exact_hessian
        self.hessian_rows = discrepancy.hessian_rows

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""
        return self._whole.value(self._span.lift(V))

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, k, d)."""
        values, gradients = self._whole.evaluate(self._span.lift(V))
        return values, self._span.lower(gradients)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB."""
        lift, whole = self._span.lift, self._whole
        hessian = whole.hessian(lift(V), lift(Q), lift(gradient), multipliers, single_precision)
        self.has_exact_hessian, self.hessian_rows = whole.has_exact_hessian, whole.hessian_rows
        return hessian

    def isolated_directions(self, V: FloatArray, smallest: FloatArray) -> FloatArray:
        """Return unit vectors towards rows that stand alone, see `Discrepancy.isolated_directions`."""
        directions = self._span.lower(self._whole.isolated_directions(self._span.lift(V), smallest))
        return directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300)

    def hessian_product(
        self, V: FloatArray, direction: FloatArray, multipliers: FloatArray | None = None
    ) -> FloatArray:
        """Return the derivative along `direction` of the gradient of sum_j lambda_j h_j."""
        product = self._whole.hessian_product(self._span.lift(V), self._span.lift(direction), multipliers)
        return self._span.lower(product)
