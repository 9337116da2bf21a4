"""Manifolds of orthonormal frames: where the loading matrix V lives."""
# SPDX-License-Identifier: MIT

from fairpca.geometry._frames import (
    RETRACTIONS,
    Frames,
    Grassmann,
    PolarCurve,
    QRCurve,
    Stiefel,
    principal_angles,
    projection_distance,
    split_null,
    taylor_slope,
)

__all__ = [
    "RETRACTIONS",
    "Frames",
    "Grassmann",
    "PolarCurve",
    "QRCurve",
    "Stiefel",
    "principal_angles",
    "projection_distance",
    "split_null",
    "taylor_slope",
]
