"""Arrays as .npy members: plain numbers and texts, whose size is known before they are read."""
# SPDX-License-Identifier: MIT

import math
import re
from io import BytesIO

import numpy as np

from fairpca._utils.typing import AnyArray

PLAIN = re.compile(r"\|[bi]1|<i[248]|<f[48]|<U[1-9]\d{0,5}")
"""Truths, whole numbers, numbers, and texts of a fixed width, lowest byte first."""

HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([^']{1,9})', 'fortran_order': (?:True|False), "
    rb"'shape': \(((?:\d{1,18}, )*(?:\d{1,18},?)?)\), \} *\n",
    re.DOTALL,
)
"""As numpy writes it, and nothing that would have to be evaluated."""

PREFACE = 10
"""Bytes before the header: what the file is, the version, the length of the header."""

MOST_HEADER = 1024

LARGEST_CODE_POINT = 0x10FFFF


def npy_of(name: str, array: AnyArray) -> bytes:
    """Return the content of a .npy file, the same on every machine.

    Parameters
    ----------
    name : str
        What the array is called, for messages.
    array : ndarray
        Truths, numbers or texts of a fixed width.
    """
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not PLAIN.fullmatch(array.dtype.str):
        raise ValueError(
            f"{name} is an array of {array.dtype}; a model file holds arrays of bool, int, float32, float64 and texts "
            "of a fixed width."
        )
    stream = BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def array_of(name: str, content: bytes) -> AnyArray:
    """Return the array of a .npy file, if it is plain and its size is what it says.

    Parameters
    ----------
    name : str
        What the array is called, for messages.
    content : bytes
        Of the file.
    """
    header = HEADER.match(content[:MOST_HEADER])
    if header is None or not PLAIN.fullmatch(header[2].decode("latin1")):
        raise ValueError(f"the array {name!r} is no plain array of numbers or texts.")
    dtype = np.dtype(header[2].decode("latin1"))
    shape = [int(length) for length in re.findall(rb"\d+", header[3])]
    if PREFACE + int.from_bytes(header[1], "little") != header.end():
        raise ValueError(f"the array {name!r} does not begin where it says.")
    if header.end() + math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"the array {name!r} has {len(content)} bytes, which is not what its shape {shape} takes.")
    array: AnyArray = np.lib.format.read_array(BytesIO(content), allow_pickle=False)
    _check_texts(name, array)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _check_texts(name: str, array: AnyArray) -> None:
    if array.dtype.kind == "U" and np.any(array.reshape(-1).view("<u4") > LARGEST_CODE_POINT):
        raise ValueError(f"the array {name!r} holds what is no text.")
