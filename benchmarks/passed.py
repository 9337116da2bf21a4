"""How many files and functions of the package a fit passes: what a reader must know to follow it.

    python benchmarks/passed.py [fit auto dask command] [--save]

Files and functions are those that run while the fit does, counted by `sys.setprofile` in a process of its own, also in
Dask's threads; comprehensions and the bodies of modules and classes do not count. `by_folder` says where they live. The
command is `fairpca fit` on a CSV, as typed but in this process.
"""

import inspect
import json
import subprocess
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from _common import run_parts

import fairpca

ROOT = Path(fairpca.__file__).parent
GOALS = {"fit": (40, 210), "auto": (42, 217), "dask": (49, 301), "command": (97, 482)}
"""Files and functions at most: half of what the four passed when this was first counted."""

N_ROWS = 1000


def people() -> tuple[np.ndarray, np.ndarray]:
    """Return rows in two groups that differ in a mean and a spread."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, 8))
    X[:, 0] += group
    X[group == 1, 1] *= 1.5
    return X @ rng.normal(size=(8, 8)), group


def fit() -> Callable[[], object]:
    """Return a fit with a number as tolerance."""
    X, group = people()
    return lambda: fairpca.FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)


def auto() -> Callable[[], object]:
    """Return a fit with the tolerance that the chance level gives."""
    X, group = people()
    return lambda: fairpca.FairPCA(2, random_state=0).fit(X, sensitive_features=group)


def dask() -> Callable[[], object]:
    """Return a fit to rows in blocks."""
    import dask.array as da

    X, group = people()
    rows, groups = da.from_array(X, chunks=(250, -1)), da.from_array(group, chunks=250)
    return lambda: fairpca.FairPCA(2, tolerance=1e-3).fit(rows, sensitive_features=groups)


def command() -> Callable[[], object]:
    """Return `fairpca fit people.csv --sensitive sex`."""
    from typer.testing import CliRunner

    from fairpca.cli._app import app

    X, group = people()
    folder = Path(tempfile.mkdtemp())
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "sex"])
    lines = [",".join([*map(repr, row.tolist()), "fm"[sex]]) for row, sex in zip(X, group, strict=True)]
    (folder / "people.csv").write_text("\n".join([header, *lines]))
    arguments = ["fit", str(folder / "people.csv"), "--sensitive", "sex", "--out", str(folder / "out")]

    def run() -> None:
        found = CliRunner().invoke(app, arguments)
        assert found.exit_code == 0, found.output

    return run


FITS = {"fit": fit, "auto": auto, "dask": dask, "command": command}


def passed(work: Callable[[], object]) -> set[CodeType]:
    """Return the functions of the package that are called while something runs."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and _is_function(frame.f_code):
            found.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def _is_function(code: CodeType) -> bool:
    is_body = not code.co_flags & inspect.CO_OPTIMIZED
    return code.co_filename.startswith(str(ROOT)) and not is_body and code.co_name[0] != "<"


def counted(name: str) -> dict[str, Any]:
    """Return the counts of one fit, in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functions = passed(FITS[name]())
    files = {code.co_filename for code in functions}
    folders = [Path(file).relative_to(ROOT).parts[0].removesuffix(".py") for file in files]
    calls = [Path(code.co_filename).relative_to(ROOT).parts[0].removesuffix(".py") for code in functions]
    n_files, n_functions = Counter(folders), Counter(calls)
    by_folder = {each: [n_files[each], n_functions[each]] for each, _ in n_functions.most_common()}
    return {"files": len(files), "functions": len(functions), "by_folder": by_folder}


def measured(name: str) -> Callable[[], Iterator[dict[str, Any]]]:
    """Return a part of this benchmark: one fit, in a process of its own."""

    def part() -> Iterator[dict[str, Any]]:
        done = subprocess.run([sys.executable, __file__, "--count", name], capture_output=True, text=True, check=True)
        most_files, most_functions = GOALS[name]
        yield {"part": name, "goal_files": most_files, "goal_functions": most_functions, **json.loads(done.stdout)}

    return part


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        print(json.dumps(counted(sys.argv[2])))
    else:
        run_parts({name: measured(name) for name in FITS}, "passed", __doc__)
