"""What can be ruled out, against the rows that this takes."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from typing import Any, Self

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.plots.style import MARKERS, PALETTE, axes_or_new, quiet


class PlanDisplay:
    """The curve of a plan, both axes logarithmic.

    Parameters
    ----------
    n_rows : ndarray of int of shape (k,)
        Rows of both groups.
    epsilon : ndarray of shape (k,)
        The MMD^2 that as many can rule out.
    marks : mapping of str to (int, float)
        Points to be shown, by what they are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The curve.
    """

    def __init__(self, n_rows: IntArray, epsilon: FloatArray, marks: Mapping[str, tuple[int, float]]) -> None:
        self.n_rows = n_rows
        self.epsilon = epsilon
        self.marks = dict(marks)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        (self.line_,) = self.ax_.loglog(self.n_rows, self.epsilon, color=PALETTE[0])
        for (name, (n, mmd2)), marker, color in zip(self.marks.items(), MARKERS, PALETTE[1:], strict=False):
            self.ax_.plot(n, mmd2, marker, color=color, label=f"{name}: {n:,} rows, {mmd2:.2g}")
        self.ax_.set_xlabel("rows that were not used to fit, both groups")
        self.ax_.set_ylabel("MMD\N{SUPERSCRIPT TWO} that can be ruled out")
        if self.marks:
            self.ax_.legend(frameon=False)
        quiet(self.ax_)
        return self
