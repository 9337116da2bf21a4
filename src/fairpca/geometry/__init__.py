"""Manifolds of orthonormal frames: where the loading matrix V lives."""
# SPDX-License-Identifier: MIT

from fairpca.geometry._frames import (
    RETRACTIONS as RETRACTIONS,
    Grassmann as Grassmann,
    PolarCurve as PolarCurve,
    QRCurve as QRCurve,
    principal_angles as principal_angles,
    projection_distance as projection_distance,
    split_null as split_null,
    taylor_slope as taylor_slope,
)
