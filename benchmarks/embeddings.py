"""Vectors of 40,000 short biographies, reduced to 50 components: what is kept, and who reads the gender of the words.

    python benchmarks/embeddings.py          # three splits; begins where it was interrupted
    python benchmarks/embeddings.py 1        # one split
    python benchmarks/embeddings.py page     # put the saved results into docs/howto/embeddings.md

The texts are those of `_biographies.py`. Their vectors, of 256 columns, are made by the package wordllama, whose wheel
has a model in it. It is installed into an environment of its own below the folder for temporary files, where vectors
are kept, too. Of a split 20,000 texts fit, probes learn from 10,000 others and are scored on 10,000 more, on which
everything else is measured. Seconds are those of the CPU, all threads together: set `OMP_NUM_THREADS=1`.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from functools import cache, partial
from pathlib import Path

import numpy as np
from _biographies import biographies
from _common import RESULTS, save
from paper_page import fill
from scipy.linalg import null_space
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.baselines import LEACE, ClosedFormFairPCA
from fairpca.metrics import mmd2
from fairpca.mmd import median_bandwidth

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "embeddings.md"
PACKAGE = "wordllama==0.4.0.post1"
SIZES = (20_000, 10_000, 10_000)
D = 50
FACTORS = (2.0, 1.0, 0.5)  # of the median bandwidth; at a quarter nearly no two of 50 components are neighbours


@cache
def vectors():
    """Return the vectors of all texts, whether their words are a woman's, and the numbers of their occupations."""
    texts, women, occupations = biographies(sum(SIZES))
    place = Path(tempfile.gettempdir()) / "fairpca-embeddings"
    digest = hashlib.sha256("\n".join([PACKAGE, *texts]).encode()).hexdigest()
    made = place / f"{digest[:12]}.npy"
    if not made.exists():
        python = place / "venv" / "bin" / "python"
        venv.create(place / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", PACKAGE], check=True)
        subprocess.run([python, Path(__file__).with_name("_biographies.py"), str(len(texts)), made], check=True)
    return np.load(made).astype(np.float64), women, occupations


class Leopard:
    """Minimise MMD^2 over five scales by minibatches, within the subspace in which the group means agree.

    The method of Saillenfest and Lemberger (2025): the unbiased MMD^2 of a batch, of the sum of the kernels
    exp(-|z - z'|^2 / (c b)) with c = 1/4, 1/2, 1, 2, 4 and b the mean squared distance of the batch. Adam takes the
    steps and epochs that were published for biographies; steps fall to a tenth after half of the epochs. Frames stay
    orthonormal by a QR decomposition after every step, where the published code has a penalty. Variance is not in the
    objective: what is kept depends on the start, a random frame, as there, or that of most variance.
    """

    def __init__(self, start, seed, *, n_epochs=100, batch=2048, step=5e-4):
        self.start, self.seed, self.n_epochs, self.batch, self.step = start, seed, n_epochs, batch, step

    def fit(self, X, *, sensitive_features):
        """Learn the components of two groups, 0 and 1."""
        rng = np.random.default_rng(self.seed)
        self.mean_ = X.mean(axis=0)
        groups = np.asarray(sensitive_features, dtype=bool)
        Q = null_space((X[groups].mean(axis=0) - X[~groups].mean(axis=0))[None])
        Y = ((X - self.mean_) @ Q).astype(np.float32)
        U = PCA(D).fit(Y).components_.T if self.start == "pca" else rng.normal(size=(Y.shape[1], D))
        U = np.linalg.qr(U)[0].astype(np.float32)
        first, second, n_steps = np.zeros_like(U), np.zeros_like(U), 0
        for epoch in range(self.n_epochs):
            step = self.step if 2 * epoch < self.n_epochs else self.step / 10
            order = rng.permutation(len(Y))
            for begin in range(0, len(Y) - self.batch + 1, self.batch):
                rows = order[begin : begin + self.batch]
                gradient = Y[rows].T @ gradient_of_batch(Y[rows] @ U, groups[rows])
                n_steps += 1
                first = 0.9 * first + 0.1 * gradient
                second = 0.999 * second + 0.001 * gradient**2
                scale = np.sqrt(second / (1 - 0.999**n_steps)) + 1e-8
                U = np.linalg.qr(U - step * first / (1 - 0.9**n_steps) / scale)[0]
        self.components_ = (Q @ U).T
        return self

    def transform(self, X):
        """Return projections."""
        return (X - self.mean_) @ self.components_.T

    def inverse_transform(self, Z):
        """Return rows in the space of the columns."""
        return Z @ self.components_ + self.mean_


def gradient_of_batch(Z, groups):
    """Return the gradient, at projections, of the unbiased MMD^2 over five scales; its scale b counts as constant."""
    squares = (Z**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * (Z @ Z.T), 0)
    n = len(Z)
    b = distances.sum() / (n * (n - 1))
    kernel = np.exp(-distances / (4 * b))
    slopes = np.zeros_like(kernel)
    for factor in (4.0, 2.0, 1.0, 0.5, 0.25):
        slopes -= kernel / (factor * b)
        kernel *= kernel  # exp(-D / (c b)) squared is that of c / 2
    m = groups.sum()
    within = np.where(groups, 1 / np.sqrt(m * (m - 1)), 1 / np.sqrt((n - m) * (n - m - 1)))
    slopes *= np.where(groups[:, None] == groups, np.outer(within, within), -1 / (m * (n - m))).astype(np.float32)
    return 4 * (slopes.sum(axis=1)[:, None] * Z - slopes @ Z)


METHODS = {
    "PCA": lambda seed: PCA(D, random_state=seed),
    "ClosedForm": lambda seed: ClosedFormFairPCA(D, standardize=False),
    "LEACE": lambda seed: LEACE(D, standardize=False),
    "L-EOPARD": partial(Leopard, "random"),
    "L-EOPARD, from PCA": partial(Leopard, "pca"),
    "FairPCA": lambda seed: FairPCA(D, standardize=False, random_state=seed),
}
PROBES = {
    "linear": lambda seed: LogisticRegression(max_iter=1000),
    "boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "MLP": lambda seed: MLPClassifier((128,), early_stopping=True, random_state=seed),
}


def measured(name, number):
    """Return what a method keeps and reveals on new rows of a split."""
    X, women, occupations = vectors()
    ends = np.cumsum(SIZES[:2])
    fitted, learning, new = np.split(np.random.default_rng(number).permutation(len(X)), ends)
    model = METHODS[name](number)
    began = time.process_time()
    model.fit(X[fitted], **({} if name == "PCA" else {"sensitive_features": women[fitted]}))
    row = {"seconds": time.process_time() - began, "converged": bool(getattr(model, "converged_", True))}
    if isinstance(model, FairPCA):
        row |= {"fitted mmd2": model.mmd2_, "tolerance": model.result_.tolerances.min()}
    Z, Z_new = model.transform(X[learning]), model.transform(X[new])
    left = X[new] - model.inverse_transform(Z_new)
    row["variance_kept"] = 1 - left.var(axis=0).sum() / X[new].var(axis=0).sum()
    # Of the method's own distances: shrinking gains nothing.
    sigma = median_bandwidth(Z_new[:2000])
    for factor in FACTORS:
        kernel = {"bandwidth": factor * sigma, "unbiased": True}
        row[f"mmd2 {factor:g}"] = mmd2(Z_new, sensitive_features=women[new], **kernel)
    for probe, make in PROBES.items():
        reader = make_pipeline(StandardScaler(), make(number)).fit(Z, women[learning])
        row[f"{probe} auc"] = roc_auc_score(women[new], reader.predict_proba(Z_new)[:, 1])
        row[f"{probe} accuracy"] = balanced_accuracy_score(women[new], reader.predict(Z_new))
    task = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(Z, occupations[learning])
    row["task auc"] = roc_auc_score(occupations[new], task.predict_proba(Z_new), multi_class="ovr")
    row["task accuracy"] = accuracy_score(occupations[new], task.predict(Z_new))
    return row


def run(n_splits):
    """Save a row for each split and method."""
    path = RESULTS / "embeddings.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    done = {(row["split"], row["method"]) for row in rows}
    for number in range(n_splits):
        for name in METHODS:
            if (number, name) not in done:
                rows.append({"split": number, "method": name} | measured(name, number))
                save("embeddings", rows)
                print(
                    ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" for k, v in rows[-1].items()),
                    flush=True,
                )


def page():
    """Put the means of the saved rows into the page."""
    rows = json.loads((RESULTS / "embeddings.json").read_text())["rows"]
    by_method = {name: [row for row in rows if row["method"] == name] for name in METHODS}
    found = {name: mean(each) for name, each in by_method.items() if each}
    scales = " | ".join(f"MMD² at {factor:g}" for factor in FACTORS)
    kept = f"| | variance kept % | {scales} | CPU seconds |\n|---|{'---:|' * (len(FACTORS) + 2)}\n"
    for name, figures in found.items():
        mmd2s = " | ".join(f"{1000 * figures[f'mmd2 {factor:g}']:.2f}" for factor in FACTORS)
        words = name if figures["converged"] == 1 else f"{name}, not converged"
        kept += f"| {words} | {100 * figures['variance_kept']:.1f} | {mmd2s} | {figures['seconds']:.1f} |\n"
    told = f"| | {' | '.join(PROBES)} | occupation |\n|---|{'---:|' * (len(PROBES) + 1)}\n"
    for name, figures in found.items():
        cells = [f"{figures[f'{who} auc']:.3f} ({100 * figures[f'{who} accuracy']:.0f})" for who in (*PROBES, "task")]
        told += f"| {name} | {' | '.join(cells)} |\n"
    fill(PAGE, "kept", f"\n{kept}\n", "embeddings.py")
    fill(
        PAGE, "told", f"\n{told}\nSplits: {min(len(each) for each in by_method.values() if each)}.\n\n", "embeddings.py"
    )


def mean(rows):
    return {key: np.mean([row[key] for row in rows]) for key in rows[0] if key != "method"}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["page"]:
        page()
    else:
        run(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
