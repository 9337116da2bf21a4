"""Rows of people who differ, and the ways to compare them."""
# SPDX-License-Identifier: MIT

import numpy as np
import pandas as pd

N, P = 500, 8


def people(seed=0, n=N):
    """Return rows and what is known of them: sex, race, age, label, department, weight."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=n, p=[0.4, 0.6])
    race = rng.choice(["a", "b", "c"], size=n, p=[0.5, 0.3, 0.2])
    age = np.round(20 + rng.gamma(3.0, 8.0, size=n), 1)
    label = rng.integers(0, 2, size=n)
    department = rng.choice(["law", "art"], size=n)
    X = rng.normal(size=(n, P))
    X[:, 0] += 1.0 * (sex == "f") + 0.5 * label
    X[:, 1] *= np.where(race == "b", 1.6, 1.0)
    X[:, 2] += 0.04 * age
    X = X @ np.random.default_rng(5).normal(size=(P, P))
    table = pd.DataFrame({"sex": sex, "race": race, "age": age, "y": label, "department": department})
    return X, table.assign(weight=rng.integers(1, 4, size=n))


NOTIONS = {"demographic_parity": None, "equal_opportunity": [1], "equalized_odds": [0, 1]}
KINDS = {
    "two groups": (["sex"], {}),
    "three groups": (["race"], {}),
    "each": (["sex", "race"], {}),
    "intersections": (["sex", "race"], {"sensitive": "intersections"}),
    "continuous": (["age"], {}),
    "mixed": (["race", "age"], {}),
}
