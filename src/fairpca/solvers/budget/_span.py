"""A part of the axes, and the problem on it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import EvaluationCounts, FairSubspaceProblem

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
            discrepancy=problem.discrepancy.along(self.lift(np.eye(self.rank + self.n_null))),
            rank=self.rank,
            mean_differences=self.lower(problem.mean_differences),
            total=problem.total_variance,
            counts=EvaluationCounts(),
            memory={},
        )
