"""What goes into a run of the budget solver, and what comes out of it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers.budget._curvature import View

if TYPE_CHECKING:
    from fairpca.solvers.budget._run import BudgetRun

OTHER_CYCLES = 25
"""Hessians that another start may cost; a good one needs fewer."""


@dataclass(frozen=True)
class Care:
    """How much a run does for its way.

    Attributes
    ----------
    forcing : float
        Share of the gain expected at first at which a cycle ends.
    near : float
        Distance from the centre of a chart up to which its Hessian serves the next cycle as well.
    hopeless : float
        Share of the variance to beat below which the bound on what a run can reach ends it.
    """

    forcing: float
    near: float
    hopeless: float


CAREFUL, ROUGH = Care(0.01, 0.1, 0.95), Care(0.1, 0.2, 0.98)
"""The best of several rough runs, which take half as many gradients, keeps as much as that of several careful ones."""


@dataclass(frozen=True)
class RunSettings:
    """Limits of a run: cycles, quasi-Newton steps in each, and the gain in variance share that counts as none.

    A first look is left off when it has become long and meets the tolerances. It is lost where it does not meet them by
    then, or rows stand alone, and given up.
    """

    max_cycles: int
    max_steps: int
    gain_tolerance: float
    deadline: float
    is_first_look: bool = False
    care: Care = CAREFUL

    def roughly(self, hopeless: float = ROUGH.hopeless) -> "RunSettings":
        """Return the settings of one of several other starts.

        Parameters
        ----------
        hopeless : float, default=ROUGH.hopeless
            Share of the variance to beat below which it is given up.
        """
        return replace(self, max_cycles=min(OTHER_CYCLES, self.max_cycles), care=replace(ROUGH, hopeless=hopeless))


@dataclass(frozen=True)
class RunStart:
    """Where a run starts.

    Attributes
    ----------
    frame : ndarray of shape (p, k)
        A frame on the live axes.
    multipliers : ndarray of shape (n_measures,) or None
        First multipliers; None takes those that fit the gradients there.
    view : View, default=None
        The view from there, where it is known.
    spring : bool, default=False
        Hold h at the targets by springs from the beginning, where no multipliers have their minimiser there.
    """

    frame: FloatArray
    multipliers: FloatArray | None
    view: View | None = None
    spring: bool = False


@dataclass(frozen=True)
class RunOutcome:
    """Where a run ended.

    Attributes
    ----------
    best : Evaluation or None
        The point of most variance that meets the tolerances, if any was met.
    fairest : Evaluation
        The point that came closest to meeting them.
    stationary : bool
        Whether `best` uses the budget and no further gain is in sight.
    multipliers : ndarray of shape (n_measures,)
        Multipliers at the end.
    view : View or None
        The end, if it is `best`, in a chart whose centre is near it.
    rugged : bool
        Whether the way was long, or rows that stood alone had to be brought back: another start may end higher.
    is_lost : bool
        Whether it was a first look that did not find its way.
    left_off : BudgetRun, default=None
        The run, where it was left off and can go on.
    """

    best: Evaluation | None
    fairest: Evaluation
    stationary: bool
    multipliers: FloatArray
    view: View | None
    rugged: bool
    is_lost: bool = False
    left_off: "BudgetRun | None" = None

    def start_at(self, tolerances: FloatArray) -> RunStart:
        """Return the start from `best` at other tolerances: on the data we know h falls about like 1 / mu.

        Parameters
        ----------
        tolerances : ndarray of shape (n_measures,)
            Their tau.
        """
        assert self.best is not None
        return RunStart(self.best.point, self.multipliers * (self.best.discrepancies / tolerances), self.view)
