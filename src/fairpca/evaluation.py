"""One projection judged on training and held-out rows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.metrics import DownstreamReport, downstream, explained_variance, mmd2


@dataclass(frozen=True)
class Split:
    """Training and held-out rows, standardised with the training mean and deviation.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n_rows, n_features)
        Rows.
    y_train, y_test : ndarray of shape (n_rows,)
        Labels.
    a_train, a_test : ndarray of shape (n_rows,)
        Protected attribute.
    """

    X_train: FloatArray
    X_test: FloatArray
    y_train: AnyArray
    y_test: AnyArray
    a_train: AnyArray
    a_test: AnyArray

    @classmethod
    def random(cls, X: Any, y: Any, a: Any, *, seed: int, test_size: float = 0.3) -> "Split":
        """Split rows at random and standardise them.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        y, a : array-like of shape (n_rows,)
            Labels and protected attribute.
        seed : int
            Seed of the split.
        test_size : float, default=0.3
            Share of the rows that is held out.
        """
        parts = train_test_split(np.asarray(X, dtype=float), y, a, test_size=test_size, random_state=seed)
        X_train, X_test, y_train, y_test, a_train, a_test = parts
        mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
        scale = np.where(np.ptp(X_train, axis=0) == 0, 1.0, deviation)
        return cls((X_train - mean) / scale, (X_test - mean) / scale, y_train, y_test, a_train, a_test)


@dataclass(frozen=True)
class ProjectionReport:
    """What a projection keeps and how fair it is.

    Attributes
    ----------
    variance_train, variance_test : float
        Share of the variance kept, each relative to the covariance of the same rows.
    mmd2_train, mmd2_test : float
        Plug-in MMD^2 with the bandwidth of the training rows.
    downstream : DownstreamReport
        A classifier's accuracy and parity gaps on the held-out rows.
    """

    variance_train: float
    variance_test: float
    mmd2_train: float
    mmd2_test: float
    downstream: DownstreamReport


def evaluate_projection(
    components: FloatArray, split: Split, *, bandwidth: float, protocol: str = "holdout"
) -> ProjectionReport:
    """Judge orthonormal components on a split.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        V', orthonormal rows, for the standardised features.
    split : Split
        The rows.
    bandwidth : float
        sigma, the same for all methods that are compared.
    protocol : {"holdout", "paper"}, default="holdout"
        How the classifier is trained; see `fairpca.metrics.downstream`.
    """
    Z_train, Z_test = split.X_train @ components.T, split.X_test @ components.T
    return ProjectionReport(
        variance_train=explained_variance(split.X_train, components),
        variance_test=explained_variance(split.X_test, components),
        mmd2_train=mmd2(Z_train, sensitive_features=split.a_train, bandwidth=bandwidth),
        mmd2_test=mmd2(Z_test, sensitive_features=split.a_test, bandwidth=bandwidth),
        downstream=downstream(
            Z_train, split.y_train, Z_test, split.y_test, sensitive_features=split.a_test, protocol=protocol
        ),
    )
