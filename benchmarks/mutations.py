"""Which test notices when a heuristic of the solvers is deleted.

    python benchmarks/mutations.py [NAME ...] [--save]     # all, or those whose name begins so
    python benchmarks/mutations.py --all-tests NAME ...    # look for a test among all of the solvers'

Each mutation is a small edit of a copy of `src` in a temporary folder: the line that puts a heuristic to work is taken
out. The tests that are meant to notice it then run on the copy, and the first that fails is kept. A heuristic whose
deletion no test notices is not needed, or lacks a test.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _common import REFERENCE, save

ROOT = Path(__file__).parents[1]
BUDGET, RUN, MULTIPLIERS, SEARCH, SPAN = (
    f"budget/_{name}.py" for name in ("budget", "run", "multipliers", "search", "span")
)
ALL_TESTS = tuple(
    f"test_{name}.py"
    for name in ("budget", "several_measures", "rank", "wide", "null_axes", "solvers", "path", "many_rows")
)


@dataclass(frozen=True)
class Mutation:
    """An edit of a file of `solvers/`: text that stands there once, what takes its place, the tests meant to see it.

    Tests are files, or a file and a part of the test's name behind `::`.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ALL_TESTS


MUTATIONS = [
    Mutation("reuse of Hessians", RUN, "reused = (model, cycle.point) if is_reusable else None", "reused = None"),
    Mutation("hopeless runs end", RUN, " or self._bound(cycle) < HOPELESS * known", ""),
    Mutation("stuck runs end", RUN, "if multipliers.is_stuck:", "if False:", ("test_budget.py::given_up_soon",)),
    Mutation("isolated rows", RUN, "turned = self._away_from_isolated_rows(here)", "turned = None", ("test_rank.py",)),
    Mutation(
        "cycles end early far from the end",
        RUN,
        "max(self._settings.gain_tolerance, min(FORCING, first_gain) * first_gain)",
        "self._settings.gain_tolerance",
    ),
    Mutation("long runs are hard", RUN, "is_hard = n_cycles >= LONG or self._removed.shape[1] > 0", "is_hard = False"),
    Mutation(
        "augmented where h leaps across its goal",
        MULTIPLIERS,
        "if self._strength == 0.0 and self._oscillates:",
        "if False:",
    ),
    Mutation(
        "a second cycle for the same multipliers",
        MULTIPLIERS,
        "self._kept = not minimised and not self._kept",
        "self._kept = False",
    ),
    Mutation(
        "Newton's method on the dual",
        MULTIPLIERS,
        "if self._strength == 0.0 and ratios.max() < NEAR:",
        "if False:",
        ("test_budget.py::published",),
    ),
    Mutation(
        "penalties for constraints without multiplier",
        MULTIPLIERS,
        "np.where(self.values > 0, self._strength, 1.0) * scale",
        "self._strength * scale",
        ("test_several_measures.py",),
    ),
    Mutation(
        "two steps until a multiplier vanishes",
        MULTIPLIERS,
        "gone, vanished = vanished & (wanted == 0), wanted == 0",
        "gone, vanished = wanted == 0, wanted == 0",
        ("test_several_measures.py",),
    ),
    Mutation(
        "restarts",
        SEARCH,
        "        self._restart(first)\n        largest = None",
        "        largest = None",
        ("test_budget.py::cheap_starts",),
    ),
    Mutation(
        "restarts for one direction",
        SEARCH,
        "return min(ONE_DIRECTION, affordable) if found.n_live == 1 else 0",
        "return 0",
    ),
    Mutation(
        "several measures are hard later", SEARCH, "HARD_SHARE_OF_SEVERAL if several else HARD_SHARE", "HARD_SHARE"
    ),
    Mutation("the first restart is plain PCA", SEARCH, "problem.pca() if number == 0 else ", ""),
    Mutation("restarts that end alike are enough", SEARCH, " or n_alike == ALIKE", ""),
    Mutation(
        "fewer live components",
        SEARCH,
        "if self._fewer_may_keep_more(self._best):",
        "if False:",
        ("test_budget.py::stay_live", "test_rank.py"),
    ),
    Mutation(
        "bisection for feasible components",
        SEARCH,
        "largest = self._find_feasible()",
        "largest = None",
        ("test_budget.py::without_variance", "test_rank.py"),
    ),
    Mutation("fewer where PCA with one less keeps more", SEARCH, " or found.variance < WORTH_A_RUN * by_pca", ""),
    Mutation("more components than the best", SEARCH, "for step in (-1, 1):", "for step in (-1,):"),
    Mutation(
        "polish",
        SEARCH,
        "        self._polish()\n        solution = self._conclude()",
        "        solution = self._conclude()",
    ),
    Mutation("directions of restarts lean to much variance", SEARCH, " * np.sqrt(problem.shares[:, None])", ""),
    Mutation(
        "slack below the tolerances",
        BUDGET,
        "APPROXIMATE_SLACK if is_rough else SLACK",
        "0.0",
        ("test_budget.py::met_and_used",),
    ),
    Mutation(
        "samples are solved roughly",
        "_levels.py",
        "self._solver if n_rows == self._data.n_rows else self._solver.roughly()",
        "self._solver",
    ),
    Mutation("the span grows", SPAN, "if gain <= self._settings.gain_tolerance:", "if True:", ("test_wide.py",)),
    Mutation(
        "wider spans where the first meet nothing",
        SPAN,
        "if not solution.result.meets and best is None and span.rank < self._problem.rank and self._has_time:",
        "if False:",
        ("test_wide.py",),
    ),
    Mutation(
        "a second start on cheap rows",
        "_levels.py",
        "if self._data.sample.n_components == 1 and self._data.n_rows <= CHEAP_ROWS:",
        "if False:",
        ("test_many_rows.py",),
    ),
    Mutation("stricter samples", "_levels.py", "for share in STRICTER:", "for share in ():", ("test_many_rows.py",)),
    Mutation(
        "what rounds still miss is taken off the goals",
        "_levels.py",
        "goals = goals * np.exp(-np.maximum(0.0, np.abs(falling) * missed))",
        "pass",
        ("test_many_rows.py",),
    ),
    Mutation(
        "narrow errors are held back",
        "_levels.py",
        "return self._tolerances - np.where(narrow, measured.errors, 0.0)",
        "return self._tolerances",
        ("test_many_rows.py::held_back",),
    ),
    Mutation(
        "another round for wasted tolerance",
        "_levels.py",
        " and not self._wasted(solution, known, goals)",
        "",
        ("test_many_rows.py",),
    ),
    Mutation(
        "the first start has equal means",
        SEARCH,
        "return self._mean_matched(self._most, pca.discrepancies)",
        "return self._start(self._problem.with_components(self._most).pca(), pca.discrepancies)",
    ),
    Mutation(
        "multipliers of a path follow the tolerance",
        "_warm.py",
        "multipliers=self.multipliers * discrepancies / tolerances",
        "multipliers=self.multipliers",
    ),
    Mutation(
        "saddles are left towards null axes",
        "_null_axes.py",
        "    if tangent is None:\n        return None\n",
        "    return None\n",
        ("test_null_axes.py",),
    ),
    Mutation(
        "columns that are all but null become so",
        "_null_axes.py",
        "    if null.shape[1] == 0:\n        return answer\n",
        "    return answer\n",
        ("test_null_axes.py",),
    ),
]


