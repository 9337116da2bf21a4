"""Solvers by name."""
# SPDX-License-Identifier: MIT

from typing import Any, Protocol

import numpy as np

from fairpca._checks import check_name
from fairpca._typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers._budget import Budget
from fairpca.solvers._repms import REPMS
from fairpca.solvers._result import Callback, Solution
from fairpca.solvers._start import WarmStart


class Solver(Protocol):
    """Finds a frame that keeps much variance with every h_j at most the tolerance."""

    def check_tolerance(self, tolerance: float) -> None:
        """Refuse a tolerance that this solver cannot meet."""

    def solve(
        self,
        problem: FairSubspaceProblem,
        tolerance: float,
        init: str | FloatArray | WarmStart,
        generator: np.random.Generator,
        callback: Callback | None = None,
    ) -> Solution:
        """Solve the problem."""


SOLVERS: dict[str, type[Solver]] = {"budget": Budget, "repms": REPMS}


def solver_from(choice: Any) -> Solver:
    """Return the solver for a name or a solver object.

    Parameters
    ----------
    choice : str or object
        What the user passed.
    """
    if isinstance(choice, str):
        return SOLVERS[check_name("solver", choice, SOLVERS, "or give a solver object such as Budget(...)")]()
    if isinstance(choice, type) or not callable(getattr(choice, "solve", None)):
        raise TypeError(f"solver must be one of {sorted(SOLVERS)} or a solver object; got {choice!r}.")
    solver: Solver = choice
    return solver
