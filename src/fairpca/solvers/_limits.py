"""What counts as all of a tolerance, and as no difference."""
# SPDX-License-Identifier: MIT

TARGET = 0.998
"""Share of the tolerance that is aimed at, so that the last correction cannot end above it."""

USED = 0.99
"""Share of the tolerance that counts as all of it."""

VISIBLE = 1e-5
"""Difference in variance share, a thousandth of a point, that does not matter."""
