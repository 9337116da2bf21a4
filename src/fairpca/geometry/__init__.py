"""Manifolds of orthonormal frames: where the loading matrix V lives."""
# SPDX-License-Identifier: MIT

from fairpca.geometry._angles import principal_angles, projection_distance
from fairpca.geometry._curves import PolarCurve, QRCurve
from fairpca.geometry._frames import RETRACTIONS, Grassmann
from fairpca.geometry._null import split_null
from fairpca.geometry._taylor import taylor_slope

__all__ = [
    "RETRACTIONS",
    "Grassmann",
    "PolarCurve",
    "QRCurve",
    "principal_angles",
    "projection_distance",
    "split_null",
    "taylor_slope",
]
