"""Columns of labels, numbers and weights: read from any container, checked, counted and coded beside the rows."""
# SPDX-License-Identifier: MIT

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from fairpca._utils.checks import LARGEST
from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.comparison._errors import ErrorRates
from fairpca.rows import compute, is_dask, is_dask_frame

_ALLOWED = (
    "must hold one label for each row: a list, a numpy, pyarrow or Dask array, a pandas, polars or Dask series, or a "
    "frame of such columns"
)

_SINGLE = "each label must be one string, number, boolean or date."

MOST_GROUPS = 100
"""Values of a column that can be compared as groups; more are a continuous attribute, or names of people."""

MOST_CELLS = 10_000
"""Combinations of labels at most: of more than that most have too few rows to be compared."""

FEW_VALUES = 20
"""Distinct numbers up to which a column counts as groups unless it is said to be continuous."""

Height = int | tuple[int, ...]
"""Number of rows; of a Dask table the rows of each block."""

ABSENT = "missing"
"""Label of the group of rows without one."""


def as_labels(values: Any, argument: str = "sensitive_features") -> AnyArray:
    """Return one column of labels as an array; missing ones stay what they are.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, 1)
        What a user passed.
    argument : str, default="sensitive_features"
        Its name, for messages.
    """
    labels = as_array(values, argument)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{argument} has shape {labels.shape}; it must be one column.")
    if labels.dtype.kind in "cV":
        raise TypeError(f"{argument} has labels of type {labels.dtype}; {_SINGLE}")
    return labels


def as_array(values: Any, argument: str) -> AnyArray:
    """Return labels in an array of one or two dimensions.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, k)
        What a user passed.
    argument : str
        Its name, for messages.
    """
    if np.ma.isMaskedArray(values):
        values = np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    elif "pyarrow" in sys.modules and isinstance(values, sys.modules["pyarrow"].Array):
        values = values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        labels = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{argument} {_ALLOWED}; its entries have different lengths.") from error
    if labels.ndim == 0:
        kind = f"an object of type {type(values).__name__}"
        got = f"the string {values!r}: pass the column, not its name" if isinstance(values, str) else kind
        raise TypeError(f"{argument} {_ALLOWED}; got {got}.")
    if labels.dtype.kind == "U" and isinstance(values, Sequence):
        # A list that mixes strings with None or nan would come out as strings.
        labels = np.asarray(values, dtype=object)
    return labels


def comparable(labels: AnyArray, argument: str = "sensitive_features") -> AnyArray:
    """Return labels that can be sorted, none of them missing.

    Equal labels stay equal, whatever their types: 1, 1.0 and True are one group. Labels of kinds that have no order
    among them, such as numbers and strings, become strings.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    argument : str, default="sensitive_features"
        Their name, for messages.
    """
    if labels.dtype != object:
        return labels
    values = labels.tolist()
    number = {label: position for position, label in enumerate(counted(values, argument))}
    return _sortable(list(number), argument)[[number[label] for label in values]]


def counted(values: Iterable[Any], argument: str = "sensitive_features") -> "Counter[Any]":
    """Return how often each label occurs.

    Parameters
    ----------
    values : iterable
        Labels.
    argument : str, default="sensitive_features"
        Their name, for messages.
    """
    try:
        return Counter(values)
    except TypeError as error:
        raise TypeError(f"{argument} has labels that cannot be hashed; {_SINGLE}") from error


def missing(labels: AnyArray) -> BoolArray:
    """Return which labels stand for none: None, nan, pandas.NA or NaT.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    """
    if labels.dtype.kind in "biuUS":
        return np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    # pandas.NA and NaT refuse to be compared like numbers; they are known by their type's name.
    absent = (v is None or type(v).__name__ in {"NAType", "NaTType"} or bool(v != v) for v in labels.tolist())
    return np.fromiter(absent, dtype=bool, count=len(labels))


def _sortable(labels: list[Any], argument: str) -> AnyArray:
    """Return distinct labels as an array whose entries have an order."""
    if any(isinstance(label, Collection) and not isinstance(label, str | bytes) for label in labels):
        raise TypeError(f"{argument} has labels that are collections, such as {labels[0]!r}; {_SINGLE}")
    if all(isinstance(label, Real | np.bool_) for label in labels):
        numbers = np.array(labels)
        # Integers beyond 2^53 beside floats would lose the digits in which they differ.
        if len(set(numbers.tolist())) == len(labels):
            return numbers
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=str)
    try:
        sorted(labels)
    except TypeError:
        whole = (int(label) if isinstance(label, float) and label.is_integer() else label for label in labels)
        return np.array([str(label) for label in whole], dtype=str)
    return np.fromiter(labels, dtype=object, count=len(labels))


