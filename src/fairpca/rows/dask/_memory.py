"""Keeping a Dask worker from handing back memory that it needs again at once."""
# SPDX-License-Identifier: MIT

import ctypes
import os
from functools import cache

KEPT = 64 * 2**20
"""Bytes of free memory that a worker may keep."""

LARGEST_REUSED = 32 * 2**20
"""Bytes of the largest array whose memory is reused."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


@cache
def keep_freed_memory() -> None:
    """Let glibc reuse the memory of temporary arrays, in a worker that was told to hand it back.

    Dask starts its workers with MALLOC_TRIM_THRESHOLD_ at 64 kB, which also fixes the size above which an array gets
    fresh pages at 128 kB. A pass makes and drops thousands of arrays of a few megabytes: with fresh pages for each it
    takes more than twice as long.
    """
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # another C library, with habits of its own
    mallopt(_M_TRIM_THRESHOLD, KEPT)
    mallopt(_M_MMAP_THRESHOLD, LARGEST_REUSED)
