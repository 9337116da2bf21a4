"""Comparisons of groups that many tests are made of."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.spatial.distance import cdist

from fairpca.comparison import Comparison, Contrast, People, Terms, compare
from fairpca.mmd import ExactMMD
from fairpca.problem import FairSubspaceProblem

OWNER = np.array([0, 1, 1])
"""Which of two measures each of the three columns of `three_groups` belongs to."""


def by_group(group, tolerance=1e-3, rows=None, **terms):
    """Return the stratum of each row, and the comparison of its groups."""
    compared = compare(People(group), rows or len(group), Terms(min_group_size=2, **terms), tolerance)
    return compared.attached, compared.comparison


def by_weights(weights, owner, tolerance=1e-3):
    """Return the stratum of each row, and the comparison whose columns give rows these weights."""
    distinct, codes, sizes = np.unique(weights, axis=0, return_inverse=True, return_counts=True)
    columns = distinct * sizes[:, None]
    contrasts = [Contrast(f"measure {j}", columns[:, owner == j]) for j in range(owner.max() + 1)]
    return codes.reshape(-1, 1), Comparison.of(sizes, contrasts, tolerance)


def two_groups_of(n_columns):
    """Return 300 correlated rows in two groups that differ in mean and covariance."""
    rng, group = np.random.default_rng(0), np.repeat(["a", "b"], [180, 120])
    X = rng.normal(size=(300, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    X[group == "b"] += rng.normal(size=n_columns)
    X[group == "b", 1] *= 1.5
    return X, group


def three_groups(rng, X, shift):
    """Shift one of three groups of the rows X; return weights, strata and the comparison of one group and of two."""
    group = rng.permutation(np.arange(len(X)) % 3)
    X[group == 1, 0] += shift
    weights = np.stack([(group == k) / np.sum(group == k) - 1 / len(X) for k in range(3)], axis=1)
    return weights, *by_weights(weights, OWNER)


def weights_of_groups(group):
    """Return one column of weights, 1 / n_g on the rows of one group and -1 / n_g on those of the other."""
    codes, comparison = by_group(group)
    return comparison.columns.of(codes)


def exact_mmd(X, codes, comparison, bandwidth, factors=(1.0,)):
    """Return the exact discrepancy of rows whose strata are known."""
    return ExactMMD(X, comparison.weights.of(codes), comparison, bandwidth, factors)


def exact_parity(X, group, bandwidth):
    """Return the exact discrepancy between groups."""
    return exact_mmd(X, *by_group(group), bandwidth)


def problem_of(X, group, n_components=2):
    """Return the problem of making groups alike, in principal axes of their rows."""
    centred = X - X.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(X))
    rows = centred @ axes[:, ::-1]
    codes, comparison = by_group(group)
    return FairSubspaceProblem(
        variances=variances[::-1],
        discrepancy=exact_mmd(rows, codes, comparison, 2.0),
        n_components=n_components,
        rank=X.shape[1],
        mean_differences=rows.T @ comparison.columns.of(codes),
        chance=comparison.chance_ceilings,
    )


def kernel(Z, sigma):
    """Return the matrix of exp(-|z - z'|^2 / (2 sigma^2))."""
    return np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * sigma**2))


def dense_mmd2(Z, group, sigma):
    """Return MMD^2 between two groups from its definition."""
    first = np.asarray(group) == np.unique(group)[0]
    weights = first / first.sum() - ~first / (~first).sum()
    return weights @ kernel(Z, sigma) @ weights
