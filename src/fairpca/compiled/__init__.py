"""Loops that a compiler made at install time, and the choice between them and numpy.

`native` is there where they were built; use it where `is_compiled()`.
"""
# SPDX-License-Identifier: MIT

from fairpca.compiled._engine import (
    COMPILED as COMPILED,
    HAS_COMPILED as HAS_COMPILED,
    NUMPY as NUMPY,
    engine as engine,
    is_compiled as is_compiled,
    using_engine as using_engine,
)

if HAS_COMPILED:
    from fairpca.compiled import _native

    native = _native
