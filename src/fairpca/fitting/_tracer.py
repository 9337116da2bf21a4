"""Fits along decreasing tolerances, each from the answer of another, and to half of the chance level."""
# SPDX-License-Identifier: MIT

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2
from fairpca.fitting._fitter import Fit, Fitter
from fairpca.solvers import Budget, Solver, Status, WarmStart, solver_from

SIGNIFICANCE = 0.05
"""Plain PCA is kept where random groups would differ as much with more than this probability."""

SHARE_OF_CHANCE = 0.5
"""Below half of the chance level variance falls fast, and what new people show hardly changes."""

FLOOR = 1e-4
"""MMD = 0.01 says that no smooth score, a function of the kernel with values between -1 and 1, has group means more
than 0.01 apart: one point. Chance levels shrink like 1 / n; asking for less costs variance for nothing relevant."""

STRICT = 0.05
"""Share of the chance level below which a tolerance fits single rows: of many optima it finds one, and new people show
no less."""

SETTLED = 0.1
"""The chance level depends on the subspace: it is computed again until tolerances move by less than this share."""

MOST_ROUNDS = 3

N_TOLERANCES = 12
"""Points of a curve that looks smooth."""

GAIN_TOLERANCE = 1e-5
"""A thousandth of a point of variance: far less than neighbouring models differ by, and half of the gradients."""


def fit_to_chance(fitter: Fitter, solver: Solver) -> Fit:
    r"""Fit with the tolerance tau_j = max(b_j / 2, 1e-4), or keep plain PCA where random groups would differ as much.

    b_j is the chance level of measure j, its mean over random groups of the same sizes: for two of them
    (1/m + 1/n)(1 - \bar k) at the answer.

    Parameters
    ----------
    fitter : Fitter
        The problem.
    solver : Solver
        Solves.
    """
    pca = fitter.fit(LARGEST_MMD2, solver, "pca")
    chance = fitter.chance
    live = pca.components.rows[: pca.components.n_live]
    tolerances = _tolerances(chance.levels(live))
    mmd2s = pca.result.mmd2s[fitter.unique]
    if np.all(mmd2s <= tolerances) or chance.p_value(live, mmd2s) > SIGNIFICANCE:
        return _with_tolerances(pca, fitter, np.maximum(mmd2s, tolerances))
    # Where rows are many a sample settles the tolerances before all of them are used.
    in_time = _within_its_time(solver)
    pilot, tolerances = _settled(fitter.pilot, fitter, in_time, tolerances)
    if pilot is None:
        return _settled(fitter.fit, fitter, in_time, tolerances)[0]
    warm = pilot.warm.for_tolerances(pilot.result.mmd2s, fitter.strictest(tolerances)) or pilot.warm
    return _settled(partial(fitter.fit, pilot=warm), fitter, in_time, tolerances)[0]


def _settled(
    fit: Callable[..., Fit | None], fitter: Fitter, solver: Callable[[], Solver], tolerances: FloatArray
) -> tuple[Any, FloatArray]:
    """Fit until the tolerances are those of the answer; return it and its tolerances."""
    warm = None
    for _ in range(MOST_ROUNDS):
        found = fit(tolerances, solver(), warm)
        if found is None:
            break
        live = found.components.rows[: found.components.n_live]
        before, tolerances = tolerances, _tolerances(fitter.chance.levels(live))
        if not found.result.meets or np.all(np.abs(tolerances - before) <= SETTLED * before):
            break
        warm = found.warm.for_tolerances(found.result.mmd2s, fitter.strictest(tolerances))
    return found, tolerances


def _within_its_time(solver: Solver) -> Callable[[], Solver]:
    """Return what gives the solver with the time that is left: several solves share one limit."""
    limit, began = solver.time_limit, time.perf_counter()
    return lambda: solver if limit is None else solver.within(max(limit - (time.perf_counter() - began), 1e-3))


def _tolerances(levels: FloatArray) -> FloatArray:
    """Return half of the chance levels, but not less than the floor."""
    return np.maximum(SHARE_OF_CHANCE * levels, FLOOR)


def _with_tolerances(fit: Fit, fitter: Fitter, tolerances: FloatArray) -> Fit:
    """Return a fit as the answer for tolerances that it meets."""
    return replace(fit, result=replace(fit.result, tolerances=fitter.loosest(tolerances)))


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
            quick: Solver = Budget(n_starts=1, gain_tolerance=GAIN_TOLERANCE)
            thorough: Solver = Budget()
        else:
            quick = thorough = solver_from(solver)
        self._quick, self._thorough = _within_its_time(quick), _within_its_time(thorough)

    def default_tolerances(self) -> FloatArray:
        """Return tolerances from the MMD^2 of plain PCA, where nothing is given up, to the strictest."""
        pca = self._fitter.fit(LARGEST_MMD2, self._quick(), "pca")
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
            fit = self._fitter.fit(tolerance, self._quick(), start)
            if fit.result.meets and not fit.warm.is_doubtful:
                return fit
        # Here a single fit searches, and the answer of the path is its: which of many optima is found is for one search
        # to say, whoever asks.
        return self._fitter.fit(tolerance, self._thorough())

    def _carry_back(self, found: list[Fit]) -> None:
        """Fit again from a stricter fit that keeps more: what meets the stricter tolerance meets the looser."""
        for index in range(len(found) - 2, -1, -1):
            stricter, here = found[index + 1], found[index]
            tolerance = here.result.tolerance
            if stricter.result.mmd2 > tolerance or (here.result.meets and _kept(stricter) <= _kept(here)):
                continue
            again = self._fitter.fit(tolerance, self._quick(), self._warm(stricter, tolerance))
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
