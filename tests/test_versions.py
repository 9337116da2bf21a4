"""What is installed and which engine runs."""

import ast
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import fairpca
from fairpca.compiled import HAS_COMPILED

ROOT = Path(__file__).parents[1]


def test_versions_engine_blas_and_threads_are_printed(capsys):
    fairpca.show_versions()
    printed = capsys.readouterr().out
    for package in ("fairpca", "numpy", "scipy", "scikit-learn", "threadpoolctl"):
        assert re.search(rf"^    {package} +{re.escape(version(package))}$", printed, re.MULTILINE)
    assert re.search(rf"^    pandas +{re.escape(version('pandas'))} \(fairpca\[frame\]\)$", printed, re.MULTILINE)
    assert re.search(rf"^    engine +{'compiled' if HAS_COMPILED else 'numpy'}$", printed, re.MULTILINE)
    assert re.search(r"^BLAS\n    \w+ .*, \d+ threads?$", printed, re.MULTILINE)


def test_extras_that_are_not_installed_are_said(monkeypatch, capsys):
    def absent(package):
        if package == "skl2onnx":
            raise PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr("fairpca.versions.version", absent)
    fairpca.show_versions()
    assert re.search(r"skl2onnx +not installed \(fairpca\[onnx\]\)", capsys.readouterr().out)


def imported_packages(path):
    """Return the packages that a module imports at its top, this one and Python's own left out."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            names.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
    return names - sys.stdlib_module_names - {"fairpca"}


def test_every_package_that_the_core_imports_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.match(r"[\w-]+", line)[0].replace("scikit-learn", "sklearn") for line in project["dependencies"]}
    package = Path(fairpca.__file__).parent
    # The command line has an extra of its own.
    core = [path for path in package.rglob("*.py") if "cli" not in {*path.relative_to(package).parts}]
    assert set().union(*map(imported_packages, core)) == declared
