"""Solvers by name."""
# SPDX-License-Identifier: MIT

from typing import Any, Protocol

import numpy as np

from fairpca._utils.checks import check_name
from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers._repms import REPMS
from fairpca.solvers._result import Callback, Solution
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget import Budget


class Solver(Protocol):
    """Finds a frame that keeps much variance with every h_j at most its tolerance."""

    @property
    def time_limit(self) -> float | None:
        """Seconds that a solve may take; None where there is no limit."""

    def within(self, seconds: float) -> "Solver":
        """Return the same solver with another limit of time, if it knows one."""

    def roughly(self) -> "Solver":
        """Return the same solver for an answer that more rows will improve."""

    def check_tolerances(self, tolerances: FloatArray) -> None:
        """Refuse tolerances that this solver cannot meet."""

    def solve(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
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
