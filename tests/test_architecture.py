"""Imports go downwards only, and what is private to a folder stays in it."""

import ast
from pathlib import Path

import pytest

import fairpca

ROOT = Path(fairpca.__file__).parent
FLOORS = {
    "cli": 10,
    "selection": 8,
    "saving": 8,
    "table_model": 8,
    "auditing": 8,
    "planning": 8,
    "release": 8,
    "report": 8,
    "path": 8,
    "estimator": 8,
    "evaluation": 8,
    "baselines": 7,
    "plots": 7,
    "metrics": 7,
    "datasets": 7,
    "tables": 7,
    "fitting": 6,
    "inference": 5,
    "data": 5,
    "solvers": 4,
    "versions": 4,
    "problem": 3,
    "mmd": 3,
    "comparison": 2,
    "rows": 1,
    "geometry": 0,
    "exceptions": 0,
    "compiled": 0,
    "_utils": 0,
}
HOMES = {
    "AuditResult": "auditing",
    "Certificate": "auditing",
    "FairPCA": "estimator",
    "FairPCACV": "selection",
    "FairPCAPath": "path",
    "Plan": "planning",
    "Release": "release",
    "Verification": "auditing",
    "any_classifier_bound": "release",
    "audit": "auditing",
    "fair_pca_path": "path",
    "load": "saving",
    "load_certificate": "auditing",
    "plan": "planning",
    "show_versions": "versions",
    "verify": "auditing",
    "__version__": "_utils",
}
"""Where the names live that the package itself exports."""

MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]
each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def folder(path):
    """Return the dotted name of the folder of a module."""
    return ".".join(["fairpca", *path.relative_to(ROOT).parts[:-1]])


def imported_names(path):
    """Yield the dotted names of the package that a module imports: modules, and what it takes from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith("fairpca."))


def is_private(part):
    return part.startswith("_") and not part.startswith("__")


def private_modules(name):
    """Yield the folder and the name of each private module or folder along a dotted name."""
    parts = name.split(".")
    for depth in range(1, len(parts)):
        place = ROOT.joinpath(*parts[1 : depth + 1])
        if is_private(parts[depth]) and (place.is_dir() or place.with_suffix(".py").exists()):
            yield ".".join(parts[:depth]), parts[depth]


def is_inside(inner, outer):
    return f"{inner}.".startswith(f"{outer}.")


def test_every_room_has_a_floor():
    assert {room(path) for path in MODULES} == set(FLOORS)


@each_module
def test_imports_go_downwards(path):
    here = room(path)
    for name in imported_names(path):
        other = name.split(".")[1]
        other = HOMES.get(other, other)
        assert other == here or FLOORS[other] <= FLOORS[here], f"{here} imports {other}, which is above it"


@each_module
def test_private_modules_stay_in_their_folder(path):
    here = folder(path)
    foreign = [
        f"{home}.{private}"
        for name in imported_names(path)
        for home, private in private_modules(name)
        if not is_inside(here, home)
    ]
    assert not foreign, f"{path.relative_to(ROOT)} imports {', '.join(sorted(set(foreign)))}"


def test_the_core_needs_no_extra():
    extras = {"matplotlib", "typer", "rich", "pandas", "polars", "dask"}
    extras |= {"pyarrow", "jinja2", "onnx", "skl2onnx"}
    for path in MODULES:
        if room(path) == "cli":
            continue
        for node in ast.parse(path.read_text()).body:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not {module.partition(".")[0] for module in modules} & extras, path
