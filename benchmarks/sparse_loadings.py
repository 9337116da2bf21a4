"""What it costs to keep only the largest loadings of rotated components, with orthonormality repaired on their columns.

    python benchmarks/sparse_loadings.py           # three halves of Adult (10,000 people) and German Credit (500)
    python benchmarks/sparse_loadings.py --save

Each component keeps its k largest loadings and is made orthogonal, on their columns, to those before it; in the rows
`means` also to the difference of the group means. MMD^2 is that of the rows of the fit, relative to the tolerance, and
the unbiased one of the other half.
"""

from functools import partial
from itertools import product

import numpy as np
from _common import run_parts

from fairpca import FairPCA
from fairpca.datasets import load_adult, load_german
from fairpca.metrics import mmd2

TABLES = {"German": load_german, "Adult": load_adult}
KEPT = (5, 10, 20, 30, 40)
MOST_ROWS = 20_000


def sparse(V, k, also=()):
    """Return rows like those of V with k loadings each, orthonormal and orthogonal to others."""
    found = []
    for row in V:
        columns = np.argsort(-np.abs(row))[:k]
        others = np.array([*also, *found]).reshape(-1, len(row))[:, columns]
        basis, sizes, _ = np.linalg.svd(others.T, full_matrices=False)
        basis = basis[:, sizes > 1e-10]
        loadings = row[columns] - basis @ (basis.T @ row[columns])
        found.append(np.zeros(len(row)))
        found[-1][columns] = loadings / np.linalg.norm(loadings)
    return np.array(found)


def table(name):
    """Yield what full and sparse components keep and show, for three halves and both numbers of components."""
    data = TABLES[name]()
    X, sex = np.asarray(data.data, dtype=float), np.unique(data.attributes["sex"], return_inverse=True)[1]
    for number, d in product(range(3), (5, 10)):
        rows = np.random.default_rng(number).permutation(len(X))[:MOST_ROWS]
        fitted, new = np.split(rows, [len(rows) // 2])
        varies = [
            X[fitted, j].std() > 0 and abs(np.corrcoef(X[fitted, j], sex[fitted])[0, 1]) < 1 - 1e-9
            for j in range(X.shape[1])
        ]
        model = FairPCA(d, random_state=0).fit(X[fitted][:, varies], sensitive_features=sex[fitted])
        A, B = ((X[part][:, varies] - model.mean_) / model.scale_ for part in (fitted, new))
        V = model.rotated().components_[: model.n_live_components_]
        apart = (A[sex[fitted] == 1].mean(axis=0) - A[sex[fitted] == 0].mean(axis=0))[None]
        frames = {(V.shape[1], "as fitted"): V}
        for k in KEPT:
            frames |= {(k, "orthonormal"): sparse(V, k), (k, "means"): sparse(V, k, apart)}
        for (k, how), W in frames.items():
            shown = partial(mmd2, bandwidth=model.bandwidth_)
            yield {"part": name, "half": number, "d": d, "k": k, "how": how} | {
                "kept": 100 * (A @ W.T).var(axis=0).sum() / A.var(axis=0).sum(),
                "to_tolerance": shown(A @ W.T, sensitive_features=sex[fitted]) / float(model.result_.tolerances[0]),
                "new": shown(B @ W.T, sensitive_features=sex[new], unbiased=True),
            }


if __name__ == "__main__":
    run_parts({name: partial(table, name) for name in TABLES}, "sparse_loadings", __doc__)
