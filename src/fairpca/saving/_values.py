"""Values of Python as JSON and back, with nothing lost; which classes a model file may name."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from fairpca._utils.schema import NAMES, TEXT, Kind, check_fields, is_number, short
from fairpca._utils.typing import AnyArray
from fairpca.comparison import NOTIONS
from fairpca.mmd import Scales
from fairpca.solvers import REPMS, Budget, Certificate, FitResult, Level, OuterStep, Status

MOST_NESTED = 32
"""Lists and tables in each other; those of a model are not ten deep."""

LIST = Kind("a list", lambda value: isinstance(value, list))
NOT_FINITE = Kind("nan, inf or -inf", lambda value: value in ("nan", "inf", "-inf"))
STATUS = Kind("a reason for which a solver stops", lambda value: value in tuple(Status.__members__))

SOLVER_CLASSES = (Budget, REPMS)
RUN_CLASSES = (FitResult, OuterStep, Level, Certificate)

RECORDS: dict[str, type] = {
    record.__name__: record for record in (*SOLVER_CLASSES, *RUN_CLASSES, Scales, *NOTIONS.values())
}


def is_record(value: Any) -> bool:
    """Tell whether a value is of one of these classes, not of a class of one's own that is derived from them."""
    return RECORDS.get(type(value).__name__) is type(value)


def fields_of(record: type) -> list[str]:
    """Return what an object of a class is made from."""
    return [field.name for field in fields(record) if field.init] if is_dataclass(record) else []


def made(name: str, values: dict[str, Any]) -> Any:
    """Return an object of one of these classes, if every value is of the type that its class declares.

    Parameters
    ----------
    name : str
        Name of the class.
    values : dict of str to Any
        What it is made from.
    """
    record = RECORDS[name]
    hints = get_type_hints(record)
    check_fields(name, values, {field: _kind(hints[field]) for field in fields_of(record)})
    if len({len(value) for value in values.values() if isinstance(value, np.ndarray)}) > 1:
        raise ValueError(f"{name} has arrays of different lengths.")
    try:
        return record(**values)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _kind(hint: Any) -> Kind:
    return Kind(f"of the type {getattr(hint, '__name__', hint)}", lambda value: _fits(value, hint))


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in arguments)
    if origin is tuple:
        return type(value) is tuple and all(_fits(each, arguments[0]) for each in value)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1 and value.size > 0
    if hint in (None, NoneType):
        return value is None
    # Whole numbers pass for numbers, as everywhere in Python; truths do not.
    return type(value) in ((float, int) if hint is float else (hint,))


LARGEST = float(np.finfo(np.float64).max)


def check_array(
    name: str,
    array: AnyArray,
    shape: tuple[int, ...],
    dtype: type = np.float64,
    least: float = -LARGEST,
    most: float = LARGEST,
) -> None:
    """Refuse an array of another type or shape, or with numbers out of a range, by default that of finite ones.

    Parameters
    ----------
    name : str
        What it is called, for messages.
    array : ndarray
        The array.
    shape : tuple of int
        What its shape must be.
    dtype : type, default=float64
        What it must hold.
    least, most : float
        The range.
    """
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} is an array of {array.dtype} of shape {array.shape}; what stands beside it asks for "
            f"{np.dtype(dtype)} and {shape}."
        )
    if not np.all((array >= least) & (array <= most)):
        raise ValueError(f"{name} holds numbers that no fit gives.")


