"""Fair PCA of Samadi et al.: no group pays more than the others in reconstruction."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp, softmax

from fairpca._utils.typing import FloatArray
from fairpca._utils.warn import Note
from fairpca.baselines._moment_method import ProjectionByMoments
from fairpca.data import ScaledMoments

_BISECTIONS = 60

_TEMPERATURES = 0.01 * 0.1 ** np.arange(6)


class ReconstructionFairPCA(ProjectionByMoments):
    r"""Fair PCA that equalises what groups lose by the projection, beyond what each must lose.

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
    groups_ : ndarray of shape (n_groups,)
        The labels of the groups, sorted, of several attributes one after the other; empty without sensitive features.
    group_losses_ : ndarray of shape (n_groups,)
        Loss of each group, in the order of `groups_`. Of two groups they are equal at the solution; of more, those of
        the groups that have a weight.
    mixture_weights_ : ndarray of shape (n_groups,)
        w, which sum to 1: V spans leading eigenvectors of :math:`\sum_g w_g \Sigma_g`.
    mixture_weight_ : float
        The first of them; nan without sensitive features.
    duality_gap_ : float
        The optimum is at most this much below the largest loss.
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
    For weights w the leading eigenvectors of the mixture minimise :math:`\sum_g w_g \ell_g`, and no subspace has a
    largest loss below any of these minima. The minima are concave in w, sums of eigenvalues of
    :math:`\sum_g w_g H_g` with :math:`H_g = (\sigma_d(\Sigma_g) / d) I - \Sigma_g`, where :math:`\sigma_d` sums the
    d largest eigenvalues.

    Of two groups the largest minimum is the optimum; :math:`\ell_1 - \ell_2` falls in w, so bisection finds it. Where
    eigenvalues d and d + 1 of the mixture cross at the best w, the losses jump there. Every subspace on the way from
    the one side of the crossing to the other then has the same mixed loss, and the one where both groups lose
    equally is taken: the solution has exactly d dimensions, where a relaxation rounded by linear programming may
    need one more.

    Of more groups the largest loss is minimised over subspaces, and the largest minimum found from the multipliers.
    The two meet where no eigenvalues cross; `duality_gap_` says how far they may be apart.

    References
    ----------
    S. Samadi, U. Tantipongpipat, J. Morgenstern, M. Singh, S. Vempala, "The Price of Fair PCA: One Extra Dimension",
    NeurIPS 2018.

    U. Tantipongpipat, S. Samadi, M. Singh, J. Morgenstern, S. Vempala, "Multi-Criteria Dimensionality Reduction with
    Applications to Fairness", NeurIPS 2019.

    J. Shen, A. J. Davis, D. Lu, Z. Bai, "Hidden Convexity of Fair PCA and Fast Solver via Eigenvalue Optimization",
    2025.

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

    _needs_groups = True

    def _frame(self, moments: ScaledMoments, n_components: int) -> tuple[FloatArray, list[Note]]:
        axes, d = moments.axes, n_components
        self.converged_ = True
        columns = moments.encoding.columns
        names = [f"{each.name}={group}" if len(columns) > 1 else group for each in columns for group in each.groups]
        self.groups_ = np.array(names, dtype=None if names else object)
        if not names:
            self.group_losses_, self.mixture_weights_, self.n_iter_ = np.empty(0), np.empty(0), 1
            self.mixture_weight_, self.duality_gap_ = float("nan"), 0.0
            return np.eye(len(axes.variances), d), []
        live = axes.axes[:, : max(d, axes.rank)]
        tradeoff = Tradeoff.of(live.T @ moments.within @ live, d)
        frame, self.mixture_weights_, self.n_iter_ = tradeoff.solve()
        self.mixture_weight_ = float(self.mixture_weights_[0])
        self.group_losses_ = tradeoff.losses(frame)
        bound = tradeoff.lower_bound(self.mixture_weights_)
        self.duality_gap_ = max(0.0, float(self.group_losses_.max()) - bound)
        return np.vstack([frame, np.zeros((len(axes.variances) - len(frame), d))]), []


