"""The features of a basis together with their neighbours, which make up their derivatives."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.mmd.hermite._basis import HermiteBasis


@dataclass(frozen=True)
class Raise:
    """New features, made from old ones by raising the same order in the same coordinate.

    Attributes
    ----------
    coordinate, order : int
        The order n in coordinate a that is raised.
    parents, grandparents : ndarray of shape (k,)
        Numbers of the features that are raised, and of those one order lower than these; only used where n > 0.
    made : slice
        Numbers of the new ones.
    """

    coordinate: int
    order: int
    parents: IntArray
    grandparents: IntArray
    made: slice


@dataclass(frozen=True)
class WidenedBasis:
    r"""The D features of a basis and, after them, all that are one order higher than one of them in one coordinate.

    By the recurrences of `HermiteBasis` the derivative of a feature is a sum of its neighbours,

    .. math:: \partial_a \Phi_n = \kappa_a (\sqrt{n_a}\, \Phi_{n - e_a} - \sqrt{n_a + 1}\, \Phi_{n + e_a}), \quad
              \kappa_a^2 = (1 - t_a) / (1 + t_a),

    so that sums over rows of the widened features, two to five times as many, tell those of all d derivatives.

    Attributes
    ----------
    basis : HermiteBasis
        The features.
    raises : list of Raise
        How the others are made.
    above : ndarray of shape (d, D)
        Number of the feature one order higher in each coordinate.
    n_features : int
        Their number with the new ones.
    """

    basis: HermiteBasis
    raises: list[Raise]
    above: IntArray
    n_features: int

    @classmethod
    def of(cls, basis: HermiteBasis) -> "WidenedBasis":
        """Widen a basis."""
        coordinates, parents = np.nonzero(basis.above == basis.n_features)
        orders = basis.orders[parents, coordinates]
        new = basis.orders[parents]
        new[np.arange(len(new)), coordinates] += 1
        # Most can be made in several ways; from the lowest order the recurrence is shortest.
        lowest_first = np.argsort(orders, kind="stable")
        _, first, inverse = np.unique(new[lowest_first], axis=0, return_index=True, return_inverse=True)
        makers = lowest_first[first]
        sequence = np.lexsort((orders[makers], coordinates[makers]))
        numbers = np.empty_like(sequence)
        numbers[sequence] = basis.n_features + np.arange(len(sequence))
        above = basis.above.copy()
        above[coordinates[lowest_first], parents[lowest_first]] = numbers[inverse.ravel()]
        makers = makers[sequence]
        raises = _raises(basis, coordinates[makers], orders[makers], parents[makers])
        return cls(basis, raises, above, basis.n_features + len(makers))

    def values(self, Y: FloatArray, workspace: AnyArray) -> AnyArray:
        """Return the features at n points, of shape (n_features, n).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points, in the axes.
        workspace : ndarray
            At least `n_features` n numbers to overwrite; the features have its dtype.
        """
        features = workspace[: self.n_features * Y.shape[1]].reshape(self.n_features, -1)
        self.basis.values(Y, features[: self.basis.n_features].reshape(-1))
        steps = (self.basis.slopes[:, None] * Y).astype(features.dtype)
        for each in self.raises:
            new, scale = features[each.made], 1 / math.sqrt(each.order + 1)
            np.multiply(features[each.parents], scale * steps[each.coordinate], out=new)
            if each.order:
                ratio = float(self.basis.ratios[each.coordinate])
                new -= (scale * math.sqrt(each.order) * ratio) * features[each.grandparents]
        return features

    def derivatives(self, moments: FloatArray, a: int) -> FloatArray:
        """Return the moments of the derivatives of the D features with respect to coordinate a.

        Parameters
        ----------
        moments : ndarray of shape (n_features, n_vectors)
            Moments of the widened features.
        a : int
            The coordinate.
        """
        basis, orders = self.basis, self.basis.orders[:, a, None]
        kappa = math.sqrt((1 - basis.ratios[a]) / (1 + basis.ratios[a]))
        # Where there is none below, the order and with it the factor is 0.
        lower = np.sqrt(orders) * moments[basis.below[a]]
        return kappa * (lower - np.sqrt(orders + 1.0) * moments[self.above[a]])


def _raises(basis: HermiteBasis, coordinates: IntArray, orders: IntArray, parents: IntArray) -> list[Raise]:
    """Return the runs of a list of new features, which is sorted by coordinate and order."""
    changes = (np.diff(coordinates) != 0) | (np.diff(orders) != 0)
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(parents)]
    raises = []
    for start, stop in pairwise(edges):
        a, of_run = int(coordinates[start]), parents[start:stop]
        made = slice(basis.n_features + start, basis.n_features + stop)
        raises.append(Raise(a, int(orders[start]), of_run, basis.below[a, of_run], made))
    return raises
