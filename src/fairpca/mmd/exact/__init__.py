"""MMD^2 from all pairs of rows, in tiles that are never stored."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.exact._exact import ExactMMD, with_chart_term
from fairpca.mmd.exact._gaussian import gaussian_products, kernel_products

__all__ = ["ExactMMD", "gaussian_products", "kernel_products", "with_chart_term"]
