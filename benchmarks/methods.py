"""All fair reductions on nine tables: what they keep, what adversaries predict, and what promises cost.

    python benchmarks/methods.py            # ten splits, some hours of one core; begins where it was interrupted
    python benchmarks/methods.py 2          # two splits
    python benchmarks/methods.py 2 Adult    # of one table
    python benchmarks/methods.py page       # put the saved results into docs/explanation/which-method.md

Of at most 18,000 rows of a table 5,000 fit, 4,000 are there to choose with, and 9,000 are reported of and certify; of
smaller tables half, a fifth and three tenths. Seconds are those of the CPU, with one thread. Health needs a file, see
`release.py`; without it the table is left out.
"""

import json
import os
import sys
import time
import warnings
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from _common import RESULTS, save
from first_answer import embedding
from release import TABLES as OF_RELEASE, two_groups
from sklearn.utils import Bunch

from fairpca.comparison import People, Terms
from fairpca.datasets import load_law
from fairpca.methods import KNOWN, PLAIN, SLOW_BEYOND, Case, Part, method_of

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "which-method.md"
MOST_ROWS = (5_000, 4_000, 9_000)
SHARES = (0.5, 0.2, 0.3)
COMPONENTS = (2, 10)
TARGETS = (0.05, 0.10, 0.15)


def embedded():
    """Return rows like sentence embeddings, with a label that a few directions know and a group that shifts them."""
    X, group = embedding(20_000, 384)
    rng = np.random.default_rng(1)
    score = X[:, :40] @ rng.normal(size=40)
    y = score + 0.5 * score.std() * rng.normal(size=len(X)) > np.median(score)
    names = [f"x{k}" for k in range(X.shape[1])]
    return Bunch(data=X, target=y.astype(int), attributes={"group": group}, feature_names=names)


TABLES = OF_RELEASE | {"Law": (load_law, "race"), "Embedding": (embedded, "group")}


@cache
def table(name):
    load, attribute = TABLES[name]
    return two_groups(load(), attribute)


def case_of(name, number):
    """Return the parts of a split, which are the same for all methods, without the bandwidth."""
    X, y, groups = table(name)
    order = np.random.default_rng(number).permutation(len(X))
    sizes = [min(most, int(share * len(X))) for most, share in zip(MOST_ROWS, SHARES, strict=True)]
    ends = np.cumsum([0, *sizes])
    rows = [order[first:last] for first, last in pairwise(ends)]
    parts = [Part(X[each], People(groups[each], y[each])) for each in rows]
    return Case(*parts, Terms(), float("nan"), TARGETS, number)


def measured(case, name, d):
    """Return what a method shows on the rows that are reported of, and the fitted method."""
    model = method_of(name, d, "auto", case.seed, Terms())
    try:
        seconds = case.fit(model)
    except ValueError as error:
        return {"failed": str(error)}, None
    if name == PLAIN:
        case = replace(case, bandwidth=model.bandwidth_)
    judged = case.judged(model)
    converged = bool(getattr(model, "converged_", True))
    return {"seconds": seconds, "converged": converged, "bandwidth": case.bandwidth} | judged.new, model


def run(n_splits, names):
    """Save a row for each table, split, number of components and method; methods that take minutes come last."""
    path = RESULTS / "methods.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    done = {(row["table"], row["split"], row["d"], row["method"]) for row in rows}
    plan = [list(product(range(n_splits), COMPONENTS, names, some)) for some in _methods()]
    for number, d, data, name in [*plan[0], *plan[1]]:
        key = {"table": data, "split": number, "d": d, "method": name}
        if tuple(key.values()) in done:
            continue
        case = case_of(data, number)
        if d > case.fitted.X.shape[1]:
            continue  # Law has three columns
        if name != PLAIN:
            plain = next(row for row in rows if row.items() >= (key | {"method": PLAIN}).items())
            case = replace(case, bandwidth=plain["bandwidth"])
        began = time.process_time()
        row = key | measured(case, name, d)[0]
        rows.append(row | {"n_rows": [len(part) for part in (case.fitted, case.choosing, case.new)]})
        save("methods", rows)
        print(*key.values(), f"{time.process_time() - began:.1f} s", flush=True)


def _methods():
    return [name for name in KNOWN if name not in SLOW_BEYOND], [name for name in KNOWN if name in SLOW_BEYOND]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    if asked[:1] == ["page"]:
        page()
    else:
        n_splits = int(asked.pop(0)) if asked and asked[0].isdigit() else 10
        known = [name for name in TABLES if name != "Health" or "FAIRPCA_HEALTH" in os.environ]
        run(n_splits, asked or known)
