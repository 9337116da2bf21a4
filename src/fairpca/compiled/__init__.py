"""Loops that a compiler made at install time, and the choice between them and numpy.

`native` is there where they were built; use it where `is_compiled()`.
"""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from contextlib import contextmanager

try:
    from fairpca.compiled import _native as native  # noqa: F401
except ImportError:
    HAS_COMPILED = False
else:
    HAS_COMPILED = True

COMPILED, NUMPY = "compiled", "numpy"

_engine = COMPILED if HAS_COMPILED else NUMPY


def engine() -> str:
    """Return "compiled" or "numpy", whichever makes kernel sums and features."""
    return _engine


def is_compiled() -> bool:
    """Return whether the compiled loops are to be used."""
    return _engine == COMPILED


@contextmanager
def using_engine(name: str) -> Iterator[None]:
    """Let one engine make kernel sums and features in this process, to compare it with the other.

    Parameters
    ----------
    name : {"compiled", "numpy"}
        Which. The compiled one is refused where it was not built.
    """
    global _engine
    if name not in ({COMPILED, NUMPY} if HAS_COMPILED else {NUMPY}):
        raise ValueError(f"engine {name!r} is not there; this installation has {[COMPILED] * HAS_COMPILED + [NUMPY]}.")
    before = _engine
    _engine = name
    try:
        yield
    finally:
        _engine = before
