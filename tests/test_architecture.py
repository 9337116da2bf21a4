"""Imports go downwards only, what is private to a folder stays in it, and no modules import each other in circles."""

import ast
from importlib import import_module
from pathlib import Path

import fairpca

ROOT = Path(fairpca.__file__).parent
FLOORS = {
    room: floor
    for floor, rooms in (
        (10, "cli"),
        (9, "methods"),
        (8, "selection saving baselines table_model auditing planning release report path estimator"),
        (7, "plots metrics datasets tables"),
        (6, "fitting"),
        (5, "inference data"),
        (4, "solvers versions"),
        (3, "problem mmd"),
        (2, "comparison"),
        (1, "rows"),
        (0, "geometry exceptions compiled _utils"),
    )
    for room in rooms.split()
}
HOMES = {**fairpca._HOMES, "__version__": "_utils"}
"""Where the names live that the package itself exports."""

DOORS = {"auditing", "baselines", "estimator", "path", "release", "report", "saving", "table_model"}
"""Models save themselves, they and audits report themselves, and files and reports hold models: each imports the other
when it is asked to."""

EXTRAS = {"matplotlib", "typer", "rich", "pandas", "polars", "dask", "pyarrow", "jinja2", "onnx", "skl2onnx"}
PATHS = [
    path for path in sorted(ROOT.rglob("*.py*")) if path.suffix in (".py", ".pyi") and path != ROOT / "__init__.py"
]
TREES = {
    ".".join(["fairpca", *path.relative_to(ROOT).with_suffix("").parts]): ast.parse(path.read_text()) for path in PATHS
}
TREES = {name.removesuffix(".__init__"): tree for name, tree in TREES.items()}
FOLDERS = {name for name in TREES if ROOT.joinpath(*name.split(".")[1:]).is_dir()}


def _nodes(node):
    """Yield all that a module holds but what it imports for type checkers alone."""
    if not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _nodes(child)


def imported(tree):
    """Yield the dotted names of the package that a module imports, wherever in it: modules, and what it takes."""
    for node in _nodes(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith("fairpca."))


def room(name):
    return HOMES.get(name.split(".")[1], name.split(".")[1])


def folder(module):
    return module if module in FOLDERS else module.rpartition(".")[0]


def homes_of_private_modules(name):
    """Yield the folder of each private module or folder along a dotted name."""
    parts = name.split(".")
    for depth in range(2, len(parts)):
        if parts[depth].startswith("_") and ".".join(parts[: depth + 1]) in TREES:
            yield ".".join(parts[:depth])


def test_every_room_has_a_floor():
    assert {room(module) for module in TREES} == set(FLOORS)


def test_imports_go_downwards_and_stay_out_of_private_modules():
    upwards, foreign = [], []
    for module, tree in TREES.items():
        for name in imported(tree):
            if room(name) != room(module) and FLOORS[room(name)] > FLOORS[room(module)]:
                upwards.append(f"{module} imports {name}, which is above it")
            if not all(f"{folder(module)}.".startswith(f"{home}.") for home in homes_of_private_modules(name)):
                foreign.append(f"{module} imports {name}, which is private")
    assert not upwards + foreign, "\n".join(upwards + foreign)


def test_modules_do_not_import_each_other_in_circles():
    """Imports inside of functions count as well; those for type checkers alone do not."""
    uses = {module: {_module_of(name) for name in imported(tree)} - {module} for module, tree in TREES.items()}
    uses = {
        module: {used for used in found if not {room(used), room(module)} <= DOORS} for module, found in uses.items()
    }
    while free := [
        module for module in uses if not any(module in found for found in uses.values()) or not uses[module]
    ]:
        uses = {module: found - set(free) for module, found in uses.items() if module not in free}
    assert not uses, "\n".join(f"{module} imports {sorted(found)}" for module, found in uses.items())


def _module_of(name):
    """Return the module that a dotted name stands for or in; names of the package itself stand in their homes."""
    name = ".".join(["fairpca", room(name), *name.split(".")[2:]])
    while name not in TREES:
        name = name.rpartition(".")[0]
    return name


def test_public_names_stand_in_one_list_and_in_the_reference():
    """What other folders alone use is handed to them as `from x import y as y`."""
    modules = ["fairpca", *(module for module, tree in TREES.items() if "__all__" in _assigned(tree))]
    names = [name for module in modules for name in import_module(module).__all__]
    assert sorted(names) == sorted(set(names))
    pages = (ROOT.parents[1] / "docs" / "api" / "index.rst").read_text().split()
    assert sorted(modules) == sorted(page for page in pages if page.partition(".")[0] == "fairpca")


def _assigned(tree):
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_the_core_needs_no_extra():
    for module, tree in TREES.items():
        if room(module) == "cli":
            continue
        for node in tree.body:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not {name.partition(".")[0] for name in names} & EXTRAS, module
