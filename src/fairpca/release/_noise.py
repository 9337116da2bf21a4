"""Noise that belongs to a person, drawn from a secret key and an id, and the distance of groups behind it."""
# SPDX-License-Identifier: MIT

import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.fft import irfftn, next_fast_len, rfftn
from scipy.special import ndtr, ndtri

from fairpca._utils.typing import FloatArray, IntArray

ROUNDING = 8
"""Released numbers are multiples of s / 8: digits below tell nothing but the last bits of sums, which are no noise."""

FINE = 2
"""Points of the grid that rows are binned on, for each multiple of s / 8."""

DRAWN_SHARE = 0.1
"""Share of alpha for draws from the mixture; the rows need most of it."""

LEVELS = 2.0 ** (2.0 - np.arange(37) / 4.0)
"""Deviations of noise, of the largest deviation of a column: from 4, behind which little is left, to 1/128."""


def uses_grid(n_columns: int) -> bool:
    """Tell whether distances are computed on a grid: in three columns it has too many points."""
    return n_columns <= 2


def distances_behind(
    Z: FloatArray, weights: Sequence[FloatArray], levels: FloatArray, alpha: float, seed: int
) -> Iterator[FloatArray]:
    """Yield T of weights at one level of noise after the other, or upper bounds, until one cannot be computed.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows.
    weights : sequence of ndarray of shape (n,)
        Positive on one side, negative on the other.
    levels : ndarray of shape (n_levels,)
        s.
    alpha : float
        1 - confidence, a share of which is spent where draws are needed.
    seed : int
        Of draws.
    """
    generator = np.random.default_rng(seed)
    for level in levels:
        if uses_grid(Z.shape[1]):
            found = [grid_distance(Z[each != 0], each[each != 0], level) for each in weights]
            if None in found:
                return
            yield np.array(found, dtype=np.float64) + grid_error(Z.shape[1])
        else:
            drawn = [drawn_distance(Z, each, level, DRAWN_SHARE * alpha, generator) for each in weights]
            yield np.array(drawn)


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


