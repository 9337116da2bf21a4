"""An environment with some extras of the package and nothing else, made of one that has more."""
# SPDX-License-Identifier: MIT

import sys
import tomllib
from collections.abc import Iterable
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def block_all_but(extras: Iterable[str], beside: Iterable[str] = ()) -> None:
    """Let nothing be imported but the package, what it needs, and what the given extras bring.

    Parameters
    ----------
    extras : iterable of str
        Extras of the package.
    beside : iterable of str, default=()
        Other packages that are allowed.
    """
    allowed = distributions_of(extras, beside)
    owners = packages_distributions()
    refused = {
        module
        for module, names in owners.items()
        if not any(canonicalize_name(name) in allowed for name in names) and module not in sys.stdlib_module_names
    }
    for module in [name for name in sys.modules if name.partition(".")[0] in refused]:
        del sys.modules[module]
    sys.meta_path.insert(0, _Refused(refused))


def distributions_of(extras: Iterable[str], beside: Iterable[str] = ()) -> set[str]:
    """Return the distributions that the package brings with some of its extras.

    Parameters
    ----------
    extras : iterable of str
        Extras of the package.
    beside : iterable of str, default=()
        Other packages that are installed with it.
    """
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    found = {project["name"]}
    seen: set[tuple[str, ...]] = set()
    waiting = [*project["dependencies"], *(line for extra in extras for line in optional[extra]), *beside]
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name == project["name"]:
            waiting += [line for extra in requirement.extras for line in optional[extra]]
        elif (name, *requirement.extras) not in seen:
            # A package is met more than once: by itself, and with extras of its own.
            seen.add((name, *requirement.extras))
            found.add(name)
            waiting += _required(requirement)
    return found


def _required(requirement: Requirement) -> list[str]:
    try:
        lines = distribution(requirement.name).requires or []
    except PackageNotFoundError:
        return []
    asked = ["", *requirement.extras]
    needed = []
    for line in lines:
        marker = Requirement(line).marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in asked):
            needed.append(line)
    return needed


class _Refused(MetaPathFinder):
    """Says of modules that they are not installed."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {fullname!r} (no extra that the page names)", name=fullname)
