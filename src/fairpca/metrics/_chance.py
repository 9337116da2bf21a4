"""What MMD^2 shows when groups are drawn by lot."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.mmd import kernel_products


@dataclass(frozen=True)
class ChanceLevel:
    r"""MMD^2 of two groups beside its mean and deviation over groups of the same sizes drawn by lot.

    With N = m + n rows, kernel matrix K, its mean off-diagonal entry k and H = I - 11'/N,

    .. math:: b = \left(\frac1m + \frac1n\right)(1 - k), \qquad
              s = \left(\frac1m + \frac1n\right) \frac{\sqrt2 \, \|HKH\|_F}{N}:

    b is the exact mean over all ways to draw the groups, s the deviation for large N.

    Attributes
    ----------
    mmd2 : float
        The plug-in value.
    mean : float
        b.
    deviation : float
        s.
    """

    mmd2: float
    mean: float
    deviation: float

    @classmethod
    def of(
        cls, rows: FloatArray, groups: AnyArray, bandwidth: float, factors: Sequence[float] = (1.0,)
    ) -> "ChanceLevel":
        """Measure rows, in two passes over the pairs.

        Parameters
        ----------
        rows : ndarray of shape (N, d)
            Projections.
        groups : ndarray of shape (N,)
            Two distinct labels.
        bandwidth : float
            sigma.
        factors : sequence of float, default=(1.0,)
            The kernel is the mean of those of bandwidths sigma times these.
        """
        first = groups == groups[0]
        m, n, N = int(first.sum()), int((~first).sum()), len(rows)
        weights = np.where(first, 1.0 / m, -1.0 / n)
        product, row_sums = kernel_products(rows, np.column_stack([weights, np.ones(N)]), bandwidth, factors).T
        # The product of two Gaussian kernels is one of another bandwidth; a squared mean is the mean of all products.
        pairs = [(0.5 / f**2 + 0.5 / g**2) ** -0.5 for f in factors for g in factors]
        squares = float(kernel_products(rows, np.ones((N, 1)), bandwidth / math.sqrt(2.0), pairs).sum())
        total = float(row_sums.sum())
        centred = squares - 2.0 * float(row_sums @ row_sums) / N + (total / N) ** 2
        share = 1.0 / m + 1.0 / n
        return cls(
            mmd2=float(weights @ product),
            mean=share * (1.0 - (total - N) / (N * (N - 1))),
            deviation=share * math.sqrt(2.0 * max(centred, 0.0)) / N,
        )
