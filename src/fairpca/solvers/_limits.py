"""What counts as all of a tolerance, and as no difference."""
# SPDX-License-Identifier: MIT

USED = 0.98
"""Share of the tolerance that counts as all of it where h is approximate."""

VISIBLE = 1e-5
"""Difference in variance share, a thousandth of a point, that does not matter."""
