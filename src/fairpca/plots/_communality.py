"""How much of one feature the components of several methods carry."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca.metrics import communality
from fairpca.plots.style import MARKERS, PALETTE, axes_or_new, quiet


class CommunalityDisplay:
    """Box plot of the communality of one feature over splits, a box for each method.

    Parameters
    ----------
    communalities : dict of str to sequence of float
        For each method the communality in every split.
    feature_name : str, default="the feature"
        The feature, usually the protected attribute.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    boxes_ : dict
        The artists that `matplotlib.axes.Axes.boxplot` returned.
    scatters_ : list of matplotlib PathCollection
        The splits of each method.

    See Also
    --------
    fairpca.metrics.communality : The number.

    Examples
    --------
    >>> display = CommunalityDisplay({"PCA": [0.4, 0.5, 0.3], "FairPCA": [0.01, 0.02, 0.01]}, "age").plot()
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['PCA', 'FairPCA']
    """

    def __init__(self, communalities: Mapping[str, Sequence[float]], feature_name: str = "the feature") -> None:
        self.communalities = communalities
        self.feature_name = feature_name

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Sequence[Any]],
        *,
        feature: int,
        feature_name: str = "the feature",
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Take the communalities of fitted estimators and draw them.

        Parameters
        ----------
        estimators : dict of str to sequence of fitted transformers
            For each method one estimator a split.
        feature : int
            Index of the feature.
        feature_name : str, default="the feature"
            Its name.
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.boxplot`.
        """
        values: dict[str, list[float]] = {}
        for name, fitted in estimators.items():
            for estimator in fitted:
                check_is_fitted(estimator)
            values[name] = [float(communality(estimator.components_)[feature]) for estimator in fitted]
        return cls(values, feature_name).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.boxplot`.
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        places = np.arange(1, len(self.communalities) + 1)
        look = {
            "widths": 0.5,
            "showfliers": False,
            "patch_artist": True,
            "boxprops": {"facecolor": "0.93", "edgecolor": "0.4"},
            "medianprops": {"color": "black"},
        }
        values = [np.asarray(column, dtype=float) for column in self.communalities.values()]
        self.boxes_ = self.ax_.boxplot(values, positions=places, **(look | style))
        self.boxes_["medians"][0].set_label("median")
        self.scatters_ = [self._splits(index, column) for index, column in enumerate(values)]
        self.ax_.set_xticks(places, list(self.communalities))
        self.ax_.set_ylim(bottom=0)
        self.ax_.set_ylabel(f"communality of {self.feature_name}")
        self.ax_.legend(frameon=False)
        quiet(self.ax_)
        return self

    def _splits(self, index: int, column: Any) -> Any:
        """Draw every split beside its neighbours, so that equal values stay visible."""
        places = index + 1 + np.linspace(-0.15, 0.15, len(column))
        return self.ax_.scatter(
            places,
            column,
            s=18,
            color=PALETTE[index % len(PALETTE)],
            marker=MARKERS[index % len(MARKERS)],
            linewidths=0,
            zorder=3,
            label="one split" if index == 0 else None,
        )
