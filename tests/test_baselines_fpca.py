import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import null_space
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from fairpca.baselines import FPCA, TiedEigenvaluesWarning
from fairpca.data import PrincipalAxes
from fairpca.exceptions import ConvergenceWarning, NoSensitiveFeaturesWarning, RankWarning
from fairpca.geometry import projection_distance


def sample(rng, p, rank, n=90):
    """Return standardised rows of the given rank, and two groups that differ in mean and covariance."""
    group = rng.integers(0, 2, n)
    X = rng.normal(size=(n, rank))
    X[group == 1] = X[group == 1] * rng.uniform(0.5, 2, rank) + rng.normal(size=rank) / 2
    return StandardScaler().fit_transform(X @ rng.normal(size=(rank, p))), group


def moments(X, group):
    labels = np.unique(group)
    parts = [X[group == label] for label in labels]
    f = parts[0].mean(axis=0) - parts[1].mean(axis=0)
    Q = np.cov(parts[0].T, bias=True) - np.cov(parts[1].T, bias=True)
    return X.T @ X / (len(X) * np.linalg.norm(X)), Q, f


def objective(P, X, group, mu, form):
    """Evaluate the program from its definition."""
    C, Q, _ = moments(X, group)
    eigenvalues, vectors = np.linalg.eigh(Q)
    a, b = max(0, -eigenvalues[0]), max(0, eigenvalues[-1])
    if form == "text":
        a = b = max(a, b)
    plus = np.sqrt(np.maximum(eigenvalues + a, 0))[:, None] * vectors.T
    minus = np.sqrt(np.maximum(b - eigenvalues, 0))[:, None] * vectors.T
    squares = [np.linalg.norm(S @ P, 2) ** 2 for S in (plus, minus)]
    return np.vdot(C, P) - mu * (max(squares) if form == "text" else sum(squares))


def root(matrix):
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T


def solved_by_clarabel(X, group, n_components, delta, mu, form):
    """Return P* and the objective of the program as it is written down, from an interior-point method."""
    C, Q, f = moments(X, group)
    # P f = 0 leaves positive semidefinite P no interior in p dimensions, but it has one in the complement of f.
    basis = null_space(f[None, :]) if delta == 0.0 else np.eye(len(f))
    eigenvalues = np.linalg.eigvalsh(Q)
    a, b = max(0, -eigenvalues[0]), max(0, eigenvalues[-1])
    if form == "text":
        a = b = max(a, b)
    C, Q, f, one = basis.T @ C @ basis, basis.T @ Q @ basis, basis.T @ f, np.eye(basis.shape[1])
    P = cp.Variable(C.shape, symmetric=True)
    constraints = [P >> 0, one - P >> 0]
    constraints.append(cp.trace(P) == n_components if form == "published" else cp.trace(P) <= n_components)
    if delta > 0.0:
        constraints.append(f @ P @ f <= delta**2)
    squares = [cp.square(cp.sigma_max(root(shifted) @ P)) for shifted in (Q + a * one, b * one - Q)]
    penalty = sum(squares) if form == "published" else cp.maximum(*squares)
    # Interior-point tolerances are absolute in part: bring the objective to the order of 1.
    scale = float(np.trace(C))
    program = cp.Problem(cp.Maximize(cp.trace((C / scale) @ P) - (mu / scale) * penalty), constraints)
    # Clarabel's own scaling of the rows makes its factorisation fail on some of these programs.
    program.solve(solver="CLARABEL", equilibrate_enable=False)
    return basis @ P.value @ basis.T, scale * float(program.value)


