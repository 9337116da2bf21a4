"""A wheel and a source distribution from the last commit, built apart from everything and checked."""

import io
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from import_time import bare_environment

ROOT = Path(__file__).parents[1]
TOOLS = ["abi3audit", "build", "check-wheel-contents", "twine", "uv"]

NEEDED = ["LICENSE", "README.md", "pyproject.toml", "CITATION.cff", "tests/conftest.py", "src/fairpca/py.typed"]
NEEDED += [f"src/fairpca/compiled/{name}" for name in ("native.h", "module.c", "gaussian.c", "features.c")]
NEEDED += ["tests/data/model-format-1.fairpca"]
UNWANTED = ["*.so", "*.pyc", "*.pyd", "benchmarks/*", ".ci/*", ".github/*", "*/node_modules/*", "docs/_build/*"]


@dataclass(frozen=True)
class Built:
    """What was built, from which tree, and the folder of the tools that did it."""

    tree: Path
    wheel: Path
    sdist: Path
    tools: Path


def run(*command: str | Path, **options: Any) -> str:
    """Return what a command says. One that fails ends the script with what it said."""
    options = {"env": bare_environment()} | options
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{' '.join(map(str, command))} failed with {done.returncode}")
    return done.stdout


def build(folder: Path) -> Built:
    """Build in a folder from the last commit: the source distribution, and from that the wheel.

    Parameters
    ----------
    folder : Path
        Where tools, tree and packages are put.
    """
    tree, dist, environment = folder / "tree", folder / "dist", folder / "tools"
    archive = subprocess.check_output(["git", "archive", "--format=tar", "HEAD"], cwd=ROOT)
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        members.extractall(tree, filter="data")
    venv.create(environment, with_pip=True)
    tools = environment / "bin"
    run(tools / "python", "-m", "pip", "install", "--quiet", *TOOLS)
    run(tools / "python", "-m", "build", "--outdir", dist, tree)
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    run(tools / "twine", "check", "--strict", wheel, sdist)
    run(tools / "abi3audit", "--strict", wheel)
    run(tools / "check-wheel-contents", wheel)
    check_sdist(sdist)
    return Built(tree, wheel, sdist, tools)


def check_sdist(sdist: Path) -> None:
    """Refuse a source distribution that cannot be built or tested from, or that holds what belongs to nobody else."""
    with tarfile.open(sdist) as members:
        names = {name.partition("/")[2] for name in members.getnames()}
    missing = set(NEEDED) - names
    unwanted = {name for name in names for pattern in UNWANTED if fnmatch(name, pattern)}
    if missing or unwanted:
        raise SystemExit(f"{sdist.name} lacks {sorted(missing)} and should not hold {sorted(unwanted)}")


def contents_row(built: Built) -> dict[str, Any]:
    """Return names and sizes of what was built."""
    with zipfile.ZipFile(built.wheel) as wheel:
        files = wheel.infolist()
    return {
        "wheel": built.wheel.name,
        "wheel_kB": built.wheel.stat().st_size / 1000,
        "unpacked_kB": sum(file.file_size for file in files) / 1000,
        "files": len(files),
        "sdist_kB": built.sdist.stat().st_size / 1000,
        "built_by": sys.version.split()[0],
    }