def noticed_by(mutation: Mutation, tests: tuple[str, ...]) -> str:
    """Return the first test that fails on the mutated copy, or what else is to be said."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        path = copy / "fairpca" / "solvers" / mutation.file
        source = path.read_text()
        if source.count(mutation.old) != 1:
            return f"the line stands there {source.count(mutation.old)} times"
        path.write_text(source.replace(mutation.old, mutation.new))
        return _first_failure(copy, tests)


def _first_failure(copy: Path, tests: tuple[str, ...]) -> str:
    environment = os.environ | {"PYTHONPATH": str(copy), "FAIRPCA_REFERENCE": str(REFERENCE), "MPLBACKEND": "Agg"}
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    for test in tests:
        file, _, name = test.partition("::")
        command = [*pytest, f"tests/{file}", *(["-k", name] if name else [])]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode == 1:
            return str(re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)[1])
        if done.returncode:
            return f"no test ran: {test}"
    return ""


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of names; all mutations by default")
    parser.add_argument("--all-tests", action="store_true", help="run all tests of the solvers, not those meant")
    parser.add_argument("--save", action="store_true", help="keep the results")
    asked = parser.parse_args()
    rows = []
    for mutation in MUTATIONS:
        if asked.names and not mutation.name.startswith(tuple(asked.names)):
            continue
        test = noticed_by(mutation, ALL_TESTS if asked.all_tests else mutation.tests)
        rows.append({"deleted": mutation.name, "file": mutation.file, "noticed_by": test or None})
        print(f"{mutation.name}: {test or 'NOT NOTICED'}", flush=True)
    if asked.save:
        print(save("mutations", rows))


if __name__ == "__main__":
    main()
