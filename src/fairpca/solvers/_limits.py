"""What counts as all of a tolerance, as no difference, and as few dimensions."""
# SPDX-License-Identifier: MIT

USED = 0.98
"""Share of the tolerance that counts as all of it where h is approximate."""

MOST_DENSE = 1500
"""Dimensions of the manifold up to which a Hessian is built: 18 MB, factored in a twentieth of a second."""

VISIBLE = 1e-5
"""Difference in variance share, a thousandth of a point, that does not matter."""
