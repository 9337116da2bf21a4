"""How an audit is done, and where its numbers come from."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

from fairpca._utils.progress import Say


@dataclass(frozen=True)
class Settings:
    """How an audit is done.

    Attributes
    ----------
    adversaries : tuple of str
        Which.
    confidence : float
        Of the bounds.
    n_permutations : int
        Number of lots.
    bandwidth : "median", float or None
        sigma; None takes that of the reduction.
    seed : int
        With which lots, frequencies, samples and halves are drawn.
    say : callable
        Told what is being done.
    """

    adversaries: tuple[str, ...]
    confidence: float
    n_permutations: int
    bandwidth: str | float | None
    seed: int
    say: Say


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
