"""Imports go downwards only."""

import ast
from pathlib import Path

import pytest

import fairpca

ROOT = Path(fairpca.__file__).parent
FLOORS = {
    "cli": 6,
    "paper": 5,
    "path": 4,
    "estimator": 4,
    "evaluation": 4,
    "baselines": 3,
    "plots": 3,
    "metrics": 3,
    "datasets": 3,
    "_projection": 3,
    "_fitting": 3,
    "_tracing": 3,
    "solvers": 2,
    "_versions": 2,
    "problem": 1,
    "mmd": 1,
    "measures": 1,
    "rows": 0,
    "_axes": 0,
    "_canonical": 0,
    "_components": 0,
    "_scaling": 0,
    "_method": 1,
    "_prepare": 1,
    "_streamed": 1,
    "geometry": 0,
    "exceptions": 0,
    "_checks": 0,
    "_extras": 0,
    "_files": 0,
    "_labels": 0,
    "_magnitude": 0,
    "_threads": 0,
    "_typing": 0,
    "_warn": 0,
}
MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def room(path):
    relative = path.relative_to(ROOT)
    return relative.parts[0].removesuffix(".py")


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "fairpca" else [f"fairpca.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "fairpca" and len(parts) > 1:
                yield {"FairPCA": "estimator", "__version__": "_typing"}.get(parts[1], parts[1])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path):
    here = room(path)
    for other in imported_rooms(path):
        assert other == here or FLOORS[other] <= FLOORS[here], f"{here} imports {other}, which is above it"


def test_the_core_needs_no_extra():
    extras = {"matplotlib", "typer", "rich", "pandas", "polars", "pymanopt", "cvxpy", "dask"}
    for path in MODULES:
        if room(path) == "cli":
            continue
        for node in ast.parse(path.read_text()).body:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not {module.partition(".")[0] for module in modules} & extras, path
