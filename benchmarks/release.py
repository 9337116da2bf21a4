"""Releases: how often bounds hold, what adversaries read against what was promised, what a promise costs, and speed.

    python benchmarks/release.py                # about twenty minutes; fetches the data sets once
    python benchmarks/release.py Adult --save   # some of its parts, beside those that are saved already

Of at most 20,000 rows of a table half fit and three tenths certify; a task and adversaries learn on that half and are
scored on the fifth that is left, which users need for choices, and on as many as 20,000 rows more.
"""

import json
import time
import warnings
from functools import partial
from itertools import product

import numpy as np
from _common import RESULTS, best_time, run_parts
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fairpca import FairPCA, Release, any_classifier_bound
from fairpca.datasets import load_adult, load_census, load_compas, load_credit, load_german, load_meps
from fairpca.release._noise import grid_distance, grid_error

TABLES = {
    "Adult": (load_adult, "sex"),
    "Census": (load_census, "sex"),
    "COMPAS": (load_compas, "race"),
    "German": (load_german, "sex"),
    "MEPS": (load_meps, "race"),
    "Credit": (load_credit, "sex"),
}
MOST_ROWS = 20_000
"""Rows to fit and to certify; as many more score adversaries."""

N_COMPONENTS = 5
TARGETS = (0.05, 0.10, 0.15)
DRAWS = 2000
KEY = b"a benchmark has no secrets"


def table(name):
    """Return features without the attribute, a label, and an attribute of two groups."""
    load, attribute = TABLES[name]
    data = load()
    values = np.asarray(data.attributes[attribute]).astype(str)
    names, counts = np.unique(values, return_counts=True)
    # The two largest groups.
    kept = np.isin(values, names[np.argsort(-counts)[:2]])
    columns = [j for j, column in enumerate(data.feature_names) if not column.lower().startswith(attribute)]
    X, y = np.asarray(data.data)[kept][:, columns], np.asarray(data.target)[kept]
    order = np.random.default_rng(0).permutation(len(X))[: 2 * MOST_ROWS]
    return X[order].astype(float), np.unique(y[order], return_inverse=True)[1], values[kept][order]


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


def adversaries():
    yield "boosting", HistGradientBoostingClassifier(class_weight="balanced", random_state=0)
    yield "neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier(25))
    yield "tree", DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=20, random_state=0)


def kept_of(released, Z):
    return 100 * (1 - ((released - Z) ** 2).sum() / ((Z - Z.mean(axis=0)) ** 2).sum())


def judged(released, y, sex, fit, new):
    """Return what a task and adversaries make of released rows."""
    model = HistGradientBoostingClassifier(random_state=0).fit(released[fit], y[fit])
    told = model.predict(released[new])
    gap = abs(told[sex[new] == sex[0]].mean() - told[sex[new] != sex[0]].mean())
    read = {}
    for name, adversary in adversaries():
        predicted = adversary.fit(released[fit], sex[fit]).predict(released[new])
        read[name] = balanced_accuracy_score(sex[new], predicted)
    auc = roc_auc_score(y[new], model.predict_proba(released[new])[:, 1])
    return {"task_auc": auc, "task_accuracy": float(np.mean(told == y[new])), "gap": gap, "read": max(read.values())}


def frontier(data):
    """Yield what is kept of a table at each target, and what adversaries read."""
    X, y, sex = table(data)
    n, place = min(len(X), MOST_ROWS), np.arange(len(X))
    fit, held = place < n // 2, (place >= int(0.7 * n)) & (place < n)
    for name, Z in projected(X, sex, fit):
        for kind in ("task",) if name == "none" else ("cells", "noise"):
            began = time.perf_counter()
            release = Release(kind, random_state=0).fit(Z[fit], y[fit], sensitive_features=sex[fit])
            row = {"part": data, "n": n, "map": name, "kind": kind, "seconds_fit": time.perf_counter() - began}
            for target in TARGETS:
                yield row | {"target": target} | of_target(release, Z, y, sex, fit, held, target)


def of_target(release, Z, y, sex, fit, held, target):
    began = time.perf_counter()
    try:
        release.certify(Z[held], sensitive_features=sex[held], target=target)
    except ValueError as error:
        return {"certified": False, "why": str(error).partition(":")[2].strip()[:60]}
    row = {"certified": True, "level": release.level_, "seconds_certify": time.perf_counter() - began}
    known = {}
    if release.kind == "noise":
        # Other targets are other releases, each with its own draws of the same people: for study alone.
        release._people.ledger.clear()
        known = {"ids": np.arange(len(Z)), "key": KEY}
    released = release.transform(Z, **known)
    new = ~fit & ~held
    if released.shape == Z.shape:
        row["variance_kept"] = kept_of(released[new], Z[new])
    return row | judged(released, y, sex, fit, new) | {"distance": release.certificate_.measures[0]["distance"]}


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


PARTS = {
    "coverage": coverage,
    "speed": speed,
    **{data: partial(frontier, data) for data in TABLES},
    "adversaries": adversaries_against_bounds,
}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_parts(PARTS, "release", __doc__)
