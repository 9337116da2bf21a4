"""What is installed and which engine runs, for reports of faults and beside saved results."""
# SPDX-License-Identifier: MIT

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from fairpca._utils.threads import n_threads
from fairpca.mmd import engine

OWN = "fairpca"
NOT_LISTED = {"all", "test"}
"""Extras that only collect others, or that developers need."""


def show_versions() -> None:
    """Print versions of the package and of what it uses, the engine of the kernel sums, BLAS and threads.

    Extras that are not installed are listed as such. The text belongs into reports of faults.

    Examples
    --------
    >>> import fairpca
    >>> fairpca.show_versions()  # doctest: +ELLIPSIS
    System
    ...
    Kernel sums
    ...
    """
    print("\n".join(_lines(environment())))


def environment() -> dict[str, Any]:
    """Return versions and machine.

    Returns
    -------
    environment : dict
        `python`, `system`, `machine`, `cores` (that this process may use), `threads` (that the package uses),
        `engine` ("compiled" or "numpy" kernel sums), `simd` (extensions that numpy found), `blas` (one text for each
        library) and `versions` (None where an optional package is not installed).
    """
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": n_threads(),
        "engine": engine(),
        "simd": np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", []),
        # Which of several was loaded first is not a property of the environment.
        "blas": sorted(_described(library) for library in threadpool_info() if library["user_api"] == "blas"),
        "versions": {package: _version(package) for package in (OWN, *_required(), *dict(_optional()))},
    }


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield "System"
    for key in ("python", "system", "machine", "cores", "threads"):
        yield f"    {key:<14} {found[key]}"
    yield "Packages"
    for package in (OWN, *_required()):
        yield f"    {package:<14} {found['versions'][package]}"
    yield "Extras"
    for package, extra in _optional():
        yield f"    {package:<14} {found['versions'][package] or 'not installed'} ({OWN}[{extra}])"
    yield "Kernel sums"
    yield f"    {'engine':<14} {found['engine']}"
    yield f"    {'numpy has':<14} {', '.join(found['simd']) or 'no vector extensions beyond its baseline'}"
    yield "BLAS"
    yield from (f"    {library}" for library in found["blas"])


def _described(library: dict[str, Any]) -> str:
    threads = library["num_threads"]
    kind = f" {library['architecture']}" if library.get("architecture") else ""
    return f"{library['internal_api']} {library['version']}{kind}, {threads} thread{'s' if threads != 1 else ''}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _required() -> list[str]:
    return [_name(line) for line in requires(OWN) or [] if "extra ==" not in line]


def _optional() -> Iterator[tuple[str, str]]:
    """Yield optional packages and the extra that installs each, as the package's own metadata has them."""
    listed = {OWN, *_required()}
    for line in requires(OWN) or []:
        extra = re.search(r"extra == [\"'](\w+)[\"']", line)
        if extra and extra[1] not in NOT_LISTED and _name(line) not in listed:
            listed.add(_name(line))
            yield _name(line), extra[1]


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
