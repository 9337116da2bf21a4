"""One method fitted to one sample and measured: what is stored, and what every page is made of."""
# SPDX-License-Identifier: MIT

import time
import warnings
from functools import cache
from typing import Any, NamedTuple

from sklearn.decomposition import PCA
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from fairpca import FairPCA
from fairpca.baselines import FPCA, ReconstructionFairPCA, TiedEigenvaluesWarning
from fairpca.datasets import load_adult, load_compas, load_german, make_ellipses, make_synthetic1, make_synthetic2
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning, NullComponentsWarning, RankWarning
from fairpca.metrics import PROTOCOLS, Split, communality, downstream, explained_variance, mmd2
from fairpca.mmd import median_bandwidth
from fairpca.plots import projection_spectrum
from fairpca.solvers import REPMS

LOADERS = {"compas": load_compas, "german": load_german, "adult": load_adult}
TITLES = {"compas": "COMPAS", "german": "German credit", "adult": "Adult income"}
SYNTHETIC2_ROWS, ELLIPSE_ROWS = 240, 500
"""Rows of each group."""

EXPECTED = (
    *(AttributeInTableWarning, ConvergenceWarning, NullComponentsWarning, RankWarning),
    TiedEigenvaluesWarning,
)
"""The tables of the paper hold their protected attribute, and what the others say stands in the numbers."""


class Method(NamedTuple):
    """A method with its parameters; "repms" is FairPCA by Algorithm 1, "budget" FairPCA by its default solver."""

    name: str
    kind: str
    delta: float = 0.0
    mu: float = 0.0
    tolerance: float = 0.0
    rho_scale: float = 1.0
    init: str = "mean-matched"

    def estimator(self, n_components: int, bandwidth: float, seed: int) -> Any:
        """Return an estimator for rows that are standardised already."""
        if self.kind == "pca":
            return PCA(n_components, svd_solver="full")
        if self.kind == "reconstruction":
            return ReconstructionFairPCA(n_components, standardize=False)
        if self.kind == "fpca":
            return FPCA(n_components, delta=self.delta, mu=self.mu, standardize=False)
        # To the letter of Algorithm 1, without restarts: where it fails, the numbers say so.
        solver = {"solver": REPMS(rho_scale=self.rho_scale, n_restarts=0), "init": self.init}
        return FairPCA(
            n_components,
            tolerance=self.tolerance,
            bandwidth=bandwidth,
            standardize=False,
            random_state=seed,
            **solver if self.kind == "repms" else {},
        )


def fpca(delta: float, mu: float) -> Method:
    """Return FPCA with its parameters."""
    return Method(f"FPCA({delta:g}, {mu:g})", "fpca", delta=delta, mu=mu)


def fair_pca(tolerance: float, kind: str = "repms", **settings: Any) -> Method:
    """Return FairPCA with its tolerance, by Algorithm 1 or by the default solver."""
    name = "FairPCA" if kind == "repms" else "Budget"
    return Method(f"{name}({tolerance:.0e})".replace("e-0", "e-"), kind, tolerance=tolerance, **settings)


PLAIN_PCA = Method("PCA", "pca")


@cache
def load(data: str, data_home: str | None) -> Bunch:
    """Return a data set with the rows that the paper uses."""
    return LOADERS[data](paper=True, data_home=data_home)


def sample_of(name: str, *settings: Any, seed: int = 0, data_home: str | None = None) -> Split:
    """Return rows by the name of their sample; there are none for a test where a sample is not split.

    Parameters
    ----------
    name : {"compas", "german", "adult", "synthetic1", "synthetic2", "ellipses"}
        Which.
    *settings : int or str
        Rows a group and "exact" or "drawn" moments of synthetic1, variant and dimension of synthetic2.
    seed : int, default=0
        Number of the split.
    data_home : str, default=None
        Where raw data are cached.
    """
    if name in LOADERS:
        data = load(name, data_home)
        return Split.random(data.data, data.target, data.sensitive_features, seed=seed)
    if name == "synthetic2":
        variant, p = settings
        X, groups = make_synthetic2(p, SYNTHETIC2_ROWS, variant=variant, random_state=0)
        return Split.random(X, groups, groups, seed=seed)
    if name == "synthetic1":
        size, moments = settings
        X, groups = make_synthetic1(size, exact_moments=moments == "exact", random_state=0)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    else:
        # Not standardised: the shape of the ellipses is the point.
        X, groups = make_ellipses(ELLIPSE_ROWS, random_state=0)
        X = X - X.mean(axis=0)
    return Split(X, X[:0], groups, groups[:0], groups, groups[:0])


