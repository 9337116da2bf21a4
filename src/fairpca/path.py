"""The whole trade-off between variance and fairness."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import FloatArray
from fairpca._utils.warn import Note
from fairpca.comparison import LARGEST_MMD2, People
from fairpca.estimator import FairPCA, learn, notes_on_people
from fairpca.fitting import FLOOR, STRICT, Fit, Fitter, fit_or_leave, unfitted_copy, within_its_time
from fairpca.plots import PathDisplay
from fairpca.solvers import Budget, Solver, Status, WarmStart, solver_from

N_TOLERANCES = 12
"""Points of a curve that looks smooth."""

GAIN_TOLERANCE = 1e-5
"""A thousandth of a point of variance: far less than neighbouring models differ by, and half of the gradients."""


class FairPCAPath(BaseEstimator):
    """FairPCA at a decreasing sequence of tolerances, each fit started from the one before.

    Parameters
    ----------
    estimator : FairPCA, default=None
        All that a model is but its tolerance; None is `FairPCA()`. With ``solver="budget"`` a path stops at gains of a
        thousandth of a point of variance, far less than neighbouring models differ by; where a single fit would
        search, its answer is taken. A solver object is used as it is.
    tolerances : sequence of float, default=None
        Decreasing tolerances. None takes 12 of them, evenly spaced in logarithms from the MMD^2 of plain PCA, where
        nothing is given up, to a twentieth of the chance level, but not below 1e-4.

    Attributes
    ----------
    models_ : list of FairPCA
        The fitted models, loosest first.
    tolerances_ : ndarray of shape (n_tolerances,)
        Their tolerances.
    variances_ : ndarray of shape (n_tolerances,)
        Share of the variance each keeps. It never grows along the path: a point that a stricter fit beats is fitted
        again from there. Where a tolerance is out of reach, the model is the fairest that was found.
    mmd2s_ : ndarray of shape (n_tolerances,)
        Plug-in MMD^2 of each on the training rows.
    converged_ : ndarray of shape (n_tolerances,)
        Whether each met its tolerance at a stationary point.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0, 1], 60)
    >>> X = rng.normal(size=(120, 4)) + group[:, None] * [2.0, 0.0, 0.5, 0.0]
    >>> path = FairPCAPath(FairPCA(2), tolerances=[1e-2, 1e-3]).fit(X, sensitive_features=group)
    >>> bool(path.variances_[0] >= path.variances_[1])
    True
    >>> path.select(max_mmd2=5e-3).tolerance
    0.001
    """

    def __init__(self, estimator: FairPCA | None = None, *, tolerances: Sequence[float] | None = None) -> None:
        self.estimator = estimator
        self.tolerances = tolerances

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the path.

        Parameters
        ----------
        X, y, sensitive_features, control_features, sample_weight
            See `FairPCA.fit`; here the sensitive features are needed.

        Returns
        -------
        self : FairPCAPath
            The fitted path. A fit that fails or is interrupted leaves it as it was.
        """
        if sensitive_features is None:
            raise ValueError("sensitive_features=None: a path of tolerances needs the groups that are compared.")
        asked = None if self.tolerances is None else check_decreasing(self.tolerances)
        fit_or_leave(self, X, People(sensitive_features, y, control_features, sample_weight), asked)
        return self

    def _fit(self, X: Any, people: People, asked: FloatArray | None) -> list[Note]:
        template = unfitted_copy(check_estimator(self.estimator))
        fitter = Fitter.of(template, X, people, LARGEST_MMD2)
        tracer = _Tracer(fitter, template.solver)
        tolerances = tracer.default_tolerances() if asked is None else asked
        found = tracer.trace(tolerances)
        self.models_ = [_model(template, fitter, fit) for fit in found]
        self.tolerances_ = tolerances
        self.variances_ = np.array([model.result_.variance_kept for model in self.models_])
        self.mmd2s_ = np.array([model.mmd2_ for model in self.models_])
        self.converged_ = np.array([model.converged_ for model in self.models_])
        return notes_on_people(fitter)

    def select(
        self, *, min_variance: float | None = None, max_mmd2: float | None = None, knee: bool = False
    ) -> FairPCA:
        """Return one fitted model of the path.

        Parameters
        ----------
        min_variance : float, default=None
            The fairest model that keeps at least this share of the variance.
        max_mmd2 : float, default=None
            The model of most variance whose MMD^2 is at most this.
        knee : bool, default=False
            The model farthest above the straight line between the ends of the path, log MMD^2 against variance: beyond
            it fairness costs more.

        Returns
        -------
        model : FairPCA
            The model.
        """
        check_is_fitted(self)
        if (min_variance is not None) + (max_mmd2 is not None) + knee != 1:
            raise ValueError("select needs exactly one of min_variance=..., max_mmd2=... and knee=True.")
        if min_variance is not None:
            return self._pick(self.variances_ >= min_variance, -self.mmd2s_, f"min_variance={min_variance!r}")
        if max_mmd2 is not None:
            return self._pick(self.mmd2s_ <= max_mmd2, self.variances_, f"max_mmd2={max_mmd2!r}")
        # Where nothing differs, MMD^2 is 0 or the rounding of a sum of kernels.
        logs = np.log(np.maximum(self.mmd2s_, 1e-12))
        return self.models_[int(_height_above_chord(logs, self.variances_).argmax())]

    def table(self) -> list[dict[str, Any]]:
        """Return one dict a model: tolerance, MMD^2, variance kept, live components, converged."""
        check_is_fitted(self)
        return [
            {
                "tolerance": model.tolerance,
                "mmd2": model.mmd2_,
                "variance_kept": model.result_.variance_kept,
                "n_live_components": model.n_live_components_,
                "converged": model.converged_,
            }
            for model in self.models_
        ]

    def __str__(self) -> str:
        if not hasattr(self, "models_"):
            return repr(self)
        rows = [f"{'tolerance':>10} {'MMD^2':>10} {'variance kept':>14} {'met':>4}"]
        for row in self.table():
            met = "yes" if row["converged"] else "no"
            rows.append(f"{row['tolerance']:>10.3g} {row['mmd2']:>10.3g} {row['variance_kept']:>14.1%} {met:>4}")
        return "\n".join(rows)

    def plot(self, ax: Any = None, **style: Any) -> PathDisplay:
        """Draw variance kept against MMD^2.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.plot`.
        """
        check_is_fitted(self)
        return PathDisplay(self.mmd2s_, self.variances_, self.converged_).plot(ax=ax, **style)

    def _pick(self, allowed: Any, preference: FloatArray, condition: str) -> FairPCA:
        if not np.any(allowed):
            raise ValueError(
                f"no model of the path has {condition}: variance goes from {self.variances_.min():.4g} to "
                f"{self.variances_.max():.4g}, MMD^2 from {self.mmd2s_.min():.3g} to {self.mmd2s_.max():.3g}."
            )
        return self.models_[int(np.where(allowed, preference, -np.inf).argmax())]


