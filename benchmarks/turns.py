"""Fits of this checkout and of another one, in turns in one run: seconds, gradients, variance kept.

    git worktree add /tmp/before HEAD~1 && (cd /tmp/before && pip install --no-deps --target /tmp/built .)
    python benchmarks/turns.py /tmp/built

The other one is a folder that Python can import `fairpca` from, with its compiled loops. Each setting is fitted with
several random states: samples of rows and further starts are drawn, and one draw may take twice the gradients of the
next. Seconds are the least of some turns for each state, then the mean over states.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

REFERENCE = Path(os.environ.get("FAIRPCA_REFERENCE", Path(__file__).parents[2] / "shared" / "reference"))
TURNS = 3
STATES = 5
SETTINGS = [
    (name, split, d, tau)
    for name in ("german", "compas", "adult")
    for split in range(3)
    for d in (2, 10)
    for tau in (1e-3, 1e-6)
    if not (name == "compas" and d == 10) and not (name == "adult" and tau < 1e-3 and d == 10)
]
SYNTHETIC = [(n, d) for n in (20_000, 100_000) for d in (2, 6)]


def synthetic(n):
    """Return many rows whose groups differ in mean."""
    import numpy as np

    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=n)
    X = rng.normal(size=(n, 40)) @ rng.normal(size=(40, 40)) + 1.5 * groups[:, None] * rng.normal(size=40)
    return X, groups


def timed(X, groups, d, tau, state):
    from fairpca import FairPCA

    began = time.perf_counter()
    model = FairPCA(d, tolerance=tau, random_state=state).fit(X, sensitive_features=groups)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "kept": 100 * model.result_.variance_kept, "gradients": model.result_.n_gradients}


def work():
    """Fit what is asked for on standard input, one JSON line each, until it ends."""
    import numpy as np

    warnings.simplefilter("ignore")
    tables = {}
    for line in sys.stdin:
        name, split, d, tau, state = json.loads(line)
        if (name, split) not in tables:
            if name == "rows":
                tables[name, split] = synthetic(split)
            else:
                data = np.load(REFERENCE / f"{name}_split{split}.npz")
                tables[name, split] = data["X_train"], data["a_train"]
        print(json.dumps(timed(*tables[name, split], d, tau, state), default=float), flush=True)


def worker(folder):
    environment = {**os.environ, "PYTHONPATH": str(folder)} if folder else os.environ
    command = [sys.executable, __file__, "--work"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def ask(process, setting):
    process.stdin.write(json.dumps(setting) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def in_turns(workers, setting, slow):
    """Return for each worker the mean over states of seconds, variance kept and gradients."""
    means = {who: [] for who in workers}
    for state in range(STATES):
        answers = {who: [] for who in workers}
        turns = TURNS
        while turns > 0:
            for who, process in workers.items():
                answers[who].append(ask(process, [*setting, state]))
            turns = turns - 1 if answers["now"][0]["seconds"] < slow else 0
        for who, found in answers.items():
            means[who].append({**found[-1], "seconds": min(answer["seconds"] for answer in found)})
    return {
        who: {key: sum(state[key] for state in states) / len(states) for key in states[0]}
        for who, states in means.items()
    }


def main(other, slow):
    # Here, not above: a worker may have another version of the package, which does not know all that this one uses.
    from _common import save

    workers = {"before": worker(Path(other).resolve()), "now": worker(None)}
    rows = []
    for setting in [*SETTINGS, *(("rows", n, d, 1e-3) for n, d in SYNTHETIC)]:
        found = in_turns(workers, setting, slow)
        row = dict(zip(("data", "split", "d", "tau"), setting, strict=True))
        for who, answer in found.items():
            row |= {f"{who}_{key}": answer[key] for key in ("seconds", "kept", "gradients")}
        row["ratio"] = row["now_seconds"] / row["before_seconds"]
        rows.append(row)
        print(
            ", ".join(
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
        )
    print(save("turns", rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?")
    parser.add_argument("--work", action="store_true")
    parser.add_argument("--slow", type=float, default=3.0, help="seconds from which on a setting is measured once")
    arguments = parser.parse_args()
    if arguments.work:
        work()
    else:
        main(arguments.other, arguments.slow)
