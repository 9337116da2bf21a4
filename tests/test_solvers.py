import warnings
from itertools import pairwise

import numpy as np
import pymanopt
import pytest

from comparisons import exact_parity, problem_of
from fairpca import FairPCA
from fairpca.exceptions import ConvergenceWarning
from fairpca.geometry import Grassmann, projection_distance
from fairpca.solvers import REPMS, Status
from fairpca.solvers._line_search import Trial, wolfe_search
from fairpca.solvers.unconstrained import InnerStatus, Penalised, RiemannianBFGS, SaddleFreeMetric, Sample, minimise

P, D = 12, 3


class Brockett:
    """-tr(V'AV): its minimisers on the Grassmann manifold span the top eigenvectors of A."""

    def __init__(self, A):
        self.A = A

    def sample(self, point):
        return Sample(point, -float(np.vdot(point, self.A @ point)), -2 * self.A @ point, None)

    def hessian(self, here, complement):
        inside, outside = (basis.T @ self.A @ basis for basis in (here.point, complement))
        return 2 * (np.kron(inside, np.eye(len(outside))) - np.kron(np.eye(len(inside)), outside))


@pytest.fixture
def brockett(rng):
    B = rng.normal(size=(P, P))
    return Brockett(B @ B.T)


def bfgs_with_the_hessian(objective, manifold, start, gradient_tolerance):
    metric = SaddleFreeMetric.at(start, objective)
    return RiemannianBFGS(metric=metric).minimise(objective, manifold, start, gradient_tolerance)


each_method = pytest.mark.parametrize("method", [RiemannianBFGS().minimise, bfgs_with_the_hessian, minimise])


@each_method
def test_every_method_finds_the_top_eigenvectors(method, brockett, rng):
    manifold = Grassmann()
    start = brockett.sample(manifold.random_point(P, D, rng))
    result = method(brockett, manifold, start, 1e-6)
    assert result.status is InnerStatus.GRADIENT_SMALL
    assert result.gradient_norm <= 1e-6
    top = np.linalg.eigh(brockett.A)[1][:, -D:]
    assert projection_distance(result.sample.point, top) < 1e-5


@each_method
def test_a_stationary_start_is_returned_as_it_is(method, brockett):
    top = np.linalg.eigh(brockett.A)[1][:, -D:]
    result = method(brockett, Grassmann(), brockett.sample(top), 1e-6)
    assert result.n_iter == 0
    assert result.sample.point is top


def test_the_iteration_limit_is_told(brockett, rng):
    start = brockett.sample(Grassmann().random_point(P, D, rng))
    result = RiemannianBFGS(max_iter=2).minimise(brockett, Grassmann(), start, 1e-12)
    assert result.status is InnerStatus.MAX_ITERATIONS
    assert result.sample.value < start.value


@each_method
def test_an_unreachable_gradient_ends_at_the_rounding_limit(method, brockett, rng):
    start = brockett.sample(Grassmann().random_point(P, D, rng))
    result = method(brockett, Grassmann(), start, 0.0)
    assert result.status is not InnerStatus.GRADIENT_SMALL
    assert result.gradient_norm < 1e-5


