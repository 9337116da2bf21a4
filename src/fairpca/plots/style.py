"""Colours and axes that all pictures share."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca._utils.extras import require

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""Okabe and Ito's colours, told apart with every common kind of colour vision."""

MARKERS = ("o", "^", "s", "D", "v", "P")


def axes_or_new(ax: Any) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    return require("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]


def quiet(ax: Any) -> None:
    """Remove the ink that says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