@dataclass(frozen=True)
class Reading:
    """How a column is to be read.

    Attributes
    ----------
    argument : str
        What the user passed it as, for messages, with its name where it has one.
    kind : {"auto", "groups", "continuous"}
        Whether its values are labels of groups or numbers.
    missing : {"refuse", "group", "leave"}
        What becomes of rows without a value.
    is_attribute : bool
        Whether it is a protected attribute; `missing` is an option for these alone.
    """

    argument: str
    kind: str = "groups"
    missing: str = "refuse"
    is_attribute: bool = False

    def is_continuous(self, labels: AnyArray) -> bool:
        """Decide whether a column holds numbers that can be far from or near each other, by its distinct values."""
        numeric = labels.dtype.kind in "iuf"
        if labels.dtype == object:
            numeric = all(isinstance(label, Real) and not isinstance(label, bool | np.bool_) for label in labels)
        if self.kind == "continuous" and not numeric:
            raise TypeError(
                f'{self.argument} is said to be "continuous", but holds labels that are not numbers. Codes, such '
                "as zip codes, have no distance: merge them into groups. Texts of amounts take astype(float)."
            )
        return self.kind == "continuous" or (self.kind == "auto" and numeric and len(labels) > FEW_VALUES)

    def check_rows(self, n_entries: int, rows: Height, n_absent: int, first: int | None = None) -> None:
        """Refuse a column that is not as long as the table, and missing values unless they are provided for."""
        if n_entries != np.sum(rows):
            raise ValueError(f"{self.argument} has {n_entries} entries but X has {np.sum(rows)} rows.")
        if n_absent and self.missing == "refuse":
            where = "" if first is None else f", the first in row {first}"
            options = (
                'use missing="group" for a group of their own or missing="leave" to leave them out of the comparison'
                if self.is_attribute
                else "give them a label of their own"
            )
            values = "value" if n_absent == 1 else "values"
            raise ValueError(f"{self.argument} has {n_absent} missing {values}{where}; drop those rows, or {options}.")

    def check_groups(self, labels: AnyArray, counts: AnyArray) -> None:
        """Refuse more values than can be compared as groups, and names that differ only by blanks around them."""
        by_name: dict[str, str] = {}
        for label in (label for label in labels.tolist() if isinstance(label, str)):
            other = by_name.setdefault(label.strip(), label)
            if other != label:
                raise ValueError(
                    f"{self.argument} has groups whose names differ only by blanks, {other!r} and {label!r}; strip "
                    "them, or rename one."
                )
        if len(labels) > MOST_GROUPS:
            raise ValueError(
                f"{self.argument} has {len(labels)} groups, {listed(labels, counts)}; at most {MOST_GROUPS} can be "
                'compared. Merge some of them, or use sensitive_kind="continuous" if they are numbers.'
            )


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """Which of some labels each row has.

    Attributes
    ----------
    name : str
        Name of the column, or empty.
    labels : ndarray of shape (n_labels,)
        The distinct labels, in order; that of missing ones, where they are a group, last.
    counts : ndarray of shape (n_labels,)
        Their rows.
    codes : ndarray of int, or dask.array.Array, of shape (n, 1)
        The number of the label of each row; -1 where it has none.
    errors : ErrorRates or None, default=None
        How often labels are wrong.
    """

    name: str
    labels: AnyArray
    counts: IntArray
    codes: Any
    errors: ErrorRates | None = None


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number for each row.

    Attributes
    ----------
    name : str
        Name of the column, or empty.
    values : ndarray, or dask.array.Array, of shape (n, 1)
        float64; NaN where there is none.
    """

    name: str
    values: Any


Column = LabelColumn | NumberColumn


def read_column(name: str, values: Any, rows: Height, reading: Reading) -> Column:
    """Check and code a column; what comes of it is where the rows are, in their blocks.

    Parameters
    ----------
    name : str
        Its name.
    values : array-like of shape (n,), or Dask series, array or one-column frame
        Its entries, in the order of the rows.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.
    reading : Reading
        How it is to be read.
    """
    if isinstance(rows, tuple) and is_dask(values):
        return _read_parts(name, parts_of(values, reading.argument), rows, reading)
    labels = as_labels(values, reading.argument)
    absent = missing(labels)
    n_absent = int(absent.sum())
    reading.check_rows(len(labels), rows, n_absent, int(absent.argmax()))
    present = comparable(labels[~absent] if n_absent else labels, reading.argument)
    different, counts = distinct(present)
    if reading.is_continuous(different):
        return NumberColumn(name, placed(as_numbers(present, absent, reading.argument), rows))
    reading.check_groups(different, counts)
    codes = np.full(len(labels), -1, dtype=smallest_codes(len(different) + 1))
    # Of two groups, the usual case, without a search.
    codes[~absent] = present == different[1] if len(different) == 2 else np.searchsorted(different, present)
    if n_absent and reading.missing == "group":
        codes[absent] = len(different)
        different, counts = with_absent(different, counts, n_absent)
    return LabelColumn(name, different, counts, placed(codes[:, None], rows))


def placed(array: AnyArray, rows: Height) -> Any:
    """Return an array of shape (n, 1) where the rows are: as it is, or as one of Dask in blocks of so many rows."""
    return array if isinstance(rows, int) else require("dask.array", "dask").from_array(array, chunks=(rows, (1,)))


def zeros_beside(rows: Height) -> Any:
    """Return whole numbers 0, of shape (n, 1), where the rows are."""
    if isinstance(rows, int):
        return np.zeros((rows, 1), dtype=np.int64)
    return require("dask.array", "dask").zeros((sum(rows), 1), chunks=(rows, (1,)), dtype=np.int64)


def smallest_codes(n_codes: int) -> "np.dtype[Any]":
    """Return the smallest type for as many codes, and -1."""
    return np.dtype(np.int8 if n_codes <= 127 else np.int32)


def with_absent(labels: AnyArray, counts: IntArray, n_absent: int) -> tuple[AnyArray, IntArray]:
    """Return labels and their rows, with those of missing ones as a group at the end."""
    named = np.array([*labels.tolist(), ABSENT], dtype=object)
    return named, np.append(counts, n_absent)


def as_numbers(present: AnyArray, absent: BoolArray, argument: str) -> FloatArray:
    """Return numbers, none of them infinite, of shape (n, 1); NaN for absent ones."""
    values = np.full((len(absent), 1), np.nan)
    values[~absent, 0] = present.astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(f"{argument} has infinite numbers; missing ones are NaN or None.")
    return values


def listed(groups: AnyArray, counts: AnyArray, most: int = 5) -> str:
    """Return the largest groups with their rows, in words.

    Parameters
    ----------
    groups : ndarray of shape (n_groups,)
        The distinct labels.
    counts : ndarray of shape (n_groups,)
        Their rows.
    most : int, default=5
        Groups that are named.
    """
    order = np.argsort(-counts, kind="stable")[:most]
    names = [f"{groups[[k]].tolist()[0]!r} ({counts[k]} {'row' if counts[k] == 1 else 'rows'})" for k in order]
    return ", ".join([*names, "..."] if len(groups) > most else names)


def distinct(labels: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the distinct labels in order and how often each occurs.

    Two numbers, the usual case, are found without sorting: millions of labels take a fraction of the time and memory.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels that can be compared.
    """
    if labels.dtype.kind in "biuf" and len(labels):
        low, high = labels.min(), labels.max()
        n_low, n_high = int(np.count_nonzero(labels == low)), int(np.count_nonzero(labels == high))
        if low != high and n_low + n_high == len(labels):
            return np.array([low, high]), np.array([n_low, n_high])
    return np.unique(labels, return_counts=True)


