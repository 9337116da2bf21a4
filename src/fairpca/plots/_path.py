"""Variance kept against discrepancy along a path of tolerances."""
# SPDX-License-Identifier: MIT

from typing import Any, Self

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.plots.style import PALETTE, axes_or_new, quiet


class PathDisplay:
    """The trade-off curve.

    Parameters
    ----------
    mmd2s : ndarray of shape (n_tolerances,)
        MMD^2 of each model.
    variances : ndarray of shape (n_tolerances,)
        Share of the variance each keeps.
    converged : ndarray of shape (n_tolerances,)
        Whether each met its tolerance; those that did not are drawn as crosses.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The curve.
    """

    def __init__(self, mmd2s: FloatArray, variances: FloatArray, converged: BoolArray) -> None:
        self.mmd2s = mmd2s
        self.variances = variances
        self.converged = converged

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.plot`.
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        look = {"color": PALETTE[0], "marker": "o", "markersize": 4, "label": "FairPCA"}
        (self.line_,) = self.ax_.plot(self.mmd2s, 100 * self.variances, **(look | style))
        missed = ~self.converged
        if missed.any():
            self.ax_.plot(
                self.mmd2s[missed],
                100 * self.variances[missed],
                color=PALETTE[5],
                marker="x",
                linestyle="none",
                label="tolerance not met or not stationary",
            )
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel("MMD² between the groups (training rows)")
        self.ax_.set_ylabel("variance kept (%)")
        self.ax_.legend(frameon=False)
        quiet(self.ax_)
        return self
