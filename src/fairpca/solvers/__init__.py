"""Solvers: the budget solver, REPMS, and the unconstrained methods that REPMS can use for its sub-problem."""
# SPDX-License-Identifier: MIT

from fairpca.solvers._budget import Budget
from fairpca.solvers._certificate import Certificate
from fairpca.solvers._gradient_descent import GradientDescent
from fairpca.solvers._levels import LevelsTask
from fairpca.solvers._newton_bfgs import NewtonBFGS
from fairpca.solvers._rbfgs import RiemannianBFGS
from fairpca.solvers._registry import SOLVERS, Solver, solver_from
from fairpca.solvers._repms import REPMS
from fairpca.solvers._result import Callback, FitResult, Level, OuterStep, Solution, Status
from fairpca.solvers._start import STARTS, WarmStart
from fairpca.solvers._subsolvers import SUBSOLVERS
from fairpca.solvers._trust_region import TrustRegion

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
    "LevelsTask",
    "NewtonBFGS",
    "OuterStep",
    "RiemannianBFGS",
    "Solution",
    "Solver",
    "Status",
    "TrustRegion",
    "WarmStart",
    "solver_from",
]
