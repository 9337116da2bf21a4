"""Fair PCA of Samadi et al.: no group pays more than the other in reconstruction."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import Note
from fairpca.baselines._base import Baseline
from fairpca.baselines._problem import mean_and_covariance
from fairpca.data import PrincipalAxes

_BISECTIONS = 60


class ReconstructionFairPCA(Baseline):
    r"""Fair PCA that equalises what two groups lose by the projection, beyond what each must lose.

    With :math:`\Sigma_g` the covariance of group g about its own mean, minimises over orthonormal V (p x d)

    .. math::
        \max_g \; \ell_g(V), \qquad
        \ell_g(V) = \max_W \operatorname{tr}(W'\Sigma_gW) - \operatorname{tr}(V'\Sigma_gV),

    the average squared error of reconstructing a row of group g minus the least possible in d dimensions.

    Parameters
    ----------
    n_components : int, default=2
        d, the dimension of the projection, at most the number of features.
    standardize : bool, default=True
        Scale every column to unit variance. Columns are always centred; constant columns stay at zero.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows V', the principal axes inside the subspace, by decreasing variance. Signs are such that the
        entry of largest magnitude is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) along each component, in the scaled units.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same relative to the total.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    constant_features_ : ndarray of bool of shape (n_features,)
        Columns that do not vary beyond the rounding of their numbers; `transform` takes them for 0.
    groups_ : ndarray of shape (2,)
        The labels of the groups, sorted; empty without sensitive features.
    group_losses_ : ndarray of shape (2,)
        Loss of each group, in the order of `groups_`. At the solution they are equal.
    mixture_weight_ : float
        w, such that V spans leading eigenvectors of :math:`w \Sigma_1 + (1 - w) \Sigma_2`; nan without sensitive
        features.
    duality_gap_ : float
        The optimum is at most this much below the larger loss.
    converged_ : bool
        Always True: the search ends at the resolution of the arithmetic.
    n_iter_ : int
        Eigendecompositions made.
    n_components_, n_samples_, n_features_in_ : int
        Sizes.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, when `X` had them.

    See Also
    --------
    fairpca.FairPCA : Makes the projected groups alike, which equal losses do not.

    Notes
    -----
    For a weight w the leading eigenvectors of the mixture minimise :math:`w \ell_1 + (1 - w) \ell_2`, and the largest
    of these minima over w is the optimum; :math:`\ell_1 - \ell_2` falls in w, so bisection finds it. Where
    eigenvalues d and d + 1 of the mixture cross at the best w, the losses jump there. Every subspace on the way from
    the one side of the crossing to the other then has the same mixed loss, and the one where both groups lose
    equally is taken: the solution has exactly d dimensions, where a relaxation rounded by linear programming may
    need one more.

    References
    ----------
    S. Samadi, U. Tantipongpipat, J. Morgenstern, M. Singh, S. Vempala, "The Price of Fair PCA: One Extra Dimension",
    NeurIPS 2018.

    U. Tantipongpipat, S. Samadi, M. Singh, J. Morgenstern, S. Vempala, "Multi-Criteria Dimensionality Reduction with
    Applications to Fairness", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.baselines import ReconstructionFairPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], [150, 50])
    >>> X = rng.normal(size=(200, 5))
    >>> X[group == "a", :2] *= 3
    >>> X[group == "b", 2:] *= 3
    >>> model = ReconstructionFairPCA(n_components=2).fit(X, sensitive_features=group)
    >>> bool(np.isclose(*model.group_losses_))
    True
    """

    def __init__(self, n_components: int = 2, *, standardize: bool = True) -> None:
        self.n_components = n_components
        self.standardize = standardize

    def _solve(
        self, rows: FloatArray, axes: PrincipalAxes, groups: AnyArray | None, masses: FloatArray | None, d: int
    ) -> tuple[FloatArray, list[Note]]:
        self.converged_ = True
        if groups is None:
            self.groups_, self.group_losses_ = np.empty(0, dtype=object), np.empty(0)
            self.mixture_weight_, self.duality_gap_, self.n_iter_ = float("nan"), 0.0, 1
            return axes.axes[:, :d], []
        self.groups_ = np.unique(groups)
        coordinates = axes.coordinates(rows)[:, : max(d, axes.rank)]
        members = [groups == label for label in self.groups_]
        tradeoff = Tradeoff.of(
            [mean_and_covariance(coordinates[own], None if masses is None else masses[own])[1] for own in members], d
        )
        frame, self.mixture_weight_, self.n_iter_ = tradeoff.solve()
        self.group_losses_ = tradeoff.losses(frame)
        bound = tradeoff.lower_bound(self.mixture_weight_)
        self.duality_gap_ = max(0.0, float(self.group_losses_.max()) - bound)
        return axes.axes[:, : len(frame)] @ frame, []


@dataclass(frozen=True)
class Tradeoff:
    """Two covariances, and the best that d dimensions can do for each alone.

    Attributes
    ----------
    covariances : ndarray of shape (2, r, r)
        Sigma_1 and Sigma_2.
    best : ndarray of shape (2,)
        Sum of the d largest eigenvalues of each.
    n_components : int
        d.
    """

    covariances: FloatArray
    best: FloatArray
    n_components: int

    @classmethod
    def of(cls, covariances: list[FloatArray], n_components: int) -> "Tradeoff":
        """Take the covariances of two groups."""
        both = np.stack(covariances)
        best = np.linalg.eigvalsh(both)[:, ::-1][:, :n_components].sum(axis=1)
        return cls(both, best, n_components)

    def losses(self, frame: FloatArray) -> FloatArray:
        """Return the loss of each group, at least 0."""
        kept = np.einsum("ia,gij,ja->g", frame, self.covariances, frame, optimize=True)
        return np.maximum(self.best - kept, 0.0)

    def difference(self, frame: FloatArray) -> float:
        """Return the loss of the first group minus that of the second."""
        first, second = self.losses(frame)
        return float(first - second)

    def frame(self, weight: float) -> FloatArray:
        """Return the leading eigenvectors of w Sigma_1 + (1 - w) Sigma_2."""
        return np.linalg.eigh(self._mixture(weight))[1][:, -self.n_components :]

    def lower_bound(self, weight: float) -> float:
        """Return min_V w l_1 + (1 - w) l_2, which no maximum of the two losses can undercut."""
        kept = np.linalg.eigvalsh(self._mixture(weight))[-self.n_components :].sum()
        return float(weight * self.best[0] + (1.0 - weight) * self.best[1] - kept)

    def solve(self) -> tuple[FloatArray, float, int]:
        """Return the frame with the least larger loss, its weight w, and the number of eigendecompositions."""
        low, high = 0.0, 1.0
        frames = [self.frame(low), self.frame(high)]
        negligible = 1e-13 * float(self.best.sum())
        for n_iter in range(_BISECTIONS):
            weight = (low + high) / 2.0
            frame = self.frame(weight)
            difference = self.difference(frame)
            if abs(difference) <= negligible:
                return frame, weight, n_iter + 3
            if difference > 0.0:
                low, frames[0] = weight, frame
            else:
                high, frames[1] = weight, frame
        return self._between(*frames), (low + high) / 2.0, _BISECTIONS + 2

    def _between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the subspace on the geodesic from `first` to `second` where both groups lose the same."""
        path = geodesic(first, second)
        ends = [self.difference(path(t)) for t in (0.0, 1.0)]
        if ends[0] * ends[1] >= 0.0:
            return first if abs(ends[0]) <= abs(ends[1]) else second
        t = brentq(lambda t: self.difference(path(t)), 0.0, 1.0, xtol=1e-15)
        return np.linalg.qr(path(t))[0]

    def _mixture(self, weight: float) -> FloatArray:
        return weight * self.covariances[0] + (1.0 - weight) * self.covariances[1]


def geodesic(first: FloatArray, second: FloatArray) -> Callable[[float], FloatArray]:
    """Return t -> frames, the shortest way from span(first) at t = 0 to span(second) at t = 1.

    Parameters
    ----------
    first, second : ndarray of shape (r, d)
        Orthonormal frames.
    """
    left, cosines, right = np.linalg.svd(first.T @ second)
    start, end = first @ left, second @ right.T
    across = end - start * cosines
    sines = np.linalg.norm(across, axis=0)
    angles = np.arctan2(sines, cosines)
    across /= np.where(sines > 1e-14, sines, 1.0)

    def path(t: float) -> FloatArray:
        return start * np.cos(t * angles) + across * np.sin(t * angles)

    return path
