"""How long work says where it is, to those who ask."""
# SPDX-License-Identifier: MIT

import sys
import time
from collections.abc import Callable
from typing import Any

Say = Callable[[str], None]
"""Takes a few words on what is being done."""


def say_with(callback: Any) -> Say:
    """Return the callback of a user, or one that says nothing.

    Parameters
    ----------
    callback : callable or None
        What the user passed.
    """
    if callback is None:
        return lambda words: None
    if not callable(callback):
        raise TypeError(f"callback must be a function of a text, such as print, or None; got {callback!r}.")
    said: Say = callback
    return said


class ProgressLines:
    """A callback that writes a line on the standard error channel about every second of a fit.

    Attributes
    ----------
    every : float
        Seconds between two lines.
    """

    every = 1.0

    def __init__(self) -> None:
        self._began = self._last = time.perf_counter()
        self._n_steps = 0

    def __call__(self, step: Any) -> None:
        """Write how far a fit has come, if it is time for a line.

        Parameters
        ----------
        step : fairpca.solvers.OuterStep
            Its last step.
        """
        now = time.perf_counter()
        self._n_steps += 1
        if now - self._last >= self.every:
            self._last = now
            sys.stderr.write(
                f"fairpca: step {self._n_steps}, {now - self._began:.0f} s, {100 * step.variance_kept:.1f} % of the "
                f"variance, MMD^2 {step.mmd2s.max():.2g}\n"
            )