def parts_of(values: Any, argument: str) -> list[Any]:
    """Return the delayed parts of one column: arrays or series.

    Parameters
    ----------
    values : Dask series, array or one-column frame
        The column.
    argument : str
        Its name, for messages.
    """
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[values.columns[0]] if is_dask_frame(values) else values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{argument} has {values.shape[1]} columns; it must be one column.")
    return list(np.ravel(values.to_delayed()))


def mapped_parts(
    function: Callable[[Any], AnyArray],
    parts: list[Any],
    lengths: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: "np.dtype[Any]",
) -> Any:
    """Return what a function makes of parts, as a Dask array of shape (n, 1) in blocks of so many rows.

    Parameters
    ----------
    function : callable
        From a part to an array of shape (n_part, 1).
    parts : list of delayed
        The parts.
    lengths : tuple of int
        Their rows.
    chunks : tuple of int
        Rows of each block.
    dtype : dtype
        Type of the result.
    """
    array, lazy = require("dask.array", "dask"), map(require("dask", "dask").delayed(function), parts)
    pieces = [array.from_delayed(part, (length, 1), dtype) for part, length in zip(lazy, lengths, strict=True)]
    return array.concatenate(pieces).rechunk((chunks, (1,)))


def _read_parts(name: str, parts: list[Any], chunks: tuple[int, ...], reading: Reading) -> Column:
    """Check and code a column of a Dask table: counted in one pass, coded where it is."""
    count = require("dask", "dask").delayed(partial(counts_of_labels, argument=reading.argument))
    lengths, counters = zip(*compute(*map(count, parts)), strict=True)
    found: Counter[Any] = sum(counters, Counter())
    n_absent = found.pop(None, 0)
    reading.check_rows(sum(lengths), chunks, n_absent)
    present = comparable(np.fromiter(found, dtype=object, count=len(found)), reading.argument)
    labels, index = np.unique(present, return_inverse=True)
    if reading.is_continuous(labels):
        numbers = partial(numbers_of_labels, argument=reading.argument)
        return NumberColumn(name, mapped_parts(numbers, parts, lengths, chunks, np.dtype(np.float64)))
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, index, list(found.values()))
    if len(found) >= MOST_CELLS:
        raise ValueError(
            f"{reading.argument} has {MOST_CELLS} or more distinct labels; at most {MOST_GROUPS} groups can be "
            'compared. Merge some of them, or use sensitive_kind="continuous" if they are numbers.'
        )
    reading.check_groups(labels, counts)
    dtype = smallest_codes(len(labels) + 1)
    code = partial(
        codes_of_labels,
        code_of=dict(zip(found, index.tolist(), strict=True)),
        of_absent=len(labels) if reading.missing == "group" else -1,
        dtype=dtype,
        argument=reading.argument,
    )
    if n_absent and reading.missing == "group":
        labels, counts = with_absent(labels, counts, n_absent)
    return LabelColumn(name, labels, counts, mapped_parts(code, parts, lengths, chunks, dtype))


