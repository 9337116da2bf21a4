"""Fair PCA of Kleindessner et al.: equal means, and nearly equal covariances, in closed form."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np

from fairpca._utils.checks import check_name, check_number
from fairpca._utils.typing import FloatArray
from fairpca._utils.warn import Note
from fairpca.baselines._moment_method import ProjectionByMoments
from fairpca.data import ScaledMoments, leading, orthonormal


class ClosedFormFairPCA(ProjectionByMoments):
    r"""Fair PCA whose projections are uncorrelated with the attributes, by two eigendecompositions.

    With R an orthonormal basis of the directions that do not correlate with the attributes z (one-hot or numbers),
    :math:`\operatorname{Cov}(R'x, z) = 0`, and S the covariance of all rows,

    .. math::
        V = R U, \qquad U = \text{the } d \text{ leading eigenvectors of } R'SR.

    `match="covariances"` first leaves only those directions within R in which the covariances :math:`\Sigma_g` of the
    groups differ least: the eigenvectors of :math:`\sum_g (R'(\Sigma_g - \bar\Sigma)R)^2` with the smallest
    eigenvalues, where :math:`\bar\Sigma` is their mean by size. For two groups these are the eigenvectors of
    :math:`R'(\Sigma_0 - \Sigma_1)R` with the eigenvalues nearest to 0.

    Parameters
    ----------
    n_components : int or float, default=2
        d, at most what the attributes leave: the means of k groups take k - 1 directions. A share in (0, 1) takes as
        many as plain PCA needs to keep it.
    match : {"means", "covariances"}, default="means"
        What shall be alike.
    share : float, default=0.5
        Share of the directions within R that remain with `match="covariances"`, at least d of them; fewer are fairer.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping, default="auto"
        Whether attributes are groups or numbers, see `fairpca.FairPCA`. Covariances need groups.
    standardize : bool, default=True
        Scale every column to unit variance. Columns are always centred; constant columns stay at zero.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows V', the principal axes inside the subspace, by decreasing variance.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) along each component, in the scaled units, and relative to the total.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    n_components_, n_live_components_, n_samples_, n_features_in_ : int
        Sizes.

    See Also
    --------
    fairpca.FairPCA : Starts from this subspace, and makes distributions alike instead of means.

    References
    ----------
    M. Kleindessner, M. Donini, C. Russell, M. B. Zafar, "Efficient fair PCA for fair representation learning",
    AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.baselines import ClosedFormFairPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b", "c"], 100)
    >>> X = rng.normal(size=(300, 5))
    >>> X[group == "b", 0] += 2
    >>> Z = ClosedFormFairPCA(n_components=2).fit_transform(X, sensitive_features=group)
    >>> bool(np.allclose([Z[group == g].mean(axis=0) for g in "abc"], 0))
    True
    """

    def __init__(
        self,
        n_components: int | float = 2,
        *,
        match: str = "means",
        share: float = 0.5,
        sensitive_kind: Any = "auto",
        standardize: bool = True,
    ) -> None:
        self.n_components = n_components
        self.match = match
        self.share = share
        self.sensitive_kind = sensitive_kind
        self.standardize = standardize

    @property
    def _needs_groups(self) -> bool:  # type: ignore[override]
        return self.match == "covariances"

    def _check_parameters(self) -> None:
        check_name("match", self.match, ["means", "covariances"])
        check_number("share", self.share, 0.0)
        if self.share > 1:
            raise ValueError(f"share={self.share!r} must be at most 1, which leaves covariances alone.")

    def _frame(self, moments: ScaledMoments, n_components: int) -> tuple[FloatArray, list[Note]]:
        axes, p = moments.axes, len(moments.axes.variances)
        variances = axes.variances[: axes.rank]
        taken = orthonormal(moments.correlations())
        self._check_room(n_components, taken.shape[1], p)
        basis = np.linalg.qr(np.sqrt(variances)[:, None] * taken, mode="complete")[0][:, taken.shape[1] :]
        if len(moments.within):
            basis = basis @ self._alike(moments, basis, n_components)
        live = basis @ leading(basis.T @ (variances[:, None] * basis), n_components)[1]
        frame = np.zeros((p, n_components))
        frame[: axes.rank, : live.shape[1]] = live
        # Null axes carry no variance, of any group.
        extra = np.arange(n_components - live.shape[1])
        frame[axes.rank + extra, live.shape[1] + extra] = 1.0
        return frame, []

    def _alike(self, moments: ScaledMoments, basis: FloatArray, n_components: int) -> FloatArray:
        """Return the directions within R in which the covariances of groups differ least."""
        inside = moments.axes.axes[:, : moments.axes.rank] @ basis
        squares, start = np.zeros((basis.shape[1], basis.shape[1])), 0
        for column in moments.encoding.columns:
            own = slice(start, start + column.width)
            start += column.width
            pooled = np.tensordot(moments.shares[own], moments.within[own], axes=1)
            for within in moments.within[own]:
                difference = inside.T @ (within - pooled) @ inside
                squares += difference @ difference
        n_kept = max(min(n_components, len(squares)), round(self.share * len(squares)))
        kept: FloatArray = np.linalg.eigh(squares)[1][:, :n_kept]
        return kept
