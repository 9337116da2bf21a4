"""Projected rows, one colour a group: points, and regions that hold given shares of them."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray
from fairpca.plots.style import MARKERS, PALETTE, quiet_axes

_MARGIN, _HEAD_ROOM = 0.05, 0.28
"""Empty space around the regions, and for the legend above them, as shares of their size."""

_STYLES = ("solid", "dashed", "dashdot", "dotted")


def projected(estimator: Any, X: Any, sensitive_features: Any) -> tuple[AnyArray, AnyArray]:
    """Return the rows after a fitted estimator, and the group of each."""
    check_is_fitted(estimator)
    return np.asarray(estimator.transform(X)), np.asarray(sensitive_features).ravel()


class ProjectionDisplay:
    """Rows in the plane of the first two components, coloured by group.

    Parameters
    ----------
    projections : ndarray of shape (n_samples, n_components)
        Projected rows; the first two columns are drawn, or a strip when there is only one.
    groups : ndarray of shape (n_samples,)
        Group of each row.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    scatters_ : list of matplotlib PathCollection
        One for each group.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> display = ProjectionDisplay(rng.normal(size=(20, 2)), np.repeat(["a", "b"], 10)).plot()
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['a (10)', 'b (10)']
    """

    def __init__(self, projections: FloatArray, groups: AnyArray) -> None:
        self.projections = projections
        self.groups = groups

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, sensitive_features: Any, ax: Any = None, **style: Any) -> Self:
        """Project rows with a fitted estimator and draw them.

        Parameters
        ----------
        estimator : fitted transformer
            FairPCA, a baseline, or scikit-learn's PCA.
        X : array-like of shape (n_samples, n_features)
            Rows.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row.
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.scatter`.
        """
        return cls(*projected(estimator, X, sensitive_features)).plot(ax=ax, **style)

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
        x = self.projections[:, 0]
        flat = self.projections.shape[1] == 1
        self.scatters_ = []
        for index, group in enumerate(np.unique(self.groups)):
            rows = self.groups == group
            y = np.full(int(rows.sum()), float(index)) if flat else self.projections[rows, 1]
            look = {
                "s": 14,
                "alpha": 0.6,
                "linewidths": 0,
                "color": PALETTE[index % len(PALETTE)],
                "marker": MARKERS[index % len(MARKERS)],
            }
            label = f"{group} ({int(rows.sum())})"
            self.scatters_.append(self.ax_.scatter(x[rows], y, label=label, **(look | style)))
        self.ax_.set_xlabel("component 1")
        self.ax_.set_ylabel("group" if flat else "component 2")
        self.ax_.legend(frameon=False)
        return self


class DensityDisplay:
    """The smallest regions of the plane of two components that hold given shares of each group.

    Two groups whose regions lie on each other look alike; a group that stands apart has regions of its own. Densities
    are Gaussian kernel estimates, for the eye only: MMD^2 is not computed from them.

    Parameters
    ----------
    projections : ndarray of shape (n_samples, n_components)
        Projected rows; the first two columns are drawn. They need at least two that vary in every group.
    groups : ndarray of shape (n_samples,)
        Group of each row.
    shares : sequence of float, default=(0.25, 0.5, 0.75)
        Shares of a group that its regions hold.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    contours_ : list of matplotlib QuadContourSet
        One for each group.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> display = DensityDisplay(rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)).plot()
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['a (30)', 'b (30)']
    """

    def __init__(self, projections: FloatArray, groups: AnyArray, shares: Sequence[float] = (0.25, 0.5, 0.75)) -> None:
        self.projections = projections
        self.groups = groups
        self.shares = shares

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, sensitive_features: Any, ax: Any = None, **style: Any) -> Self:
        """Project rows with a fitted estimator and draw the regions of their groups.

        Parameters
        ----------
        estimator : fitted transformer
            FairPCA, a baseline, or scikit-learn's PCA.
        X : array-like of shape (n_samples, n_features)
            Rows.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row.
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.contour`.
        """
        return cls(*projected(estimator, X, sensitive_features)).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.contour`.
        """
        if self.projections.shape[1] < 2:
            raise ValueError("one component has no plane: draw it with ProjectionDisplay.")
        self.ax_, self.figure_ = quiet_axes(ax)
        plane = self.projections[:, :2]
        x, y = (_grid(column) for column in plane.T)
        self.contours_, handles, corners = [], [], []
        for index, group in enumerate(np.unique(self.groups)):
            rows = plane[self.groups == group]
            color = PALETTE[index % len(PALETTE)]
            density, levels = _density(rows, group, x, y, self.shares)
            look = {"colors": color, "linewidths": 1.8, "linestyles": _STYLES[index % len(_STYLES)]}
            # Darker where more of the group is.
            self.ax_.contourf(x, y, density, [*levels, density.max() * 2], colors=color, alpha=0.12)
            self.contours_.append(self.ax_.contour(x, y, density, levels, **(look | style)))
            corners.append(_box(density >= levels[0], x, y))
            line = {"color": color, "linewidth": 1.8, "linestyle": look["linestyles"]}
            handles.append(self.ax_.plot([], [], label=f"{group} ({len(rows)})", **line)[0])
        (left, bottom), (right, top) = np.min(corners, axis=0)[0], np.max(corners, axis=0)[1]
        width, height = right - left, top - bottom
        self.ax_.set_xlim(left - _MARGIN * width, right + _MARGIN * width)
        self.ax_.set_ylim(bottom - _MARGIN * height, top + _HEAD_ROOM * height)
        self.ax_.set(xlabel="component 1", ylabel="component 2")
        self.ax_.legend(handles=handles, loc="upper right", frameon=False)
        return self


def _grid(column: FloatArray, n_cells: int = 120) -> FloatArray:
    # Single far rows would make the cells too wide: a hundredth of them is beyond the grid.
    low, high = np.quantile(column, [0.005, 0.995])
    room = _MARGIN * (high - low)
    return np.linspace(low - room, high + room, n_cells)


def _box(inside: BoolArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the lower left and the upper right corner of the cells inside of a region."""
    columns, rows = x[inside.any(axis=0)], y[inside.any(axis=1)]
    return np.array([[columns[0], rows[0]], [columns[-1], rows[-1]]])


def _density(
    rows: FloatArray, group: Any, x: FloatArray, y: FloatArray, shares: Sequence[float], most: int = 5000
) -> tuple[FloatArray, FloatArray]:
    """Return the density of `most` rows of a group on a grid, and the levels above which shares of all rows are."""
    kept = rows[:: max(1, -(-len(rows) // most))]
    lowest, highest = np.array([x[0], y[0]]), np.array([x[-1], y[-1]])
    # Far rows would make the estimate as wide as they are far; they count as rows outside of all regions.
    near = kept[((kept >= lowest) & (kept <= highest)).all(axis=1)]
    try:
        estimate = gaussian_kde(near.T)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ValueError(
            f"the {len(rows)} rows of group {group!r} lie on a line or a point: draw them with ProjectionDisplay."
        ) from error
    places = np.stack(np.meshgrid(x, y), axis=-1)
    density = estimate(places.reshape(-1, 2).T).reshape(places.shape[:2])
    heights = np.concatenate([np.zeros(len(kept) - len(near)), estimate(near.T)])
    return density, np.unique(np.quantile(heights, 1.0 - np.asarray(shares)))
