"""Memory that arrays had, kept for those that come after them."""
# SPDX-License-Identifier: MIT

from functools import cache

import numpy as np

KEPT = 2**24
"""Bytes up to which arrays are kept: more than those of a Hessian of a few thousand rows."""


@cache
def keep_freed_memory() -> None:
    """Let the allocator of the C library keep what is freed, once for this process.

    GNU's gives the memory of large arrays back to the system, which takes 1 to 3 microseconds for every 4 kB to hand
    it out again: a fifth of the time of a Hessian of 700 rows. It stops to do so for arrays up to the largest that it
    has seen freed. Others ignore this.
    """
    np.empty(KEPT, dtype=np.uint8)
