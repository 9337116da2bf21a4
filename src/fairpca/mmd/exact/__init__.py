"""MMD^2 from all pairs of rows, in tiles that are never stored."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.exact._engine import HAS_COMPILED, engine, using_engine
from fairpca.mmd.exact._exact import ExactMMD, with_chart_term
from fairpca.mmd.exact._gaussian import gaussian_products, inner_differences, kernel_products
from fairpca.mmd.exact._islands import Islands

__all__ = [
    "HAS_COMPILED",
    "ExactMMD",
    "Islands",
    "engine",
    "gaussian_products",
    "inner_differences",
    "kernel_products",
    "using_engine",
    "with_chart_term",
]
