"""Fits of this checkout and of another one, in turns in one run: seconds, gradients, variance kept.

    git worktree add /tmp/before HEAD~1 && (cd /tmp/before && pip install --no-deps --target /tmp/built .)
    python benchmarks/turns.py /tmp/built reference random --save

The other one is a folder that Python can import `fairpca` from, with its compiled loops. Seconds are those of the
processor, the least of some turns. Random tables are of seven kinds: mixtures, one-hot columns, several groups, two
attributes, equalized odds, sample weights, a continuous attribute; n from 200 to 1,500, d from 1 to 6.
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
TURNS = 2
KINDS = ("mixture", "one-hot", "groups", "attributes", "odds", "weights", "continuous")
N_RANDOM = 70
TOLERANCES = ("auto", 1e-3, "twentieth of chance")


def random_table(seed):
    """Return rows, arguments of fit and parameters of FairPCA of one random table."""
    import numpy as np

    rng, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    n, p, d = int(rng.integers(200, 1501)), int(rng.integers(4, 31)), int(rng.integers(1, 7))
    d = min(d, p - 1)
    n_groups = int(rng.integers(3, 6)) if kind == "groups" else 2
    group = rng.integers(0, n_groups, size=n)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) * rng.uniform(0.3, 2.0, size=p)
    X += rng.normal(size=(n_groups, p))[group] * rng.uniform(0.2, 1.5)
    if kind == "mixture":
        X += 3.0 * rng.normal(size=(3, p))[rng.choice(3, size=n, p=[0.5, 0.3, 0.2])] * (1 + 0.3 * group[:, None])
    if kind == "one-hot":
        levels = np.digitize(X[:, : p // 2], [-1.0, 0.5, 2.0])
        X = np.hstack([X[:, p // 2 :], *(levels == level for level in range(4))]).astype(float)
    known, settings = {"sensitive_features": group}, {"n_components": min(d, X.shape[1] - 1)}
    if kind == "attributes":
        known["sensitive_features"] = np.column_stack([group, X[:, 0] + rng.normal(size=n) > 0.5]).astype(int)
    if kind == "odds":
        known["y"] = (X[:, -1] + group + rng.normal(size=n) > 0).astype(int)
        settings["fairness"] = "equalized_odds"
    if kind == "weights":
        known["sample_weight"] = rng.gamma(2.0, size=n)
    if kind == "continuous":
        known["sensitive_features"] = X[:, 0] + rng.normal(size=n)
    return X, known, settings


def table_of(name, number):
    import numpy as np

    if name == "random":
        return random_table(number)
    data, d = np.load(REFERENCE / f"{name.split()[0]}_split{number}.npz"), int(name.split()[1])
    return data["X_train"], {"sensitive_features": data["a_train"]}, {"n_components": d}


def timed(X, known, settings, tolerance):
    from fairpca import FairPCA

    began = time.process_time()
    model = FairPCA(**settings, tolerance=tolerance, random_state=0).fit(X, **known)
    result = model.result_
    return {
        "seconds": time.process_time() - began,
        "kept": 100 * result.variance_kept,
        "gradients": result.n_gradients,
        "hessians": result.n_hessians,
        "meets": result.meets,
        "converged": model.converged_,
        "chance": model.chance_level_,
    }


def work():
    """Fit what is asked for on standard input, one JSON line each, until it ends."""
    warnings.simplefilter("ignore")
    tables = {}
    for line in sys.stdin:
        name, number, tolerance = json.loads(line)
        if (name, number) not in tables:
            tables = {(name, number): table_of(name, number)}
        print(json.dumps(timed(*tables[name, number], tolerance), default=float), flush=True)


def worker(folder):
    environment = {**os.environ, "PYTHONPATH": str(folder)} if folder else os.environ
    command = [sys.executable, __file__, "--work"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def ask(process, setting):
    process.stdin.write(json.dumps(setting) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def in_turns(workers, setting, slow):
    """Return the last answer of each worker, with its least seconds."""
    answers = {who: [] for who in workers}
    for _ in range(TURNS):
        for who, process in workers.items():
            answers[who].append(ask(process, setting))
        if answers["before"][-1]["seconds"] + answers["now"][-1]["seconds"] > slow:
            break
    return {who: {**found[-1], "seconds": min(each["seconds"] for each in found)} for who, found in answers.items()}


def settings_of(part):
    """Return name, number and tolerance of each fit of a part."""
    if part == "random":
        return [("random", number, tolerance) for number in range(N_RANDOM) for tolerance in TOLERANCES]
    names = ("compas 2", "german 2", "german 10", "adult 2", "adult 10")
    tolerances = ("auto", 1e-3) if part == "reference" else (1e-4, 1e-5, 1e-6)
    return [(name, split, tolerance) for name in names for split in range(3) for tolerance in tolerances]


def rows_of(part, workers, slow):
    chance = None
    for name, number, tolerance in settings_of(part):
        asked = chance / 20 if tolerance == "twentieth of chance" else tolerance
        found = in_turns(workers, (name, number, asked), slow)
        chance = found["before"]["chance"] if tolerance == "auto" else chance
        row = {"part": part, "table": name, "number": number, "tolerance": tolerance}
        row["kind"] = KINDS[number % len(KINDS)] if name == "random" else ""
        for who, answer in found.items():
            row |= {f"{who}_{key}": value for key, value in answer.items() if key != "chance"}
        yield row | {
            "ratio": row["now_seconds"] / row["before_seconds"],
            "more_kept": row["now_kept"] - row["before_kept"],
        }


def summary(rows):
    """Return a line for each part and tolerance."""
    import numpy as np

    for part, tolerance in dict.fromkeys((row["part"], row["tolerance"]) for row in rows):
        here = [row for row in rows if (row["part"], row["tolerance"]) == (part, tolerance)]
        sums = {key: sum(row[key] for row in here) for key in ("before_seconds", "now_seconds")}
        more = np.array([row["more_kept"] for row in here if row["now_meets"] and row["before_meets"]])
        yield (
            f"{part}, {tolerance}: {len(here)} fits, seconds {sums['before_seconds']:.2f} -> {sums['now_seconds']:.2f} "
            f"(ratio {sums['now_seconds'] / sums['before_seconds']:.2f}, median "
            f"{np.median([row['ratio'] for row in here]):.2f}); keep less by 0.02 points {np.sum(more < -0.02)}, "
            f"by 0.1 {np.sum(more < -0.1)} (worst {more.min():.3f}), "
            f"more {np.sum(more > 0.02)} (best {more.max():.3f}); "
            f"no longer met {sum(row['before_meets'] and not row['now_meets'] for row in here)}, newly met "
            f"{sum(row['now_meets'] and not row['before_meets'] for row in here)}"
        )


def main(arguments):
    # Here, not above: a worker may have another version of the package, which does not know all that this one uses.
    from _common import save

    workers = {"before": worker(Path(arguments.other).resolve()), "now": worker(None)}
    rows = []
    for part in arguments.parts:
        for row in rows_of(part, workers, arguments.slow):
            rows.append(row)
            cells = (
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
            print(", ".join(cells), flush=True)
    print(*summary(rows), sep="\n")
    if arguments.save:
        print(save("turns", rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", help="folder with the other version")
    parser.add_argument("parts", nargs="*", default=["reference", "random"], help="some of reference, strict, random")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--slow", type=float, default=3.0, help="seconds from which on a setting is measured once")
    parser.add_argument("--save", action="store_true", help="keep the results")
    arguments = parser.parse_args()
    if arguments.work:
        work()
    else:
        main(arguments)
