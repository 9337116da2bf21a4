import numpy as np
import pytest

from comparisons import by_group
from fairpca import FairPCA
from fairpca.data import AxesRequest, prepare_few_rows
from fairpca.geometry import Grassmann
from fairpca.mmd import Scales
from fairpca.solvers import REPMS
from fairpca.solvers._null_axes import leave_saddle
from fairpca.solvers.unconstrained import InnerStatus, Penalised, RiemannianBFGS, minimise

N_ROWS, RANK, D = 200, 7, 3


@pytest.fixture
def one_hot(rng):
    """Return a table of nine columns and rank seven, two numbers and two coded columns, that differ by group."""
    group = np.arange(N_ROWS) % 2
    first, second = rng.integers(0, 3, N_ROWS), rng.integers(0, 4, N_ROWS)
    first[(group == 1) & (rng.random(N_ROWS) < 0.4)] = 0
    second[(group == 1) & (rng.random(N_ROWS) < 0.3)] = 3
    numbers = rng.normal(size=N_ROWS) + 0.5 * group, rng.exponential(size=N_ROWS) * (1 + group)
    return np.column_stack([*numbers, np.eye(3)[first], np.eye(4)[second]]), group


@pytest.fixture
def problem(one_hot):
    X, group = one_hot
    problem = prepare_few_rows(X, *by_group(group), True, AxesRequest(D, Scales.of("median"), n_null=9)).problem.problem
    assert (problem.rank, problem.shape) == (RANK, (9, D))
    return problem


@pytest.fixture
def live_saddle(problem):
    """Return a penalty function with a frame on the live axes where it is stationary, but not least."""
    penalised = Penalised(problem, rho=np.array([300.0]))
    start = np.zeros(problem.shape)
    start[:RANK] = Grassmann().random_point(RANK, D, np.random.default_rng(1))
    result = RiemannianBFGS().minimise(penalised, Grassmann(), penalised.sample(start), 1e-8)
    assert result.status is InnerStatus.GRADIENT_SMALL
    assert not result.sample.point[RANK:].any()
    return penalised, result.sample


def test_a_saddle_is_left_until_there_is_none(live_saddle, problem):
    penalised, here = live_saddle
    left = 0
    while (lower := leave_saddle(penalised, Grassmann(), here, 1e-6)) is not None:
        here = minimise(penalised, Grassmann(), lower, 1e-6).sample
        left += 1
    assert 1 <= left <= D
    assert np.linalg.norm(here.point[RANK:]) > 0.1
    assert np.linalg.eigvalsh(here.point.T @ here.gradient).max() <= 1e-6


@pytest.mark.parametrize("init", ["mean-matched", "auxiliary"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-5])
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NullComponentsWarning")
def test_algorithm_1_meets_a_strict_tolerance_on_one_hot_columns(one_hot, init, tolerance):
    X, group = one_hot
    model = FairPCA(D, tolerance=tolerance, solver=REPMS(n_restarts=0), init=init, random_state=0)
    model.fit(X, sensitive_features=group)
    assert model.converged_
    assert model.mmd2_ <= tolerance
    scaled = (X - model.mean_) / model.scale_
    spread = np.sort((scaled @ model.components_.T).var(axis=0))[::-1]
    assert np.sum(spread > 1e-10) == model.n_live_components_
    assert model.result_.variance_kept == pytest.approx(spread.sum() / 9)
