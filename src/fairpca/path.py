"""The whole trade-off between variance and fairness."""
# SPDX-License-Identifier: MIT

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from fairpca._typing import FloatArray
from fairpca.estimator import FairPCA
from fairpca.exceptions import ConvergenceWarning, NullComponentsWarning
from fairpca.plots import PathDisplay
from fairpca.solvers import Budget, OuterStep, WarmStart

N_TOLERANCES = 20
STRICTEST = 1e-5
GAIN_TOLERANCE = 1e-5
"""A thousandth of a point of variance: far less than neighbouring models differ by, and half of the gradients."""


class FairPCAPath(BaseEstimator):
    """FairPCA at a decreasing sequence of tolerances, each fit started from the one before.

    Parameters
    ----------
    n_components : int, default=2
        d.
    tolerances : sequence of float, default=None
        Decreasing tolerances. None takes 20 of them, evenly spaced in logarithms from the MMD^2 of plain PCA, where
        nothing is given up, to 1e-5.
    bandwidth, standardize, callback, random_state
        As in `FairPCA`.

    Attributes
    ----------
    models_ : list of FairPCA
        The fitted models, loosest first.
    tolerances_ : ndarray of shape (n_tolerances,)
        Their tolerances.
    variances_ : ndarray of shape (n_tolerances,)
        Share of the variance each keeps. It never grows along the path: a point that a stricter fit beats is fitted
        again from there.
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
    >>> path = FairPCAPath(2, tolerances=[1e-2, 1e-3]).fit(X, sensitive_features=group)
    >>> bool(path.variances_[0] >= path.variances_[1])
    True
    >>> path.select(max_mmd2=5e-3).tolerance
    0.001
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        tolerances: Sequence[float] | None = None,
        bandwidth: str | float = "median",
        standardize: bool = True,
        callback: Callable[[OuterStep], None] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.tolerances = tolerances
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.callback = callback
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any) -> Self:
        """Fit the path.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            Present for API consistency.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row: two distinct labels.

        Returns
        -------
        self : FairPCAPath
            The fitted path.
        """
        asked = None if self.tolerances is None else _check_decreasing(self.tolerances)
        template = FairPCA(
            self.n_components,
            bandwidth=self.bandwidth,
            standardize=self.standardize,
            callback=self.callback,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # What did not converge is marked in converged_; n_live_components_ is in each model.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", NullComponentsWarning)
            tracer = _Tracer(template, X, sensitive_features)
            traced = _fit_along(tracer, asked)
            _repair(traced, tracer)
        self.models_ = [item.model for item in traced]
        self.tolerances_ = np.array([model.tolerance for model in self.models_])
        self.variances_ = np.array([model.result_.variance_kept for model in self.models_])
        self.mmd2s_ = np.array([model.mmd2_ for model in self.models_])
        self.converged_ = np.array([model.converged_ for model in self.models_])
        return self

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
        return self.models_[int(_height_above_chord(np.log(self.mmd2s_), self.variances_).argmax())]

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


def fair_pca_path(
    X: Any,
    sensitive_features: Any,
    n_components: int = 2,
    *,
    tolerances: Sequence[float] | None = None,
    **parameters: Any,
) -> FairPCAPath:
    """Fit FairPCA along decreasing tolerances.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row: two distinct labels.
    n_components : int, default=2
        d.
    tolerances : sequence of float, default=None
        Decreasing tolerances; by default 20 from the MMD^2 of plain PCA to 1e-5.
    **parameters : dict
        Further parameters of `FairPCAPath`.

    Returns
    -------
    path : FairPCAPath
        The fitted path.
    """
    path = FairPCAPath(n_components, tolerances=tolerances, **parameters)
    return path.fit(X, sensitive_features=sensitive_features)


def _check_decreasing(tolerances: Sequence[float]) -> FloatArray:
    values = np.asarray(tolerances, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError("tolerances is empty; give decreasing numbers greater than 0, or None.")
    if not (np.all(values > 0) and np.all(np.diff(values) < 0)):
        raise ValueError(f"tolerances must decrease and be greater than 0; got {values.tolist()}.")
    return values


class _Tracer:
    """Fits models on the same prepared data, each from the answer of another."""

    def __init__(self, template: FairPCA, X: Any, groups: Any) -> None:
        self._template = template
        self._solver = Budget(n_starts=1, gain_tolerance=GAIN_TOLERANCE)
        self._thorough = Budget(gain_tolerance=GAIN_TOLERANCE)
        self._generator = template._generator()
        self.pca = clone(template)
        self._data, _ = self.pca._prepare(X, groups, self._generator)
        # An infinite tolerance would do; the largest MMD^2 there is, 2, says the same in a number.
        self.pca._solve(self._data, 2.0, self._solver, "pca", self._generator)

    def fit(self, tolerance: float, neighbour: "_Traced | None", thorough: bool = False) -> "_Traced":
        """Fit one tolerance, from a neighbour on the path where there is one; thoroughly, from other starts as well."""
        model = clone(self._template).set_params(tolerance=tolerance)
        for attribute in ("mean_", "scale_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.pca, attribute):
                setattr(model, attribute, getattr(self.pca, attribute))
        start = "mean-matched" if neighbour is None else self._warm(neighbour, tolerance)
        solver = self._thorough if thorough else self._solver
        solution = model._solve(self._data, tolerance, solver, start, self._generator)
        return _Traced(model, solution.warm)

    @staticmethod
    def _warm(neighbour: "_Traced", tolerance: float) -> str | WarmStart:
        warm = neighbour.warm
        if warm is None or warm.multiplier <= 0:
            return "mean-matched"
        # On the data we know h falls about like 1 / mu.
        return replace(warm, multiplier=warm.multiplier * neighbour.model.mmd2_ / tolerance)


@dataclass(frozen=True)
class _Traced:
    """A model of the path and what the next fit can use of it."""

    model: FairPCA
    warm: WarmStart | None

    @property
    def variance(self) -> float:
        return self.model.result_.variance_kept


def _fit_along(tracer: _Tracer, tolerances: FloatArray | None) -> list[_Traced]:
    if tolerances is None:
        loosest = max(tracer.pca.mmd2_, 10 * STRICTEST)
        tolerances = np.geomspace(loosest, STRICTEST, N_TOLERANCES)
    traced: list[_Traced] = []
    for tolerance in tolerances:
        # Other starts at the strict end are enough: what they find there is carried back by the repair.
        last = tolerance == tolerances[-1]
        traced.append(tracer.fit(float(tolerance), traced[-1] if traced else None, thorough=last))
    return traced


def _repair(traced: list[_Traced], tracer: _Tracer) -> None:
    """Fit a model again from a stricter one that keeps more: what meets the stricter tolerance meets the looser."""
    for index in range(len(traced) - 2, -1, -1):
        stricter, here = traced[index + 1], traced[index]
        if stricter.model.mmd2_ <= here.model.tolerance and stricter.variance > here.variance:
            again = tracer.fit(here.model.tolerance, stricter)
            traced[index] = again if again.variance >= stricter.variance else stricter


def _height_above_chord(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return how far each point lies above the line through the ends, in units of the ranges."""
    across = (x - x.min()) / max(float(np.ptp(x)), 1e-300)
    up = (y - y.min()) / max(float(np.ptp(y)), 1e-300)
    return up - across
