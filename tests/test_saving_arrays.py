"""Arrays in model files are plain, and of the size that they say."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest

from fairpca.saving._archive import array_of, npy_of

NPY = npy_of("x", np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    "changed",
    [
        b"",
        NPY[:-1],
        NPY + b"\0",
        NPY.replace(b"(2, 3)", b"(2, 4)"),
        NPY.replace(b"(2, 3)", b"(9999999999999999, 3)"),
        NPY.replace(b"(2, 3)", b"(2, x)"),
        NPY.replace(b"<f8", b"|O8"),
        NPY.replace(b"<f8", b">f8"),
        NPY.replace(b"'<f8'", b"[('a', '<f8')]"),
        NPY.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x03"),
        NPY[:8] + b"\x40\x00" + NPY[10:],
        NPY[:10] + b"(" * 118 + NPY[128:],
        npy_of("x", np.zeros((1,) * 30)).replace(b"(1, " + b"1, " * 28, b"(" + b"1, " * 70),
        npy_of("x", np.array(["ab"]))[:-1] + b"\xff",
    ],
)
def test_arrays_that_are_no_plain_arrays_are_refused(changed):
    assert changed != NPY
    with pytest.raises(ValueError, match="the array 'x'"):
        array_of("x", changed)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.eye(3, 2)),
        np.array(3.5),
        np.zeros((0, 4)),
        np.array(["", "é"]),
        np.arange(3, dtype=">f8"),
        np.arange(3, dtype=np.float32),
    ],
)
def test_plain_arrays_come_back(array):
    found = array_of("x", npy_of("x", array))
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.flags.writeable


def test_other_arrays_are_not_written():
    for array in (np.array([1j]), np.array(["2020-01-01"], "M8[D]"), np.array([object()]), np.zeros(2, "f2")):
        with pytest.raises(ValueError, match="x is an array of"):
            npy_of("x", array)
