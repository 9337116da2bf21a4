"""Populations of two groups, each a mixture of normal distributions, whose MMD^2 after a projection is known."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class NormalPeople:
    """Two groups of equal share; each is a mixture of two normal distributions of equal share.

    Attributes
    ----------
    means : ndarray of shape (2, 2, p)
        By group and part.
    roots : ndarray of shape (2, 2, p, p)
        L of the covariances LL'.
    """

    means: np.ndarray
    roots: np.ndarray

    @classmethod
    def made(cls, seed, p=6, shift=1.0, spread=0.3):
        """Groups that differ by a shift along some direction and, less, in the covariances of their parts."""
        rng = np.random.default_rng(seed)
        shared, parts = rng.normal(size=(p, p)), rng.normal(size=(2, p))
        roots = shared + spread * rng.normal(size=(2, 2, p, p))
        shifts = shift * rng.normal(size=p) * np.array([[0.5], [-0.5]])
        return cls(parts[None] + shifts[:, None], roots)

    def draw(self, n, seed):
        """Return n rows and their groups."""
        rng = np.random.default_rng(seed)
        group, part = rng.integers(2, size=n), rng.integers(2, size=n)
        noise = rng.normal(size=(n, self.means.shape[2]))
        return self.means[group, part] + np.einsum("ijk,ik->ij", self.roots[group, part], noise), group

    def mmd2(self, model):
        r"""Return MMD^2 between the groups after projection, exactly.

        For z ~ N(m, A) and z' ~ N(m', B) the mean of exp(-|z - z'|^2 / (2 s^2)) is
        |I + (A + B) / s^2|^(-1/2) exp(-(m - m')'(s^2 I + A + B)^(-1)(m - m') / 2).
        """
        V = (model.components_[: model.n_live_components_] / model.scale_).T
        means, roots = (self.means @ V).reshape(4, -1), (np.swapaxes(V, 0, 1) @ self.roots).reshape(4, V.shape[1], -1)
        covariances = roots @ np.swapaxes(roots, 1, 2)
        weights = np.array([0.5, 0.5, -0.5, -0.5])
        square = model.bandwidth_**2 * np.eye(V.shape[1])
        return sum(
            weights[a] * weights[b] * _mean_kernel(means[a] - means[b], square, covariances[a] + covariances[b])
            for a in range(4)
            for b in range(4)
        )


def _mean_kernel(difference, square, covariance):
    wide = square + covariance
    quadratic = difference @ np.linalg.solve(wide, difference)
    return np.sqrt(np.linalg.det(square) / np.linalg.det(wide)) * np.exp(-quadratic / 2)
