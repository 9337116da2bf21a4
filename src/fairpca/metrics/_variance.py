"""What a projection keeps of the data and of each feature."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from fairpca._utils.typing import FloatArray
from fairpca.data import Spread
from fairpca.rows import compressed, is_sparse, rows_in_memory


def explained_variance(X: Any, components: Any) -> float:
    """Return tr(V'SV) / tr(S), the share of the variance of the rows that orthonormal components keep.

    Parameters
    ----------
    X : array-like, or sparse array or matrix, of shape (n_samples, n_features)
        Rows, in the units in which the components are orthonormal; S is their covariance.
    components : array-like of shape (n_components, n_features)
        V', orthonormal rows, such as `FairPCA.components_`.

    Returns
    -------
    share : float
        Between 0 and 1.

    Examples
    --------
    >>> explained_variance([[0.0, 0.0], [4.0, 3.0], [4.0, 0.0], [0.0, 3.0]], [[1.0, 0.0]])
    0.64
    """
    rows = compressed(X) if is_sparse(X) else check_array(X, dtype=[np.float64, np.float32])
    frame = _orthonormal(components)
    if frame.shape[1] != rows.shape[1]:
        raise ValueError(f"components have {frame.shape[1]} features but X has {rows.shape[1]}.")
    spread = Spread.of(rows_in_memory(rows, np.empty((rows.shape[0], 0))), 1.0, frame)
    if spread.total == 0.0:
        raise ValueError("X has no variance.")
    return spread.kept / spread.total


def communality(components: Any, explained_variance: Any = None) -> FloatArray:
    """Return how much of each feature the components carry.

    The communality of feature j is the sum of its squared loadings. Loadings are the entries v_kj of the components,
    as in the paper's figures, or v_kj sqrt(lambda_k) when the variances lambda of the components are given: then, for
    standardised features, it is the share of the feature's variance that the components explain.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        V', orthonormal rows.
    explained_variance : array-like of shape (n_components,), default=None
        Variance along each component.

    Returns
    -------
    communality : ndarray of shape (n_features,)
        One number a feature.

    Examples
    --------
    >>> communality([[0.6, 0.8]])
    array([0.36, 0.64])
    """
    frame = _orthonormal(components)
    weights = np.ones(len(frame)) if explained_variance is None else np.asarray(explained_variance, dtype=np.float64)
    if weights.shape != (len(frame),):
        raise ValueError(f"explained_variance has shape {weights.shape}; one number a component, ({len(frame)},).")
    return weights @ frame**2


def _orthonormal(components: Any) -> FloatArray:
    frame: FloatArray = check_array(components, dtype=np.float64, input_name="components")
    if not np.allclose(frame @ frame.T, np.eye(len(frame)), atol=1e-6):
        raise ValueError("components must be orthonormal rows, one a component (V', not V).")
    return frame
