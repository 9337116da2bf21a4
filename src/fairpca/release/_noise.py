"""Noise that belongs to a person, and the distance of groups behind it."""
# SPDX-License-Identifier: MIT

import hashlib
import math
from typing import Any

import numpy as np
from scipy.fft import irfftn, next_fast_len, rfftn
from scipy.special import ndtr, ndtri

from fairpca._utils.typing import FloatArray, IntArray

ROUNDING = 8
"""Released numbers are multiples of s / 8: digits below tell nothing but the last bits of sums, which are no noise."""

FINE = 2
"""Points of the grid that rows are binned on, for each multiple of s / 8."""

REACH = 9.0
"""Deviations beyond which noise is not followed: 1e-18 of it lies there."""

MOST_POINTS = 2**22
"""Points of a grid at most, so that a level takes less than a second."""

MOST_GRID = 2
"""Components up to which distances are computed on a grid."""

N_DRAWS = 5_000
"""Draws from the mixture: their share of the bound is about a half of a point."""

DRAWN_SHARE = 0.1
"""Share of alpha for the draws; the rows need most of it."""

LEAST_KEY = 16
"""Bytes of a key that nobody can guess."""

WORDS = 8
"""Numbers of 64 bits in a digest of BLAKE2b."""


def check_key(key: Any) -> bytes:
    """Return a secret key."""
    if not isinstance(key, bytes) or not LEAST_KEY <= len(key) <= 64:
        raise ValueError(
            f"key must be {LEAST_KEY} to 64 secret bytes, such as secrets.token_bytes(32), kept for as long as people "
            "are released: whoever has it can take the noise off, and without it nobody's noise can be drawn again."
        )
    return key


def keyed(key: bytes, *parts: bytes) -> bytes:
    """Return a keyed digest, BLAKE2b, of parts that cannot run into each other."""
    digest = hashlib.blake2b(key=key, person=b"fairpca.release")
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def bytes_of_ids(ids: Any, n_rows: int) -> list[bytes]:
    """Return what stands for each person: the same for 7, 7.0 and "7", whichever a table has made of it.

    Parameters
    ----------
    ids : array-like of shape (n_rows,)
        Numbers or texts.
    n_rows : int
        Rows.
    """
    if ids is None:
        raise ValueError(
            "ids=None: noise belongs to a person, for the mean of several draws for one person would take it off. Pass "
            'the id of each row\'s person, or use kind="cells", which needs none.'
        )
    values = np.asarray(ids).tolist()
    if np.ndim(ids) != 1 or len(values) != n_rows:
        raise ValueError(f"ids has the shape {np.shape(ids)}; there must be one for each of the {n_rows} rows.")
    found = []
    for row, value in enumerate(values):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            raise ValueError(f"ids has {value!r} in row {row}; ids are whole numbers or texts, and none is missing.")
        found.append(str(value).encode())
    return found


