"""Solvers: REPMS, and the unconstrained methods it can use for its sub-problem."""
# SPDX-License-Identifier: MIT

from fairpca.solvers._gradient_descent import GradientDescent
from fairpca.solvers._rbfgs import RiemannianBFGS
from fairpca.solvers._repms import REPMS
from fairpca.solvers._result import FitResult, OuterStep, Status
from fairpca.solvers._trust_region import TrustRegion

__all__ = ["REPMS", "FitResult", "GradientDescent", "OuterStep", "RiemannianBFGS", "Status", "TrustRegion"]
