"""A table that is ready to be searched, however many rows it has and wherever they are."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.data._axes import PrincipalAxes
from fairpca.data._scaling import ColumnScaling
from fairpca.mmd import Measurement
from fairpca.solvers import Callback, Solution, Solver, Start, WarmStart


class Posed(Protocol):
    """The fair subspace problem on some rows, however many they are."""

    def solve(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
        pilot: WarmStart | None = None,
    ) -> Solution:
        """Solve it.

        Parameters
        ----------
        tolerances : ndarray of shape (n_measures,)
            tau.
        solver : Solver
            Solves.
        start : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point, in principal axes.
        generator : numpy.random.Generator
            Draws what the solver draws.
        callback : callable or None
            Called with each `OuterStep`.
        pilot : WarmStart, default=None
            An answer of `solve_pilot`, from which all rows are used.
        """

    def solve_pilot(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
    ) -> Solution | None:
        """Solve it on a sample of the rows; None where they are so few that all of them are used at once."""

    def remeasured(self, components: FloatArray) -> Measurement | None:
        """Return h of finished components once more; None where the last measurement was of them already.

        Parameters
        ----------
        components : ndarray of shape (k, p)
            Components that carry variance, in the scaled features.
        """


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Rows in principal axes, with the fair subspace problem on them.

    Attributes
    ----------
    scaling : ColumnScaling
        What was subtracted from the columns and what divided them.
    axes : PrincipalAxes
        Principal axes of the scaled rows.
    n_rows : int
        Number of rows.
    mass : float
        n, the sum of their masses.
    bandwidth : float
        sigma.
    factors : tuple of float
        The kernel is the mean of those of bandwidths sigma times these.
    n_components : int
        d.
    method : str
        How the discrepancy of all rows is computed.
    problem : Posed or None
        The problem, in principal axes; None where nothing is compared.
    """

    scaling: ColumnScaling
    axes: PrincipalAxes
    n_rows: int
    mass: float
    bandwidth: float
    factors: tuple[float, ...]
    n_components: int
    method: str
    problem: Posed | None
