"""How an audit is done."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

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
