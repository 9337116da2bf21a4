"""fairpca fit: from a table to a model, its audit and a page to hand on."""
# SPDX-License-Identifier: MIT

from fairpca.cli.fit._run import run_fit as run_fit
