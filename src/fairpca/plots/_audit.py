"""Measures of an audit beside what chance shows, with their bounds."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from fairpca.plots.style import PALETTE, axes_or_new, quiet


class AuditDisplay:
    """One line for each measure: what was measured, what chance shows, and how large the population's may be.

    Parameters
    ----------
    measures : sequence of dict
        Records with `name`, `mmd2`, `chance_level` and `upper_bound`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    """

    def __init__(self, measures: Sequence[dict[str, Any]]) -> None:
        self.measures = list(measures)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        places = np.arange(len(self.measures))[::-1]
        values, chance, bounds = (
            np.array([measure[name] for measure in self.measures]) for name in ("mmd2", "chance_level", "upper_bound")
        )
        self.ax_.hlines(places, 0.0, bounds, color=PALETTE[4], linewidth=6, alpha=0.5, label="population: at most")
        self.ax_.plot(values, places, "o", color=PALETTE[0], label="measured")
        self.ax_.plot(chance, places, "|", color=PALETTE[5], markersize=18, markeredgewidth=2, label="chance shows")
        self.ax_.set_yticks(places, [measure["name"] for measure in self.measures])
        self.ax_.set_ylim(-0.6, len(self.measures) - 0.4)
        self.ax_.set_xlim(left=0.0)
        self.ax_.set_xlabel("MMD\N{SUPERSCRIPT TWO} of the projected groups")
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
        quiet(self.ax_)
        return self
