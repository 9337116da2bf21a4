"""Fits along decreasing tolerances, each from the answer of another."""
# SPDX-License-Identifier: MIT

from dataclasses import replace
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2
from fairpca.fitting._auto import FLOOR, STRICT
from fairpca.fitting._fitter import Fit, Fitter
from fairpca.solvers import Budget, Solver, Status, WarmStart, solver_from

N_TOLERANCES = 12
"""Points of a curve that looks smooth."""

GAIN_TOLERANCE = 1e-5
"""A thousandth of a point of variance: far less than neighbouring models differ by, and half of the gradients."""


class Tracer:
    """Fits the same problem at several tolerances.

    Parameters
    ----------
    fitter : Fitter
        The problem.
    solver : str or Solver
        What the user asked for.
    """

    def __init__(self, fitter: Fitter, solver: Any) -> None:
        self._fitter = fitter
        if solver == "budget":
            self._quick: Solver = Budget(n_starts=1, gain_tolerance=GAIN_TOLERANCE)
            self._thorough: Solver = Budget()
        else:
            self._quick = self._thorough = solver_from(solver)

    def default_tolerances(self) -> FloatArray:
        """Return tolerances from the MMD^2 of plain PCA, where nothing is given up, to the strictest."""
        pca = self._fitter.fit(LARGEST_MMD2, self._quick, "pca")
        levels = self._fitter.chance.levels(pca.components.rows[: pca.components.n_live])
        strictest = max(STRICT * float(levels.min()), FLOOR)
        # A hair above it, so that rounding cannot make plain PCA miss its own value.
        loosest = max((1 + 1e-9) * pca.result.mmd2, 10 * strictest)
        return np.geomspace(loosest, strictest, N_TOLERANCES)

    def trace(self, tolerances: FloatArray) -> list[Fit]:
        """Return a fit for each tolerance; their variance never grows.

        Parameters
        ----------
        tolerances : ndarray of shape (n_tolerances,)
            Decreasing.
        """
        found: list[Fit] = []
        for tolerance in tolerances.tolist():
            found.append(self._next(tolerance, found))
        self._carry_back(found)
        return _with_fairest_where_unmet(found)

    def _next(self, tolerance: float, found: list[Fit]) -> Fit:
        if found and not found[-1].result.meets:
            # Other starts did not help at a looser tolerance.
            return _at(found[-1], tolerance)
        if not found or not found[-1].warm.is_doubtful:
            start = self._warm(found[-1], tolerance) if found else None
            fit = self._fitter.fit(tolerance, self._quick, start)
            if fit.result.meets and not fit.warm.is_doubtful:
                return fit
        # Here a single fit searches, and the answer of the path is its: which of many optima is found is for one search
        # to say, whoever asks.
        return self._fitter.fit(tolerance, self._thorough)

    def _carry_back(self, found: list[Fit]) -> None:
        """Fit again from a stricter fit that keeps more: what meets the stricter tolerance meets the looser."""
        for index in range(len(found) - 2, -1, -1):
            stricter, here = found[index + 1], found[index]
            tolerance = here.result.tolerance
            if stricter.result.mmd2 > tolerance or (here.result.meets and _kept(stricter) <= _kept(here)):
                continue
            again = self._fitter.fit(tolerance, self._quick, self._warm(stricter, tolerance))
            better = again.result.meets and _kept(again) >= _kept(stricter)
            found[index] = again if better else _at(stricter, tolerance)

    @staticmethod
    def _warm(neighbour: Fit, tolerance: float) -> WarmStart | None:
        mmd2s = neighbour.result.mmd2s
        return neighbour.warm.for_tolerances(mmd2s, np.full(len(mmd2s), tolerance))


def _with_fairest_where_unmet(found: list[Fit]) -> list[Fit]:
    fairest = min(found, key=lambda fit: fit.result.mmd2)
    return [fit if fit.result.meets else _at(fairest, fit.result.tolerance) for fit in found]


def _at(fit: Fit, tolerance: float) -> Fit:
    """Return a fit as the answer for another tolerance."""
    tolerances = np.full(len(fit.result.mmd2s), tolerance)
    result = replace(fit.result, tolerances=tolerances)
    if result.certificate is not None:
        result = replace(result, certificate=replace(result.certificate, budgets_used=result.mmd2s / tolerances))
    if not result.meets:
        result = replace(result, status=Status.TOLERANCE_NOT_MET)
    return replace(fit, result=result)


def _kept(fit: Fit) -> float:
    return fit.result.variance_kept
