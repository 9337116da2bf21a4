"""The Hessian of a Hermite discrepancy: what a pass over the rows sums up for it, and what follows."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import RowWeights
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._kernel import LARGEST_SINGLE
from fairpca.mmd.hermite._basis import HermiteBasis
from fairpca.mmd.hermite._passes import pieces, workspace_for
from fairpca.rows import FieldSums


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

    so that sums over rows of the widened features, two to five times as many, give those of all d derivatives.

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


@dataclass(frozen=True, eq=False)
class SecondOrderSums(FieldSums):
    r"""What the second derivatives of h = sum_b \|M_b\|^2 need of the rows.

    A move B along the directions of a chart moves row i by B'n_i, n_i its coordinates along these directions. With
    M_b = sum_i w_ib Phi(y_i) and the potential u_i of all rows at row i, the second derivative of h is

    .. math:: 2 \sum_b (\partial_{aj} M_b)' (\partial_{cl} M_b) + \sum_i (\partial_a \partial_c u_i)\, n_{ij} n_{il},
              \qquad \partial_{aj} M_b = \sum_i w_{ib} n_{ij}\, \partial_a \Phi(y_i).

    Attributes
    ----------
    moments : ndarray of shape (n_widened, k, q)
        sum_i w_ib n_ij Phi(y_i) of the widened features, which give the derivatives of M.
    bends : ndarray of shape (q * (q + 1) / 2, d * (d + 1) / 2)
        The second sum, for pairs j <= l and a <= c.
    """

    moments: FloatArray
    bends: FloatArray

    def hessian(self, widened: WidenedBasis) -> FloatArray:
        """Return the second derivatives with respect to the columns of B as they were given, of shape (d, q, d, q).

        Parameters
        ----------
        widened : WidenedBasis
            The features; its rotation leads from the columns of B to the axes.
        """
        rotation, (_, k, q) = widened.basis.rotation, self.moments.shape
        d = len(rotation)
        hessian = self._bent(rotation, q)
        for b in range(k):
            slopes = np.stack([widened.derivatives(self.moments[:, b], a) for a in range(d)], axis=1)
            turned = (rotation @ slopes).reshape(len(slopes), d * q)
            hessian += 2 * (turned.T @ turned).reshape(d, q, d, q)
        return hessian

    def _bent(self, rotation: FloatArray, q: int) -> FloatArray:
        """Return the second sum for all pairs, in the given columns."""
        d = len(rotation)
        upper, lower = np.triu_indices(q), np.triu_indices(q)[::-1]
        pairs = np.empty((q, q, self.bends.shape[1]))
        pairs[upper] = pairs[lower] = self.bends
        upper, lower = np.triu_indices(d), np.triu_indices(d)[::-1]
        blocks = np.empty((d, d, q, q))
        blocks[upper] = blocks[lower] = pairs.transpose(2, 0, 1)
        return np.einsum("ea,fc,acjl->ejfl", rotation, rotation, blocks, optimize=True)


def second_order_field(potentials: FloatArray, basis: HermiteBasis) -> FloatArray:
    """Return coefficients c of potentials, then c^(a) for each coordinate, then c^(a)(b) for each pair a <= b.

    Parameters
    ----------
    potentials : ndarray of shape (k, D)
        c.
    basis : HermiteBasis
        The features.

    Returns
    -------
    field : ndarray of shape (1 + d + d * (d + 1) / 2, k, D)
        The coefficients.
    """
    d = len(basis.ratios)
    slopes = [basis.raised(potentials, a) for a in range(d)]
    bends = [basis.raised(slopes[a], c) for a in range(d) for c in range(a, d)]
    return np.stack([potentials, *slopes, *bends])


def second_order_sums_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    widened: WidenedBasis,
    directions: FloatArray,
    field: FloatArray,
    single_precision: bool,
) -> SecondOrderSums:
    """Return the sums of a block.

    Parameters
    ----------
    X, attached : ndarray
        The block.
    weights : RowWeights
        The weights of its rows, such that h = sum_b |M_b|^2.
    frame : Coordinates
        From rows to the axes of the basis.
    widened : WidenedBasis
        The features and their neighbours.
    directions : ndarray of shape (p, q)
        From rows to their coordinates along the directions of the chart.
    field : ndarray of shape (1 + d + d * (d + 1) / 2, k, D)
        See `second_order_field`.
    single_precision : bool
        Make features and products in float32; sums over pieces are in float64 all the same.
    """
    k, q, d, D = weights.n_columns, directions.shape[1], frame.matrix.shape[1], widened.basis.n_features
    moments = np.zeros((widened.n_features, k * q))
    bends = np.zeros((q * (q + 1) // 2, d * (d + 1) // 2))
    workspace, chart = workspace_for(widened.n_features), frame.towards(directions)
    for piece in pieces(X, weights.of(attached), frame, widened.n_features):
        Y, along = piece.Y, np.ascontiguousarray(chart.project(piece.rows).T)
        lost = ~widened.basis.reaches(Y)
        # Rows that no feature reaches add nothing, but squares of their distances would overflow.
        Y[:, lost], along[:, lost] = 0.0, 0.0
        single = single_precision and np.abs(along).max(initial=0.0) < LARGEST_SINGLE
        dtype = np.dtype(np.float32 if single else np.float64)
        features = widened.values(Y, workspace.view(dtype))
        along, piece_weights = along.astype(dtype), piece.weights.astype(dtype)
        moments += features @ (piece_weights[:, None] * along).reshape(k * q, len(piece.rows)).T
        potentials = (field.reshape(-1, D).astype(dtype) @ features[:D]).reshape(len(field), k, len(piece.rows))
        bends += _pair_sums(along, _bends((potentials * piece_weights).sum(axis=1), Y.astype(dtype), widened.basis))
    return SecondOrderSums(moments.reshape(len(moments), k, q), bends)


def _bends(potentials: AnyArray, Y: AnyArray, basis: HermiteBasis) -> AnyArray:
    """Return the second derivatives of a potential at n points for each pair a <= c, of shape (n_pairs, n).

    d/dy_a sum c Phi = sum c^(a) Phi - (1 - t_a) y_a sum c Phi, and the same once more.

    Parameters
    ----------
    potentials : ndarray of shape (1 + d + n_pairs, n)
        The sums of c Phi, c^(a) Phi and c^(a)(c) Phi.
    Y : ndarray of shape (d, n)
        The points.
    basis : HermiteBasis
        The features.
    """
    d, decay = len(Y), basis.decay[:, None].astype(Y.dtype)
    pull = decay * Y
    here, slopes, bends = potentials[0], potentials[1 : 1 + d], potentials[1 + d :]
    a, c = np.triu_indices(d)
    bends = bends - pull[c] * slopes[a] - pull[a] * (slopes[c] - pull[c] * here)
    bends[a == c] -= decay * here
    return bends


def _pair_sums(along: AnyArray, bends: AnyArray) -> AnyArray:
    """Return sum_i n_ij n_il u_i for pairs j <= l and each u, of shape (q * (q + 1) / 2, n_pairs)."""
    nothing = np.zeros((0, len(bends)), dtype=bends.dtype)
    return np.concatenate([nothing, *((along[j] * along[j:]) @ bends.T for j in range(len(along)))])
