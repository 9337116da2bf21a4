"""Monitors: false alarms where claims hold exactly, delays where discrepancies are twice as large, people a second.

    python benchmarks/monitor.py --save

Populations are normal, so that their MMD^2 is known: N(0, 1) against N(delta e_1, 1), or cells of known shares. A
delay is predicted as the n at which the growth of the evidence,

    r(t) = h max(0, D cos(t) - c)^2 / (2 v),  cos(t) = D / sqrt(D^2 + (1 - k) / (t p (1 - p))),

summed over t = 1, ..., n, is ln(J / alpha) + 1: c = sqrt(U), D^2 the MMD^2 of the population, v the variance of its
witness, k the mean of the kernel, p the share of a group, h the mean of m n / (m + n) over blocks, for each of their
people, which is less than p (1 - p). cos(t) is for the witness, which has to be learned, and 1 for the bets, which have
to be learned, too. A delay is a mean over streams.
"""

import math
import time

import numpy as np
from _common import run_parts
from scipy.optimize import brentq
from scipy.special import erf

from fairpca import Monitor
from fairpca.auditing import Certificate
from fairpca.auditing._watch import CellFeatures, Watch
from fairpca.comparison import Terms

SIGMA, LENGTH, N_STREAMS, N_DELAYS = 1.5, 10_000, 1000, 40


def kernel_mean(d, delta=0.0):
    """Return the mean of the kernel of two draws whose means are delta apart."""
    square = SIGMA**2
    return (square / (square + 2)) ** (d / 2) * math.exp(-(delta**2) / (2 * (square + 2)))


def shift_of(mmd2, d):
    """Return delta of N(0, 1) against N(delta e_1, 1)."""
    return 0.0 if mmd2 == 0 else brentq(lambda x: 2 * (kernel_mean(d) - kernel_mean(d, x)) - mmd2, 0, 20)


def certificate_of(bound, d, names=("a against b",)):
    """Return a certificate that claims a bound of measures."""
    measure = {"attribute": "", "among": "", "kind": "groups", "upper_bound": bound}
    rest = {"p_value": 1.0, "overlap": None, "confidence": 0.95, "n_rows": 100, "rows": None, "seed": 0}
    certificate = Certificate(
        model=None,
        name="normal people",
        n_components=d,
        terms=vars(Terms()),
        measures=[measure | {"name": name} for name in names],
        adversaries=[],
        any_classifier=None,
        bandwidth=SIGMA,
        n_permutations=99,
        versions={},
        **rest,
    )
    return certificate.with_digest()


def stream(rng, n, d, delta, share=0.5, unknown=0.0, drift=0.0):
    """Return people of two groups, delta apart, all of whom move by a drift until the last."""
    group = np.where(rng.random(n) < share, "a", "b").astype(object)
    Z = rng.normal(size=(n, d))
    Z[:, 0] += delta * (group == "a") + drift * np.arange(n) / n
    group[rng.random(n) < unknown] = None
    return Z, group


def false_alarms():
    """Yield the share of streams with an alarm although the claim holds: exactly, or with much to spare."""
    yield _false_alarms("false alarms", "at the bound", mmd2=0.01)
    yield _false_alarms("false alarms", "equal groups", mmd2=0.0)
    alarms, (first, second) = 0, cells(0.1)
    for seed in range(N_STREAMS):
        alarms += _delay_of_cells(np.random.default_rng(seed), LENGTH, first, second, 0.1) is not None
    rate = alarms / N_STREAMS
    yield {"part": "false alarms", "people": "32 cells, at the target", "streams": N_STREAMS, "alarms": rate}


def odd_streams():
    """Yield the same of small groups, people who are not known, people who drift, and several groups."""
    yield _false_alarms("odd streams", "at the bound, 10 % of people, 30 % unknown", mmd2=0.01, share=0.1, unknown=0.3)
    yield _false_alarms("odd streams", "at the bound, all people drift", mmd2=0.01, drift=1.0)
    found = []
    for seed in range(N_STREAMS):
        rng = np.random.default_rng(seed)
        monitor = Monitor(certificate_of(0.0, 2, [f"{group} against all others" for group in "abc"]), None)
        found.append(monitor.update(rng.normal(size=(LENGTH, 2)), sensitive_features=rng.choice([*"abc"], LENGTH)))
    yield _rates("odd streams", "three groups that are equal, at the bound 0", found)


def _false_alarms(part, name, mmd2, bound=0.01, **how):
    found = []
    for seed in range(N_STREAMS):
        Z, group = stream(np.random.default_rng(seed), LENGTH, 2, shift_of(mmd2, 2), **how)
        found.append(Monitor(certificate_of(bound, 2), None).update(Z, sensitive_features=group))
    return _rates(part, name, found)


def _rates(part, name, monitors):
    rates = {
        "alarms": np.mean([monitor.alarm_ is not None for monitor in monitors]),
        "changed": np.mean([monitor.changed_ is not None for monitor in monitors]),
    }
    return {"part": part, "people": name, "streams": len(monitors)} | rates


def cells(distance, k=32):
    """Return the shares of two groups in cells at a total variation distance."""
    base = np.full(k, 1 / k)
    moved = np.where(np.arange(k) % 2, 1, -1) * distance / k
    return base + moved, base - moved