class Encoder:
    """From values to JSON.

    Parameters
    ----------
    remedy : str
        What to do about a value that cannot be written; {} is what it is the value of.
    prefix : str, default=""
        What the names of arrays begin with.

    Attributes
    ----------
    arrays : dict of str to ndarray
        The arrays that were met.
    """

    def __init__(self, remedy: str, prefix: str = "") -> None:
        self._remedy, self._prefix = remedy, prefix
        self.arrays: dict[str, AnyArray] = {}

    def encode(self, value: Any, where: str, *, in_place: bool = False) -> Any:
        """Return a value in JSON types.

        Parameters
        ----------
        value : Any
            The value.
        where : str
            What it is the value of, for names of arrays and for messages.
        in_place : bool, default=False
            Whether arrays stay in the document.
        """
        if isinstance(value, Status):
            return {"$status": value.name}
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | str):
            return str(value) if isinstance(value, str) else value
        if isinstance(value, int | float):
            return self._number(value, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where, in_place)
        if is_record(value):
            return self._record(value, where)
        if type(value) in (list, tuple):
            items = [self.encode(each, f"{where}.{k}", in_place=in_place) for k, each in enumerate(value)]
            return items if type(value) is list else {"$tuple": items}
        if isinstance(value, Mapping):
            return self._mapping(value, where)
        raise self._refusal(value, where)

    def _array(self, array: AnyArray, where: str, in_place: bool) -> dict[str, Any]:
        if array.dtype == object and array.ndim == 1 and all(isinstance(each, str) for each in array):
            return {"$strings": [str(each) for each in array]}
        if in_place and array.dtype == np.float64 and array.ndim == 1:
            return {"$floats": [self._number(each, where) for each in array.tolist()]}
        if in_place or array.dtype == object or type(array) not in (np.ndarray, np.memmap):
            raise self._refusal(array, where)
        self.arrays[f"{self._prefix}{where}"] = np.asarray(array)
        return {"$array": f"{self._prefix}{where}"}

    def _record(self, record: Any, where: str) -> dict[str, Any]:
        names = fields_of(type(record))
        if not names and vars(record):
            raise self._refusal(record, where)
        values = {name: self.encode(getattr(record, name), f"{where}__{name}", in_place=True) for name in names}
        return {f"${type(record).__name__}": values}

    def _mapping(self, mapping: Mapping[Any, Any], where: str) -> dict[str, Any]:
        values = [self.encode(each, f"{where}.{key}", in_place=True) for key, each in mapping.items()]
        if all(isinstance(key, str) and not key.startswith("$") for key in mapping):
            return dict(zip(map(str, mapping), values, strict=True))
        keys = [self.encode(key, where, in_place=True) for key in mapping]
        if any(isinstance(key, list | dict) for key in keys):
            raise self._refusal(mapping, where)
        return {"$dict": [list(pair) for pair in zip(keys, values, strict=True)]}

    def _number(self, value: int | float, where: str) -> Any:
        if isinstance(value, int):
            if not is_number(int(value)):
                raise self._refusal(value, where)
            return int(value)
        number = float(value)
        return number if math.isfinite(number) else {"$float": str(number)}

    def _refusal(self, value: Any, where: str) -> ValueError:
        return ValueError(
            f"{where}={short(value)} cannot be written to a model file, which holds numbers, texts, lists, arrays, and "
            f"solvers, scales and notions of this package. {self._remedy.format(where.partition('.')[0])}"
        )


class Decoder:
    """From JSON to values.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Arrays by their names.
    """

    def __init__(self, arrays: Mapping[str, AnyArray]) -> None:
        self._unused, self._depth = dict(arrays), 0
        self._tags: dict[str, tuple[Kind, Callable[[Any], Any]]] = {
            "$float": (NOT_FINITE, float),
            "$tuple": (LIST, lambda items: tuple(map(self.decode, items))),
            "$dict": (LIST, self._dict),
            "$array": (TEXT, self._named_array),
            "$floats": (LIST, self._floats),
            "$strings": (NAMES, lambda texts: np.array(texts, dtype=object)),
            "$status": (STATUS, lambda name: Status[name]),
        }

    def decode(self, value: Any) -> Any:
        """Return the value that JSON types stand for; anything that `Encoder` does not write is a ValueError."""
        if isinstance(value, list | dict):
            return self._inside(value)
        if isinstance(value, int) and not isinstance(value, bool) and not is_number(value):
            raise ValueError("a whole number in it is too large.")
        return value

    def check_all_used(self) -> None:
        """Refuse arrays that nothing has asked for."""
        if self._unused:
            raise ValueError(f"it has arrays that belong nowhere: {', '.join(map(repr, self._unused))}.")

    def _inside(self, value: list[Any] | dict[str, Any]) -> Any:
        if self._depth == MOST_NESTED:
            raise ValueError(f"it has lists or tables more than {MOST_NESTED} deep in each other.")
        self._depth += 1
        decoded = [self.decode(each) for each in value] if isinstance(value, list) else self._table(value)
        self._depth -= 1
        return decoded

    def _table(self, table: dict[str, Any]) -> Any:
        if not any(name.startswith("$") for name in table):
            return {name: self.decode(each) for name, each in table.items()}
        ((tag, content),) = table.items() if len(table) == 1 else [("", None)]
        if tag in self._tags:
            kind, make = self._tags[tag]
            if not kind.fits(content):
                raise ValueError(f"{short(content)} stands where {kind.words} must be.")
            return make(content)
        if tag[1:] not in RECORDS or not isinstance(content, dict):
            raise ValueError(f"{short(table)} stands for nothing that is known.")
        return made(tag[1:], {name: self.decode(each) for name, each in content.items()})

    def _dict(self, pairs: list[Any]) -> dict[Any, Any]:
        decoded = [self.decode(pair) for pair in pairs]
        if not all(isinstance(pair, list) and len(pair) == 2 and _is_key(pair[0]) for pair in decoded):
            raise ValueError(f"{short(pairs)} are no keys and values.")
        found = dict(decoded)
        if len(found) < len(decoded):
            raise ValueError("a key occurs twice.")
        return found

    def _named_array(self, name: str) -> AnyArray:
        if name not in self._unused:
            raise ValueError(f"the array {short(name)} is missing, or asked for twice.")
        return self._unused.pop(name)

    def _floats(self, items: list[Any]) -> AnyArray:
        numbers = [self.decode(each) for each in items]
        if not all(isinstance(number, float) for number in numbers):
            raise ValueError(f"{short(items)} are no numbers.")
        return np.array(numbers, dtype=np.float64)


def _is_key(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
