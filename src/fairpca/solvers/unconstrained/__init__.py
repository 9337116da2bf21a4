"""Unconstrained minimisers on the manifold."""
# SPDX-License-Identifier: MIT

from fairpca.solvers.unconstrained._gradient_descent import GradientDescent
from fairpca.solvers.unconstrained._newton_bfgs import NewtonBFGS
from fairpca.solvers.unconstrained._objectives import Objective, Penalised, Sample
from fairpca.solvers.unconstrained._rbfgs import RiemannianBFGS
from fairpca.solvers.unconstrained._subsolvers import SUBSOLVERS, subsolver_from
from fairpca.solvers.unconstrained._trust_region import TrustRegion
from fairpca.solvers.unconstrained._unconstrained import InnerResult, InnerStatus, Subsolver

__all__ = [
    "SUBSOLVERS",
    "GradientDescent",
    "InnerResult",
    "InnerStatus",
    "NewtonBFGS",
    "Objective",
    "Penalised",
    "RiemannianBFGS",
    "Sample",
    "Subsolver",
    "TrustRegion",
    "subsolver_from",
]
