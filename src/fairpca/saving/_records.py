"""The classes that a model file may name: they hold plain values, and nothing else is ever made from a name."""
# SPDX-License-Identifier: MIT

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from fairpca._utils.schema import Kind, check_fields
from fairpca.comparison import NOTIONS
from fairpca.mmd import Scales
from fairpca.solvers import REPMS, Budget, Certificate, FitResult, Level, OuterStep, Status

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


def status_named(name: Any) -> Status:
    """Return why a solver stopped, by the name of the reason."""
    if not isinstance(name, str) or name not in Status.__members__:
        raise ValueError(f"a solver does not stop for the reason {name!r}.")
    return Status[name]
