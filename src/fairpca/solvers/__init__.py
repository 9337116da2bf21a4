"""Solvers: the budget solver, REPMS, and the unconstrained methods that REPMS can use for its sub-problem."""
# SPDX-License-Identifier: MIT

from fairpca.solvers._certificate import Certificate
from fairpca.solvers._levels import Leveled, LevelsTask, Start, solve_at_once
from fairpca.solvers._registry import SOLVERS, Solver, solver_from
from fairpca.solvers._result import Callback, FitResult, Level, OuterStep, Solution, Status
from fairpca.solvers._start import STARTS
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget import Budget
from fairpca.solvers.repms import REPMS
from fairpca.solvers.unconstrained import SUBSOLVERS, GradientDescent, NewtonBFGS, RiemannianBFGS, TrustRegion

__all__ = [
    "REPMS",
    "SOLVERS",
    "STARTS",
    "SUBSOLVERS",
    "Budget",
    "Callback",
    "Certificate",
    "FitResult",
    "GradientDescent",
    "Level",
    "Leveled",
    "LevelsTask",
    "NewtonBFGS",
    "OuterStep",
    "RiemannianBFGS",
    "Solution",
    "Solver",
    "Start",
    "Status",
    "TrustRegion",
    "WarmStart",
    "solve_at_once",
    "solver_from",
]
