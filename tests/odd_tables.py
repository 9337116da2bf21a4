"""Hypothesis strategies: small tables of the kinds that break methods, with two groups."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

KINDS = (
    "normal",
    "low rank",
    "one-hot",
    "copies",
    "integers",
    "heavy tails",
    "scales",
    "constants",
    "few rows",
    "wide",
)


@dataclass(frozen=True)
class Odd:
    """A table, its groups, and what is asked of a fit."""

    kind: str
    seed: int
    n_rows: int
    n_columns: int
    n_small: int
    shift: float
    dtype: str
    standardize: bool
    n_components: int
    tolerance: float

    @property
    def X(self):  # noqa: N802
        rng = np.random.default_rng(self.seed)
        table = MAKERS[self.kind](rng, self.n_rows, self.n_columns)
        moved = rng.normal(size=table.shape[1]) * (rng.random(table.shape[1]) < 0.5)
        table = table + self.shift * np.outer(self.groups, moved * table.std(axis=0))
        return table.astype(self.dtype)

    @property
    def groups(self):
        return np.random.default_rng(self.seed + 1).permutation(np.arange(self.n_rows) < self.n_small).astype(int)

    def with_(self, **changes):
        return replace(self, **changes)


def _one_hot(rng, n, p):
    levels = rng.integers(0, max(2, p // 2), size=n)
    others = rng.integers(0, max(2, p - p // 2), size=n)
    return np.hstack([np.eye(levels.max() + 1)[levels], np.eye(others.max() + 1)[others]])


def _scales(rng, n, p):
    return rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 7, size=p) + 10.0 ** rng.integers(-3, 6, size=p)


MAKERS = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)) @ rng.normal(size=(p, p)),
    "low rank": lambda rng, n, p: rng.normal(size=(n, (p + 1) // 2)) @ rng.normal(size=((p + 1) // 2, p)),
    "one-hot": _one_hot,
    "copies": lambda rng, n, p: np.repeat(rng.normal(size=(n, (p + 1) // 2)), 2, axis=1),
    "integers": lambda rng, n, p: rng.integers(0, 3, size=(n, p)).astype(float),
    "heavy tails": lambda rng, n, p: rng.standard_cauchy(size=(n, p)),
    "scales": _scales,
    "constants": lambda rng, n, p: np.hstack([rng.normal(size=(n, p)), np.full((n, 2), 0.1)]),
    "few rows": lambda rng, n, p: rng.normal(size=(max(2, n // 4), p))[rng.integers(0, max(2, n // 4), size=n)],
    "wide": lambda rng, n, p: rng.normal(size=(n, n + p)),
}


@st.composite
def odd(draw, kinds=KINDS, most_rows=40):
    kind = draw(st.sampled_from(kinds))
    n_rows = draw(st.integers(4, most_rows))
    case = Odd(
        kind=kind,
        seed=draw(st.integers(0, 2**20)),
        n_rows=n_rows,
        n_columns=draw(st.integers(1, 6)),
        n_small=draw(st.integers(2, n_rows - 2)),
        shift=draw(st.sampled_from([0.0, 0.3, 1.0, 3.0])),
        dtype=draw(st.sampled_from(["float64", "float32", "int64" if kind in ("one-hot", "integers") else "float64"])),
        standardize=draw(st.booleans()),
        n_components=1,
        tolerance=10.0 ** draw(st.floats(-5, 0)),
    )
    return case.with_(n_components=draw(st.integers(1, min(8, case.X.shape[1]))))
