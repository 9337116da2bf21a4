"""Rows of a fit among those of an audit: how well they are counted, what that costs, and false alarms on new rows.

python benchmarks/overlap.py     # 1,000 mixtures and 5,000 tables of new rows of each kind; writes results/overlap.json
"""
# SPDX-License-Identifier: MIT

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from fairpca import FairPCA
from fairpca.rows import SeenRows, table_rows
from fairpca.versions import environment

RESULTS = Path(__file__).parent / "results" / "overlap.json"
N_FIT, N_AUDIT = 3000, 1000


def numbers(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows that do not coincide."""
    return rng.normal(size=(n, 6))


def money(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return ages, incomes and answers: hardly any two people coincide."""
    return np.column_stack([rng.integers(18, 80, n), np.round(rng.gamma(3, 900, n)), rng.integers(0, 5, n)]).astype(
        float
    )


def counts(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return ages, hours and answers: one person in eight equals another."""
    columns = rng.integers(18, 80, n), np.round(rng.normal(40, 8, n)), rng.integers(0, 5, n), rng.random(n) < 0.3
    return np.column_stack(columns).astype(float)


def half(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of which four in ten are all zeros."""
    rows = rng.normal(size=(n, 3))
    rows[rng.random(n) < 0.4] = 0.0
    return rows


def answers(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return four answers of yes and no."""
    return rng.integers(0, 2, (n, 4)).astype(float)


KINDS = {each.__name__: each for each in (numbers, money, counts, half, answers)}


def study(kind: Any, n_mixtures: int, n_new: int) -> dict[str, Any]:
    """Return errors of the share of 1 to 100 % rows of the fit, and how often new rows are refused."""
    rng, errors, unknown, missed, refused = np.random.default_rng(0), [], 0, 0, 0
    for k in range(n_mixtures + n_new):
        if k % 20 == 0:
            fitted = kind(N_FIT, rng)
            seen = SeenRows.of(table_rows(fitted), b"key")
        if k >= n_mixtures:
            refused += seen.overlap(kind(N_AUDIT, rng)).too_many
            continue
        n_old = round(N_AUDIT * (1 + k % 100) / 100)
        rows = np.vstack([rng.permutation(fitted)[:n_old], kind(N_AUDIT - n_old, rng)])
        found = seen.overlap(rows.astype(np.float32) if k % 2 else rows)
        unknown += not found.is_known
        errors += [abs(found.share - n_old / N_AUDIT)] if found.is_known else []
        missed += n_old >= 100 and not found.too_many
    return {
        "mixtures": n_mixtures,
        "new": n_new,
        "unknown": unknown,
        "within 2 %": float(np.mean(np.array(errors) <= 0.02)) if errors else None,
        "largest error": max(errors, default=None),
        "10 % and more not refused": missed,
        "new refused": refused,
    }


def cost() -> list[dict[str, Any]]:
    """Return CPU seconds of fits, and of the hashes of their rows."""
    found = []
    for n, p in ((1000, 10), (4000, 20), (20_000, 30), (200_000, 50), (1_000_000, 20)):
        rng = np.random.default_rng(0)
        X, group = rng.normal(size=(n, p)), np.arange(n) % 2
        X[group == 1, 0] += 0.5
        begun = time.process_time()
        FairPCA(2, random_state=0).fit(X, sensitive_features=group)
        whole, begun = time.process_time() - begun, time.process_time()
        seen = SeenRows.of(table_rows(X), b"key")
        own = time.process_time() - begun
        share, per_row = own / whole, seen.hashes.nbytes / n
        found.append({"rows": n, "columns": p, "fit": whole, "hashes": own, "share": share, "bytes a row": per_row})
    return found


def main() -> None:
    """Run the study and save what it shows."""
    shown: dict[str, Any] = {"environment": environment(), "cost": cost()}
    shown |= {name: study(kind, 1000, 5000) for name, kind in KINDS.items()}
    RESULTS.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
    for name in ("cost", *KINDS):
        print(name, shown[name])


if __name__ == "__main__":
    main()
