"""How long importing takes, against scikit-learn's own PCA, in fresh processes in turns, the least of several.

python benchmarks/import_time.py [--save]

The bar: `import fairpca`, and `from fairpca import FairPCA` with it, take at most 1.3 times
`from sklearn.decomposition import PCA`.
"""

import json
import os
import subprocess
import sys
from typing import Any

from _common import run_parts

BAR = 1.3
BASELINE = "from sklearn.decomposition import PCA"
STATEMENTS = (BASELINE, "import fairpca", "from fairpca import FairPCA")
TIMED = """
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
exec(sys.argv[1])
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""


def bare_environment() -> dict[str, str]:
    """Return the variables of this process without those that lead Python elsewhere or keep it from caching."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def once(python: str, statement: str, variables: dict[str, str]) -> tuple[float, float]:
    output = subprocess.check_output([python, "-c", TIMED, statement], text=True, env=variables)
    wall, cpu = json.loads(output)
    return wall, cpu


def import_times(python: str, variables: dict[str, str], turns: int = 7) -> list[dict[str, Any]]:
    """Return one row for each statement: seconds of the clock and of the processor, and both against PCA's."""
    for statement in STATEMENTS:
        once(python, statement, variables)  # so that bytecode is there, and files are in memory
    found = [[once(python, statement, variables) for statement in STATEMENTS] for _ in range(turns)]
    least = [[min(turn[k][kind] for turn in found) for kind in range(2)] for k in range(len(STATEMENTS))]
    return [
        {
            "statement": statement,
            "seconds": wall,
            "cpu_seconds": cpu,
            "ratio": wall / least[0][0],
            "cpu_ratio": cpu / least[0][1],
            "bar": BAR,
        }
        for statement, (wall, cpu) in zip(STATEMENTS, least, strict=True)
    ]


def here():
    # The package that this script imports, wherever it is; its bytecode must be kept, or every import compiles it.
    variables = bare_environment()
    if "PYTHONPATH" in os.environ:
        variables["PYTHONPATH"] = os.environ["PYTHONPATH"]
    yield from import_times(sys.executable, variables)


if __name__ == "__main__":
    run_parts({"here": here}, "import_time", __doc__)
