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
from paper_page import fill
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
    """Save a row for each table, split, number of components and method; in a split the slow methods come last."""
    path = RESULTS / "methods.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    done = {(row["table"], row["split"], row["d"], row["method"]) for row in rows}
    slow = {"FairPCA-scales", *SLOW_BEYOND}
    plan = product(range(n_splits), ([name for name in KNOWN if name not in slow], slow), COMPONENTS, names)
    for number, d, data, name in ((number, d, data, name) for number, some, d, data in plan for name in some):
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


def means():
    """Return the mean figures of each method on each table by d, over the splits that all methods run there have."""
    rows = json.loads((RESULTS / "methods.json").read_text())["rows"]
    found = {}
    for d, data in product(COMPONENTS, TABLES):
        own = [row for row in rows if (row["d"], row["table"]) == (d, data)]
        by_method = {name: {row["split"]: row for row in own if row["method"] == name} for name in KNOWN}
        splits = set.intersection(*(set(each) for each in by_method.values() if each)) if own else set()
        if splits:
            figures = {name: mean([each[k] for k in splits]) for name, each in by_method.items() if each}
            found[d, data] = {"splits": len(splits)} | figures
    return found


def mean(rows):
    """Return the mean figures of a method; None where it failed, and promises that some split does not keep."""
    if any("failed" in row for row in rows):
        return None
    figures = ("variance_kept", "mmd2", "chance_level", "gap", "adversary_score", "task_auc", "seconds")
    found = {name: float(np.mean([row[name] for row in rows])) for name in figures}
    for k, target in enumerate(TARGETS):
        kept = [row["promises"][k]["label_auc"] for row in rows]
        found[target] = None if None in kept else float(np.mean(kept))
    return found


def page():
    """Put the saved results into the page."""
    found = means()
    fill(PAGE, "winners", winners(found), "methods.py")
    fill(PAGE, "figures", "".join(matrices(found, d) for d in COMPONENTS), "methods.py")


def winners(found):
    """Return which method is best on which table, question by question."""
    lines = "| question | d | best on |\n|---|---:|---|\n"
    for words, figure, allowed in QUESTIONS:
        for d in COMPONENTS:
            best = {}
            for (of, data), methods in found.items():
                tried = {name: methods.get(name) for name in KNOWN if of == d}
                tried = {name: each for name, each in tried.items() if each and allowed(each)}
                values = {name: each[figure] for name, each in tried.items() if each[figure] is not None}
                # Methods within a hundredth of the best are level, and all are named.
                level = [name for name, value in values.items() if value >= 0.99 * max(values.values())]
                for name in level or ["none"] * (of == d):
                    best.setdefault(name, []).append(data)
            order = sorted(best, key=lambda name: (name == "none", -len(best[name])))
            cells = "; ".join(f"{name}: {', '.join(best[name])}" for name in order)
            lines += f"| {words} | {d} | {cells} |\n"
    return f"\n{lines}\n"


def alike(figures):
    return figures["gap"] <= 0.1


QUESTIONS = (
    ("groups alike (no gap of smooth scores above 10 points), most variance", "variance_kept", alike),
    ("groups alike, the label", "task_auc", alike),
    *((f"the label behind a promise of {target:.2f}", target, lambda figures: True) for target in TARGETS),
)


def matrices(found, d):
    """Return tables of methods against data sets: what is kept, what is revealed, what promises leave."""
    tables = [data for of, data in found if of == d]
    parts = {
        "variance kept in %, and AUC of the label": lambda f: f"{100 * f['variance_kept']:.1f}, {f['task_auc']:.2f}",
        "MMD² in thousandths, and AUC of the best adversary": lambda f: (
            f"{1000 * f['mmd2']:.1f}, {f['adversary_score']:.2f}"
        ),
        "AUC of the label behind a promise of .05 / .10 / .15": lambda f: " / ".join(
            "-" if f[target] is None else f"{f[target]:.2f}"[1:] for target in TARGETS
        ),
    }
    if d == max(COMPONENTS):
        parts["CPU seconds of the fit"] = lambda f: f"{f['seconds']:.2f}"
    text = ""
    for words, cell in parts.items():
        text += f"\nd = {d}: {words}.\n\n| | {' | '.join(tables)} |\n|---|{'---:|' * len(tables)}\n"
        for name in KNOWN:
            figures = [found[d, data].get(name, {}) for data in tables]
            cells = ["cannot" if each is None else cell(each) if each else "not run" for each in figures]
            text += f"| {name} | {' | '.join(cells)} |\n"
    splits = {f"{data} {found[d, data]['splits']}" for data in tables}
    counts = sorted({found[d, data]["splits"] for data in tables})
    return f"{text}\nSplits: {counts[0] if len(counts) == 1 else ', '.join(sorted(splits))}.\n\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    if asked[:1] == ["page"]:
        page()
    else:
        n_splits = int(asked.pop(0)) if asked and asked[0].isdigit() else 10
        known = [name for name in TABLES if name != "Health" or "FAIRPCA_HEALTH" in os.environ]
        run(n_splits, asked or known)
