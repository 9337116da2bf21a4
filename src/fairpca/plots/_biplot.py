"""Biplot: projected rows and the features' loadings in one plane."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.metrics import communality
from fairpca.plots._projection import ProjectionDisplay, projected
from fairpca.plots.style import quiet_axes

_HIGHLIGHT = "#D55E00"
_ARROW = "0.25"


class BiplotDisplay:
    """Rows in the plane of two components by group, with arrows for the features that matter most there.

    The arrow of feature j points to its loadings (v_1j, v_2j), all arrows scaled alike to fill the picture. Drawn are
    the features of highest communality, and the protected attribute, highlighted.

    Parameters
    ----------
    projections : ndarray of shape (n_samples, 2)
        Projected rows.
    groups : ndarray of shape (n_samples,)
        Group of each row.
    components : ndarray of shape (2, n_features)
        V', orthonormal rows.
    feature_names : sequence of str, default=None
        Names of the features; numbered by default.
    sensitive : int, default=None
        Index of the protected attribute among the features, if it is one.
    n_features : int, default=10
        How many features of highest communality are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    scatters_ : list of matplotlib PathCollection
        One for each group.
    arrows_ : dict of int to matplotlib Annotation
        The arrow of each feature drawn.
    labels_ : dict of int to matplotlib Annotation
        Its name.
    arrow_scale_ : float
        Length of an arrow relative to the loadings.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> V = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    >>> X = rng.normal(size=(40, 6))
    >>> display = BiplotDisplay(X @ V.T, np.repeat(["a", "b"], 20), V, sensitive=0, n_features=3).plot()
    >>> 0 in display.arrows_
    True
    """

    def __init__(
        self,
        projections: FloatArray,
        groups: AnyArray,
        components: FloatArray,
        feature_names: Sequence[str] | None = None,
        sensitive: int | None = None,
        n_features: int = 10,
    ) -> None:
        self.projections = projections
        self.groups = groups
        self.components = components
        self.feature_names = feature_names
        self.sensitive = sensitive
        self.n_features = n_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        sensitive_features: Any,
        feature_names: Sequence[str] | None = None,
        sensitive: int | None = None,
        n_features: int = 10,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Project rows with a fitted estimator of two components and draw them with the loadings.

        Parameters
        ----------
        estimator : fitted transformer
            FairPCA, a baseline, or scikit-learn's PCA.
        X : array-like of shape (n_samples, n_features)
            Rows.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row.
        feature_names : sequence of str, default=None
            Names of the features; by default those the estimator has seen, else numbers.
        sensitive : int, default=None
            Index of the protected attribute among the features, if it is one.
        n_features : int, default=10
            How many features of highest communality are drawn.
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.scatter`.
        """
        check_is_fitted(estimator)
        components = estimator.components_
        if len(components) != 2:
            raise ValueError(f"a biplot needs n_components=2, but the estimator was fitted with {len(components)}.")
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        rows = projected(estimator, X, sensitive_features)
        return cls(*rows, components, names, sensitive, n_features).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.scatter`.
        """
        self.ax_, self.figure_ = quiet_axes(ax)
        rows = ProjectionDisplay(self.projections, self.groups).plot(ax=self.ax_, **({"alpha": 0.35} | style))
        self.scatters_ = rows.scatters_
        drawn = self._features()
        loadings = self.components.T[drawn]
        reach = np.abs(self.projections).max(axis=0)
        # The longest arrow ends short of the edge of the rows in every direction that an arrow has.
        self.arrow_scale_ = 0.9 / float(np.max(np.abs(loadings) / reach))
        low, high = self.projections.min(axis=0), self.projections.max(axis=0)
        tips = loadings * self.arrow_scale_
        low, high = np.minimum(low, tips.min(axis=0)), np.maximum(high, tips.max(axis=0))
        width, height = high - low
        # Empty space on either side for labels, and above for the legend.
        self.ax_.set_xlim(low[0] - 0.55 * width, high[0] + 0.55 * width)
        self.ax_.set_ylim(low[1] - 0.04 * height, high[1] + 0.14 * height)
        self.arrows_ = {j: self._arrow(j, tip) for j, tip in zip(drawn.tolist(), tips, strict=True)}
        self.labels_ = self._labels(drawn, tips)
        self.ax_.legend(frameon=False, loc="upper center", ncols=2, borderaxespad=0.2)
        return self

    def _features(self) -> IntArray:
        """Return the features to draw: those of highest communality, and the protected one."""
        order = np.argsort(-communality(self.components), kind="stable")[: self.n_features]
        if self.sensitive is None or self.sensitive in order:
            return order
        return np.append(order, self.sensitive)

    def _colour(self, feature: int) -> str:
        return _HIGHLIGHT if feature == self.sensitive else _ARROW

    def _arrow(self, feature: int, tip: FloatArray) -> Any:
        look = {"arrowstyle": "-|>", "color": self._colour(feature), "shrinkA": 0, "shrinkB": 0}
        look["linewidth"] = 2.2 if feature == self.sensitive else 1.2
        return self.ax_.annotate("", xy=tuple(tip), xytext=(0, 0), arrowprops=look, zorder=4)

    def _labels(self, drawn: IntArray, tips: FloatArray) -> dict[int, Any]:
        """Write the names in a column on either side, each at the height of its tip as far as there is room."""
        labels = {}
        for right in (False, True):
            side = np.flatnonzero((tips[:, 0] >= 0) == right)
            side = side[np.argsort(tips[side, 1])]
            low, high = self.ax_.get_ylim()
            heights = spread((tips[side, 1] - low) / (high - low), gap=min(0.07, 0.84 / max(len(side) - 1, 1)))
            for index, height in zip(side.tolist(), heights, strict=True):
                feature = int(drawn[index])
                labels[feature] = self._label(feature, tips[index], right, float(height))
        return labels

    def _label(self, feature: int, tip: FloatArray, right: bool, height: float) -> Any:
        name = str(feature) if self.feature_names is None else str(self.feature_names[feature])
        return self.ax_.annotate(
            name,
            xy=tuple(tip),
            xytext=(0.99 if right else 0.01, height),
            textcoords="axes fraction",
            ha="right" if right else "left",
            va="center",
            fontsize=8,
            color=self._colour(feature),
            fontweight="bold" if feature == self.sensitive else "normal",
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 2, "shrinkB": 1},
            zorder=5,
        )


def spread(wanted: FloatArray, gap: float, low: float = 0.03, high: float = 0.88) -> FloatArray:
    """Move increasing positions as little as simple passes do so that neighbours are `gap` apart.

    Parameters
    ----------
    wanted : ndarray of shape (n,)
        Increasing positions.
    gap : float
        Least distance of neighbours; (n - 1) gaps must fit between the bounds.
    low, high : float
        Bounds of the positions.

    Examples
    --------
    >>> spread(np.array([0.5, 0.5, 0.8]), gap=0.1)
    array([0.5, 0.6, 0.8])
    """
    positions = np.clip(wanted, low, high)
    for i in range(1, len(positions)):
        positions[i] = max(positions[i], positions[i - 1] + gap)
    # What was pushed over the upper bound comes back and pushes the others down.
    limit = high
    for i in range(len(positions) - 1, -1, -1):
        positions[i] = min(positions[i], limit)
        limit = positions[i] - gap
    return positions
