"""Labels, several attributes, continuous attributes and weights on tables of people; each answer judged densely.

    python benchmarks/people.py              # about ten minutes; fetches MEPS and Communities and Crime once
    python benchmarks/people.py odds each    # some of its parts

The judge works from the definitions in float64, in blocks of rows, and shares nothing with the package.
"""

import time
import warnings
from itertools import product

import numpy as np
from _common import run_parts
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from fairpca import FairPCA
from fairpca.datasets import load_adult, load_crime, load_german, load_meps
from fairpca.exceptions import NoSensitiveFeaturesWarning, NullComponentsWarning

TOLERANCE = 1e-3
BLOCK = 2000
DRAWS = 200
HSIC_SETTINGS = {
    "German, age": {2: {"tolerance": 1e-4}, 10: {"tolerance": 1e-6}},
    # In ten dimensions one bandwidth is blind to what boosting reads of these columns.
    "Crime, racepctblack": {2: {"tolerance": 1e-4}, 10: {"tolerance": 1e-5, "bandwidth": "scales"}},
}


def kernel_sums(Z, members, sigma):
    """Return M'KM for the columns of M, in blocks of half of the kernel matrix."""
    squares, total = (Z**2).sum(axis=1), np.zeros(2 * (members.shape[1],))
    for start in range(0, len(Z), BLOCK):
        rows = slice(start, start + BLOCK)
        distances = squares[rows, None] + squares[start:] - 2 * Z[rows] @ Z[start:].T
        products = members[rows].T @ (np.exp(-np.maximum(distances, 0.0) / (2 * sigma**2)) @ members[start:])
        inside = members[rows].T @ (
            np.exp(-np.maximum(distances[:, :BLOCK], 0.0) / (2 * sigma**2)) @ members[start : start + BLOCK]
        )
        total += products + products.T - inside
    return total


def one_against_others(Z, groups, sigma, weight=None):
    """Return the MMD^2 of each group against all others together; of two groups one number."""
    labels = np.unique(groups)
    members = (groups[:, None] == labels) * (np.ones(len(Z)) if weight is None else weight)[:, None]
    sums, sizes = kernel_sums(Z, members, sigma), members.sum(axis=0)
    values = []
    for own in np.eye(len(labels), dtype=bool):
        contrast = np.where(own, 1 / sizes[own].sum(), -1 / sizes[~own].sum())
        values.append(contrast @ sums @ contrast)
    return values[:1] if len(labels) == 2 else values


def fitted(d, X, y=None, repeats=1, **arguments):
    known = {name: arguments.pop(name) for name in ("sensitive_features", "sample_weight") if name in arguments}
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        model = FairPCA(d, tolerance=TOLERANCE, random_state=0).set_params(**arguments).fit(X, y, **known)
        seconds.append(time.perf_counter() - began)
    row = {
        "d": d,
        "n": len(X),
        "p": X.shape[1],
        "measures": len(model.measures_),
        "seconds": min(seconds),
        "converged": model.converged_,
        "kept": 100 * model.result_.variance_kept,
        "largest_used": max(measure["budget_used"] for measure in model.measures_),
        "gradients": model.result_.n_gradients,
    }
    return model, row


def adult():
    data = load_adult()
    columns = [name for name in data.feature_names if name != "sex"]
    X = data.data[:, [data.feature_names.index(name) for name in columns]]
    return X, data.target, data.attributes


def odds():
    """Equalized odds holds for both labels; demographic parity alone leaves one of them above."""
    X, y, attributes = adult()
    sex = attributes["sex"]
    for notion in ("demographic_parity", "equalized_odds"):
        model, row = fitted(2, X, y, sensitive_features=sex, fairness=notion)
        Z = model.transform(X)
        for label in (0, 1):
            (row[f"judged_y_{label}"],) = one_against_others(Z[y == label], sex[y == label], model.bandwidth_)
        yield {"part": "odds", "case": notion, **row}


def each():
    """Adult by sex, by sex and race, and by their intersections."""
    X, _, attributes = adult()
    both = {name: attributes[name] for name in ("sex", "race")}
    crossed = np.char.add(both["sex"].astype(str), both["race"].astype(str))
    cases = {
        "sex": ({"sex": both["sex"]}, {}, [both["sex"]]),
        "each": (both, {}, [both["sex"], both["race"]]),
        "intersections": (both, {"sensitive": "intersections"}, [crossed]),
    }
    for d in (2, 10):
        alone = None
        for case, (people, settings, groupings) in cases.items():
            model, row = fitted(d, X, repeats=2 if d == 2 else 1, sensitive_features=people, **settings)
            Z = model.transform(X)
            values = [value for groups in groupings for value in one_against_others(Z, groups, model.bandwidth_)]
            alone = alone or row["seconds"]
            yield {"part": "each", "case": case, **row, "judged": max(values), "ratio": row["seconds"] / alone}


