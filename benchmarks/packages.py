"""Build the package from a clean tree, check what was built, install it in fresh environments and test it there.

python benchmarks/packages.py quick            # built, checked, and one environment: what .ci/run asks for
python benchmarks/packages.py [--save]         # all Pythons that are found, oldest and newest dependencies, with the
                                               # compiled loops and without a compiler; then the whole suite with all
                                               # extras at their oldest and newest
python benchmarks/packages.py matrix --python /path/to/python3.14

The tree is that of the last commit. Oldest are the lowest versions that pyproject.toml admits and that have wheels for
a Python. A result that fails is printed, saved with the others, and the exit code is 1.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _common import RESULTS, save
from _package_build import Built, build, contents_row
from _package_environment import Environment, interpreters

CORE_TESTS = [
    f"tests/test_{name}.py"
    for name in (
        "comparison",
        "datasets_synthetic",
        "geometry",
        "magnitude",
        "method",
        "metrics",
        "mmd",
        "mmd_bandwidth",
        "packaging",
        "rank",
        "saving_arrays",
        "settings",
    )
]
"""Tests that need no extra, half a minute of them."""

QUICK_TESTS = [f"tests/test_{name}.py" for name in ("comparison", "method", "mmd", "packaging", "saving_arrays")]


def tested(environment: Environment, tests: list[str]) -> dict[str, Any]:
    """Return the row of an environment: what it holds, what tests say in it, how long imports take."""
    environment.make()
    return environment.row() | environment.test(tests) | {"import_ratio": environment.import_ratio()}


def quick(built: Built, pythons: list[Path]) -> Iterator[dict[str, Any]]:
    yield contents_row(built)
    yield tested(Environment(built, Path(sys.executable)), QUICK_TESTS)


def matrix(built: Built, pythons: list[Path]) -> Iterator[dict[str, Any]]:
    yield contents_row(built)
    for python in pythons:
        for dependencies in ("oldest", "newest"):
            for compiler in (True, False):
                yield tested(Environment(built, python, dependencies, compiler), CORE_TESTS)


def extras(built: Built, pythons: list[Path]) -> Iterator[dict[str, Any]]:
    """Run the whole suite, on the first Python that is found."""
    for dependencies in ("oldest", "newest"):
        yield tested(Environment(built, pythons[0], dependencies, extra="test"), ["tests"])


PARTS = {"quick": quick, "matrix": matrix, "extras": extras}


def keep(row: dict[str, Any]) -> None:
    """Put a row in place of what was saved of the same environment: an interrupted run loses nothing."""
    path = RESULTS / "packages.json"
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    save("packages", sorted([other for other in before if identity(other) != identity(row)] + [row], key=identity))


def identity(row: dict[str, Any]) -> tuple[bool, str, str, str, str]:
    """Return what tells rows apart, and their order: what was built first, then by Python."""
    keys = ("part", "python", "dependencies", "installed")
    return ("wheel" not in row, *(str(row.get(key, "")) for key in keys))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; matrix and extras by default")
    parser.add_argument("--python", action="append", type=Path, help="use these alone; all that are found by default")
    parser.add_argument("--save", action="store_true", help="keep the results, row by row")
    arguments = parser.parse_args()
    pythons = arguments.python or interpreters()
    rows = []
    with tempfile.TemporaryDirectory(prefix="fairpca-packages-") as folder:
        built = build(Path(folder))
        for part in arguments.parts or ("matrix", "extras"):
            for row in PARTS[part](built, pythons):
                rows.append({"part": part} | row)
                print(", ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
                if arguments.save:
                    keep(rows[-1])
    if any(row.get("failed") for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