def counts_of_labels(part: Any, argument: str = "sensitive_features") -> tuple[int, "Counter[Any]"]:
    """Return the number of rows of a part, and how many there are of each label; None stands for missing ones.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels of any kind.
    argument : str, default="sensitive_features"
        Their name, for messages.
    """
    labels = as_labels(part, argument)
    absent = missing(labels)
    present = labels[~absent]
    if labels.dtype == object:
        found = counted(present.tolist(), argument)
    else:
        values, counts = np.unique(present, return_counts=True)
        # Dates stay numpy's: as plain numbers they would equal no entry of the part.
        names = values if labels.dtype.kind in "mM" else values.tolist()
        found = Counter(dict(zip(names, counts.tolist(), strict=True)))
    # Enough to say that there are too many, also where several stand for one group, as 1 and "1" do.
    kept: Counter[Any] = Counter(dict(found.most_common(MOST_CELLS)))
    if absent.any():
        kept[None] = int(absent.sum())
    return len(labels), kept


def codes_of_labels(
    part: Any, code_of: dict[Any, int], of_absent: int, dtype: "np.dtype[Any]", argument: str
) -> IntArray:
    """Return the numbers of labels, of shape (n_part, 1).

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels.
    code_of : dict
        The number of each label; the same for several when labels of different kinds stand for one group.
    of_absent : int
        The number of missing ones.
    dtype : dtype
        Type of the result.
    argument : str
        Their name, for messages.
    """
    labels = as_labels(part, argument)
    absent = missing(labels)
    present = labels[~absent]
    found = np.zeros(len(present), dtype=dtype)
    for label, code in code_of.items():
        if code > 0:
            found[present == label] = code
    codes = np.full((len(labels), 1), of_absent, dtype=dtype)
    codes[~absent, 0] = found
    return codes


def numbers_of_labels(part: Any, argument: str) -> FloatArray:
    """Return numbers, of shape (n_part, 1); NaN for missing ones.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Numbers of any kind.
    argument : str
        Their name, for messages.
    """
    labels = as_labels(part, argument)
    absent = missing(labels)
    return as_numbers(labels[~absent], absent, argument)