def _model(template: FairPCA, fitter: Fitter, found: Fit) -> FairPCA:
    """Return a fitted model, ready to use; the template knows the columns."""
    model = copy(template).set_params(tolerance=found.result.tolerance)
    learn(model, fitter, found)
    return model


def fair_pca_path(
    X: Any,
    sensitive_features: Any,
    n_components: int = 2,
    *,
    tolerances: Sequence[float] | None = None,
    y: Any = None,
    control_features: Any = None,
    sample_weight: Any = None,
    **parameters: Any,
) -> FairPCAPath:
    """Fit FairPCA along decreasing tolerances.

    Parameters
    ----------
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
        Rows.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, k)
        Protected attributes.
    n_components : int, default=2
        d.
    tolerances : sequence of float, default=None
        Decreasing tolerances; by default 12 from the MMD^2 of plain PCA to a twentieth of the chance level.
    y, control_features, sample_weight : array-like of shape (n_samples,), default=None
        See `FairPCA.fit`.
    **parameters : dict
        Further parameters of `FairPCA`.

    Returns
    -------
    path : FairPCAPath
        The fitted path.
    """
    path = FairPCAPath(FairPCA(n_components, **parameters), tolerances=tolerances)
    known = {"sensitive_features": sensitive_features, "control_features": control_features}
    return path.fit(X, y, **known, sample_weight=sample_weight)


def check_estimator(estimator: Any) -> FairPCA:
    """Return the estimator that models are made from, or refuse what is none.

    Parameters
    ----------
    estimator : FairPCA or None
        What the user passed; None is `FairPCA()`.
    """
    if estimator is None:
        return FairPCA()
    if not isinstance(estimator, FairPCA):
        raise TypeError(f"estimator={estimator!r} must be a FairPCA, for example FairPCA(n_components=2).")
    return estimator


