"""Algorithm 1 of the paper."""
# SPDX-License-Identifier: MIT

from fairpca.solvers.repms._repms import REPMS

__all__ = ["REPMS"]
