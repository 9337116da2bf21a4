"""Cells for a task: places put together by linear programs, so that groups are alike and labels are known best."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from fairpca._utils.typing import FloatArray, IntArray


def information(values: FloatArray, centres: FloatArray) -> FloatArray:
    """Return cross entropies of the chances of labels but the first: what is not known of a label, in cells.

    Parameters
    ----------
    values : ndarray of shape (k, r)
        Chances in places.
    centres : ndarray of shape (n_cells, r)
        Chances in cells.
    """
    least = np.finfo(np.float64).tiny
    rest, rest_of_centres = (np.maximum(1.0 - each.sum(axis=1), 0.0) for each in (values, centres))
    known = values @ np.log(np.maximum(centres, least)).T
    return -known - rest[:, None] * np.log(np.maximum(rest_of_centres, least))


@dataclass(frozen=True, eq=False)
class Merge:
    """What is known of places that are to be put together into cells.

    Attributes
    ----------
    masses : ndarray of shape (k,)
        Masses of places, which sum to 1.
    values : ndarray of shape (k, r)
        Their chances of labels but the first.
    differences : ndarray of shape (k, n_measures)
        Differences of the shares of two sides in each.
    """

    masses: FloatArray
    values: FloatArray
    differences: FloatArray

    def centres(self, cells: IntArray, n_cells: int) -> FloatArray:
        """Return the mean value of each cell; that of an empty one is no place's."""
        sums = np.bincount(cells, self.masses, minlength=n_cells)
        means = [np.bincount(cells, self.masses * column, minlength=n_cells) for column in self.values.T]
        return np.column_stack(means) / np.maximum(sums, np.finfo(np.float64).tiny)[:, None]

    def distance(self, cells: IntArray) -> float:
        """Return the largest T of the cells."""
        sums = [np.abs(np.bincount(cells, column)).sum() for column in self.differences.T]
        return 0.5 * max(sums, default=0.0)

    def split(self, cells: IntArray, n_cells: int) -> IntArray:
        """Return cells of which those that lose most are parted until there are so many, and none is empty."""
        cells = np.unique(cells, return_inverse=True)[1].ravel()
        while (count := int(cells.max()) + 1) < n_cells:
            costs = information(self.values, self.centres(cells, count))
            # Above what is not known of a label in the place itself.
            own = self.masses * (costs[np.arange(len(cells)), cells] - np.diag(information(self.values, self.values)))
            if own.max() <= len(cells) * np.finfo(np.float64).eps:
                break
            worst = int(np.argmax(np.bincount(cells, own)))
            inside = np.flatnonzero(cells == worst)
            # The place that loses most, and all that are nearer to it than to the mean of the cell.
            seed = inside[np.argmax(own[inside])]
            ends = np.vstack([self.centres(cells, count)[worst], self.values[seed]])
            nearer = np.argmin(information(self.values[inside], ends), axis=1) == 1
            nearer[inside == seed] = True
            if nearer.all():
                break
            cells[inside[nearer]] = count
        return cells

    def fair(self, cells: IntArray, most: float, steps: int = 3) -> IntArray:
        """Return cells whose T is about `most`, by turns of a linear program and new means.

        Parameters
        ----------
        cells : ndarray of int of shape (k,)
            Cells to begin with.
        most : float
            T that is allowed.
        steps : int, default=3
            Turns, of which the later ones change little.
        """
        for _ in range(steps):
            n_cells = int(cells.max()) + 1
            costs = self.masses[:, None] * information(self.values, self.centres(cells, n_cells))
            moved = self._assigned(costs, most)
            if np.array_equal(moved, cells):
                break
            cells = np.unique(moved, return_inverse=True)[1].ravel()
        return cells

    def _assigned(self, costs: FloatArray, most: float) -> IntArray:
        r"""Return the cell of each place at the least cost.

        With x_ij the share of place i that goes to cell j, and e_jm above both signs of \sum_i d_im x_ij,

        .. math:: \min \sum_{ij} x_{ij} c_{ij}, \quad \sum_j x_{ij} = 1, \quad \sum_j e_{jm} \le 2 \cdot \text{most}.

        Few places are shared out: these go where cost and distance, at its price in the program, are least.
        """
        (k, n_cells), n_measures = costs.shape, self.differences.shape[1]
        unit = costs.max() or 1.0
        n_sums = n_cells * n_measures
        sums = sparse.kron(self.differences.T, sparse.eye_array(n_cells))
        each, total = sparse.eye_array(n_sums), sparse.kron(sparse.eye_array(n_measures), np.ones((1, n_cells)))
        above = sparse.block_array([[sums, -each], [-sums, -each], [None, total]], format="csr")
        whole = sparse.hstack(
            [sparse.kron(sparse.eye_array(k), np.ones((1, n_cells))), sparse.csr_array((k, n_sums))], format="csr"
        )
        found = linprog(
            np.concatenate([costs.ravel() / unit, np.zeros(n_sums)]),
            A_ub=above,
            b_ub=np.concatenate([np.zeros(2 * n_sums), np.full(n_measures, 2.0 * most)]),
            A_eq=whole,
            b_eq=np.ones(k),
            method="highs",
        )
        if found.x is None:
            raise RuntimeError(f"no cells for the task were found: {found.message}")
        shares = found.x[: k * n_cells].reshape(k, n_cells)
        cells = np.argmax(shares, axis=1)
        prices = -found.ineqlin.marginals[-n_measures:] * unit
        shared = np.flatnonzero(shares.max(axis=1) < 1.0 - 1e-6)
        kept = np.delete(np.arange(k), shared)
        balance = np.stack([np.bincount(cells[kept], d[kept], minlength=n_cells) for d in self.differences.T], axis=1)
        for place in shared[np.argsort(-np.abs(self.differences[shared]).sum(axis=1))]:
            added = np.abs(balance + self.differences[place]) - np.abs(balance)
            cells[place] = np.argmin(costs[place] + added @ prices)
            balance[cells[place]] += self.differences[place]
        return cells


