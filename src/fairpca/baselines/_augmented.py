"""Adversarial AugmentedPCA: scores of much variance that predict the attributes badly, by one knob."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np

from fairpca._utils.checks import check_at_least_zero
from fairpca._utils.warn import Note
from fairpca.baselines._moment_method import MomentMethod
from fairpca.data import ScaledMoments


class AugmentedPCA(MomentMethod):
    r"""Adversarial PCA: scores that reconstruct the rows well and the attributes badly, in closed form.

    Uncorrelated scores of unit variance are :math:`s = Q'Wx` with :math:`W = S^{-1/2}` and orthonormal Q. From them
    linear regression reconstructs :math:`\operatorname{tr} Q'SQ` of the variance of the rows and
    :math:`\|Q' W \operatorname{Cov}(x, z)\|^2` of the attributes z (one-hot or numbers, in their units). Q holds the d
    leading eigenvectors of

    .. math::
        S - \mu \, W \operatorname{Cov}(x, z) \operatorname{Cov}(z, x) W,

    the adversarial objective with the encoded inference of the package AugmentedPCA. Each score is scaled to the
    variance of the rows that it explains, so that :math:`\mu = 0` is plain PCA.

    Parameters
    ----------
    n_components : int or float, default=2
        d, at most the number of features. A share in (0, 1) takes as many as plain PCA needs to keep it.
    mu : float, default=1.0
        Strength of the adversary: 0 is plain PCA; nothing is erased at any finite value.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping, default="auto"
        Whether attributes are groups or numbers, see `fairpca.FairPCA`.
    standardize : bool, default=True
        Scale every column to unit variance. Columns are always centred; constant columns stay at zero.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map: `transform` gives ``((X - mean_) / scale_) @ components_.T``. Its rows are not orthonormal.
    axes_ : ndarray of shape (n_components, n_features)
        Rows of unit length, the loadings, with which `inverse_transform` makes rows of scores.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) of the rows that each score explains, and relative to the total. Scores stand in the
        order of the objective, in which variance need not decrease.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    n_components_, n_live_components_, n_samples_, n_features_in_ : int
        Sizes.

    References
    ----------
    W. E. Carson IV, A. Talbot, D. Carlson, "AugmentedPCA: A Python Package of Supervised and Adversarial Linear Factor
    Models", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.baselines import AugmentedPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0, 1], 100)
    >>> X = rng.normal(size=(200, 5))
    >>> X[:, 0] += 3 * group
    >>> gaps = []
    >>> for mu in (0, 10):
    ...     Z = AugmentedPCA(2, mu=mu).fit_transform(X, sensitive_features=group)
    ...     gaps.append(np.abs(np.corrcoef(Z.T, group)[-1, :-1]).max())
    >>> bool(gaps[1] < gaps[0] / 3)
    True
    """

    def __init__(
        self,
        n_components: int | float = 2,
        *,
        mu: float = 1.0,
        sensitive_kind: Any = "auto",
        standardize: bool = True,
    ) -> None:
        self.n_components = n_components
        self.mu = mu
        self.sensitive_kind = sensitive_kind
        self.standardize = standardize

    def _check_parameters(self) -> None:
        check_at_least_zero("mu", self.mu, "0 is plain PCA")

    def _solve(self, moments: ScaledMoments, n_components: int, n_rows: int) -> list[Note]:
        variances = moments.axes.variances[: moments.axes.rank]
        covariances = moments.correlations() * moments.deviations[moments.deviations > 0]
        objective = np.diag(variances) - self.mu * covariances @ covariances.T
        n_live = min(n_components, len(variances))
        Q = np.zeros((n_components, len(variances)))
        Q[:n_live] = np.linalg.eigh(objective)[1].T[::-1][:n_live]
        loadings = Q * np.sqrt(variances)
        lengths = np.linalg.norm(loadings, axis=1)
        axes = loadings / np.where(lengths > 0, lengths, 1.0)[:, None]
        return self._learn_oblique(lengths[:, None] * Q / np.sqrt(variances), axes, lengths**2, moments, n_rows)
