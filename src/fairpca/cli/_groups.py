"""Groups of options that several commands share, as dataclasses."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of its parameters that are dataclasses, and the dataclasses made of them.

    Parameters
    ----------
    command : callable
        A command. Fields of such dataclasses are annotated as options and arguments are.
    """
    kinds = {name: kind for name, kind in get_type_hints(command).items() if is_dataclass(kind)}
    shared = {name: _parameters(kind) for name, kind in kinds.items()}
    own = signature(command, eval_str=True).parameters
    listed = [each for name, parameter in own.items() for each in shared.get(name, [parameter])]

    @wraps(command)
    def run(**given: Any) -> Any:
        groups = {
            name: kind(**{each.name: given.pop(each.name) for each in shared[name]})  # type: ignore[operator]
            for name, kind in kinds.items()
        }
        return command(**groups, **given)

    # What must be given comes first, as Python wants it; otherwise the order is that of the command.
    ordered = sorted((each.replace(kind=Parameter.KEYWORD_ONLY) for each in listed), key=lambda each: not _needed(each))
    run.__signature__ = signature(command).replace(parameters=ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in ordered} | {"return": None}
    return run


def _parameters(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=_default(each), annotation=hints[each.name])
        for each in fields(kind)
    ]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default


def _needed(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty
