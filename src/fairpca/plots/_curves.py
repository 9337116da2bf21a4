"""Curves: measures of an audit, plans, paths of tolerances, and evidence over time."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from fairpca._utils.typing import BoolArray, FloatArray, IntArray
from fairpca.plots.style import MARKERS, PALETTE, quiet_axes


class AuditDisplay:
    """One line for each measure: what was measured, its chance level, and how large the population's may be.

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
        self.ax_, self.figure_ = quiet_axes(ax)
        places = np.arange(len(self.measures))[::-1]
        values, chance, bounds = (
            np.array([measure[name] for measure in self.measures]) for name in ("mmd2", "chance_level", "upper_bound")
        )
        self.ax_.hlines(places, 0.0, bounds, color=PALETTE[4], linewidth=6, alpha=0.5, label="population: at most")
        self.ax_.plot(values, places, "o", color=PALETTE[0], label="measured")
        self.ax_.plot(chance, places, "|", color=PALETTE[5], markersize=18, markeredgewidth=2, label="chance level")
        self.ax_.set_yticks(places, [measure["name"] for measure in self.measures])
        self.ax_.set_ylim(-0.6, len(self.measures) - 0.4)
        self.ax_.set_xlim(left=0.0)
        self.ax_.set_xlabel("MMD\N{SUPERSCRIPT TWO} of the projected groups")
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
        return self


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
        self.ax_, self.figure_ = quiet_axes(ax)
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
        return self


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
        self.ax_, self.figure_ = quiet_axes(ax)
        (self.line_,) = self.ax_.loglog(self.n_rows, self.epsilon, color=PALETTE[0])
        for (name, (n, mmd2)), marker, color in zip(self.marks.items(), MARKERS, PALETTE[1:], strict=False):
            self.ax_.plot(n, mmd2, marker, color=color, label=f"{name}: {n:,} rows, {mmd2:.2g}")
        self.ax_.set_xlabel("rows that were not used to fit, both groups")
        self.ax_.set_ylabel("MMD\N{SUPERSCRIPT TWO} that can be ruled out")
        if self.marks:
            self.ax_.legend(frameon=False)
        return self


class EvidenceDisplay:
    """The evidence of a monitor as people come.

    Parameters
    ----------
    n_people : ndarray of shape (k,)
        How many had come.
    log_evidence, log_change : ndarray of shape (k,)
        The natural logarithm of the evidence against the certificate then, and of that for a change of all people.
    threshold : float
        The evidence that is an alarm.
    alarm : int, default=None
        After how many people it was raised.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    """

    def __init__(
        self,
        n_people: FloatArray,
        log_evidence: FloatArray,
        log_change: FloatArray,
        threshold: float,
        alarm: int | None = None,
    ) -> None:
        self.n_people = n_people
        self.log_evidence = log_evidence
        self.log_change = log_change
        self.threshold = threshold
        self.alarm = alarm

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        """
        self.ax_, self.figure_ = quiet_axes(ax)
        lines = (
            (self.log_evidence, PALETTE[0], "-", "against the certificate"),
            (self.log_change, PALETTE[2], "--", "people as a whole have changed"),
        )
        # Beyond these nothing new is said, and a double cannot hold all of it.
        low, high = 1e-4, 1e3 * self.threshold
        for values, color, style, name in lines:
            shown = np.exp(np.clip(values, np.log(low), np.log(high)))
            self.ax_.semilogy(self.n_people, shown, style, color=color, label=name)
        self.ax_.axhline(self.threshold, color=PALETTE[5], linewidth=1, label=f"alarm: {self.threshold:g}")
        if self.alarm is not None:
            self.ax_.axvline(self.alarm, color=PALETTE[5], linewidth=1, linestyle=":")
        self.ax_.set_xlabel("people")
        self.ax_.set_ylabel("evidence")
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)
        return self
