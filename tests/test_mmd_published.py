"""Discrepancies in linear time against the exact one, on the data of the paper."""

import numpy as np
import pytest

from comparisons import by_group, exact_mmd
from fairpca import FairPCA
from fairpca.data import PrincipalAxes
from fairpca.mmd import Coordinates, HermiteMMD, median_bandwidth
from fairpca.rows import ArrayRows


class Published:
    """A published training set in principal axes, maybe with rows 50 standard deviations away, and frames."""

    def __init__(self, data, d, rng, far):
        self.X, groups = data["X_train"].copy(), data["a_train"]
        if far:
            self.X[[3, 40, 41]] += 50 * rng.normal(size=(3, self.X.shape[1]))
        self.codes, self.comparison = by_group(groups)
        self.mean = self.X.mean(axis=0)
        self.axes = PrincipalAxes.of(self.X - self.mean, 0)
        coordinates = self.axes.coordinates(self.X - self.mean)
        self.bandwidth = median_bandwidth(coordinates[:, :d])
        self.exact = exact_mmd(coordinates, self.codes, self.comparison, self.bandwidth)
        fitted = FairPCA(d, tolerance=1e-2, standardize=False, random_state=0)
        fitted.fit(self.X, sensitive_features=groups)
        self.frames = [
            np.eye(self.axes.rank, d),
            np.linalg.qr(self.axes.axes.T @ fitted.components_.T)[0],
            np.linalg.qr(rng.normal(size=(self.axes.rank, d)))[0],
        ]

    def linear(self, n_features):
        rows, coordinates = ArrayRows(self.X, self.codes), Coordinates(self.mean, self.axes.axes)
        return HermiteMMD(rows, coordinates, self.comparison, self.bandwidth, n_features)


@pytest.fixture(params=["german", "compas", "adult"])
def data(request, reference):
    return reference(request.param, 0)


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize(("d", "n_features"), [(2, 200), (5, 300), pytest.param(8, 1000, marks=pytest.mark.slow)])
def test_hermite_agrees_to_the_stated_bound(data, rng, d, n_features, far):
    published = Published(data, d, rng, far)
    mmd = published.linear(n_features)
    sample = mmd.residual_sample(rng, 4096)
    for V in published.frames:
        exact = published.exact.value(V)
        values, bounds = mmd.value_and_bound(V)
        assert np.abs(values - exact) <= bounds + 1e-13
        values, errors = mmd.value_and_error(V, sample)
        assert np.abs(values - exact) <= errors + 1e-13
        assert errors <= bounds