def fit(
    sample: tuple[Any, ...], method: Method, n_components: int, seed: int, data_home: str | None, version: str
) -> dict[str, Any]:
    """Fit a method to the training rows of a sample and measure it on both parts.

    Parameters
    ----------
    sample : tuple
        Name and settings of the sample.
    method : Method
        The method.
    n_components : int
        d.
    seed : int
        Number of the split, and seed of the method.
    data_home : str or None
        Where raw data are cached.
    version : str
        Version of the package: the stored answers of another one are not used.

    Returns
    -------
    found : dict
        Numbers; seconds of the fit; components, and eigenvalues and variances of P* or VV' where they are drawn.
    """
    # One thread, so that answers do not depend on the number of processes.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        for category in EXPECTED:
            warnings.simplefilter("ignore", category)
        rows = sample_of(*sample, seed=seed, data_home=data_home)
        # One sigma for all methods: the median heuristic after plain PCA.
        bandwidth = median_bandwidth(PCA(n_components, svd_solver="full").fit_transform(rows.X_train))
        model = method.estimator(n_components, bandwidth, seed)
        began = time.perf_counter()
        model.fit(rows.X_train, **{} if method.kind == "pca" else {"sensitive_features": rows.a_train})
        found = {"seconds": time.perf_counter() - began, "components": model.components_}
        found |= _measured(model, rows, bandwidth)
        return found | (_classified(model, rows, load(sample[0], data_home)) if sample[0] in LOADERS else {})


def _measured(model: Any, rows: Split, bandwidth: float) -> dict[str, Any]:
    """Return how a fit went, and variance in percent and MMD^2 with the sigma of the training rows."""
    found = {
        "converged": bool(getattr(model, "converged_", True)),
        "tied": getattr(model, "tied_", None),
        "iterations": int(getattr(model, "n_iter_", 0)),
        "smallest_mmd2_train": model.result_.smallest_mmd2 if hasattr(model, "result_") else None,
        "bandwidth": bandwidth,
    }
    parts = {"train": (rows.X_train, rows.a_train)} | ({"test": (rows.X_test, rows.a_test)} if len(rows.X_test) else {})
    for part, (X, groups) in parts.items():
        found[f"variance_percent_{part}"] = 100 * explained_variance(X, model.components_)
        found[f"mmd2_{part}"] = mmd2(X @ model.components_.T, sensitive_features=groups, bandwidth=bandwidth)
    return found


def _classified(model: Any, rows: Split, data: Bunch) -> dict[str, Any]:
    """Return what a classifier makes of the projections in both protocols, and what figures show of the components."""
    Z_train, Z_test = rows.X_train @ model.components_.T, rows.X_test @ model.components_.T
    found: dict[str, Any] = {}
    for protocol in PROTOCOLS:
        report = downstream(
            Z_train, rows.y_train, Z_test, rows.y_test, sensitive_features=rows.a_test, protocol=protocol
        )
        found[f"accuracy_percent_{protocol}"] = 100 * report.accuracy
        found[f"dp_{protocol}"] = report.demographic_parity
        found[f"eop_{protocol}"] = report.equal_opportunity
        found[f"eod_{protocol}"] = report.equalized_odds
    found["communality"] = float(communality(model.components_)[data.feature_names.index(data.sensitive_name)])
    found["eigenvalues"], found["spectrum"] = projection_spectrum(model, rows.X_train)
    return found