@dataclass(frozen=True)
class Tradeoff:
    """Covariances of groups, and the best that d dimensions can do for each alone.

    Attributes
    ----------
    covariances : ndarray of shape (n_groups, r, r)
        Sigma_g.
    best : ndarray of shape (n_groups,)
        Sum of the d largest eigenvalues of each.
    n_components : int
        d.
    """

    covariances: FloatArray
    best: FloatArray
    n_components: int

    @classmethod
    def of(cls, covariances: FloatArray, n_components: int) -> "Tradeoff":
        """Take the covariances of groups."""
        best = np.linalg.eigvalsh(covariances)[:, ::-1][:, :n_components].sum(axis=1)
        return cls(covariances, best, n_components)

    def losses(self, frame: FloatArray) -> FloatArray:
        """Return the loss of each group, at least 0."""
        kept = np.einsum("gia,ia->g", self.covariances @ frame, frame)
        return np.maximum(self.best - kept, 0.0)

    def frame(self, weights: FloatArray) -> FloatArray:
        """Return the leading eigenvectors of sum_g w_g Sigma_g."""
        vectors: FloatArray = np.linalg.eigh(self._mixture(weights))[1][:, -self.n_components :]
        return vectors

    def lower_bound(self, weights: FloatArray) -> float:
        """Return min_V sum_g w_g l_g, which no maximum of the losses can undercut."""
        return float(weights @ self.best - np.linalg.eigvalsh(self._mixture(weights))[-self.n_components :].sum())

    def solve(self) -> tuple[FloatArray, FloatArray, int]:
        """Return the frame with the least largest loss, the weights w, and the number of eigendecompositions."""
        return self._of_two() if len(self.best) == 2 else self._of_many()

    def _of_two(self) -> tuple[FloatArray, FloatArray, int]:
        low, high = 0.0, 1.0
        frames = [self.frame(np.array([end, 1.0 - end])) for end in (low, high)]
        negligible = 1e-13 * float(self.best.sum())
        for n_iter in range(_BISECTIONS):
            weight = (low + high) / 2.0
            frame = self.frame(np.array([weight, 1.0 - weight]))
            difference = self._difference(frame)
            if abs(difference) <= negligible:
                return frame, np.array([weight, 1.0 - weight]), n_iter + 3
            if difference > 0.0:
                low, frames[0] = weight, frame
            else:
                high, frames[1] = weight, frame
        weight = (low + high) / 2.0
        return self._between(*frames), np.array([weight, 1.0 - weight]), _BISECTIONS + 2

    def _difference(self, frame: FloatArray) -> float:
        """Return the loss of the first group minus that of the second."""
        first, second = self.losses(frame)
        return float(first - second)

    def _between(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the subspace on the geodesic from `first` to `second` where both groups lose the same."""
        path = geodesic(first, second)
        ends = [self._difference(path(t)) for t in (0.0, 1.0)]
        if ends[0] * ends[1] >= 0.0:
            return first if abs(ends[0]) <= abs(ends[1]) else second
        t = brentq(lambda t: self._difference(path(t)), 0.0, 1.0, xtol=1e-15)
        return np.linalg.qr(path(t))[0]

    def _of_many(self) -> tuple[FloatArray, FloatArray, int]:
        """Descend over subspaces, then climb the lower bound, whose eigenvectors are exact where it is smooth."""
        n, count = len(self.best), 0
        start = np.full(n, 1.0 / n)
        frames, weights = [self.frame(start)], [start]
        frame, multipliers = self._descended(frames[0])

        def evaluate(weights: FloatArray) -> tuple[float, FloatArray]:
            nonlocal count
            count += 1
            losses = self.losses(self.frame(weights)) / scale
            return -float(weights @ losses), -losses

        scale = float(self.best.max())
        simplex = {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": np.ones_like}
        options = {"ftol": 1e-16, "maxiter": 200}
        climbed = minimize(
            evaluate, multipliers, method="SLSQP", jac=True, bounds=[(0, 1)] * n, constraints=simplex, options=options
        )
        climbed = np.maximum(climbed.x, 0.0) / np.maximum(climbed.x, 0.0).sum()
        frames += [frame, self.frame(climbed)]
        weights += [multipliers, climbed]
        best = min(frames, key=lambda each: float(self.losses(each).max()))
        return best, max(weights, key=self.lower_bound), count

    def _descended(self, frame: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Minimise the largest loss over subspaces, its maximum smoothed by a falling temperature."""
        shape = frame.shape

        def evaluate(flat: FloatArray, temperature: float) -> tuple[float, FloatArray]:
            V, R = np.linalg.qr(flat.reshape(shape))
            images = self.covariances @ V
            losses = (self.best - np.einsum("gia,ia->g", images, V)) / temperature
            gradient = -2.0 * np.einsum("g,gia->ia", softmax(losses), images)
            # The value depends on the span alone, so dV = (I - VV') dX R^-1.
            tangent = gradient - V @ (V.T @ gradient)
            return float(temperature * logsumexp(losses)), np.linalg.solve(R, tangent.T).T.ravel()

        for temperature in _TEMPERATURES * float(self.best.max()):
            options = {"maxiter": 500, "ftol": 1e-15, "gtol": 1e-12}
            found = minimize(evaluate, frame.ravel(), (temperature,), "L-BFGS-B", jac=True, options=options)
            frame = np.linalg.qr(found.x.reshape(shape))[0]
        return frame, softmax(self.losses(frame) / temperature)

    def _mixture(self, weights: FloatArray) -> FloatArray:
        mixture: FloatArray = np.tensordot(weights, self.covariances, axes=1)
        return mixture


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
