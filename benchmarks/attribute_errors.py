"""How often bounds hold, and fits meet their tolerance, for true groups where data have recorded ones.

    python benchmarks/attribute_errors.py            # about half an hour
    python benchmarks/attribute_errors.py bounds     # a part of it

People are normal, so that the MMD^2 of the true groups is known: with means c apart along one of d columns
2 k (1 - exp(-c^2 / (2 (s^2 + 2)))), k = (s^2 / (s^2 + 2))^(d/2). They are released as the sign of that column.
"""

import math

import numpy as np
from _common import run_parts
from scipy.stats import norm

from fairpca import FairPCA, any_classifier_bound
from fairpca.comparison import LARGEST_MMD2, People, Terms, compare, estimate_error_rates
from fairpca.inference import ComparedRows, Evidence, upper_bound
from fairpca.metrics import mmd2

RATES = (0.0, 0.0), (0.1, 0.1), (0.3, 0.1), (0.3, 0.3)
"""Shares of those who are F and of those who are M that are recorded as the other."""

FEMALE = 0.3
SIGMA, D = 1.5, 2


def people(rng, n, gap, rates):
    """Return rows, true and recorded groups."""
    female = rng.random(n) < FEMALE
    wrong = rng.random(n) < np.where(female, *rates)
    X = rng.normal(size=(n, D))
    X[:, 0] += gap * female
    return X, np.where(female, "F", "M"), np.where(female ^ wrong, "F", "M")


def recorded_rates(rates):
    """Return the shares of wrong labels among those recorded as F and as M, by Bayes."""
    share = FEMALE * (1 - rates[0]) + (1 - FEMALE) * rates[1]
    return (1 - FEMALE) * rates[1] / share, FEMALE * rates[0] / (1 - share)


def ways(rng, gap, rates):
    """Yield what may be known of the errors."""
    yield "recorded, known", {"recorded": dict(zip("FM", recorded_rates(rates), strict=True))}
    yield "true, known", {"true": dict(zip("FM", rates, strict=True))}
    if 0.0 < rates[0] == rates[1]:
        yield "randomised response", {"epsilon": math.log(1.0 / rates[0] - 1.0)}
    for of in ("recorded", "true"):
        _, true, recorded = people(rng, 1000, gap, rates)
        yield f"{of}, from 1,000 people", estimate_error_rates(recorded, true, of=of)


def known_mmd2(gap):
    return 2 * (SIGMA**2 / (SIGMA**2 + 2)) ** (D / 2) * (1 - math.exp(-(gap**2) / (2 * (SIGMA**2 + 2))))


def bounds(draws=500, n=500, confidence=0.95):
    for gap in (0.3, 1.0):
        mmd, tv = known_mmd2(gap), norm.cdf(gap / 2) - norm.cdf(-gap / 2)
        for rates in RATES:
            rng, found = np.random.default_rng(0), {}
            for _ in range(draws):
                X, _, recorded = people(rng, n, gap, rates)
                asked = {"sensitive_features": recorded, "confidence": confidence}
                plain = compare(People(recorded), n, Terms(), LARGEST_MMD2)
                evidence = Evidence.of(ComparedRows.of(X, plain), SIGMA, rng)
                spectrum = evidence.by_sampling(0, plain.measures[0])
                for way, errors in [("ignored", None), *ways(rng, gap, rates)]:
                    of_way = found.setdefault(way, [])
                    try:
                        measure = compare(People(recorded), n, Terms(attribute_error=errors), LARGEST_MMD2).measures[0]
                    except ValueError:  # errors alone may explain the recorded groups: nothing is claimed
                        continue
                    # What an audit says, whose rows are measured once for all ways.
                    sure = confidence + measure.correction.doubt
                    U = measure.correction.scale**2 * upper_bound(float(evidence.unbiased[0]), spectrum, sure)
                    T = any_classifier_bound(X[:, 0] > gap / 2, **asked, attribute_error=errors).upper_bound
                    of_way.append((U, T))
            for way, pairs in found.items():
                U, T = np.array(pairs).T
                yield {
                    "part": "bounds",
                    "gap": gap,
                    "wrong_of_F": rates[0],
                    "wrong_of_M": rates[1],
                    "known": way,
                    "draws": draws,
                    "refused": draws - len(pairs),
                    "mmd2": mmd,
                    "U_holds": float(np.mean(mmd <= U)),
                    "U_median": float(np.median(U)),
                    "tv": float(tv),
                    "tv_bound_holds": float(np.mean(tv <= T)),
                    "tv_bound_median": float(np.median(T)),
                }


def fits(draws=8, n=20_000, tolerance=0.02):
    """Fit to recorded groups; MMD^2 of others by their true groups, without what chance adds."""
    for rates in RATES:
        found = {}
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            turn = np.linalg.qr(rng.normal(size=(8, 8)))[0] * np.sqrt(np.arange(8, 0, -1.0))
            both = []
            for _ in range(2):
                X, true, recorded = people(rng, n, 1.0, rates)
                both.append((np.hstack([X, rng.normal(size=(n, 8 - D))]) @ turn, true, recorded))
            (X, _, recorded), (new, true, _) = both
            for way, errors in [("ignored", None), *ways(rng, 1.0, rates)]:
                asked = {"tolerance": tolerance, "bandwidth": 2.5, "random_state": 0, "attribute_error": errors}
                model = FairPCA(4, **asked).fit(X, sensitive_features=recorded)
                Z = model.transform(new)
                shown = mmd2(Z, sensitive_features=true, bandwidth=model.bandwidth_, unbiased=True)
                plugged = mmd2(Z, sensitive_features=true, bandwidth=model.bandwidth_)
                found.setdefault(way, []).append(
                    (shown, plugged, model.expected_mmd2_new_, model.result_.variance_kept)
                )
        for way, rows in found.items():
            shown, plugged, expected, kept = np.array(rows).T
            yield {
                "part": "fits",
                "wrong_of_F": rates[0],
                "wrong_of_M": rates[1],
                "known": way,
                "draws": draws,
                "tolerance": tolerance,
                "mmd2_of_true_groups": float(np.mean(shown)),
                "largest": float(shown.max()),
                "plug_in": float(np.mean(plugged)),
                "expected_mmd2_new": float(np.mean(expected)),
                "variance_kept": float(np.mean(kept)),
            }


if __name__ == "__main__":
    run_parts({"bounds": bounds, "fits": fits}, "attribute_errors", __doc__)
