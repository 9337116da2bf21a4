"""Groups that a picture tells apart: those of an attribute, few enough for colours and shapes."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import BoolArray, FloatArray, IntArray
from fairpca.comparison import Compared, KnownAttribute
from fairpca.inference import ComparedRows
from fairpca.report._words import plain

# Groups that colours and dashes keep apart; further small groups are drawn as one.
MOST_COLOURS = 8
THIRDS = ("lowest third", "middle third", "highest third")
NO_NAME = "the sensitive attribute"


@dataclass(frozen=True, eq=False)
class Colouring:
    """Rows by the groups of one attribute.

    Attributes
    ----------
    attribute : str
        As measures have it.
    kind : {"groups", "continuous"}
        Of a continuous attribute groups are thirds.
    labels : tuple of str
        What groups are called, at most eight.
    codes : ndarray of int of shape (n,)
        The group of each row; -1 for rows that are not compared by the attribute.
    n_merged : int
        Groups that the last one stands for, where there were too many; else 0.
    """

    attribute: str
    kind: str
    labels: tuple[str, ...]
    codes: IntArray
    n_merged: int = 0

    @property
    def name(self) -> str:
        """For people."""
        return plain(self.attribute) or NO_NAME

    @property
    def counts(self) -> IntArray:
        """Rows of each group."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels))


def colourings(compared: Compared, rows: ComparedRows, crossed: bool, most: int = 5) -> list[Colouring]:
    """Return the ways to colour a picture, one for each attribute.

    Parameters
    ----------
    compared : Compared
        Who is compared with whom.
    rows : ComparedRows
        The same rows, which know who takes part.
    crossed : bool
        Whether combinations of attributes are compared; they come first.
    most : int, default=5
        Attributes at most; the audit has all of them.
    """
    takes_part = np.abs(rows.columns).max(axis=1) > 0
    groups = [each for each in compared.known if not each.is_continuous]
    known = ([_combined(groups)] if crossed and len(groups) > 1 else []) + list(compared.known)
    return [_colouring(each, takes_part) for each in known[:most]]


def _colouring(known: KnownAttribute, takes_part: BoolArray) -> Colouring:
    if known.is_continuous:
        return Colouring(known.name, "continuous", THIRDS, _thirds(known.values, takes_part))
    codes = np.where(takes_part, known.values, -1).astype(np.int64)
    labels = tuple(plain(label) for label in known.labels)
    if len(labels) <= MOST_COLOURS:
        return Colouring(known.name, "groups", labels, codes)
    return _with_few_groups(known.name, labels, codes)


def _thirds(places: FloatArray, takes_part: BoolArray) -> IntArray:
    known = takes_part & ~np.isnan(places)
    thirds = np.minimum(np.floor(3 * np.where(known, places, 0.0)), 2)
    return np.where(known, thirds, -1).astype(np.int64)


def _with_few_groups(name: str, labels: Sequence[str], codes: IntArray) -> Colouring:
    """Keep the largest groups in their order, and merge the others."""
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_COLOURS - 1])
    n_merged = len(labels) - len(kept)
    place = np.full(len(labels) + 1, len(kept), dtype=np.int64)
    place[kept], place[-1] = np.arange(len(kept)), -1
    return Colouring(name, "groups", (*(labels[k] for k in kept), f"{n_merged} other groups"), place[codes], n_merged)


def _combined(groups: Sequence[KnownAttribute]) -> KnownAttribute:
    """Return the combinations of several attributes as one, named as measures name it."""
    values = np.column_stack([each.values for each in groups]).astype(np.int64)
    complete = np.all(values >= 0, axis=1)
    found, index = np.unique(values[complete], axis=0, return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[complete] = index.ravel()
    labels = [" & ".join(each.labels[k] for each, k in zip(groups, row, strict=True)) for row in found]
    return KnownAttribute(" & ".join(each.name for each in groups), codes, is_continuous=False, labels=tuple(labels))
