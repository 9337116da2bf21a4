"""How many people it takes to show that groups are alike."""
# SPDX-License-Identifier: MIT

from fairpca.planning._plan import Plan as Plan, plan as plan
from fairpca.planning._promise import PromisePlan as PromisePlan, plan_promise as plan_promise
