"""The methods that are compared, under one roof."""
# SPDX-License-Identifier: MIT

import time
from dataclasses import dataclass
from typing import Any

from sklearn.decomposition import PCA

from fairpca import FairPCA
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.baselines import FPCA
from fairpca.solvers import REPMS


@dataclass(frozen=True)
class Method:
    """A method with its parameters.

    Attributes
    ----------
    name : str
        How tables call it.
    kind : {"pca", "fpca", "fairpca", "budget"}
        Which estimator: "fairpca" is Algorithm 1, "budget" is FairPCA with its default solver.
    delta, mu : float
        Parameters of FPCA.
    tolerance : float
        Tolerance of FairPCA.
    rho_scale : float
        First penalty of Algorithm 1, relative to one over the MMD^2 of PCA.
    start : str
        `init` of Algorithm 1.
    """

    name: str
    kind: str
    delta: float = 0.0
    mu: float = 0.0
    tolerance: float = 0.0
    rho_scale: float = 1.0
    start: str = "mean-matched"

    @property
    def slug(self) -> str:
        """The name for use in file names.

        Examples
        --------
        >>> fpca(0.1, 0.01).slug
        'fpca-0.1-0.01'
        """
        return self.name.lower().replace("(", "-").replace(", ", "-").rstrip(")")

    def estimator(self, n_components: int, bandwidth: float, seed: int) -> Any:
        """Return an estimator for rows that are standardised already.

        Parameters
        ----------
        n_components : int
            d.
        bandwidth : float
            sigma.
        seed : int
            Seed of whatever is random.
        """
        if self.kind == "pca":
            return PCA(n_components, svd_solver="full")
        if self.kind == "fpca":
            return FPCA(n_components, delta=self.delta, mu=self.mu, standardize=False)
        model = FairPCA(
            n_components, tolerance=self.tolerance, bandwidth=bandwidth, standardize=False, random_state=seed
        )
        if self.kind == "fairpca":
            # To the letter of Algorithm 1: where it fails, the row says so.
            model.set_params(solver=REPMS(rho_scale=self.rho_scale, n_restarts=0), init=self.start)
        return model


PLAIN_PCA = Method("PCA", "pca")


def fpca(delta: float, mu: float) -> Method:
    """Return FPCA with its parameters.

    Examples
    --------
    >>> fpca(0.0, 0.1).name
    'FPCA(0, 0.1)'
    """
    return Method(f"FPCA({delta:g}, {mu:g})", "fpca", delta=delta, mu=mu)


def fair_pca(tolerance: float, rho_scale: float = 1.0, start: str = "mean-matched") -> Method:
    """Return FairPCA by Algorithm 1 with its tolerance.

    Examples
    --------
    >>> fair_pca(1e-3).name
    'FairPCA(1e-3)'
    """
    name = f"FairPCA({_power(tolerance)})"
    return Method(name, "fairpca", tolerance=tolerance, rho_scale=rho_scale, start=start)


def budget(tolerance: float) -> Method:
    """Return FairPCA by its default solver with its tolerance.

    Examples
    --------
    >>> budget(1e-3).name
    'Budget(1e-3)'
    """
    return Method(f"Budget({_power(tolerance)})", "budget", tolerance=tolerance)


def _power(tolerance: float) -> str:
    return f"{tolerance:.0e}".replace("e-0", "e-")


@dataclass(frozen=True)
class Fit:
    """A fitted estimator and how it went.

    Attributes
    ----------
    estimator : estimator
        The estimator, with `components_`.
    seconds : float
        Wall time of `fit`.
    converged : bool
        Whether it found what was asked for.
    iterations : int or None
        Outer iterations, where there are any.
    smallest_mmd2 : float or None
        Smallest MMD^2 that FairPCA met on its way.
    """

    estimator: Any
    seconds: float
    converged: bool
    iterations: int | None
    smallest_mmd2: float | None

    @property
    def components(self) -> FloatArray:
        """V', orthonormal rows."""
        components: FloatArray = self.estimator.components_
        return components


def fit(method: Method, X: FloatArray, groups: AnyArray, n_components: int, bandwidth: float, seed: int) -> Fit:
    """Fit a method.

    Parameters
    ----------
    method : Method
        The method.
    X : ndarray of shape (n, p)
        Standardised rows.
    groups : ndarray of shape (n,)
        Group of each row.
    n_components : int
        d.
    bandwidth : float
        sigma.
    seed : int
        Seed of whatever is random.

    Returns
    -------
    fit : Fit
        The estimator and how it went.
    """
    estimator = method.estimator(n_components, bandwidth, seed)
    arguments = {} if method.kind == "pca" else {"sensitive_features": groups}
    began = time.perf_counter()
    estimator.fit(X, **arguments)
    seconds = time.perf_counter() - began
    result = getattr(estimator, "result_", None)
    return Fit(
        estimator,
        seconds,
        converged=bool(getattr(estimator, "converged_", True)),
        iterations=None if method.kind == "pca" else int(estimator.n_iter_),
        smallest_mmd2=None if result is None else float(result.smallest_mmd2),
    )
