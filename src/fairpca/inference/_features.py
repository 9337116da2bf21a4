"""Cosines and sines at quasi-random frequencies, drawn after everything they judge was fixed."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from fairpca._utils.typing import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class SobolFeatures:
    r"""Features whose inner products approximate Gaussian kernels.

    .. math:: k(z, z') \approx \frac1D \sum_{k=1}^{D} \cos(\omega_k'(z - z')), \qquad
              \phi(z) = D^{-1/2} (\cos \omega_k'z, \sin \omega_k'z)_k,

    with frequencies from a scrambled Sobol sequence through the normal quantile function, divided by sigma.

    Attributes
    ----------
    frequencies : ndarray of shape (d, D)
        omega_k for sigma = 1.
    """

    frequencies: FloatArray

    @classmethod
    def draw(cls, d: int, n_frequencies: int, generator: np.random.Generator) -> "SobolFeatures":
        """Draw frequencies.

        Parameters
        ----------
        d : int
            Number of coordinates.
        n_frequencies : int
            D, a power of 2.
        generator : numpy.random.Generator
            Draws them.
        """
        points = qmc.Sobol(d, rng=generator).random(n_frequencies)
        return cls(ndtri(np.clip(points, 1e-12, 1.0 - 1e-12)).T.copy())

    def shared_by(self, factors: Sequence[float]) -> "SobolFeatures":
        """Return features of the mean of kernels of several scales, which share the frequencies in turns.

        Parameters
        ----------
        factors : sequence of float
            The scales.
        """
        turns = np.resize(np.asarray(factors, dtype=np.float64), self.frequencies.shape[1])
        return SobolFeatures(self.frequencies / turns)

    def of(self, Z: FloatArray, bandwidth: float) -> AnyArray:
        """Return features of rows, of shape (n, 2 D), in single precision.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        bandwidth : float
            sigma.
        """
        angles = ((Z / bandwidth) @ self.frequencies).astype(np.float32)
        n, D = angles.shape
        features = np.empty((n, 2 * D), dtype=np.float32)
        np.cos(angles, out=features[:, :D])
        np.sin(angles, out=features[:, D:])
        features *= np.float32(1.0 / np.sqrt(D))
        return features
