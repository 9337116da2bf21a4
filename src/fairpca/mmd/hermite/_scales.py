"""Discrepancies for the mean of kernels of several bandwidths, by Hermite features of each."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import Comparison
from fairpca.mmd._aligned import AlignedMMD
from fairpca.mmd._approximation import Measurement
from fairpca.mmd._coordinates import Coordinates, MeasuredRows
from fairpca.mmd.hermite._hermite import HermiteMMD
from fairpca.rows import Rows


class ScalesMMD:
    r"""Discrepancies h_j = (1 / m) sum_l h_jl, where h_jl has a kernel of bandwidth sigma_l.

    Parameters
    ----------
    scales : sequence of HermiteMMD
        The h_l.
    """

    def __init__(self, scales: Sequence[HermiteMMD]) -> None:
        self._scales = scales
        # The narrowest kernel asks most of the origin.
        narrowest = min(scales, key=lambda each: each.bandwidth)
        self.measured, self.n_measures, self.n_rows = narrowest.measured, narrowest.n_measures, narrowest.n_rows

    def around(self, V: FloatArray, known: FloatArray) -> AlignedMMD:
        """Return the discrepancy for use around V, see `Approximation`.

        Features leave out more of the narrower kernels: each has a factor of its own, by an estimate of its part of h.
        """
        parts = [each.measured_at(V, np.full(self.n_measures, np.inf)).values for each in self._scales]
        total = np.mean(parts, axis=0)
        share = np.divide(known, total, out=np.ones_like(total), where=(total > 0) & (known > 0))
        scales = [each.anchored(V, share * part) for each, part in zip(self._scales, parts, strict=True)]
        return AlignedMMD(ScalesMMD(scales), V)

    def curvature_around(self, V: FloatArray, n_features: int = 256) -> AlignedMMD:
        """Return what has the Hessian around V, see `HermiteMMD.curvature_around`."""
        return AlignedMMD(ScalesMMD([each.anchored(V, n_features=n_features) for each in self._scales]), V)

    def within(self, rows: MeasuredRows, axes: FloatArray) -> "ScalesMMD":
        """Return the discrepancy for frames in a span, see `FirstOrderMMD`."""
        return ScalesMMD([each.within(replace(rows, bandwidth=each.bandwidth), axes) for each in self._scales])

    def measured_at(self, V: FloatArray, error: FloatArray) -> Measurement:
        """Return the vector h at V with its errors, see `Approximation`."""
        parts = [each.measured_at(V, error) for each in self._scales]
        values, errors = (np.mean(each, axis=0) for each in zip(*((p.values, p.errors) for p in parts), strict=True))
        return Measurement(values, errors)

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""
        return np.asarray(np.mean([each.value(V) for each in self._scales], axis=0))

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, r, d)."""
        values, gradients = zip(*(each.evaluate(V) for each in self._scales), strict=True)
        return np.mean(values, axis=0), np.mean(gradients, axis=0)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, see `HermiteMMD.hessian`."""
        arguments = V, Q, gradient, multipliers, single_precision
        return np.asarray(np.mean([each.hessian(*arguments) for each in self._scales], axis=0))

    def gradient_work(self, V: FloatArray) -> float:
        """Return what the gradients at V cost."""
        return sum(each.gradient_work(V) for each in self._scales)

    def hessian_work(self, V: FloatArray, Q: FloatArray) -> float:
        """Return what the Hessian at V in the chart B -> V + QB costs."""
        return sum(each.hessian_work(V, Q) for each in self._scales)


def features_mmd(
    rows: Rows,
    coordinates: Coordinates,
    comparison: Comparison,
    bandwidth: float,
    factors: Sequence[float] = (1.0,),
    n_features: int = 1000,
    seed: int = 0,
) -> HermiteMMD | ScalesMMD:
    """Return the discrepancy of rows in time linear in them, for one bandwidth or several.

    Parameters
    ----------
    rows, coordinates, comparison, n_features, seed
        See `HermiteMMD`.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    scales = [HermiteMMD(rows, coordinates, comparison, f * bandwidth, n_features, seed) for f in factors]
    return scales[0] if len(scales) == 1 else ScalesMMD(scales)
