"""Where the numbers of an audit come from."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """What has to be the same for the same numbers.

    Attributes
    ----------
    model : str or None
        Fingerprint of the reduction, where it has one.
    rows : str or None
        Fingerprint of the rows, where they have one.
    terms : dict
        How people were compared.
    seed : int
        With which lots, frequencies and samples were drawn.
    training_rows : bool
        Whether the rows look like those of the fit.
    """

    model: str | None
    rows: str | None
    terms: dict[str, Any]
    seed: int
    training_rows: bool
