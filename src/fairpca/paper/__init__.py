"""The published experiments, run again: numbers, figures and pages beside the published ones."""
# SPDX-License-Identifier: MIT

from fairpca.paper._execute import Progress
from fairpca.paper._run import EXPERIMENTS, run

__all__ = ["EXPERIMENTS", "Progress", "run"]
