"""A fresh environment with the package in it, and what tests say there."""

import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _package_build import Built, run
from import_time import bare_environment, import_times

MINORS = range(11, 15)
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
NO_COMPILER = {"CC": "/bin/false", "CXX": "/bin/false"}
SHOWN = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
PROBE = """
import json, fairpca
from fairpca.versions import environment
print(json.dumps({"file": fairpca.__file__} | environment()))
"""
OLD_TALK = [f"-Wignore::{kind}" for kind in ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")]
"""Old packages speak of what has become of them since; our own warnings stay errors."""


def interpreters() -> list[Path]:
    """Return one Python of each supported version that this machine has, on the path or of pyenv."""
    found = []
    for minor in MINORS:
        candidates = [shutil.which(f"python3.{minor}"), *Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")]
        working = [Path(python) for python in candidates if python and _runs(python)]
        if working:
            found.append(working[0])
        else:
            print(f"Python 3.{minor} is absent here")
    return found


def _runs(python: str | Path) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Environment:
    """One place of the matrix.

    Parameters
    ----------
    built : Built
        The packages to install.
    python : Path
        An interpreter.
    dependencies : {"oldest", "newest"}
        Which of those that pyproject.toml admits.
    compiler : bool
        Install the wheel; or else the source distribution, on a machine whose compiler fails.
    extra : str, optional
        One of the package's extras, with its packages at the same age. Without it pytest alone is installed beside.
    """

    built: Built
    python: Path
    dependencies: str = "newest"
    compiler: bool = True
    extra: str | None = None

    @property
    def folder(self) -> Path:
        minor = run(self.python, "-c", "import sys; print(sys.version_info.minor)").strip()
        name = "-".join(
            [f"3.{minor}", self.dependencies, "compiled" if self.compiler else "numpy", self.extra or "core"]
        )
        return self.built.tree.parent / name

    @property
    def own_python(self) -> Path:
        return self.folder / "bin" / "python"

    def make(self) -> None:
        """Create the environment and install what belongs there."""
        uv, locked = self.built.tools / "uv", self.built.tree.parent / f"{self.folder.name}.txt"
        extra = ["--extra", self.extra] if self.extra else []
        run(uv, "venv", "--python", self.python, self.folder)
        chosen = ["--resolution", RESOLUTIONS[self.dependencies], "--only-binary", ":all:", "--python", self.own_python]
        run(uv, "pip", "compile", self.built.tree / "pyproject.toml", *extra, *chosen, "--output-file", locked)
        install = [uv, "pip", "install", "--compile-bytecode", "--python", self.own_python]
        run(*install, "--requirement", locked, "pip", *([] if self.extra else ["pytest"]))
        if self.compiler:
            run(*install, "--no-deps", self.built.wheel)
        else:
            # Nothing may be taken from the cache, where a build with a compiler may lie.
            run(*install, "--no-deps", "--no-cache", self.built.sdist, env=bare_environment() | NO_COMPILER)

    def row(self) -> dict[str, Any]:
        """Return what is installed. A package from elsewhere, or on the wrong engine, ends the script."""
        probed = json.loads(run(self.own_python, "-c", PROBE, cwd=self.folder))
        engine = "compiled" if self.compiler else "numpy"
        if not Path(probed["file"]).is_relative_to(self.folder) or probed["engine"] != engine:
            raise SystemExit(f"expected {engine} loops in {self.folder}, found {probed['engine']} in {probed['file']}")
        return {
            "python": probed["python"],
            "dependencies": self.dependencies,
            "installed": "wheel" if self.compiler else "sdist, no compiler",
            "extra": self.extra,
            "engine": engine,
            "versions": {name: probed["versions"][name] for name in SHOWN},
        }

    def test(self, tests: list[str]) -> dict[str, Any]:
        """Run tests of the tree against the installed package: the tree's own source is left out.

        Parameters
        ----------
        tests : list of str
            Paths of tests in the tree.
        """
        checkout, report = self.folder / "checkout", self.folder / "tests.xml"
        shutil.copytree(self.built.tree, checkout, ignore=shutil.ignore_patterns("src"))
        quiet = OLD_TALK if self.dependencies == "oldest" else []
        command = [self.own_python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", f"--junitxml={report}", *quiet]
        parallel = ["--numprocesses", "2"] if self.extra else []
        variables = bare_environment() | {"MPLBACKEND": "Agg"}
        done = subprocess.run(
            [*command, *parallel, *tests], cwd=checkout, env=variables, capture_output=True, text=True, check=False
        )
        if not report.exists():
            raise SystemExit(done.stdout + done.stderr)
        if done.returncode:
            print(done.stdout)
        suite = ElementTree.parse(report).getroot()[0].attrib
        failed, skipped = int(suite["failures"]) + int(suite["errors"]), int(suite["skipped"])
        return {
            "passed": int(suite["tests"]) - failed - skipped,
            "failed": failed,
            "skipped": skipped,
            "seconds": float(suite["time"]),
        }

    def import_ratio(self) -> float:
        """Return the time of importing FairPCA over that of scikit-learn's PCA, of the processor."""
        return import_times(str(self.own_python), bare_environment(), turns=3)[-1]["cpu_ratio"]