def fair_levels(merge: Merge, scatter: float, n_levels: int = 18) -> IntArray:
    r"""Return levels from coarse to fine, whose distance between groups is small for what they keep.

    T of K cells on new rows is about T of the population and \sqrt{K - 1} times a `scatter`. Levels are made for some
    sums of both, each with more cells than the one before, so that a number of cells names a level.

    Parameters
    ----------
    merge : Merge
        The places.
    scatter : float
        What one cell adds to T by chance, .4 q.
    n_levels : int, default=18
        Sums that are tried: with more of them cells are more than they need be.

    Returns
    -------
    levels : ndarray of int of shape (at most n_levels + 1, k)
        The cell of each place on each level; on the last, all places are told apart.
    """
    places = np.arange(len(merge.masses))
    found, sums = [places], [merge.distance(places) + scatter * math.sqrt(len(places) - 1)]
    cells = np.zeros(len(places), dtype=np.int64)
    for budget in np.geomspace(min(scatter, sums[0]), sums[0], n_levels):
        cells = _more_cells(merge, cells, budget, scatter)
        found.append(cells)
        sums.append(merge.distance(cells) + scatter * math.sqrt(cells.max()))
    # The finest goes last; a level with larger differences than some finer one would stop every search.
    found, sums = [*found[1:], found[0]], [*sums[1:], sums[0]]
    counts = [int(level.max()) for level in found]
    kept = [i for i in range(len(found)) if sums[i] <= min(sums[i:]) and counts[i] not in counts[i + 1 :] and counts[i]]
    return np.array([found[i] for i in kept], dtype=np.int64)


def _more_cells(merge: Merge, cells: IntArray, budget: float, scatter: float) -> IntArray:
    """Return some more cells with about the sum that is allowed, or the same where the program empties others."""
    count = int(cells.max()) + 1
    for n_cells in (count + 1, count + 2, count + 4):
        room = max(0.0, budget - scatter * math.sqrt(n_cells - 1))
        tried = merge.fair(merge.split(cells, n_cells), room)
        if count <= int(tried.max()) < len(cells) - 1:
            return tried
    return cells