def hsic(Z, values, sigma):
    """Return HSIC of rows and where they stand in an attribute, and a function that permutes the attribute."""
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2) / (2 * sigma**2))
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    place = np.array([np.mean(order[values == value]) for value in values])
    u = (place + 0.5) / len(values)
    L = np.exp(-((u[:, None] - u) ** 2) / (2 * ((1 - np.sqrt(0.5)) / np.sqrt(2)) ** 2))
    L = L - L.mean(axis=0) - L.mean(axis=1)[:, None] + L.mean()

    def value(permutation):
        return float(np.mean(K * L[np.ix_(permutation, permutation)]))

    return value


def r_squared(Z, attribute, Z_new, attribute_new):
    return r2_score(attribute_new, HistGradientBoostingRegressor(random_state=0).fit(Z, attribute).predict(Z_new))


def continuous():
    """German by age and Communities and Crime by a racial share, judged on rows that were not fitted."""
    german = load_german()
    not_age = [j for j, name in enumerate(german.feature_names) if name != "age"]
    crime = load_crime()
    cases = {
        "German, age": (german.data[:, not_age], german.attributes["age"].astype(float)),
        "Crime, racepctblack": (crime.data, crime.attributes["racepctblack"]),
    }
    for (case, (X, attribute)), d, seed in product(cases.items(), (2, 10), range(3)):
        asked = HSIC_SETTINGS[case][d]
        X_fit, X_new, a_fit, a_new = train_test_split(X, attribute, test_size=0.3, random_state=seed)
        for name in ("plain PCA", "FairPCA"):
            if name == "plain PCA":
                model = FairPCA(d, tolerance=1e-3).fit(X_fit)
                row = {"d": d, "n": len(X_fit), "kept": 100 * model.explained_variance_ratio_.sum()}
            else:
                model, row = fitted(d, X_fit, sensitive_features=a_fit, sensitive_kind="continuous", **asked)
            Z, Z_new = model.transform(X_fit), model.transform(X_new)
            found = {"part": "continuous", "case": f"{case}: {name}", "split": seed, **asked, **row}
            for rows, projected, known in (("fitted", Z, a_fit), ("new", Z_new, a_new)):
                value, generator = hsic(projected, known, model.bandwidth_), np.random.default_rng(0)
                chance = [value(generator.permutation(len(projected))) for _ in range(DRAWS)]
                found[f"hsic_{rows}"] = value(np.arange(len(projected)))
                found[f"chance_mean_{rows}"], found[f"chance_95_{rows}"] = np.mean(chance), np.quantile(chance, 0.95)
            yield {**found, "r2_new": r_squared(Z, a_fit, Z_new, a_new)}


def meps():
    """All people of MEPS with their survey weights, by race and sex; and whole weights against repeated rows."""
    data = load_meps()
    race, sex, weight = data.attributes["race"], data.attributes["sex"], data.sample_weight
    people = {"race": race, "sex": sex}
    groups = np.char.add(race.astype(str), sex.astype(str))
    for d in (2, 10):
        settings = {"sensitive": "intersections", "small_groups": "merge"}
        model, row = fitted(d, data.data, sensitive_features=people, sample_weight=weight, **settings)
        present = weight > 0
        Z = model.transform(data.data[present])
        values = one_against_others(Z, groups[present], model.bandwidth_, weight[present])
        yield {"part": "meps", "case": "race x sex, survey weights", **row, "judged": max(values)}
    few = np.random.default_rng(0).choice(np.flatnonzero(weight > 0), 1500, replace=False)
    counts = np.maximum(1, np.rint(weight[few] / np.median(weight[few]))).astype(int)
    often = np.repeat(few, counts)
    one, row = fitted(10, data.data[few], sensitive_features=sex[few], sample_weight=counts)
    other, _ = fitted(10, data.data[often], sensitive_features=sex[often])
    row["components_differ_by"] = float(np.abs(one.components_ - other.components_).max())
    row["mmd2_differs_by"] = abs(one.mmd2_ - other.mmd2_)
    yield {"part": "meps", "case": "whole weights against repeated rows", **row}


PARTS = {"odds": odds, "each": each, "continuous": continuous, "meps": meps}


def main():
    warnings.simplefilter("ignore", NoSensitiveFeaturesWarning)
    warnings.simplefilter("ignore", NullComponentsWarning)
    run_parts(PARTS, "people", __doc__)


if __name__ == "__main__":
    main()
