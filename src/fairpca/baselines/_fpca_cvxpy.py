"""The semidefinite program of FPCA as it is written down, for a general-purpose solver."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from scipy.linalg import null_space

from fairpca._utils.extras import require
from fairpca._utils.typing import FloatArray
from fairpca.baselines._problem import Moments


def solve_fpca_sdp(
    rows: FloatArray,
    groups: Any,
    n_components: int,
    *,
    delta: float = 0.0,
    mu: float = 0.01,
    form: str = "published",
    solver: str | None = None,
) -> tuple[FloatArray, float]:
    """Solve FPCA's program through cvxpy; the reference against which `FPCA` is tested.

    It takes seconds at p = 20 and grows with about the fifth power of p: not for larger tables.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Centred (and scaled) rows.
    groups : array-like of shape (n,)
        Two distinct labels.
    n_components : int
        d.
    delta, mu, form
        As in `FPCA`.
    solver : str or None, default=None
        Name of a solver known to cvxpy; None takes MOSEK where it is installed, otherwise Clarabel.

    Returns
    -------
    projection_matrix : ndarray of shape (p, p)
        P*.
    objective : float
        Its value.
    """
    cp = require("cvxpy", "sdp")
    labels = np.asarray(groups)
    moments = Moments.of(rows, labels == np.unique(labels)[0])
    a, b = moments.shifts(form)
    # P f = 0 leaves positive semidefinite P no interior in p dimensions, but it has one in the complement of f.
    basis = null_space(moments.f[None, :]) if delta == 0.0 else np.eye(len(moments.f))
    C, Q, f = basis.T @ moments.C @ basis, basis.T @ moments.Q @ basis, basis.T @ moments.f
    one = np.eye(len(C))
    P = cp.Variable(C.shape, symmetric=True)
    constraints = [P >> 0, one - P >> 0]
    constraints.append(cp.trace(P) == n_components if form == "published" else cp.trace(P) <= n_components)
    if delta > 0.0:
        constraints.append(f @ P @ f <= delta**2)
    squares = [cp.square(cp.sigma_max(_square_root(shifted) @ P)) for shifted in (Q + a * one, b * one - Q)]
    penalty = sum(squares) if form == "published" else cp.maximum(*squares)
    # Interior-point tolerances are absolute in part: bring the objective to the order of 1.
    scale = float(np.trace(C))
    problem = cp.Problem(cp.Maximize(cp.trace((C / scale) @ P) - (mu / scale) * penalty), constraints)
    name = solver or ("MOSEK" if "MOSEK" in cp.installed_solvers() else "CLARABEL")
    # Clarabel's own scaling of the rows makes its factorisation fail on some of these programs.
    options = {"equilibrate_enable": False} if name == "CLARABEL" else {}
    problem.solve(solver=name, **options)
    if P.value is None:
        raise RuntimeError(f"cvxpy found no solution: its status is {problem.status!r}.")
    return basis @ P.value @ basis.T, scale * float(problem.value)


def _square_root(matrix: FloatArray) -> FloatArray:
    """Return a symmetric root of a positive semidefinite matrix."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
