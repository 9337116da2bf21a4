"""Noise that belongs to a person: draws from a secret key and an id, and who has got which."""
# SPDX-License-Identifier: MIT

import hashlib
from typing import Any

import numpy as np
from scipy.special import ndtri

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.release._noise import rounded


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
