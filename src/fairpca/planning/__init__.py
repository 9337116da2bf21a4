"""How many people it takes to show that groups are alike."""
# SPDX-License-Identifier: MIT

from fairpca.planning._plan import plan
from fairpca.planning._promise import PromisePlan, plan_promise
from fairpca.planning._result import Plan

__all__ = ["Plan", "PromisePlan", "plan", "plan_promise"]