def read_weights(sample_weight: Any, rows: Height, *, as_they_are: bool = False) -> Any:
    """Return how much each row counts: a row of mass 2 as two equal rows.

    Parameters
    ----------
    sample_weight : array-like, or Dask series or array, of shape (n,), or None
        What the user passed.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.
    as_they_are : bool, default=False
        Whether weights that are no counts are left as they are, since more rows will come.

    Returns
    -------
    masses : ndarray, or dask.array.Array, of shape (n, 1), or None
        Masses >= 0; None where no weights were passed. Whole numbers count rows; others sum to the number of rows
        above 0.
    """
    if sample_weight is None:
        return None
    if isinstance(rows, tuple) and is_dask(sample_weight):
        parts = parts_of(sample_weight, "sample_weight")
        lazy = require("dask", "dask").delayed
        sums = compute(*(lazy(sums_of_weights)(lazy(numbers_of_weights)(part)) for part in parts))
        scale = _scale_of_weights(np.sum(sums, axis=0), rows)
        lengths = tuple(int(each[0]) for each in sums)
        values = mapped_parts(numbers_of_weights, parts, lengths, rows, np.dtype(np.float64))
        return values if as_they_are else scale * values
    values = numbers_of_weights(sample_weight)
    scale = _scale_of_weights(sums_of_weights(values), rows)
    return placed(values if as_they_are else scale * values, rows)


def numbers_of_weights(part: Any) -> FloatArray:
    """Return weights as float64 numbers, of shape (n_part, 1).

    Parameters
    ----------
    part : array-like of shape (n_part,)
        Weights.
    """
    values = as_labels(part, "sample_weight")
    try:
        return values.astype(np.float64)[:, None]
    except (TypeError, ValueError) as error:
        raise TypeError("sample_weight must hold numbers, one for each row.") from error


def sums_of_weights(values: FloatArray) -> FloatArray:
    """Return how many weights there are, NaN or infinite, below 0, zero and no whole numbers, and their sum.

    Parameters
    ----------
    values : ndarray of shape (n_part, 1)
        Weights.
    """
    finite = values[np.isfinite(values)]
    kinds = finite < 0, finite == 0, finite != np.rint(finite)
    return np.array([len(values), len(values) - len(finite), *map(np.count_nonzero, kinds), finite.sum()])


def _scale_of_weights(sums: FloatArray, rows: Height) -> float:
    """Return what weights are multiplied by, given `sums_of_weights`; refuse those that cannot be used."""
    n_entries, n_missing, n_negative, n_zero, n_broken = map(int, sums[:-1])
    n_rows, total = int(np.sum(rows)), float(sums[-1])
    if n_entries != n_rows:
        raise ValueError(f"sample_weight has {n_entries} entries but X has {n_rows} rows.")
    if n_missing:
        raise ValueError(f"sample_weight has {n_missing} entries that are NaN or infinite; 0 leaves a row out.")
    if n_negative:
        raise ValueError(f"sample_weight has {n_negative} entries below 0; weights count people.")
    if n_zero > n_rows - 2:
        raise ValueError(f"sample_weight is zero for {n_zero} of {n_rows} rows, which count as absent; two are needed.")
    # Their squares are summed too.
    if total > LARGEST:
        raise ValueError(
            f"sample_weight adds up to {total:.3g}, and sums of squares overflow beyond {LARGEST:g}; divide all of it "
            "by a constant."
        )
    # Beyond 2^53 a whole number is no count.
    return 1.0 if not n_broken and total < 2**53 else (n_rows - n_zero) / total


def of_each_block(function: Callable[..., Any], *arrays: Any) -> list[Any]:
    """Return what a function makes of the rows of some arrays: one thing in memory, of Dask's one for each block.

    Parameters
    ----------
    function : callable
        Takes as many arrays in memory.
    *arrays : ndarray, or dask.array.Array with one column chunk, of shape (n, k)
        With equal blocks.
    """
    if not is_dask(arrays[0]):
        return [function(*arrays)]
    delayed = require("dask", "dask").delayed(function)
    blocks = zip(*(array.to_delayed()[:, 0] for array in arrays), strict=True)
    return list(compute(*(delayed(*block) for block in blocks)))
