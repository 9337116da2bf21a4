"""One method fitted and judged on one split."""
# SPDX-License-Identifier: MIT

from sklearn.decomposition import PCA

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.evaluation import Split, evaluate_projection
from fairpca.metrics import PROTOCOLS, DownstreamReport
from fairpca.mmd import median_bandwidth
from fairpca.paper._methods import Fit, Method, fit
from fairpca.paper._results import Row
from fairpca.plots import projection_spectrum


def pca_bandwidth(X: FloatArray, n_components: int) -> float:
    """Return the median heuristic's sigma for rows after plain PCA, one value for all methods.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Centred rows.
    n_components : int
        d.
    """
    Z = PCA(n_components, svd_solver="full").fit_transform(X)
    return median_bandwidth(Z)


def judge(method: Method, split: Split, n_components: int, seed: int) -> tuple[Fit, Row]:
    """Fit a method on the training rows and measure it on both parts.

    Parameters
    ----------
    method : Method
        The method.
    split : Split
        Training and test rows.
    n_components : int
        d.
    seed : int
        Seed of whatever is random.

    Returns
    -------
    fitted : Fit
        The estimator and how it went.
    row : dict
        Variance kept in percent, MMD^2 with the sigma of the training rows, a classifier's accuracy in percent and
        parity gaps in both protocols, and whether the method converged.
    """
    bandwidth = pca_bandwidth(split.X_train, n_components)
    fitted = fit(method, split.X_train, split.a_train, n_components, bandwidth, seed)
    reports = {
        protocol: evaluate_projection(fitted.components, split, bandwidth=bandwidth, protocol=protocol)
        for protocol in PROTOCOLS
    }
    report = reports["holdout"]
    row = how_it_went(fitted) | {
        "bandwidth": bandwidth,
        "variance_percent_train": 100 * report.variance_train,
        "variance_percent_test": 100 * report.variance_test,
        "mmd2_train": report.mmd2_train,
        "mmd2_test": report.mmd2_test,
    }
    for protocol, judged in reports.items():
        row |= _classifier_columns(protocol, judged.downstream)
    return fitted, row


def how_it_went(fitted: Fit) -> Row:
    """Return the columns that every fit has: whether it converged, and how far it came."""
    return {
        "converged": fitted.converged,
        "tied": getattr(fitted.estimator, "tied_", None),
        "iterations": fitted.iterations,
        "smallest_mmd2_train": fitted.smallest_mmd2,
    }


def _classifier_columns(protocol: str, report: DownstreamReport) -> Row:
    return {
        f"accuracy_percent_{protocol}": 100 * report.accuracy,
        f"dp_{protocol}": report.demographic_parity,
        f"eop_{protocol}": report.equal_opportunity,
        f"eod_{protocol}": report.equalized_odds,
    }


def spectrum_arrays(fitted: Fit, X: FloatArray) -> dict[str, AnyArray]:
    """Return what the figures need of a fit: components, and the spectrum of P* or of VV'.

    Parameters
    ----------
    fitted : Fit
        The fit.
    X : ndarray of shape (n, p)
        Its training rows.
    """
    eigenvalues, shares = projection_spectrum(fitted.estimator, X)
    return {"components": fitted.components, "eigenvalues": eigenvalues, "spectrum": shares}