def normal_draws(key: bytes, release: bytes, ids: list[bytes], n_columns: int) -> FloatArray:
    """Return standard normal numbers of each person, the same whenever and in whatever order they are asked for.

    Parameters
    ----------
    key : bytes
        The secret.
    release : bytes
        What is released: another one has other draws.
    ids : list of bytes
        Of the people.
    n_columns : int
        Numbers of each.
    """
    blocks = -(-n_columns // WORDS)
    content = b"".join(
        keyed(key, b"noise", release, each, block.to_bytes(4, "little")) for each in ids for block in range(blocks)
    )
    words = np.frombuffer(content, dtype="<u8").reshape(len(ids), blocks * WORDS)[:, :n_columns]
    return ndtri(((words >> np.uint64(11)) + 0.5) * 2.0**-53)


def rounded(Z: FloatArray, level: float) -> FloatArray:
    """Return the multiples of s / 8 that numbers are nearest to."""
    step = level / ROUNDING
    # Without negative zeros, which would tell on which side of 0 a number was.
    return np.rint(Z / step) * step + 0.0


def grid_error(n_columns: int) -> float:
    r"""Return what binning to a grid of pitch h can take off T.

    Linear interpolation of N(x, s^2) in x errs by h^2 / 8 \, \|\phi_s''\|_1 = h^2 / (8 s^2) \, 4 \phi(1) in L1, for
    each axis; half of that on either side of a comparison.
    """
    pitch = 1.0 / (ROUNDING * FINE)
    return n_columns * pitch**2 / 8.0 * 4.0 * math.exp(-0.5) / math.sqrt(2.0 * math.pi)


def grid_distance(Z: FloatArray, weights: FloatArray, level: float) -> float | None:
    """Return T of rows behind noise and rounding, at most `grid_error` too small; None where the grid is too large.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows, d at most 2.
    weights : ndarray of shape (n,)
        Positive on one side, negative on the other.
    level : float
        s.
    """
    pitch = level / (ROUNDING * FINE)
    reach = math.ceil(REACH * ROUNDING) * FINE
    low = (np.floor(Z.min(axis=0) / level) * ROUNDING * FINE).astype(np.int64) - reach
    sizes = [int(n) for n in np.ceil(Z.max(axis=0) / pitch).astype(np.int64) + reach + FINE - low]
    shape = [next_fast_len(size, real=True) for size in sizes]
    if math.prod(shape) > MOST_POINTS:
        return None
    spectrum = rfftn(_binned(Z / pitch - low, weights, shape))
    for axis, size in enumerate(shape):
        spectrum *= _along(rfftn(_cell(size, pitch, level)), spectrum.shape, axis, size)
    found = irfftn(spectrum, s=shape)
    # Points of the fine grid that are multiples of the step: `low` is one.
    return 0.5 * float(np.abs(found[tuple(slice(None, None, FINE) for _ in shape)]).sum())


def _binned(places: FloatArray, weights: FloatArray, shape: list[int]) -> FloatArray:
    """Return weights on the points around each row, shared out so that its place is their mean."""
    corners = np.floor(places).astype(np.int64)
    rest = places - corners
    codes, shares = np.zeros(len(places), dtype=np.int64)[:, None], weights[:, None]
    for axis, size in enumerate(shape):
        beside = np.stack([corners[:, axis], corners[:, axis] + 1], axis=1)
        inside = np.stack([1.0 - rest[:, axis], rest[:, axis]], axis=1)
        codes = (codes[:, :, None] * size + beside[:, None, :]).reshape(len(places), -1)
        shares = (shares[:, :, None] * inside[:, None, :]).reshape(len(places), -1)
    sums = np.bincount(codes.ravel(), shares.ravel(), minlength=math.prod(shape))
    return np.asarray(sums, dtype=np.float64).reshape(shape)


def _cell(size: int, pitch: float, level: float) -> FloatArray:
    """Return the probability that noise ends within half a step of each point of a circle around 0."""
    places = np.minimum(np.arange(size), size - np.arange(size)) * pitch / level
    half = 0.5 / ROUNDING
    return ndtr(half - places) - ndtr(-half - places)


def _along(spectrum: FloatArray, shape: tuple[int, ...], axis: int, size: int) -> FloatArray:
    """Return the spectrum of an axis in the shape of that of all, whose last axis is halved."""
    if axis < len(shape) - 1:
        spectrum = spectrum[np.minimum(np.arange(size), size - np.arange(size))]
    return spectrum.reshape([-1 if k == axis else 1 for k in range(len(shape))])


def drawn_distance(
    Z: FloatArray, weights: FloatArray, level: float, beta: float, generator: np.random.Generator
) -> float:
    r"""Return a bound on T of rows behind noise that holds with probability 1 - beta over the draws.

    T is the mean of |p - q| / (p + q), between 0 and 1, over draws from (p + q) / 2, and with the variance v of k draws

    .. math:: T \le \text{mean} + \sqrt{2 v \ln(2/\beta) / k} + 7 \ln(2/\beta) / (3 (k - 1))

    (Maurer and Pontil, "Empirical Bernstein bounds", COLT 2009).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows.
    weights : ndarray of shape (n,)
        Positive on one side, negative on the other.
    level : float
        s.
    beta : float
        The probability that it fails.
    generator : numpy.random.Generator
        Draws.
    """
    used = weights != 0
    rows, signed = (Z[used] - Z[used].mean(axis=0)) / level, weights[used]
    chosen: IntArray = generator.choice(len(rows), N_DRAWS, p=np.abs(signed) / np.abs(signed).sum())
    draws = rows[chosen] + generator.standard_normal((N_DRAWS, rows.shape[1]))
    sides = np.column_stack([np.maximum(signed, 0.0), np.maximum(-signed, 0.0)])
    squares = np.sum(rows**2, axis=1)
    block = max(1, 2**23 // len(rows))
    values = []
    for start in range(0, N_DRAWS, block):
        part = draws[start : start + block]
        kernel = np.exp(part @ rows.T - 0.5 * squares - 0.5 * np.sum(part**2, axis=1)[:, None])
        densities = kernel @ sides
        values.append(np.abs(densities[:, 0] - densities[:, 1]) / densities.sum(axis=1))
    found, log = np.concatenate(values), math.log(2.0 / beta)
    error = math.sqrt(2.0 * found.var(ddof=1) * log / N_DRAWS) + 7.0 * log / (3.0 * (N_DRAWS - 1))
    return float(found.mean()) + error
