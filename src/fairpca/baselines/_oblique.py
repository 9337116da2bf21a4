"""Oblique maps by moments: attributes erased before PCA, or reconstructed as badly as rows are well."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np

from fairpca._utils.checks import check_at_least_zero
from fairpca._utils.typing import FloatArray
from fairpca.baselines._moment_method import ObliqueByMoments
from fairpca.data import ScaledMoments, leading, orthonormal


class LEACE(ObliqueByMoments):
    r"""PCA of rows from which attributes are erased with the least change: no linear classifier predicts them.

    With S the covariance of the rows, :math:`W = S^{-1/2}` (on the range of S) and U an orthonormal basis of the
    columns of :math:`W \operatorname{Cov}(x, z)` for attributes z (one-hot or numbers), erased rows are

    .. math::
        r(x) = P (x - \bar x), \qquad P = I - W^{-1} U U' W,

    the nearest to x in mean square with :math:`\operatorname{Cov}(r(x), z) = 0`. Their principal axes V follow, so
    that :math:`z = V' P (x - \bar x)` is an oblique projection of x.

    Parameters
    ----------
    n_components : int or float, default=2
        d, at most what the attributes leave: k groups take k - 1 directions. A share in (0, 1) takes as many as plain
        PCA needs to keep it.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping, default="auto"
        Whether attributes are groups or numbers, see `fairpca.FairPCA`.
    standardize : bool, default=True
        Scale every column to unit variance. LEACE itself does not depend on units, the PCA does.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map V'P: `transform` gives ``((X - mean_) / scale_) @ components_.T``. Its rows are not orthonormal.
    axes_ : ndarray of shape (n_components, n_features)
        Orthonormal rows V', with which `inverse_transform` makes erased rows of coordinates.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) of each coordinate, in the scaled units, and relative to the total of the rows.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    n_components_, n_live_components_, n_samples_, n_features_in_ : int
        Sizes.

    Notes
    -----
    Linear classifiers, and those alone, are stopped on the training rows. The quadratic version (QLEACE) moves each
    row by the optimal transport map of its group, so it needs the attribute of every new row, and a transformer that
    sees X alone cannot offer it; `ClosedFormFairPCA(match="covariances")` goes beyond means without it.

    References
    ----------
    N. Belrose, D. Schneider-Joseph, S. Ravfogel, R. Cotterell, E. Raff, S. Biderman, "LEACE: Perfect linear concept
    erasure in closed form", NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.baselines import LEACE
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 5))
    >>> X[group == "b", 0] += 2
    >>> model = LEACE(n_components=4).fit(X, sensitive_features=group)
    >>> erased = model.inverse_transform(model.transform(X))
    >>> bool(np.allclose(erased[group == "a"].mean(axis=0), erased[group == "b"].mean(axis=0)))
    True
    """

    def __init__(
        self, n_components: int | float = 2, *, sensitive_kind: Any = "auto", standardize: bool = True
    ) -> None:
        self.n_components = n_components
        self.sensitive_kind = sensitive_kind
        self.standardize = standardize

    def _map(self, moments: ScaledMoments, n_components: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        erased = orthonormal(moments.correlations())
        self._check_room(n_components, erased.shape[1], len(moments.axes.variances))
        roots = np.sqrt(moments.axes.variances[: moments.axes.rank])
        # In whitened axes P is I - U T' with T' U = I.
        whitened = np.eye(len(roots)) - erased @ self._kernel_of(erased, moments).T
        left = roots[:, None] * whitened
        variances, vectors = leading(left @ left.T, min(n_components, len(roots) - erased.shape[1]))
        return (vectors.T * roots) @ whitened / roots, vectors.T, variances

    def _kernel_of(self, erased: FloatArray, moments: ScaledMoments) -> FloatArray:
        """Return T, whose columns are orthogonal to what the projection leaves, in whitened axes."""
        return erased


class SPLINCE(LEACE):
    r"""PCA of rows from which attributes are erased while their covariance with labels stays.

    As `LEACE`, with the oblique projection that also keeps :math:`\operatorname{Cov}(r(x), y) =
    \operatorname{Cov}(x, y)`: with U spanning :math:`W \operatorname{Cov}(x, z)`, :math:`U_y` spanning
    :math:`W \operatorname{Cov}(x, y)`, and T spanning :math:`(I - U_y U_y') U`,

    .. math::
        P = I - W^{-1} U (T'U)^{-1} T' W.

    Parameters
    ----------
    n_components : int or float, default=2
        d, see `LEACE`. The covariance with labels is kept exactly by the erased rows, and by as much of it as lies in
        their first d principal axes.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping, default="auto"
        Whether attributes are groups or numbers, see `fairpca.FairPCA`. Labels are numbers where they have more than
        20 values.
    standardize : bool, default=True
        Scale every column to unit variance.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map V'P: `transform` gives ``((X - mean_) / scale_) @ components_.T``. Its rows are not orthonormal.
    axes_ : ndarray of shape (n_components, n_features)
        Orthonormal rows V', with which `inverse_transform` makes erased rows of coordinates.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) of each coordinate, in the scaled units, and relative to the total of the rows; an
        oblique projection may add variance, so that the ratios can sum to more than 1.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    n_components_, n_live_components_, n_samples_, n_features_in_ : int
        Sizes.

    Notes
    -----
    What is kept of labels that go with the attribute can be used to guess the attribute from predictions: a classifier
    for y then has a parity gap by design.

    References
    ----------
    F. Holstege, S. Ravfogel, B. Wouters, "Preserving Task-Relevant Information Under Linear Concept Removal",
    NeurIPS 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.baselines import SPLINCE
    >>> rng = np.random.default_rng(0)
    >>> group, y = rng.integers(2, size=(2, 200))
    >>> X = rng.normal(size=(200, 5)) + np.outer(group, [1, 1, 0, 0, 0]) + np.outer(y, [0, 1, 1, 0, 0])
    >>> model = SPLINCE(n_components=4).fit(X, y, sensitive_features=group)
    >>> erased = model.inverse_transform(model.transform(X))
    >>> bool(np.allclose(np.cov(erased.T, y)[-1], np.cov(X.T, y)[-1]))
    True
    """

    _needs_labels = True

    def _kernel_of(self, erased: FloatArray, moments: ScaledMoments) -> FloatArray:
        kept = orthonormal(moments.correlations(of_label=True))
        left, cosines, _ = np.linalg.svd(erased - kept @ (kept.T @ erased), full_matrices=False)
        if len(cosines) and cosines[-1] < 1e-6:
            raise ValueError(
                "y and sensitive_features covary with the rows in the same direction, so one cannot be kept and the "
                "other erased; use LEACE, which erases, or leave y or an attribute out."
            )
        T: FloatArray = left @ np.linalg.inv(erased.T @ left)
        return T


class AugmentedPCA(ObliqueByMoments):
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

    def _map(self, moments: ScaledMoments, n_components: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        variances = moments.axes.variances[: moments.axes.rank]
        covariances = moments.correlations() * moments.deviations[moments.deviations > 0]
        Q = leading(np.diag(variances) - self.mu * covariances @ covariances.T, n_components)[1].T
        loadings = Q * np.sqrt(variances)
        lengths = np.linalg.norm(loadings, axis=1)[:, None]
        return lengths * Q / np.sqrt(variances), loadings / np.where(lengths > 0, lengths, 1.0), lengths[:, 0] ** 2
