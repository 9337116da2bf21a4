"""MMD^2 from all pairs of rows, in tiles that are never stored."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.exact._exact import (
    EXACT_ROWS as EXACT_ROWS,
    ExactMMD as ExactMMD,
    RawRowsMMD as RawRowsMMD,
    with_chart_term as with_chart_term,
)
from fairpca.mmd.exact._products import gaussian_products as gaussian_products, kernel_products as kernel_products
