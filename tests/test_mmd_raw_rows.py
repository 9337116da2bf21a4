"""Exact discrepancies of raw rows are those of their coordinates."""
# SPDX-License-Identifier: MIT

import numpy as np

from comparisons import by_group, exact_mmd
from fairpca.mmd import RawRowsMMD


def test_all_that_a_solver_asks_for(rng):
    n, p, r, d = 120, 9, 7, 2
    X, matrix = rng.normal(size=(n, p)) * np.logspace(0, 3, p), rng.normal(size=(p, r)) * np.logspace(0, -3, p)[:, None]
    X[5] *= 40  # stands alone
    codes, comparison = by_group(np.arange(n) % 3)
    plain = exact_mmd(X @ matrix, codes, comparison, 3.0)
    raw = RawRowsMMD(exact_mmd(X, codes, comparison, 3.0), matrix)
    frame = np.linalg.qr(rng.normal(size=(r, r)))[0]
    V, Q = frame[:, :d], frame[:, d:]
    np.testing.assert_allclose(raw.value(V), plain.value(V), rtol=1e-10)
    for of_raw, of_plain in zip(raw.evaluate(V), plain.evaluate(V), strict=True):
        np.testing.assert_allclose(of_raw, of_plain, rtol=1e-8, atol=1e-13)
    multipliers = np.array([1.0, 0.5, 2.0])
    gradient = np.tensordot(multipliers, plain.evaluate(V)[1], axes=1)
    hessians = (each.hessian(V, Q[:, :3], gradient, multipliers) for each in (raw, plain))
    np.testing.assert_allclose(*hessians, rtol=1e-8, atol=1e-12)
    towards, expected = (each.isolated_directions(V, np.full(3, 1e-5)) for each in (raw, plain))
    assert expected.shape[1] > 0
    np.testing.assert_allclose(towards, expected, rtol=1e-8, atol=1e-12)
    axes, inside = np.hstack([V, Q[:, :2]]), np.linalg.qr(np.arange(8.0).reshape(4, 2) ** 2 + 1)[0]
    np.testing.assert_allclose(raw.along(axes).value(inside), plain.value(axes @ inside), rtol=1e-10)
