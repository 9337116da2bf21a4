"""The budget solver: all the variance that tolerances allow."""
# SPDX-License-Identifier: MIT

from fairpca.solvers.budget._budget import Budget as Budget
