"""Which columns the components are made of."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpca.metrics import communality
from fairpca.report._text import plain

MOST_COLUMNS = 12
"""Columns of highest communality that are listed."""

MOST_COMPONENTS = 4


def loadings(model: Any, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the loadings of the columns that matter most.

    Parameters
    ----------
    model : FairPCA
        The model.
    names : sequence of str, default=()
        Of its features, where it does not know them itself.
    """
    live = model.components_[: max(model.n_live_components_, 1)]
    shares = communality(live)
    known = getattr(model, "feature_names_in_", names)
    order = np.argsort(-shares, kind="stable")[:MOST_COLUMNS]
    return {
        "n_components": min(len(live), MOST_COMPONENTS),
        "n_columns": live.shape[1],
        "explained": model.explained_variance_ratio_[:MOST_COMPONENTS].tolist(),
        "columns": [
            {
                "name": plain(known[j]) if len(known) == live.shape[1] else f"column {j}",
                "loadings": live[:MOST_COMPONENTS, j].tolist(),
                "communality": float(shares[j]),
            }
            for j in order.tolist()
        ],
    }
