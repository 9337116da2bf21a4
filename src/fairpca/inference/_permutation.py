"""Tests by lot: whether what is measured is more than groups drawn by lot would show."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._utils.progress import Say, say_with
from fairpca._utils.typing import FloatArray
from fairpca.inference._compared_rows import ComparedRows
from fairpca.inference._dealt_values import dealt_values

SCALES = (2.0, 1.0, 0.5, 0.25)
"""Multiples of the bandwidth at which differences are looked for: one median bandwidth is blind to fine ones."""

ROUNDING = 1e-6
"""Values closer than this, relative to their spread, count as equal, in favour of chance."""


@dataclass(frozen=True, eq=False)
class PermutationTest:
    r"""Values of measures at several scales, beside those after attributes were dealt out by lot.

    Under the hypothesis that nothing depends on the attributes, given label and segment, all values of a measure are
    equally likely to be the largest: p = (1 + #{h_\pi \ge h}) / (1 + #\pi) is exact for any number of rows. Maxima over
    scales and measures are of values studentised by mean and deviation over the same lots (Westfall and Young).

    Attributes
    ----------
    values : ndarray of shape (n_scales, n_measures, 1 + n_draws)
        MMD^2, first as it is.
    scales : tuple of float
        Multiples of the bandwidth, 1 among them.
    """

    values: FloatArray
    scales: tuple[float, ...]

    @classmethod
    def of(
        cls,
        rows: ComparedRows,
        bandwidth: float,
        n_draws: int,
        generator: np.random.Generator,
        scales: Sequence[float] = SCALES,
        say: Say | None = None,
    ) -> "PermutationTest":
        """Deal out attributes and measure.

        Parameters
        ----------
        rows : ComparedRows
            Rows that were used neither to fit nor to choose what is tested; plain PCA may be tested on its own.
        bandwidth : float
            sigma.
        n_draws : int
            Number of lots.
        generator : numpy.random.Generator
            Draws them.
        scales : sequence of float
            Multiples of the bandwidth, 1 among them.
        say : callable, default=None
            Told how far it is.
        """
        bandwidths = [scale * bandwidth for scale in scales]
        values = dealt_values(rows, bandwidths, n_draws, generator, say_with(say))
        return cls(values, tuple(scales))

    @property
    def studentised(self) -> FloatArray:
        """The values less their means, in units of their deviations, over all lots and what is."""
        deviations = self.values.std(axis=2, keepdims=True)
        # Values that rounding in single precision tells apart, as of constant projections, are equal.
        informative = deviations > np.finfo(np.float32).eps
        centred = np.where(informative, self.values - self.values.mean(axis=2, keepdims=True), 0.0)
        return centred / np.where(informative, deviations, 1.0)

    def at_bandwidth(self) -> FloatArray:
        """Return the p-value of each measure at the bandwidth itself."""
        return _p_values(self.studentised[self.scales.index(1.0)])

    def over_scales(self) -> FloatArray:
        """Return the p-value of each measure, for the maximum over scales."""
        return _p_values(self.studentised.max(axis=0))

    def adjusted(self) -> FloatArray:
        """Return the p-value of each measure over scales that holds for all measures together."""
        largest = self.studentised.max(axis=0)
        return _p_values(np.broadcast_to(largest.max(axis=0), largest.shape), largest[:, :1])

    def family_wise(self) -> float:
        """Return the p-value of all measures and scales together."""
        return float(self.adjusted().min())

    def at_bandwidth_family_wise(self) -> float:
        """Return the p-value of all measures together, at the bandwidth itself."""
        return float(_p_values(self.studentised[self.scales.index(1.0)].max(axis=0, keepdims=True))[0])


def _p_values(values: FloatArray, own: FloatArray | None = None) -> FloatArray:
    """Return the shares of values, of shape (n_measures, 1 + n_draws), that are at least the first or another."""
    least = (values[:, :1] if own is None else own) - ROUNDING
    return np.asarray(np.mean(values >= least, axis=1))
