"""How long work says where it is, to those who ask."""
# SPDX-License-Identifier: MIT

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
