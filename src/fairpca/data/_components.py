"""From a frame in principal axes to the components that an estimator learns."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.data._axes import PrincipalAxes
from fairpca.geometry import split_null


@dataclass(frozen=True)
class Components:
    """Principal axes inside a subspace: live ones by decreasing variance, then null ones.

    Attributes
    ----------
    rows : ndarray of shape (d, p)
        V', orthonormal, the entry of largest magnitude of each row positive.
    singular_values : ndarray of shape (d,)
        Root of the sum of the squares of the projected rows; exactly 0 for null components.
    n_live : int
        How many carry variance.
    shrinking : float
        Least share of the square of a live component that lies outside the null axes: 1 where none is tilted.
    """

    rows: FloatArray
    singular_values: FloatArray
    n_live: int
    shrinking: float

    @classmethod
    def of(cls, frame: FloatArray, axes: PrincipalAxes, mass: float) -> "Components":
        """Find the components of a subspace.

        Parameters
        ----------
        frame : ndarray of shape (p_kept, d)
            Orthonormal frame of the subspace, in principal axes.
        axes : PrincipalAxes
            Those axes.
        mass : float
            n, the sum of the masses of the rows.
        """
        live, null = split_null(frame, axes.rank)
        # Of the scaled frame, not of its Gram matrix: small variances keep their digits.
        _, singular, rotation = np.linalg.svd(np.sqrt(mass * axes.variances)[:, None] * live, full_matrices=False)
        components = (axes.axes @ np.hstack([live @ rotation.T, null])).T
        largest = np.abs(components).argmax(axis=1)
        components *= np.sign(components[np.arange(len(components)), largest])[:, None]
        singular = np.concatenate([singular, np.zeros(null.shape[1])])
        inside = np.linalg.svd(live[: axes.rank], compute_uv=False)
        shrinking = float(inside[: live.shape[1]].min(initial=1.0) ** 2) if live.shape[1] <= axes.rank else 0.0
        return cls(np.ascontiguousarray(components), singular, live.shape[1], shrinking)

    @property
    def is_orthonormal(self) -> bool:
        """Whether V'V = I to the digits that components are good for."""
        return bool(np.abs(self.rows @ self.rows.T - np.eye(len(self.rows))).max() < 1e-8)
