"""What is installed: names that come when they are asked for, and versions that agree with what is promised."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import fairpca
from fairpca.compiled import HAS_COMPILED
from fairpca.datasets import load_german, write_table

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def loaded_by(statement):
    """Return the modules that a fresh process has loaded after a statement."""
    code = f"import json, sys\n{statement}\nprint(json.dumps(list(sys.modules)))"
    return set(json.loads(subprocess.check_output([sys.executable, "-c", code], text=True)))


def packages(modules):
    return {name.partition(".")[0] for name in modules}


def test_the_package_loads_nothing_until_a_name_is_asked_for():
    loaded = loaded_by("import fairpca")
    assert not packages(loaded) & {"numpy", "scipy", "sklearn", "threadpoolctl", "pandas", "matplotlib"}
    assert {name for name in loaded if name.startswith("fairpca.")} == set()


def test_the_estimator_loads_little_more_than_scikit_learn_does():
    loaded = loaded_by("from fairpca import FairPCA") - loaded_by("from sklearn.decomposition import PCA")
    assert packages(loaded) - sys.stdlib_module_names == {"fairpca", "sklearn"}
    assert {"fairpca.estimator", "fairpca.solvers"} <= loaded
    heavy = ("sklearn.ensemble", "sklearn.tree", "sklearn.neighbors", "sklearn.svm")
    unasked = ("fairpca.auditing", "fairpca.report", "fairpca.plots", "fairpca.datasets", "fairpca.cli")
    assert not [name for name in loaded if name.startswith((*heavy, *unasked))]


def declared_to_type_checkers():
    """Yield the names that the package imports for type checkers, each with its module."""
    for node in ast.walk(ast.parse(Path(fairpca.__file__).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("fairpca."):
            yield from ((alias.name, node.module) for alias in node.names)


def test_names_are_those_that_type_checkers_see():
    declared = dict(declared_to_type_checkers())
    assert {*declared, "__version__"} == {*fairpca.__all__}
    for name, module in declared.items():
        assert getattr(fairpca, name) is getattr(import_module(module), name)
    assert {*fairpca.__all__} <= {*dir(fairpca)}


@pytest.mark.parametrize("name", ["FairPSA", "_nothing", "__wrapped__"])
def test_names_that_are_not_there_are_refused(name):
    with pytest.raises(AttributeError, match=f"'fairpca' has no attribute '{name}'"):
        getattr(fairpca, name)


def drawn(folder):
    from fairpca.plots import ProjectionDisplay

    ProjectionDisplay(np.ones((2, 2)), np.array([0, 1])).plot()


def exported(folder):
    X = np.random.default_rng(0).normal(size=(60, 3))
    fairpca.FairPCA(2).fit(X, sensitive_features=np.arange(60) % 2).to_onnx(folder / "model.onnx")


NEEDED = {
    "matplotlib": ("plot", drawn),
    "pandas": ("frame", lambda folder: load_german(as_frame=True)),
    "pyarrow": ("table", lambda folder: write_table("german", folder / "german.parquet")),
    "skl2onnx": ("onnx", exported),
}


@pytest.mark.parametrize("module", NEEDED)
def test_what_needs_another_library_names_the_extra(module, monkeypatch, tmp_path):
    extra, use = NEEDED[module]
    for name in (module, f"{module}.pyplot"):  # which may be loaded already
        monkeypatch.setitem(sys.modules, name, None)
    assert load_german().data.shape == (1000, 57)
    write_table("german", tmp_path / "german.csv")
    with pytest.raises(ImportError, match=rf"{module}, which is not installed: pip install 'fairpca\[{extra}\]'"):
        use(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["german.csv"]


def test_versions_agree():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    assert fairpca.__version__ == PROJECT["version"] == cited


def test_the_lowest_versions_are_those_that_the_readme_promises():
    requirements = [*PROJECT["dependencies"], *chain.from_iterable(PROJECT["optional-dependencies"].values())]
    floors = dict(
        re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", line).groups() for line in requirements if ">=" in line
    )
    # Without one, nobody would know what the oldest environment of benchmarks/packages.py holds.
    assert all(line.startswith("fairpca[") for line in requirements if ">=" not in line)
    support = (ROOT / "README.md").read_text().partition("## Support")[2]
    promised = re.search(r"Python (\S+) or newer, numpy (\S+), SciPy (\S+), scikit-learn (\S+) or newer", support)
    python = PROJECT["requires-python"].removeprefix(">=")
    assert promised.groups() == (python, floors["numpy"], floors["scipy"], floors["scikit-learn"])


def test_versions_engine_blas_and_threads_are_printed(capsys):
    fairpca.show_versions()
    printed = capsys.readouterr().out
    for package in ("fairpca", "numpy", "scipy", "scikit-learn", "threadpoolctl"):
        assert re.search(rf"^    {package} +{re.escape(version(package))}$", printed, re.MULTILINE)
    # The core is tested without extras, too.
    pandas = version("pandas") if find_spec("pandas") else "not installed"
    assert re.search(rf"^    pandas +{re.escape(pandas)} \(fairpca\[frame\]\)$", printed, re.MULTILINE)
    assert re.search(rf"^    engine +{'compiled' if HAS_COMPILED else 'numpy'}$", printed, re.MULTILINE)
    assert re.search(r"^BLAS\n    \w+ .*, \d+ threads?$", printed, re.MULTILINE)