def check_decreasing(tolerances: Any) -> FloatArray:
    """Return tolerances, or refuse what is no sequence of decreasing ones.

    Parameters
    ----------
    tolerances : sequence of float
        What the user passed.
    """
    values = np.asarray(tolerances, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(
            f"tolerances={tolerances!r} must be a sequence of decreasing numbers greater than 0, such as [1e-2, 1e-3], "
            "or None; a single tolerance is for FairPCA."
        )
    if values.size == 0:
        raise ValueError("tolerances is empty; give decreasing numbers greater than 0, or None.")
    if not (np.all(values > 0) and np.all(np.isfinite(values)) and np.all(np.diff(values) < 0)):
        raise ValueError(f"tolerances must decrease and be finite and greater than 0; got {values.tolist()}.")
    return values


def _height_above_chord(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return how far each point lies above the line through the ends, in units of the ranges."""
    across = (x - x.min()) / max(float(np.ptp(x)), 1e-300)
    up = (y - y.min()) / max(float(np.ptp(y)), 1e-300)
    return up - across


class _Tracer:
    """Fits the same problem at several tolerances, with the solver that the user asked for."""

    def __init__(self, fitter: Fitter, solver: Any) -> None:
        self._fitter = fitter
        if solver == "budget":
            quick: Solver = Budget(n_starts=1, gain_tolerance=GAIN_TOLERANCE)
            thorough: Solver = Budget()
        else:
            quick = thorough = solver_from(solver)
        self._quick, self._thorough = within_its_time(quick), within_its_time(thorough)

    def default_tolerances(self) -> FloatArray:
        """Return tolerances from the MMD^2 of plain PCA, where nothing is given up, to the strictest."""
        pca = self._fitter.fit(LARGEST_MMD2, self._quick(), "pca")
        levels = self._fitter.chance.levels(pca.components.rows[: pca.components.n_live])
        strictest = max(STRICT * float(levels.min()), FLOOR)
        # A hair above it, so that rounding cannot make plain PCA miss its own value.
        loosest = max((1 + 1e-9) * pca.result.mmd2, 10 * strictest)
        return np.geomspace(loosest, strictest, N_TOLERANCES)

    def trace(self, tolerances: FloatArray) -> list[Fit]:
        """Return a fit for each tolerance; their variance never grows.

        Parameters
        ----------
        tolerances : ndarray of shape (n_tolerances,)
            Decreasing.
        """
        found: list[Fit] = []
        for tolerance in tolerances.tolist():
            found.append(self._next(tolerance, found))
        self._carry_back(found)
        return _with_fairest_where_unmet(found)

    def _next(self, tolerance: float, found: list[Fit]) -> Fit:
        if found and not found[-1].result.meets:
            # Other starts did not help at a looser tolerance.
            return _at(found[-1], tolerance)
        if not found or not found[-1].warm.is_doubtful:
            start = self._warm(found[-1], tolerance) if found else None
            fit = self._fitter.fit(tolerance, self._quick(), start)
            if fit.result.meets and not fit.warm.is_doubtful:
                return fit
        # Here a single fit searches, and the answer of the path is its: which of many optima is found is for one search
        # to say, whoever asks.
        return self._fitter.fit(tolerance, self._thorough())

    def _carry_back(self, found: list[Fit]) -> None:
        """Fit again from a stricter fit that keeps more: what meets the stricter tolerance meets the looser."""
        for index in range(len(found) - 2, -1, -1):
            stricter, here = found[index + 1], found[index]
            tolerance = here.result.tolerance
            if stricter.result.mmd2 > tolerance or (here.result.meets and _kept(stricter) <= _kept(here)):
                continue
            again = self._fitter.fit(tolerance, self._quick(), self._warm(stricter, tolerance))
            better = again.result.meets and _kept(again) >= _kept(stricter)
            found[index] = again if better else _at(stricter, tolerance)

    @staticmethod
    def _warm(neighbour: Fit, tolerance: float) -> WarmStart | None:
        mmd2s = neighbour.result.mmd2s
        return neighbour.warm.for_tolerances(mmd2s, np.full(len(mmd2s), tolerance))


def _with_fairest_where_unmet(found: list[Fit]) -> list[Fit]:
    fairest = min(found, key=lambda fit: fit.result.mmd2)
    return [fit if fit.result.meets else _at(fairest, fit.result.tolerance) for fit in found]


def _at(fit: Fit, tolerance: float) -> Fit:
    """Return a fit as the answer for another tolerance."""
    tolerances = np.full(len(fit.result.mmd2s), tolerance)
    result = replace(fit.result, tolerances=tolerances)
    if result.certificate is not None:
        result = replace(result, certificate=replace(result.certificate, budgets_used=result.mmd2s / tolerances))
    if not result.meets:
        result = replace(result, status=Status.TOLERANCE_NOT_MET)
    return replace(fit, result=result)


def _kept(fit: Fit) -> float:
    return fit.result.variance_kept
