"""What a user runs first: fits and commands with default settings, beside tolerance=1e-3 and scikit-learn's PCA.

    python benchmarks/first_answer.py                   # all parts, about ten minutes
    python benchmarks/first_answer.py many embedding    # some of them
    python benchmarks/first_answer.py --save

Each row of a table has the seconds of PCA, of the default and of 1e-3 in one process, and the ratios; each row of
`commands` the seconds from the shell to the page.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _common import run_parts

LARGE = 200_000


def factor_model(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with twenty common factors, three of which have other means in the smaller group."""
    rng = np.random.default_rng(seed)
    group = (rng.random(n) < 0.4).astype(int)
    factors = rng.normal(size=(n, 20))
    factors[:, [0, 4, 9]] += 0.8 * group[:, None]
    factors[:, [1, 6]] *= np.where(group[:, None] == 1, 1.5, 1.0)
    loadings = rng.normal(size=(20, p)) * np.linspace(2, 0.3, 20)[:, None]
    return factors @ loadings + 0.5 * rng.normal(size=(n, p)), group


def embedding(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose spectrum falls like that of text embeddings, of unit length, with a group that shifts them."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, size=n)
    X = rng.normal(size=(n, p)) * (1.0 + np.arange(p)) ** -0.4
    X += 0.4 * group[:, None] * rng.normal(size=p) * (1.0 + np.arange(p)) ** -0.4
    return X / np.linalg.norm(X, axis=1, keepdims=True), group


def heavy_tails(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.lognormal(0, 2, (n, p)), rng.integers(0, 2, size=n)


def adult_of_two_attributes() -> tuple[np.ndarray, Any]:
    from fairpca.datasets import load_adult

    data = load_adult(as_frame=True)
    return data.data.to_numpy(dtype=float), data.attributes[["sex", "race"]]


def row_of(part: str, table: str, X: Any, people: Any, d: int) -> dict[str, Any]:
    """Return seconds, and the ratios to plain PCA and to 1e-3, of one table."""
    from sklearn.decomposition import PCA

    from fairpca import FairPCA

    began = time.perf_counter()
    PCA(d).fit(X)
    row: dict[str, Any] = {"part": part, "table": table, "d": d, "pca_seconds": time.perf_counter() - began}
    for name, tolerance in (("auto", "auto"), ("1e-3", 1e-3)):
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = FairPCA(d, tolerance=tolerance, random_state=0).fit(X, sensitive_features=people)
        row |= {
            f"{name}_seconds": time.perf_counter() - began,
            f"{name}_kept": 100 * model.result_.variance_kept,
            f"{name}_ratio": float(np.max(model.result_.mmd2s / model.result_.tolerances)),
            f"{name}_status": model.result_.status.name,
            f"{name}_method": model.mmd_method_,
            f"{name}_warnings": sorted({warning.category.__name__ for warning in caught}),
        }
    row["to_pca"] = row["auto_seconds"] / row["pca_seconds"]
    row["to_1e-3"] = row["auto_seconds"] / row["1e-3_seconds"]
    return row


def fits(part: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part."""
    if part == "rows":
        for n, d in ((20_000, 2), (20_000, 10)):
            yield row_of(part, f"factors {n} x 50", *factor_model(n, 50), d)
    elif part == "many":
        X, group = factor_model(1_000_000, 50)
        for d in (2, 10):
            yield row_of(part, "factors 1000000 x 50", X, group, d)
    elif part == "adult":
        for d in (2, 10):
            yield row_of(part, "Adult, sex and race", *adult_of_two_attributes(), d)
    elif part == "embedding":
        yield row_of(part, "embedding 20000 x 384", *embedding(20_000, 384), 50)
    else:
        yield row_of(part, "lognormal 50000 x 6", *heavy_tails(50_000, 6), 3)


def write_large(file: Path) -> None:
    """Write a table of people with fourteen columns, half of them texts."""
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, size=LARGE)
    numbers = rng.normal(size=(LARGE, 6)) + 0.3 * sex[:, None]
    codes = rng.integers(0, 6, size=(LARGE, 6)) + (rng.random((LARGE, 6)) < 0.2) * sex[:, None]
    label = (numbers[:, 0] + rng.normal(size=LARGE) > 0).astype(int)
    with file.open("w") as out:
        out.write(",".join([*(f"n{j}" for j in range(6)), *(f"c{j}" for j in range(6)), "sex", "label"]) + "\n")
        for i in range(LARGE):
            cells = [*(f"{v:.4g}" for v in numbers[i]), *(f"k{v}" for v in codes[i])]
            out.write(",".join([*cells, "FM"[sex[i]], ["no", "yes"][label[i]]]) + "\n")


def commands() -> Iterator[dict[str, Any]]:
    """Yield the seconds of commands, from the shell to the page."""
    with tempfile.TemporaryDirectory() as folder:
        fairpca = [str(Path(sys.executable).with_name("fairpca"))]
        subprocess.run([*fairpca, "datasets", "adult", "--out", "adult.csv"], cwd=folder, check=True)
        write_large(Path(folder) / "large.csv")
        census = "fit adult.csv --label income --drop fnlwgt --missing fill --sensitive"
        for name, line in (
            ("README", f"{census} sex"),
            ("two attributes, ten components", f"{census} sex,race -n 10"),
            (f"{LARGE} x 14", "fit large.csv --sensitive sex --label label"),
        ):
            began = time.perf_counter()
            subprocess.run([*fairpca, *line.split(), "--out", "out"], cwd=folder, check=True, capture_output=True)
            row = {"part": "commands", "table": name, "command": line, "seconds": time.perf_counter() - began}
            stages = json.loads((Path(folder) / "out" / "metrics.json").read_text()).get("seconds", {})
            yield row | {"stages": stages}
            subprocess.run(["rm", "-r", "out"], cwd=folder, check=True)


if __name__ == "__main__":
    tables = ("rows", "adult", "embedding", "tails", "many")
    run_parts({**{part: partial(fits, part) for part in tables}, "commands": commands}, "first_answer", __doc__)
