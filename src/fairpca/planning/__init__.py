"""How many people it takes to show that groups are alike."""
# SPDX-License-Identifier: MIT

from fairpca.planning._plan import plan
from fairpca.planning._result import Plan

__all__ = ["Plan", "plan"]
