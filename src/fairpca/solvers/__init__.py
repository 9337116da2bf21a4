"""Solvers: Budget, the default, and REPMS, the algorithm of the paper; what they take and return."""
# SPDX-License-Identifier: MIT

from fairpca.solvers._levels import (
    Leveled as Leveled,
    LevelsTask as LevelsTask,
    Start as Start,
    solve_at_once as solve_at_once,
)
from fairpca.solvers._registry import Solver, solver_from as solver_from
from fairpca.solvers._repms import REPMS
from fairpca.solvers._result import (
    Callback as Callback,
    Certificate as Certificate,
    FitResult,
    Level as Level,
    OuterStep,
    Solution,
    Status,
)
from fairpca.solvers._start import STARTS as STARTS
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget import Budget

# Names that are imported as themselves are for the rest of the package.

__all__ = ["REPMS", "Budget", "FitResult", "OuterStep", "Solution", "Solver", "Status", "WarmStart"]
