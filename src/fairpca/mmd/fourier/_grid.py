"""Which frequencies represent the Gaussian kernel on a box, with a proven error."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import erfc, erfcinv

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.mmd._coordinates import main_body, principal_rotation
from fairpca.mmd._mixture import GAUSSIAN, Mixture
from fairpca.mmd._recipe import HARMONICS, Recipe, concatenated, harmonics_table

OUTLIER_COST = 20
"""Time of one exact kernel value in units of one feature."""

MOST_OUTLIERS = 2000
"""Rows outside the box that are kept and treated exactly."""

MOST_FEATURES = 2**17
"""Size of the largest grid, 1 MB for each weight column."""

BEYOND = 2.0**40
"""A number of frequencies that no grid has."""

SLACK = 1.05
"""Widening of the box beyond the rows seen, so that it still holds them when the frame moves a little."""

WIDENING = 1.3
"""Growth of a box that left too many rows outside."""


@dataclass(frozen=True)
class FourierGrid:
    r"""A box in rotated coordinates, and for each of them frequencies k Delta, k = 0, ..., K.

    On the box each factor of a Gaussian kernel of rate r is the trapezoid sum

    .. math:: e^{-r t^2/2} \approx \sum_{k=0}^{K} g_k \cos(k \Delta t), \quad
              g_k = (2 - [k = 0]) \frac{\Delta}{\sqrt{2\pi r}} e^{-(k\Delta)^2/(2r)}.

    All scales of a kernel share the frequencies: their spacing suits the widest, r = 1, their number the narrowest.

    Attributes
    ----------
    rotation : ndarray of shape (d, d)
        From projections to the axes of the box.
    centre, half_width : ndarray of shape (d,)
        The box, in units of the widest bandwidth.
    spacing : ndarray of shape (d,)
        Delta for each coordinate.
    highest : ndarray of shape (d,)
        K for each coordinate.
    affordable : int
        So many rows outside cost no more than a wider box would.
    target : float
        Largest error of the kernel that was allowed.
    mixture : Mixture
        The scales of the kernel.
    """

    rotation: FloatArray
    centre: FloatArray
    half_width: FloatArray
    spacing: FloatArray
    highest: IntArray
    affordable: int
    target: float
    mixture: Mixture

    @classmethod
    def fit(cls, Z: FloatArray, n_rows: int, target: float, mixture: Mixture = GAUSSIAN) -> "FourierGrid":
        """Choose box and frequencies such that features and rows outside together cost little.

        Parameters
        ----------
        Z : ndarray of shape (n_sample, d)
            Projections of a sample of rows, in units of the widest bandwidth.
        n_rows : int
            Number of all rows.
        target : float
            Largest allowed error of the kernel on the box.
        mixture : Mixture, default=GAUSSIAN
            The scales of the kernel.
        """
        body = main_body(Z)
        rotation = principal_rotation(Z[body])
        Y = Z @ rotation
        share = n_rows / len(Y)
        # Light tails reach further among more rows: the largest of n normal numbers is about sqrt(2 log n).
        reach = SLACK * math.sqrt(max(1.0, math.log(n_rows) / math.log(max(len(Y), 3))))
        left_out, lowest, greatest = _nested_boxes(Y, body, int(MOST_OUTLIERS / (4 * share)))
        half_widths = reach * (greatest - lowest) / 2
        n_features = _n_features(_frequencies(2 * half_widths, target, mixture.narrowing)[1])
        best = int(np.argmin(n_features + OUTLIER_COST * share * left_out))
        expected = share * left_out[best]
        affordable = min(MOST_OUTLIERS, int(4 * (expected + n_features[best] / OUTLIER_COST)))
        centre = (lowest[best] + greatest[best]) / 2
        return cls._on_box(rotation, centre, half_widths[best], affordable, target, mixture)

    @classmethod
    def _on_box(
        cls,
        rotation: FloatArray,
        centre: FloatArray,
        half_width: FloatArray,
        affordable: int,
        target: float,
        mixture: Mixture,
    ) -> "FourierGrid":
        spacing, highest = _frequencies(2 * half_width, target, mixture.narrowing)
        n_features = int(_n_features(highest))
        if n_features > MOST_FEATURES:
            spread = np.array2string(2 * mixture.narrowing * half_width, precision=1)
            other = "HermiteMMD" if mixture.is_single else 'ExactMMD (mmd="exact")'
            raise ValueError(
                f"the rows spread over {spread} bandwidths, which takes {n_features} Fourier features, more than "
                f"{MOST_FEATURES}: use {other}, a larger bandwidth, or fewer components"
            )
        return cls(rotation, centre, half_width, spacing, highest, affordable, target, mixture)

    def widened(self) -> "FourierGrid":
        """Return a grid on a larger box."""
        half_width = WIDENING * self.half_width + 0.1
        return FourierGrid._on_box(self.rotation, self.centre, half_width, self.affordable, self.target, self.mixture)

    @cached_property
    def recipe(self) -> Recipe:
        """How the features come about: the last coordinate against all products of the others."""
        counts = 2 * (self.highest + 1)
        tables = [harmonics_table(rate, size) for rate, size in zip(self.spacing, counts, strict=True)]
        table, sizes, firsts = concatenated(tables)
        lines = [first + np.arange(size) for first, size in zip(firsts, sizes, strict=True)]
        products, others = [np.empty((0, 2), dtype=np.int64)], lines[0] if len(lines) > 1 else np.zeros(1, np.int64)
        for following in lines[1:-1]:
            products.append(np.column_stack([np.repeat(others, len(following)), np.tile(following, len(others))]))
            others = 1 + len(table) + np.arange(len(products[-1]))
        axes = np.column_stack([self.spacing, np.ones(len(sizes))])
        met = np.full(sizes[-1], len(others), dtype=np.int64)
        made = np.concatenate(products)
        return Recipe(HARMONICS, axes, table, sizes, made, int(firsts[-1]), int(others[0]), met)

    @property
    def kernel_error(self) -> float:
        """A bound on the error of the kernel for two rows in the box, but for rounding: the mean over the scales."""
        return float(np.mean([self._error_of(rate) for rate in self.mixture.rates]))

    def _error_of(self, rate: float) -> float:
        """Return the bound for one scale; in its own unit the box is wider, and the frequencies are lower."""
        narrowing = math.sqrt(rate)
        diameter, spacing = 2 * narrowing * self.half_width, self.spacing / narrowing
        error = aliasing_bound(diameter, spacing) + truncation_bound(spacing, self.highest)
        return float(np.expm1(np.log1p(error).sum()))

    def coefficients(self, a: int, rate: float = 1.0) -> FloatArray:
        """Return the g_k of coordinate a for the scale of a rate."""
        frequencies = self.spacing[a] * np.arange(self.highest[a] + 1)
        g: FloatArray = 2 * self.spacing[a] / math.sqrt(2 * math.pi * rate) * np.exp(-(frequencies**2) / (2 * rate))
        g[0] /= 2
        return g


def aliasing_bound(diameter: AnyArray, spacing: AnyArray) -> AnyArray:
    """Return a bound on the images of the Gaussian at distances L, 2 L, ..., L = 2 pi / Delta, for |t| <= diameter.

    Their sum is at most 2 sum_j exp(-(j L - T)^2 / 2), and j L - T >= (L - T) + (j - 1) L makes it geometric.

    Parameters
    ----------
    diameter : ndarray
        T, less than L.
    spacing : ndarray
        Delta.
    """
    period = 2 * np.pi / spacing
    gap = period - diameter
    return 2 * np.exp(-(gap**2) / 2) / -np.expm1(-gap * period)


def truncation_bound(spacing: AnyArray, highest: AnyArray) -> AnyArray:
    """Return a bound on the sum of g_k over k > K: the integral that the decreasing terms stay below.

    Parameters
    ----------
    spacing : ndarray
        Delta.
    highest : ndarray
        K.
    """
    return erfc(spacing * highest / math.sqrt(2))


def _frequencies(diameter: AnyArray, target: float, narrowing: float) -> tuple[AnyArray, AnyArray]:
    """Return Delta and K for the last axis of `diameter`, such that the product kernel has at most the target error.

    It does for every scale from that of the unit to one so many times narrower: in the unit of a narrower one the gap
    to the images is wider still.
    """
    error = min(0.5, math.expm1(math.log1p(target) / diameter.shape[-1]))
    # Half of the error for the images, half for the cut; 4.5 > 4 leaves room for the geometric sum.
    gap = math.sqrt(2 * math.log(4.5 / error))
    spacing = 2 * np.pi / (diameter + gap)
    highest = np.ceil(np.minimum(narrowing * math.sqrt(2) * erfcinv(error / 2) / spacing, BEYOND)).astype(np.int64)
    return spacing, highest


def _n_features(highest: AnyArray) -> AnyArray:
    return np.prod(2.0 * (highest + 1), axis=-1)


def _nested_boxes(Y: FloatArray, body: BoolArray, most: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return how many of the outermost rows are left out, and the corners of the boxes around the others."""
    centre, scale = Y[body].mean(axis=0), np.maximum(Y[body].std(axis=0), 1e-300)
    inwards = np.argsort(np.max(np.abs(Y - centre) / scale, axis=1))
    Y = Y[inwards]
    counts = np.unique(np.geomspace(1, max(1, most), 24).astype(np.int64))
    left_out = np.concatenate([[0], counts[counts <= min(most, len(Y) // 2)]])
    last = len(Y) - 1 - left_out
    return left_out, np.minimum.accumulate(Y)[last], np.maximum.accumulate(Y)[last]
