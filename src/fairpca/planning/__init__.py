"""How many people it takes to show that groups are alike."""
# SPDX-License-Identifier: MIT

from fairpca.planning._plan import Plan as Plan, PromisePlan as PromisePlan, plan as plan, plan_promise as plan_promise
