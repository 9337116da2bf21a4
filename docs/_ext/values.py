"""Public names that are values: what stands below their assignment, wherever that is."""
# SPDX-License-Identifier: MIT

import ast
import inspect
from importlib import import_module


def values_of(module: str, documented: list[str]) -> list[tuple[str, list[str]]]:
    """Return the public names of a module that no list of classes and functions has, with their texts as lines.

    Parameters
    ----------
    module : str
        The module.
    documented : list of str
        Names that have a page.
    """
    names = [name for name in import_module(module).__all__ if name not in documented and name != "__version__"]
    return [(name, _text(module, name).splitlines()) for name in names]


def _text(module: str, name: str) -> str:
    """Return the text below an assignment; where a name is imported, that of the module it comes from."""
    body = ast.parse(inspect.getsource(import_module(module))).body
    for number, line in enumerate(body):
        if isinstance(line, ast.ImportFrom) and any(name == (each.asname or each.name) for each in line.names):
            return _text(str(line.module), name) if str(line.module).startswith("fairpca") else _foreign(module, name)
        if name in _assigned(line):
            below = body[number + 1] if number + 1 < len(body) else None
            is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            return inspect.cleandoc(str(below.value.value)) if is_text else ""
    return ""


def _assigned(line: ast.stmt) -> set[str]:
    targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _foreign(module: str, name: str) -> str:
    thing = getattr(import_module(module), name)
    return f"``{thing.__module__}.{name}``: {(inspect.getdoc(thing) or '').splitlines()[0]}"