@pytest.mark.parametrize("initial_step", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("function", [lambda t: (t - 2) ** 2, lambda t: -t / (t * t + 2), lambda t: (t - 1) ** 4 + 5])
def test_wolfe_conditions_hold_from_any_first_step(function, initial_step):
    def derivative(t):
        return (function(t + 1e-6) - function(t - 1e-6)) / 2e-6

    def try_step(t):
        return Trial(t, function(t), derivative(t), None)

    trial = wolfe_search(try_step, function(0.0), derivative(0.0), initial_step)
    assert trial.value <= function(0.0) + 1e-4 * trial.step * derivative(0.0)
    assert trial.slope >= 0.9 * derivative(0.0)


def test_line_search_gives_up_on_an_ascent_direction():
    assert wolfe_search(lambda t: Trial(t, t, 1.0, None), 0.0, -1.0, 1.0) is None


def test_slopes_decide_where_values_are_noise():
    def try_step(t):
        return Trial(t, 1.0 + 1e-9 * np.cos(1e6 * t), t - 1.0, None)

    assert wolfe_search(try_step, 1.0, -1.0, 1.0) is None
    assert wolfe_search(try_step, 1.0, -1.0, 1.0, rounding=1e-8).step == pytest.approx(1.0, abs=0.9)


def test_large_manifolds_are_left_to_bfgs_alone(rng, monkeypatch):
    monkeypatch.setattr("fairpca.solvers.unconstrained.PATIENCE", 1)
    B = rng.normal(size=(100, 100))
    brockett = Brockett(B @ B.T)
    brockett.hessian = None
    start = brockett.sample(Grassmann().random_point(100, 20, rng))
    result = minimise(brockett, Grassmann(), start, 1e-2)
    assert result.status is InnerStatus.GRADIENT_SMALL
    assert result.n_iter > 1


def test_line_search_steps_back_from_values_that_are_not_finite():
    def try_step(t):
        return Trial(t, (t - 0.5) ** 2 if t < 1 else np.inf, 2 * (t - 0.5), None)

    assert wolfe_search(try_step, 0.25, -1.0, 64.0).step < 1


def test_the_penalty_function_is_minimised_as_by_pymanopt(two_groups):
    penalised, geometry = Penalised(problem_of(*two_groups), np.array([30.0])), pymanopt.manifolds.Grassmann(6, 2)
    start = penalised.sample(penalised.problem.pca())
    problem = pymanopt.Problem(
        geometry,
        pymanopt.function.numpy(geometry)(lambda V: penalised.sample(V).value),
        euclidean_gradient=pymanopt.function.numpy(geometry)(lambda V: penalised.sample(V).gradient),
    )
    optimizer = pymanopt.optimizers.ConjugateGradient(verbosity=0, min_gradient_norm=1e-6)
    expected = optimizer.run(problem, initial_point=start.point)
    result = minimise(penalised, Grassmann(), start, 1e-6)
    assert result.sample.value < start.value - 0.1
    assert projection_distance(result.sample.point, expected.point) < 1e-4


def test_repms_follows_algorithm_1(two_groups):
    X, group = two_groups
    settings = REPMS(theta_rho=3.0, epsilon_0=1e-2, epsilon_min=1e-5, theta_epsilon=0.1)
    model = FairPCA(2, tolerance=1e-4, solver=settings).fit(X, sensitive_features=group)
    steps = model.result_.steps
    pca = FairPCA(2, tolerance=10.0).fit(X, sensitive_features=group)
    assert steps[0].penalty == pytest.approx(1 / pca.mmd2_)
    assert [step.gradient_tolerance for step in steps[:5]] == pytest.approx([1e-2, 1e-3, 1e-4, 1e-5, 1e-5])
    for before, after in pairwise(steps):
        assert after.penalty == pytest.approx(before.penalty * (3.0 if before.mmd2 > 1e-4 else 1.0))
    assert all(step.gradient_norm <= step.gradient_tolerance for step in steps)
    assert steps[-1].step_length <= settings.d_min
    assert steps[-1].mmd2 <= 1e-4
    assert sum(step.n_gradients for step in steps) < model.result_.n_gradients


def test_the_answer_is_a_local_minimum_of_the_penalty_function(two_groups, rng):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3, solver="repms").fit(X, sensitive_features=group)
    rho = model.result_.steps[-1].penalty
    scaled = (X - model.mean_) / model.scale_
    mmd = exact_parity(scaled, group, model.bandwidth_)

    def penalty(matrix):
        V = np.linalg.qr(matrix)[0]
        return -np.sum((scaled @ V) ** 2) / np.sum(scaled**2) + rho * mmd.value(V)[0]

    here = penalty(model.components_.T)
    for _ in range(10):
        assert penalty(model.components_.T + 0.02 * rng.normal(size=(6, 2))) >= here


def test_a_tolerance_out_of_reach_is_told(two_groups):
    X, group = two_groups
    solver = REPMS(rho_max=1e3, n_restarts=1)
    with pytest.warns(ConvergenceWarning, match=r"did not meet tolerance=1e-06.*smallest MMD\^2 found .* raise"):
        model = FairPCA(5, tolerance=1e-6, solver=solver, random_state=0).fit(X, sensitive_features=group)
    assert not model.converged_
    assert model.result_.status is Status.TOLERANCE_NOT_MET
    assert model.mmd2_ >= model.result_.smallest_mmd2 > 1e-6


def test_too_few_outer_steps_are_told(two_groups):
    X, group = two_groups
    with pytest.warns(ConvergenceWarning, match="the limit of outer iterations was reached"):
        model = FairPCA(2, tolerance=1e-6, solver=REPMS(max_iter=1, n_restarts=0)).fit(X, sensitive_features=group)
    assert model.n_iter_ == 2


def test_pca_that_is_fair_enough_is_returned_at_once(two_groups):
    X, group = two_groups
    model = FairPCA(2, tolerance=10.0).fit(X, sensitive_features=group)
    assert model.result_.status is Status.PCA_IS_FAIR
    assert model.converged_
    assert model.n_iter_ == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon_0": 0}, "epsilon_0=0 must be greater than 0"),
        ({"rho_max": -1}, "rho_max=-1 must be greater than 0"),
        ({"theta_rho": 1.0}, "theta_rho=1.0 must be greater than 1"),
        ({"theta_epsilon": 2}, "theta_epsilon=2 must be between 0 and 1"),
        ({"max_iter": 0}, "max_iter=0 must be at least 1"),
        ({"retraction": "exp"}, r"retraction='exp' is unknown; choose one of \['polar', 'qr'\]"),
    ],
)
def test_bad_hyperparameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        REPMS(**settings)


@pytest.mark.parametrize("split", [0, 1, 2])
def test_repms_lands_on_the_published_answer(reference, split):
    data = reference("german", split)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = FairPCA(10, tolerance=1e-3, solver="repms").fit(data["X_train"], sensitive_features=data["a_train"])
    assert projection_distance(model.components_.T, data["V_mbf_d10_tau1e-3"]) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["repms", "budget"])
def test_compas_in_ten_dimensions_reports_what_is_attainable(reference, solver):
    data = reference("compas", 0)
    model = FairPCA(10, tolerance=1e-3, solver=solver, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(data["X_train"], sensitive_features=data["a_train"])
    messages = [str(warning.message) for warning in caught]
    assert any("smallest MMD^2 found" in message for message in messages)
    assert any("rank of the data, 9" in message for message in messages)
    assert not model.converged_
    assert model.mmd2_ >= model.result_.smallest_mmd2 > 1e-3
