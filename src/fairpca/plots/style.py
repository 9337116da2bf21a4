"""Colours and axes that all pictures share."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca._utils.extras import require

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""Okabe and Ito's colours, told apart with every common kind of colour vision."""

MARKERS = ("o", "^", "s", "D", "v", "P")


def quiet_axes(ax: Any) -> tuple[Any, Any]:
    """Return the given axes, or new ones, without the ink that says nothing, and their figure."""
    if ax is None:
        ax = require("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]
    quiet(ax)
    return ax, ax.figure


def quiet(ax: Any) -> None:
    """Remove the ink that says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