def grid_distance(
    Z: FloatArray, weights: FloatArray, level: float, *, follow: float = 9.0, most_points: int = 2**22
) -> float | None:
    """Return T of rows behind noise and rounding, at most `grid_error` too small; None where the grid is too large.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows, d at most 2.
    weights : ndarray of shape (n,)
        Positive on one side, negative on the other.
    level : float
        s.
    follow : float, default=9.0
        Deviations beyond which noise is not followed: 1e-18 of it lies there.
    most_points : int, default=2**22
        Points of a grid, so that a level takes less than a second.
    """
    pitch = level / (ROUNDING * FINE)
    reach = math.ceil(follow * ROUNDING) * FINE
    low = (np.floor(Z.min(axis=0) / level) * ROUNDING * FINE).astype(np.int64) - reach
    sizes = [int(n) for n in np.ceil(Z.max(axis=0) / pitch).astype(np.int64) + reach + FINE - low]
    shape = [next_fast_len(size, real=True) for size in sizes]
    if math.prod(shape) > most_points:
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
    Z: FloatArray,
    weights: FloatArray,
    level: float,
    beta: float,
    generator: np.random.Generator,
    *,
    n_draws: int = 5_000,
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
    n_draws : int, default=5000
        How many: their share of the bound is about a half of a point.
    """
    used = weights != 0
    rows, signed = (Z[used] - Z[used].mean(axis=0)) / level, weights[used]
    chosen: IntArray = generator.choice(len(rows), n_draws, p=np.abs(signed) / np.abs(signed).sum())
    draws = rows[chosen] + generator.standard_normal((n_draws, rows.shape[1]))
    sides = np.column_stack([np.maximum(signed, 0.0), np.maximum(-signed, 0.0)])
    squares = np.sum(rows**2, axis=1)
    block = max(1, 2**23 // len(rows))
    values = []
    for start in range(0, n_draws, block):
        part = draws[start : start + block]
        kernel = np.exp(part @ rows.T - 0.5 * squares - 0.5 * np.sum(part**2, axis=1)[:, None])
        densities = kernel @ sides
        values.append(np.abs(densities[:, 0] - densities[:, 1]) / densities.sum(axis=1))
    found, log = np.concatenate(values), math.log(2.0 / beta)
    error = math.sqrt(2.0 * found.var(ddof=1) * log / n_draws) + 7.0 * log / (3.0 * (n_draws - 1))
    return float(found.mean()) + error


class PeopleNoise:
    """The noise of people, and a ledger of whom it was drawn for.

    Attributes
    ----------
    release : bytes
        What is released: other rows of a fit have other draws.
    key_check : bytes
        A digest of the key of the first release, by which it is known again, or nothing before it.
    ledger : dict of bytes to bytes
        Keyed digests of people, and of the numbers and the noise level with which they were released.
    """

    def __init__(self, release: bytes, key_check: bytes = b"", ledger: dict[bytes, bytes] | None = None) -> None:
        self.release = release
        self.key_check = key_check
        self.ledger = ledger or {}

    @classmethod
    def of_fit(cls, Z: FloatArray, known: "PeopleNoise | None") -> "PeopleNoise":
        """Begin a release of rows; who was released before stays known, for another fit makes them none the better.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows of the fit.
        known : PeopleNoise or None
            Of the fit before.
        """
        release = hashlib.blake2b(np.ascontiguousarray(Z).tobytes()).digest()
        return cls(release) if known is None else cls(release, known.key_check, known.ledger)

    def take_key(self, key: Any) -> bytes:
        """Return the key, if it is that of the first release.

        Parameters
        ----------
        key : bytes
            What the user passed.
        """
        secret = _checked_key(key)
        check = _keyed(secret, b"check")
        if self.key_check not in (b"", check):
            raise ValueError(
                "this is not the key of the first release, and noise from another key would be a second release, which "
                "has less noise: find the key, or fit and certify a new release for other people."
            )
        self.key_check = check
        return secret

    def released(self, Z: FloatArray, level: float, ids: Any, key: Any) -> FloatArray:
        """Return rows with the noise of their people.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        level : float
            The deviation of the noise.
        ids, key
            What the user passed.
        """
        people = _bytes_of_ids(ids, len(Z))
        secret = self.take_key(key)
        release, ledger = self.release + np.float64(level).tobytes(), dict(self.ledger)
        for person, row in zip(people, np.ascontiguousarray(Z + 0.0), strict=True):
            own = _keyed(secret, b"row", release, row.tobytes())[:16]
            if ledger.setdefault(_keyed(secret, b"person", person)[:16], own) != own:
                raise ValueError(
                    f"the person {person.decode()!r} would be released a second time, with other numbers or another "
                    "noise level, and two releases have less noise than one: leave such rows out."
                )
        self.ledger = ledger
        return rounded(Z + level * normal_draws(secret, release, people, Z.shape[1]), level)

    def to_arrays(self) -> dict[str, IntArray]:
        """Return all of it, nothing of which says who was released to anyone without the key."""
        # In the order of digests, which has nothing of the order of rows.
        ledger = b"".join(person + own for person, own in sorted(self.ledger.items()))
        parts = {"release": self.release, "key_check": self.key_check, "ledger": ledger}
        return {name: np.frombuffer(part, dtype="<i8").astype(np.int64) for name, part in parts.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, IntArray]) -> "PeopleNoise":
        """Take what `to_arrays` gave.

        Parameters
        ----------
        arrays : dict of str to ndarray of int64
            Three, of a file.
        """
        release, check, ledger = (arrays[name].astype("<i8").tobytes() for name in ("release", "key_check", "ledger"))
        if len(release) != 64 or len(check) != 64 or len(ledger) % 32:
            raise ValueError("its digests do not have the lengths of digests.")
        rows = [ledger[start : start + 32] for start in range(0, len(ledger), 32)]
        return cls(release, check, {row[:16]: row[16:] for row in rows})


def _checked_key(key: Any, least: int = 16, most: int = 64) -> bytes:
    """Return a secret key that nobody can guess, no longer than BLAKE2b takes it."""
    if not isinstance(key, bytes) or not least <= len(key) <= most:
        raise ValueError(
            f"key must be {least} to {most} secret bytes, such as secrets.token_bytes(32), kept for as long as people "
            "are released: whoever has it can take the noise off, and without it nobody's noise can be drawn again."
        )
    return key


def _keyed(key: bytes, *parts: bytes) -> bytes:
    """Return a keyed digest, BLAKE2b, of parts that cannot run into each other."""
    digest = hashlib.blake2b(key=key, person=b"fairpca.release")
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def _bytes_of_ids(ids: Any, n_rows: int) -> list[bytes]:
    """Return what stands for each person: the same for 7, 7.0 and "7", whichever a table has made of it."""
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
    # A digest is cut into numbers of 64 bits.
    words_each = hashlib.blake2b().digest_size // 8
    blocks = -(-n_columns // words_each)
    content = b"".join(
        _keyed(key, b"noise", release, each, block.to_bytes(4, "little")) for each in ids for block in range(blocks)
    )
    words = np.frombuffer(content, dtype="<u8").reshape(len(ids), blocks * words_each)[:, :n_columns]
    return ndtri(((words >> np.uint64(11)) + 0.5) * 2.0**-53)
