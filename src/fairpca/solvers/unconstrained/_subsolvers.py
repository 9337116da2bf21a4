"""Sub-problem solvers by name."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca._utils.checks import check_name
from fairpca.solvers.unconstrained._gradient_descent import GradientDescent
from fairpca.solvers.unconstrained._newton_bfgs import NewtonBFGS
from fairpca.solvers.unconstrained._pymanopt import PymanoptSubsolver, is_pymanopt_optimizer
from fairpca.solvers.unconstrained._rbfgs import RiemannianBFGS
from fairpca.solvers.unconstrained._trust_region import TrustRegion
from fairpca.solvers.unconstrained._unconstrained import Subsolver

SUBSOLVERS: dict[str, type[Subsolver]] = {
    "newton-bfgs": NewtonBFGS,
    "rbfgs": RiemannianBFGS,
    "trust-region": TrustRegion,
    "gradient-descent": GradientDescent,
}


def subsolver_from(choice: Any) -> Subsolver:
    """Return the sub-problem solver for a name, a solver object or a pymanopt optimizer.

    Parameters
    ----------
    choice : str or object
        What the user passed.
    """
    if isinstance(choice, str):
        return SUBSOLVERS[check_name("subsolver", choice, SUBSOLVERS, "a solver object, or a pymanopt optimizer")]()
    if is_pymanopt_optimizer(choice):
        return PymanoptSubsolver(choice)
    if isinstance(choice, type) or not callable(getattr(choice, "minimise", None)):
        raise TypeError(
            f"subsolver must be one of {sorted(SUBSOLVERS)}, an object with a minimise method, or a pymanopt "
            f"optimizer; got {choice!r}."
        )
    subsolver: Subsolver = choice
    return subsolver
