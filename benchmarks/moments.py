"""Methods by moments: CPU ratios to plain PCA in one run, agreement with the original packages, features in front.

    pip install --target /tmp/originals torch concept-erasure augmented-pca
    PYTHONPATH=/tmp/originals python benchmarks/moments.py --save

Ratios are those of the least CPU times of some turns, in one thread, to `PCA` of scikit-learn on the same rows; the
methods standardise columns besides. Agreement needs the packages; without them that part is empty. `nonlinear` fits
FairPCA to columns and to Nystroem features of them, and reads the task from releases at one promise by boosting.
"""

import time
import warnings

import numpy as np
from _common import run_parts
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairpca import FairPCA, Release
from fairpca.baselines import LEACE, SPLINCE, AugmentedPCA, ClosedFormFairPCA, ReconstructionFairPCA
from fairpca.datasets import load_adult

TURNS = 7
SIZES = ((50_000, 100), (20_000, 384), (200_000, 40))


def table(n, p, n_groups=2, seed=0):
    """Return rows of groups that differ in means, the groups, and labels that go with both."""
    rng = np.random.default_rng(seed)
    group, y = rng.integers(n_groups, size=n), rng.integers(2, size=n)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) / np.sqrt(p)
    X += rng.normal(size=(n_groups, p))[group] + rng.normal(size=(2, p))[y]
    return X, y, group


def cost():
    """Yield CPU seconds of each method on some sizes, and their ratio to scaling and PCA."""
    methods = {
        "closed form, means": ClosedFormFairPCA(10),
        "closed form, covariances": ClosedFormFairPCA(10, match="covariances"),
        "LEACE": LEACE(10),
        "SPLINCE": SPLINCE(10),
        "AugmentedPCA": AugmentedPCA(10),
        "ReconstructionFairPCA": ReconstructionFairPCA(10),
    }
    for n, p in SIZES:
        X, y, group = table(n, p)
        fits = {
            "PCA": lambda X=X: PCA(10).fit(X),
            "StandardScaler and PCA": lambda X=X: make_pipeline(StandardScaler(), PCA(10)).fit(X),
        }
        for name, method in methods.items():
            fits[name] = lambda method=method, X=X, y=y, group=group: method.fit(X, y, sensitive_features=group)
        seconds = {name: [] for name in fits}
        with threadpool_limits(1):
            for _ in range(TURNS):
                for name, fit in fits.items():
                    began = time.process_time()
                    fit()
                    seconds[name].append(time.process_time() - began)
        least = {name: min(times) for name, times in seconds.items()}
        for name, value in least.items():
            row = {"part": "cost", "n": n, "p": p, "method": name, "seconds": value}
            yield row | {"ratio_to_pca": value / least["PCA"]}


def originals():
    """Yield the largest differences from what the original packages find."""
    try:
        import torch
        from apca.models import AAPCA
        from concept_erasure import LeaceFitter
    except ImportError as error:
        print(f"left out: {error}")
        return
    for seed, n_groups in enumerate((2, 3, 5)):
        X, _, group = table(3000, 12, n_groups, seed)
        z = np.eye(n_groups)[group]
        model = LEACE(13 - n_groups, standardize=False).fit(X, sensitive_features=group)
        erased = model.inverse_transform(model.transform(X))
        fitter = LeaceFitter.fit(torch.tensor(X), torch.tensor(z), shrinkage=False, svd_tol=1e-9)
        difference = np.abs(erased - fitter.eraser(torch.tensor(X)).numpy()).max()
        yield {"part": "originals", "package": "concept-erasure", "groups": n_groups, "largest_difference": difference}
        model = AugmentedPCA(4, mu=3.0, standardize=False).fit(X, sensitive_features=group)
        # The package's default decomposition is a randomised one.
        original = AAPCA(n_components=4, mu=3.0, inference="encoded", decomp="exact", diag_const=1e-14)
        original.fit(X.copy(), z.copy())
        loadings = (original.W_ / np.linalg.norm(original.W_, axis=0)).T
        scores = [(S / S.std(axis=0)) for S in (original.transform(X.copy(), z.copy()), model.transform(X))]
        signs = np.sign(np.sum(scores[0] * scores[1], axis=0))
        of_loadings = np.abs(loadings * signs[:, None] - model.axes_).max()
        of_scores = np.abs(scores[0] * signs - scores[1]).max()
        row = {"part": "originals", "package": "augmented-pca", "groups": n_groups}
        yield row | {"largest_difference": max(of_loadings, of_scores)}


def nonlinear():
    """Yield the task AUC of releases at one promise, of FairPCA on columns and on features of them."""
    data = load_adult()
    X, y, sex = np.asarray(data.data, dtype=float), np.asarray(data.target), np.asarray(data.attributes["sex"])
    X, y = X[:, [column != "sex" for column in data.feature_names]], y == np.unique(y)[-1]
    for split in range(3):
        chosen = np.random.default_rng(split).permutation(len(X))[:20_000]
        fit, rest = train_test_split(chosen, test_size=0.5, random_state=split)
        certify, report = train_test_split(rest, test_size=0.4, random_state=split)
        for front, features in (("columns", None), ("Nystroem 100", 100), ("Nystroem 300", 300)):
            yield {"part": "nonlinear", "data": "Adult", "split": split, "front": front} | _released(
                X, y, sex, fit, certify, report, features
            )


def _released(X, y, sex, fit, certify, report, n_features, target=0.1, d=10):
    front = [StandardScaler()]
    if n_features:
        # The median heuristic on scaled columns: squared distances are about 2 p.
        front.append(Nystroem(gamma=0.5 / X.shape[1], n_components=n_features, random_state=0))
    front = make_pipeline(*front)
    model = FairPCA(d, tolerance=1e-3, standardize=not n_features, random_state=0)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        began = time.process_time()
        features = front.fit_transform(X[fit])
        Z = model.fit(features, sensitive_features=sex[fit]).transform(features)
        seconds = time.process_time() - began
        Zs = [model.transform(front.transform(X[rows])) for rows in (certify, report)]
        release = Release(kind="cells", random_state=0).fit(Z, sensitive_features=sex[fit])
        row = {"seconds": seconds, "mmd2": model.mmd2_, "task_auc": _auc(Z, y[fit], Zs[1], y[report])}
        row["sex_auc"] = _auc(Z, sex[fit] == sex[0], Zs[1], sex[report] == sex[0])
        try:
            release.certify(Zs[0], sensitive_features=sex[certify], target=target)
        except ValueError:
            return row | {"released_task_auc": None}
        return row | {"released_task_auc": _auc(release.transform(Z), y[fit], release.transform(Zs[1]), y[report])}


def _auc(Z, y, Z_new, y_new):
    classifier = HistGradientBoostingClassifier(max_iter=150, random_state=0).fit(Z, y)
    return float(roc_auc_score(y_new, classifier.predict_proba(Z_new)[:, 1]))


if __name__ == "__main__":
    run_parts({"cost": cost, "originals": originals, "nonlinear": nonlinear}, "moments", __doc__)
