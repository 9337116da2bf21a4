"""Scatter plot of projected rows, one colour a group."""
# SPDX-License-Identifier: MIT

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.plots.style import MARKERS, PALETTE, axes_or_new, quiet


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
        check_is_fitted(estimator)
        projections = np.asarray(estimator.transform(X))
        return cls(projections, np.asarray(sensitive_features).ravel()).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.scatter`.
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
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
        quiet(self.ax_)
        return self
