"""The maximum mean discrepancy of two groups of rows."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from fairpca._utils.checks import check_bandwidth
from fairpca.comparison import check_same_rows, check_two_groups
from fairpca.mmd import kernel_products, median_bandwidth


def mmd2(
    Z: Any,
    *,
    sensitive_features: Any,
    bandwidth: str | float = "median",
    unbiased: bool = False,
) -> float:
    r"""Return the squared maximum mean discrepancy between two groups of rows.

    With the kernel k(z, z') = exp(-\|z - z'\|^2 / (2 sigma^2)) and groups of m and n rows, the plug-in value is

    .. math:: \frac{1}{m^2} \sum_{ij} k(x_i, x_j) + \frac{1}{n^2} \sum_{ij} k(y_i, y_j)
              - \frac{2}{mn} \sum_{ij} k(x_i, y_j).

    It is never negative and about (1/m + 1/n)(1 - E k) for two samples of one distribution. The unbiased value leaves
    the terms i = j out; its expectation is the squared discrepancy of the distributions, and it may be negative.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        Rows, usually projections.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row: two distinct labels.
    bandwidth : "median" or float, default="median"
        sigma. "median" takes sqrt(median squared distance / 2) of these rows; to compare projections with each other,
        or train with test rows, give all of them one value, such as `FairPCA.bandwidth_`.
    unbiased : bool, default=False
        Which of the two estimates.

    Returns
    -------
    mmd2 : float
        The estimate.

    Examples
    --------
    >>> mmd2([[0.0], [1.0], [0.0], [1.0]], sensitive_features=["a", "a", "b", "b"], bandwidth=1.0)
    0.0
    """
    check_same_rows(Z, sensitive_features)
    rows = check_array(Z, dtype=np.float64, input_name="Z")
    groups = check_two_groups(sensitive_features, len(rows))
    sigma = check_bandwidth(bandwidth)
    if isinstance(sigma, str):
        sigma = median_bandwidth(rows)
    members = (groups[:, None] == np.unique(groups)).astype(np.float64)
    sums = members.T @ kernel_products(rows, members, sigma)
    m, n = members.sum(axis=0)
    if unbiased:
        within = (sums[0, 0] - m) / (m * (m - 1)) + (sums[1, 1] - n) / (n * (n - 1))
    else:
        within = sums[0, 0] / m**2 + sums[1, 1] / n**2
    return float(within - (sums[0, 1] + sums[1, 0]) / (m * n))