@pytest.mark.filterwarnings("ignore::fairpca.baselines.TiedEigenvaluesWarning")
@pytest.mark.parametrize("form", ["published", "text"])
@pytest.mark.parametrize("delta", [0.0, 0.2])
@pytest.mark.parametrize(
    ("p", "rank", "d", "mu"), [(8, 8, 2, 0.03), (12, 9, 4, 0.01), pytest.param(16, 16, 4, 0.02, marks=pytest.mark.slow)]
)
def test_agrees_with_a_general_purpose_solver(rng, form, delta, p, rank, d, mu):
    X, group = sample(rng, p, rank)
    model = FPCA(d, delta=delta, mu=mu, form=form).fit(X, sensitive_features=group)
    P, value = solved_by_clarabel(X, group, d, delta, mu, form)
    assert model.converged_
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    # On null axes the text's tr P <= d leaves P undetermined, and an interior-point method ends in the middle.
    axes = PrincipalAxes.of(X, p)
    live = axes.axes[:, : axes.rank]
    np.testing.assert_allclose(live.T @ model.projection_matrix_ @ live, live.T @ P @ live, atol=5e-4)


@pytest.mark.filterwarnings("ignore::fairpca.baselines.TiedEigenvaluesWarning")
@pytest.mark.parametrize("form", ["published", "text"])
@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("mu", [0.0, 1e-3, 0.1, 5.0])
def test_solution_is_feasible_and_its_certificate_holds(rng, form, delta, mu):
    X, group = sample(rng, 9, 7)
    model = FPCA(3, delta=delta, mu=mu, form=form).fit(X, sensitive_features=group)
    P = model.projection_matrix_
    eigenvalues = np.linalg.eigvalsh(P)
    f = moments(X, group)[2]
    assert eigenvalues[0] >= -1e-10
    assert eigenvalues[-1] <= 1 + 1e-10
    assert f @ P @ f <= delta**2 + 1e-10
    if form == "published":
        assert np.trace(P) == pytest.approx(3)
    else:
        assert np.trace(P) <= 3 + 1e-10
    assert model.objective_ == pytest.approx(objective(P, X, group, mu, form), abs=1e-9)
    variances = np.linalg.eigvalsh(moments(X, group)[0])[-3:].sum()
    assert 0 <= model.duality_gap_ <= 1e-7 * max(variances, abs(model.objective_))


@pytest.mark.filterwarnings("ignore::fairpca.baselines.TiedEigenvaluesWarning")
@pytest.mark.parametrize("form", ["published", "text"])
@pytest.mark.parametrize("delta", [0.0, 0.5])
@pytest.mark.parametrize("mu", [1e-4, 0.3, 30.0])
@pytest.mark.parametrize("scale", [1e-3, pytest.param(1.0, marks=pytest.mark.slow), 1e3])
def test_converges_on_heavy_tails_small_groups_and_any_scale(rng, form, delta, mu, scale):
    X = scale * rng.standard_t(2.5, size=(80, 7)) @ rng.normal(size=(7, 9))
    group = np.arange(80) < 4
    X[group] = 3 * X[group] + scale
    model = FPCA(3, delta=delta, mu=mu, form=form, standardize=False).fit(X, sensitive_features=group)
    assert model.converged_


def test_delta_zero_makes_the_means_equal_and_mu_brings_the_covariances_closer(two_groups):
    X, group = two_groups

    def spread(model):
        Z = model.transform(X)
        return np.linalg.norm(np.cov(Z[group == "a"].T) - np.cov(Z[group == "b"].T), 2)

    weak = FPCA(2, mu=1e-4).fit(X, sensitive_features=group)
    strong = FPCA(2, mu=1.0).fit(X, sensitive_features=group)
    for model in (weak, strong):
        Z = model.transform(X)
        np.testing.assert_allclose(Z[group == "a"].mean(axis=0), Z[group == "b"].mean(axis=0), atol=1e-10)
    assert spread(strong) < spread(weak)
    assert strong.score(X) < weak.score(X)


def test_without_covariance_penalty_it_is_pca_orthogonal_to_the_mean_difference(two_groups):
    X, group = two_groups
    model = FPCA(2, mu=0, standardize=False).fit(X, sensitive_features=group)
    centred = X - X.mean(axis=0)
    basis = null_space(moments(centred, group)[2][None, :])
    expected = basis @ PCA(2).fit(centred @ basis).components_.T
    assert projection_distance(model.components_.T, expected) < 1e-7
    assert model.objective_ == pytest.approx(model.rounded_objective_)


