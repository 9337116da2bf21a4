import warnings
from itertools import pairwise

import numpy as np
import pymanopt
import pytest

from comparisons import problem_of
from fairpca import FairPCA
from fairpca.exceptions import ConvergenceWarning
from fairpca.geometry import Grassmann, projection_distance
from fairpca.solvers import REPMS, Budget, Status
from fairpca.solvers._line_search import Trial, wolfe_search
from fairpca.solvers.unconstrained import Penalised, minimise


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


def test_a_tolerance_out_of_reach_is_told(two_groups):
    X, group = two_groups
    solver = REPMS(rho_max=1e3, n_restarts=1)
    with pytest.warns(ConvergenceWarning, match=r"did not meet tolerance=1e-06.*smallest MMD\^2 found .* raise"):
        model = FairPCA(5, tolerance=1e-6, solver=solver, random_state=0).fit(X, sensitive_features=group)
    assert not model.converged_
    assert model.result_.status is Status.TOLERANCE_NOT_MET
    assert model.mmd2_ >= model.result_.smallest_mmd2 > 1e-6


@pytest.mark.parametrize("split", [0, 1, 2])
def test_repms_lands_on_the_published_answer(reference, split):
    data = reference("german", split)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = FairPCA(10, tolerance=1e-3, solver="repms").fit(data["X_train"], sensitive_features=data["a_train"])
    assert projection_distance(model.components_.T, data["V_mbf_d10_tau1e-3"]) < 0.02


# Settings: what is of another kind or out of range is refused when they are made.

REFUSED = {
    TypeError: [
        *((Budget, "n_starts", value) for value in (2.5, True)),
        (Budget, "allow_null", "no"),
        (Budget, "gain_tolerance", "1e-8"),
        (REPMS, "n_restarts", None),
    ],
    ValueError: [
        *((Budget, "n_starts", value) for value in (0, 5000)),
        *((Budget, name, 0) for name in ("max_cycles", "gain_tolerance", "max_seconds")),
        *((REPMS, name, 0) for name in ("epsilon_0", "rho_max", "max_iter")),
        (REPMS, "theta_epsilon", 2),
        (REPMS, "retraction", "exp"),
    ],
}


@pytest.mark.parametrize("error", REFUSED)
def test_a_refusal_names_the_setting_what_came_and_what_is_allowed(error):
    for solver, name, value in REFUSED[error]:
        with pytest.raises(error) as caught:
            solver(**{name: value})
        message = str(caught.value)
        assert name in message
        assert repr(value) in message
        assert "must be" in message or "choose one of" in message


def test_numbers_of_numpy_are_numbers():
    Budget(n_starts=np.int64(3), gain_tolerance=np.float32(1e-6), allow_null=np.True_)
    REPMS(max_iter=np.uint8(5), rho_max=np.float64(1e8))


def test_zero_tolerance_is_explained(two_groups):
    X, group = two_groups
    with pytest.raises(ValueError, match=r"tolerance=0.0 must be greater than 0 .* 1e-8 is the smallest"):
        FairPCA(2, tolerance=0.0).fit(X, sensitive_features=group)
