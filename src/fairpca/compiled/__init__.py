"""Loops that a compiler made at install time, and the choice between them and numpy.

`native` is there where they were built; use it where `is_compiled()`.
"""
# SPDX-License-Identifier: MIT

from fairpca.compiled._engine import COMPILED, HAS_COMPILED, NUMPY, engine, is_compiled, using_engine

if HAS_COMPILED:
    from fairpca.compiled import _native as native

__all__ = ["COMPILED", "HAS_COMPILED", "NUMPY", "engine", "is_compiled", "native", "using_engine"]