def test_groups_on_a_line_leave_only_null_axes(rng):
    X = np.outer(rng.normal(size=30), [1.0, 2.0, -1.0])
    group = (X[:, 0] > 0).astype(int)
    with pytest.warns(TiedEigenvaluesWarning):
        model = FPCA(1).fit(X, sensitive_features=group)
    np.testing.assert_allclose(model.transform(X), 0, atol=1e-10)


@pytest.mark.parametrize("form", ["published", "text"])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_stiefel_rounding_improves_the_objective_and_keeps_the_means(two_groups, form, delta):
    X, group = two_groups
    rounded = FPCA(2, delta=delta, mu=0.05, form=form).fit(X, sensitive_features=group)
    direct = FPCA(2, delta=delta, mu=0.05, form=form, rounding="stiefel").fit(X, sensitive_features=group)
    scaled = StandardScaler().fit_transform(X)
    V = direct.components_.T
    assert np.linalg.norm(V.T @ moments(scaled, group)[2]) <= delta + 1e-10
    value = objective(V @ V.T, scaled, group, 0.05, form)
    assert direct.rounded_objective_ == pytest.approx(value, abs=1e-10)
    assert value <= direct.objective_ + direct.duality_gap_ + 1e-12
    if delta == 0.0:  # otherwise the eigenvectors may be outside the constraint
        assert value >= rounded.rounded_objective_


def test_a_tie_is_reported():
    # A full factorial design: every direction has the same variance and both groups are the same.
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T
    X, group = np.vstack([corners, corners]), np.repeat(["a", "b"], 16)
    with pytest.warns(TiedEigenvaluesWarning, match="eigenvalues 2 and 3"):
        model = FPCA(2).fit(X, sensitive_features=group)
    assert model.tied_
    np.testing.assert_allclose(model.projection_matrix_, np.eye(4) / 2, atol=1e-6)


def test_too_few_iterations_are_reported(two_groups):
    X, group = two_groups
    with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
        model = FPCA(2, max_iter=3).fit(X, sensitive_features=group)
    assert not model.converged_
    assert model.n_iter_ == 3
    assert model.duality_gap_ > 0


def test_without_groups_it_is_pca(two_groups):
    X, _ = two_groups
    with pytest.warns(NoSensitiveFeaturesWarning, match="FPCA was fitted without"):
        model = FPCA(2, standardize=False).fit(X)
    V = PCA(2).fit(X).components_.T
    assert projection_distance(model.components_.T, V) < 1e-7
    np.testing.assert_allclose(model.projection_matrix_, V @ V.T, atol=1e-6)


def test_components_above_the_rank_are_null(rng):
    X, group = sample(rng, 6, 2)
    with pytest.warns((RankWarning, TiedEigenvaluesWarning)) as record:
        model = FPCA(4).fit(X, sensitive_features=group)
    assert {w.category for w in record} == {RankWarning, TiedEigenvaluesWarning}
    np.testing.assert_allclose(model.explained_variance_[1:], 0, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"delta": -1}, ValueError, "delta=-1 must be a finite number >= 0"),
        ({"mu": np.inf}, ValueError, "mu=inf"),
        ({"form": "paper"}, ValueError, r"form='paper' is unknown; choose one of \['published', 'text'\]"),
        ({"standardize": "yes"}, TypeError, "standardize must be True or False; got 'yes'"),
        ({"max_iter": 0}, ValueError, "max_iter=0 must be at least 1"),
        ({"n_components": 6}, ValueError, "cannot meet delta=0.0: ask for at most 5 components"),
        ({"standardize": False}, ValueError, r"variances up to .* squares overflow; use standardize=True"),
    ],
)
def test_bad_arguments_are_refused(two_groups, parameters, error, match):
    X, group = two_groups
    with pytest.raises(error, match=match):
        FPCA(**parameters).fit(X * 1e80, sensitive_features=group)