def _delay_of_cells(rng, n, first, second, target):
    sides = rng.integers(0, 2, n)
    codes = np.where(sides == 0, rng.choice(len(first), n, p=first), rng.choice(len(first), n, p=second))
    features = CellFeatures(np.arange(len(first), dtype=float)[:, None])
    return Watch(features, target, math.log(20)).add(features.of(codes), sides)


def delays():
    """Yield how many people it takes until a discrepancy is seen that is twice as large as was certified."""
    for bound, d, share in ((0.03, 2, 0.5), (0.01, 2, 0.5), (0.01, 2, 0.2), (0.01, 5, 0.5), (0.001, 2, 0.5)):
        delta = shift_of(2 * bound, d)
        expected = predicted(bound, 2 * bound, d, delta, share)
        found = []
        for seed in range(N_DELAYS):
            Z, group = stream(np.random.default_rng(seed), 5 * expected, d, delta, share)
            alarm = Monitor(certificate_of(bound, d), None).update(Z, sensitive_features=group).alarm_
            found.append(5 * expected if alarm is None else alarm.n_people)
        yield {
            "part": "delays",
            "bound": bound,
            "d": d,
            "share": share,
            "predicted": expected,
            "mean": float(np.mean(found)),
            "ratio": float(np.mean(found)) / expected,
            "quantiles 10, 50, 90": np.quantile(found, [0.1, 0.5, 0.9]).tolist(),
        }
    for target in (0.1, 0.2):
        first, second = cells(2 * target)
        expected = predicted_of_cells(target, first - second)
        runs = [_delay_of_cells(np.random.default_rng(k), 5 * expected, first, second, target) for k in range(N_DELAYS)]
        found = [5 * expected if each is None else each for each in runs]
        yield {
            "part": "delays",
            "target": target,
            "cells": len(first),
            "predicted": expected,
            "mean": float(np.mean(found)),
            "ratio": float(np.mean(found)) / expected,
            "quantiles 10, 50, 90": np.quantile(found, [0.1, 0.5, 0.9]).tolist(),
        }


def predicted_of_cells(target, differences, alpha=0.05):
    """Return the delay that is expected of groups of equal share, whose witness takes cells that are likely to differ.

    In place of D cos(t) stands the sum of the differences d of shares, each times the probability that its sign is
    known, Phi(z) - Phi(-z), z = |d| sqrt(k t) / 2, where the k cells are about as large; v is 1/4.
    """
    t = np.arange(1, 10**6)
    sizes = np.abs(differences)
    seen = sum(size / 2 * erf(size * np.sqrt(len(sizes) * t) / 2 / math.sqrt(2)) for size in sizes)
    block = Watch(CellFeatures(np.zeros((1, 1))), target, 0.0)._block
    growth = np.cumsum(per_person(0.5, block) * np.maximum(0.0, seen - target) ** 2 / (2 * 0.25))
    return int(np.searchsorted(growth, math.log(1 / alpha) + 1.0)) + 1


def predicted(bound, mmd2, d, delta, share, alpha=0.05, n_measures=1):
    """Return the delay that is expected, see above."""
    square, rng = SIGMA**2, np.random.default_rng(0)
    D, c, both = math.sqrt(mmd2), math.sqrt(bound), share * (1 - share)
    Z = rng.normal(size=(200_000, d))
    means = [
        (square / (square + 1)) ** (d / 2)
        * np.exp(-np.sum((Z - shift * np.eye(d)[0]) ** 2, axis=1) / (2 * (square + 1)))
        for shift in (delta, 0.0)
    ]
    variance = float(np.var((means[0] - means[1]) / D))
    t = np.arange(1, 10**6)
    cosine = D / np.sqrt(mmd2 + (1 - kernel_mean(d)) / (t * both))
    block = Watch(CellFeatures(np.zeros((1, 1))), c, 0.0)._block
    growth = np.cumsum(per_person(share, block) * np.maximum(0.0, D * cosine - c) ** 2 / (2 * variance))
    return int(np.searchsorted(growth, math.log(n_measures / alpha) + 1.0)) + 1


def per_person(share, block, n=20_000):
    """Return the mean of m n / (m + n) over blocks, for each person of theirs."""
    rng, total, people = np.random.default_rng(0), 0.0, 0
    while people < n:
        sides = [int(rng.random() < share) for _ in range(block)]
        while len(set(sides)) < 2:
            sides.append(int(rng.random() < share))
        total += sum(sides) * (len(sides) - sum(sides)) / len(sides)
        people += len(sides)
    return total / people


def speed():
    """Yield people a second, of the processor."""
    rng = np.random.default_rng(0)
    for n_measures, names in (
        (1, ("a against b",)),
        (3, ("a against all others", "b against all others", "c against all others")),
    ):
        groups = [*"abc"][: 2 if n_measures == 1 else 3]
        Z, group = rng.normal(size=(200_000, 2)), rng.choice(groups, 200_000)
        monitor = Monitor(certificate_of(0.01, 2, names), None)
        start = time.process_time()
        for part in range(0, len(Z), 10_000):
            monitor.update(Z[part : part + 10_000], sensitive_features=group[part : part + 10_000])
        seconds = time.process_time() - start
        yield {"part": "speed", "measures": n_measures, "people a second": len(Z) / seconds}


if __name__ == "__main__":
    run_parts(
        {"false alarms": false_alarms, "delays": delays, "speed": speed, "odd streams": odd_streams}, "monitor", __doc__
    )
