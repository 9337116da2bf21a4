"""Sphinx extension: docstrings as this package writes them, without what its classes inherit from scikit-learn."""
# SPDX-License-Identifier: MIT

import re
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

FOREIGN = ("sklearn", "numpy", "enum", "builtins")

MODULES = [
    "fairpca",
    *(f"fairpca.{name}" for name in ("metrics", "plots", "datasets", "baselines", "tables", "release", "report")),
    *(f"fairpca.{name}" for name in ("exceptions", "solvers", "mmd", "comparison")),
]
"""Modules with public names, front doors first."""

_QUOTED = re.compile(r"(``.*?``|`[^`]*`_*)")
_BAR = re.compile(r"(?<!\\)\|")
_LEARNED = re.compile(r"(?<=\w)_(?=\W|$)")


def home_of(module: str, name: str) -> str:
    """Return the first module that hands out what a module calls by some name, as a full name."""
    thing = getattr(import_module(module), name)
    for other in MODULES[: MODULES.index(module)]:
        if name in import_module(other).__all__ and getattr(import_module(other), name) is thing:
            return f"{other}.{name}"
    return f"{module}.{name}"


def skip(app: Sphinx, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out methods that scikit-learn adds by itself; their text refers to its own pages."""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    module = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", "")
    return True if str(module).partition(".")[0] in FOREIGN else None


def plain(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Take bars for absolute values and underscores at the end for names of what was learned, not for links."""
    formula: int | None = None
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if formula is not None and line.strip() and depth <= formula:
            formula = None
        if line.lstrip().startswith(".. math::"):
            formula = depth
        if formula is None and not line.lstrip().startswith((">>>", "...")):
            lines[number] = "".join(_escaped(part) for part in _QUOTED.split(line))


def _escaped(part: str) -> str:
    return part if part.startswith("`") else _LEARNED.sub(r"\\_", _BAR.sub(r"\\|", part))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register."""
    app.connect("autodoc-skip-member", skip)
    # After numpydoc has made sections of them.
    app.connect("autodoc-process-docstring", plain, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
