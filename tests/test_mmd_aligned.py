"""A discrepancy of subspaces made from one of frames."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
from scipy.stats import ortho_group

from comparisons import by_group
from fairpca.geometry import taylor_slope
from fairpca.mmd import Coordinates, HermiteMMD
from fairpca.mmd._aligned import AlignedMMD
from fairpca.rows import ArrayRows


@pytest.fixture
def aligned(rng):
    X = rng.normal(size=(300, 6)) * [3, 2, 2, 1, 1, 1]
    codes, comparison = by_group(rng.permutation(np.arange(300) % 3 == 0))
    anchor = np.linalg.qr(rng.normal(size=(6, 4)))[0]
    coordinates = Coordinates(X.mean(axis=0), np.eye(6))
    rough = HermiteMMD(ArrayRows(X, codes), coordinates, comparison, 1.5, n_features=12)
    return AlignedMMD(rough.anchored(anchor), anchor), rough.anchored(anchor), anchor


def test_the_frame_of_a_subspace_does_not_matter(aligned, rng):
    mmd, rough, anchor = aligned
    V = np.linalg.qr(anchor + 0.3 * rng.normal(size=anchor.shape))[0]
    turned = V @ ortho_group.rvs(4, random_state=0)
    np.testing.assert_allclose(mmd.value(turned), mmd.value(V), rtol=1e-12)
    assert abs(rough.value(turned)[0] / rough.value(V)[0] - 1) > 1e-3


def test_gradient_goes_through_the_alignment(aligned, rng):
    mmd, _, anchor = aligned
    V, E = anchor + 0.3 * rng.normal(size=anchor.shape), rng.normal(size=anchor.shape)
    value, (gradient,) = mmd.evaluate(V)

    def remainder(t):
        return float(mmd.value(V + t * E)[0] - value[0] - t * np.vdot(gradient, E))

    assert taylor_slope(remainder, np.logspace(-4, -2, 8)) == pytest.approx(2, abs=0.1)
