import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from comparisons import by_group, exact_parity, problem_of
from fairpca import FairPCA
from fairpca.exceptions import ConvergenceWarning, NullComponentsWarning
from fairpca.geometry import taylor_slope
from fairpca.problem import strain
from fairpca.solvers import Budget, Status
from fairpca.solvers._limits import VISIBLE
from fairpca.solvers._metric import Metric
from fairpca.solvers._two_loop import CurvedPair
from fairpca.solvers.budget import _curvature
from fairpca.solvers.budget._chart import Chart
from fairpca.solvers.budget._curvature import Model
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._lagrangian import Lagrangian
from fairpca.solvers.budget._random import turned_frame, varied_frame
from fairpca.solvers.budget._run import BudgetRun
from fairpca.solvers.budget._run_terms import CAREFUL, ROUGH, RunSettings
from fairpca.solvers.budget._starts import Starts
from fairpca.solvers.budget._thinning import ThinningRun


@pytest.fixture(params=[2, 3], ids=["two groups", "three groups"])
def problem(request, two_groups):
    """Return a problem of one measure, or one of three."""
    X, group = two_groups
    return problem_of(X, group if request.param == 2 else np.where(np.arange(300) % 5 == 0, "c", group))


@pytest.fixture
def multipliers(problem):
    return np.array([3.0, 0.5, 1.0])[: problem.n_measures]


@pytest.fixture
def frame(rng):
    return np.linalg.qr(rng.normal(size=(6, 2)))[0]


def point_at(chart, problem, b):
    place = chart.at(b)
    return place.read(problem.evaluate(place.frame))


def test_chart_gradients_have_the_right_taylor_slope_away_from_the_centre(problem, multipliers, frame, rng):
    chart = Chart.around(frame, problem.shares, problem.rank)
    here, direction = 0.3 * rng.normal(size=chart.dimension), rng.normal(size=chart.dimension)
    lagrangian = Lagrangian(multipliers, targets=0.01 * multipliers, stiffness=50.0 * multipliers)
    point = point_at(chart, problem, here)
    slope = lagrangian.gradient(point) @ direction

    def remainder(t):
        return lagrangian.value(point_at(chart, problem, here + t * direction)) - lagrangian.value(point) - t * slope

    assert taylor_slope(remainder, np.logspace(-4, -2, 10)) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, 30.0, 1e6])
@pytest.mark.parametrize(("p", "d", "rank"), [(5, 1, 5), (7, 3, 4), (60, 10, 55), (4, 2, 2), (120, 33, 118)])
@pytest.mark.usefixtures("each_engine")
def test_places_of_a_chart_are_frames_of_their_subspace(p, d, rank, size, rng):
    frame = np.zeros((p, d))
    frame[:rank] = np.linalg.qr(rng.normal(size=(rank, d)))[0]
    chart = Chart.around(frame, np.arange(p, 0, -1.0) / p, rank)
    place = chart.at(size * rng.normal(size=chart.dimension))
    np.testing.assert_allclose(place.frame.T @ place.frame, np.eye(d), atol=1e-12)
    spanned = chart.V + chart.Q @ place.b.reshape(d, rank - d).T
    outside = spanned - place.frame @ (place.frame.T @ spanned)
    assert np.abs(outside).max() <= 1e-13 * max(1.0, np.abs(spanned).max())
    np.testing.assert_allclose(spanned @ place.inverse, place.frame, atol=1e-9)


@pytest.mark.parametrize("n_pairs", [0, 1, 7, 16, 20])
@pytest.mark.parametrize("n", [1, 13, 86, 450])
def test_a_metric_multiplies_like_the_inverse_of_the_updated_matrix(n, n_pairs, rng):
    root = rng.normal(size=(n, n))
    matrix = root @ root.T + np.eye(n)
    metric, pairs = Metric(matrix), []
    for _ in range(n_pairs):
        step = rng.normal(size=n)
        pair = CurvedPair.of(step, matrix @ step + 0.1 * step)
        pairs.append(pair)
        seen = matrix @ pair.step
        matrix = matrix - np.outer(seen, seen) / (pair.step @ seen)
        matrix = matrix + np.outer(pair.change, pair.change) / pair.curvature
    gradient = rng.normal(size=n)
    before = gradient.copy()
    np.testing.assert_allclose(matrix @ metric.quasi_newton_product(pairs, gradient), gradient, atol=1e-6)
    np.testing.assert_array_equal(gradient, before)


def test_compiled_products_refuse_what_does_not_fit(native):
    three = np.ones(3)
    with pytest.raises(ValueError, match="agree in shape"):
        native.quasi_newton_product(np.eye(2), [], three)
    with pytest.raises(ValueError, match="agree in shape"):
        native.quasi_newton_product(np.eye(3), [(np.ones(2), three, 1.0)], three)
    with pytest.raises(ValueError, match="too many"):
        native.quasi_newton_product(np.eye(3), [(three, three, 1.0)] * 17, three)
    with pytest.raises(TypeError):
        native.quasi_newton_product(np.eye(3), [(three, 1.0)], three)
    with pytest.raises(ValueError, match="agree in shape"):
        native.complement_of(np.eye(3)[:, :2].copy(), np.eye(3))


def test_gradients_in_a_chart_are_the_same_by_both_engines(native, problem, frame, rng):
    chart = Chart.around(frame, problem.shares, problem.rank)
    place = chart.at(0.5 * rng.normal(size=chart.dimension))
    evaluation = problem.evaluate(place.frame)
    assert chart.is_small
    np.testing.assert_allclose(place._by_loops(evaluation), place._by_products(evaluation), atol=1e-14)
    small, tall = np.ones((2, 2)), np.ones((3, 2))
    with pytest.raises(ValueError, match="agree in shape"):
        native.frame_at(tall, small, small, tall.copy(), small.copy())
    with pytest.raises(ValueError, match="agree in shape"):
        native.gradients_at(tall, small, tall, small, tall, np.ones((1, 2, 2)), np.ones((2, 2, 2)))


@pytest.mark.parametrize("in_ritz_axes", [False, True])
@pytest.mark.parametrize("live", [(0.6, 0.3, 0.1 - 1e-9, 1e-9), (0.25, 0.25, 0.25, 0.25), (0.5, 0.5)])
def test_a_chart_lies_in_ritz_axes_of_the_frame_and_knows_its_complement(live, in_ritz_axes, rng):
    rank, shares = len(live), np.append(live, [0.0, 0.0])
    frame = np.zeros((rank + 2, 2))
    frame[:rank] = np.linalg.qr(rng.normal(size=(rank, 2)))[0]
    chart = Chart.around(frame, shares, rank, in_ritz_axes)
    both = np.hstack([chart.V, chart.Q])
    np.testing.assert_allclose(chart.V, frame @ chart.rotation, atol=1e-14)
    np.testing.assert_allclose(both.T @ both, np.eye(rank), atol=1e-13)
    assert not chart.Q[rank:].any()
    np.testing.assert_allclose((chart.V.T * shares) @ chart.V, np.diag(chart.theta), atol=1e-14)
    inside = (chart.Q.T * shares) @ chart.Q
    if in_ritz_axes:
        np.testing.assert_allclose(inside, np.diag(chart.phi), atol=1e-14)
        assert np.all(np.diff(chart.phi) >= -1e-14)
    for first in range(rank - 2):
        expected = [2 * (inside - theta * np.eye(rank - 2))[first:, first:] for theta in chart.theta]
        np.testing.assert_allclose(chart.variance_blocks(first), expected, atol=1e-14)
    diagonal = 2 * (np.diag(inside) - chart.theta[:, None]).ravel()
    np.testing.assert_allclose(chart.variance_diagonal, diagonal, atol=1e-14)


@pytest.mark.parametrize(
    ("discrepancies", "tolerances", "expected"),
    [
        ([0.2, 0.1], [0.1, 0.4], 2.0),
        ([0.1], [0.0], np.inf),
        ([0.0, -1e-18], [0.0, 1.0], 0.0),
        ([5.0, np.nan], [1.0, 1.0], np.nan),
        ([np.inf], [1.0], np.inf),
        ([1e300], [1e-300], np.inf),
    ],
)
def test_strain_is_the_largest_share_of_a_tolerance(discrepancies, tolerances, expected):
    np.testing.assert_equal(strain(np.array(discrepancies), np.array(tolerances)), expected)


def test_a_spring_that_pulls_nobody_is_at_rest(problem, multipliers, frame):
    chart = Chart.around(frame, problem.shares, problem.rank)
    point = point_at(chart, problem, np.zeros(chart.dimension))
    h = point.evaluation.discrepancies
    slack = Lagrangian(multipliers, targets=h + 1.0, stiffness=2 * multipliers)
    if len(h) == 1:
        # A single constraint is active: its spring pulls from both sides.
        np.testing.assert_allclose(slack.weights(point), -multipliers)
    else:
        np.testing.assert_array_equal(slack.weights(point), 0.0)
        np.testing.assert_array_equal(slack.gradient(point), -point.variance_gradient)
    pressed = Lagrangian(multipliers, targets=0.5 * h, stiffness=2 * multipliers)
    np.testing.assert_allclose(pressed.weights(point), multipliers * (1 + h))


def test_model_is_exact_to_second_order(problem, multipliers, frame, rng):
    model, point = Model.around(problem.evaluate(frame), problem, multipliers)
    direction = rng.normal(size=model.chart.dimension)
    lagrangian = Lagrangian(multipliers, np.zeros_like(multipliers), np.zeros_like(multipliers))
    slope = lagrangian.gradient(point) @ direction
    curvature = direction @ model.lagrangian_hessian(multipliers) @ direction

    def remainder(t):
        value = lagrangian.value(point_at(model.chart, problem, t * direction))
        return value - lagrangian.value(point) - t * slope - t * t * curvature / 2

    assert taylor_slope(remainder, np.logspace(-2.5, -1, 8)) == pytest.approx(3, abs=0.2)


def test_smallest_curvature_is_that_of_the_tangent_space(problem, multipliers, frame):
    model, point = Model.around(problem.evaluate(frame), problem, multipliers)
    for active in (multipliers > 0, multipliers > 0.7, multipliers > 5):
        basis = np.linalg.svd(np.vstack([point.discrepancy_gradients[active], np.zeros(model.chart.dimension)]))[2]
        basis = basis[np.count_nonzero(active) :]
        expected = np.linalg.eigvalsh(basis @ model.lagrangian_hessian(multipliers) @ basis.T)[0]
        assert model.smallest_curvature(point, multipliers, active) == pytest.approx(expected)


def test_metric_shifts_an_indefinite_hessian_until_it_is_positive(rng):
    H = np.diag([-1.0, 2.0, 5.0])
    metric = Metric(H)
    assert metric.shift > 1.0
    g = rng.normal(size=3)
    np.testing.assert_allclose((H + metric.shift * np.eye(3)) @ metric.solve(g), g)
    assert Metric(np.diag([1.0, 2.0])).shift == 0.0
    assert Metric(np.diag([1.0, 2.0]), may_shift=False).is_definite
    assert not Metric(H, may_shift=False).is_definite


def test_a_newton_step_that_the_search_for_multipliers_has_made_is_not_made_again(problem):
    one = np.ones(problem.n_measures)
    # Plain PCA is the minimiser of -variance.
    model, point = Model.around(problem.evaluate(problem.pca()), problem, one)
    free = Lagrangian(1e-3 * one, 1e-3 * one, 0 * one)
    assert model.plain_newton_step(point, free, np.inf) is not None
    metric, step = model.newton_step(point, free, np.inf)
    afresh = replace(model).newton_step(point, free, np.inf)
    np.testing.assert_array_equal(step, afresh[1])
    assert model.newton_step(point, free, np.inf)[0] is metric
    for other in (replace(free, multipliers=2e-3 * one), replace(free, stiffness=one)):
        np.testing.assert_array_equal(
            model.newton_step(point, other, np.inf)[1], replace(model).newton_step(point, other, np.inf)[1]
        )


@pytest.mark.parametrize("likely_level", range(10))
@pytest.mark.parametrize("lowest", [-40.0, -1.0, -1e-3, 1.0])
def test_where_the_shift_is_looked_for_first_does_not_matter(rng, lowest, likely_level):
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    H = (basis * [lowest, 2.0, 5.0, 7.0]) @ basis.T
    plain, hinted = Metric(H), Metric(H, likely_level=likely_level)
    g = rng.normal(size=4)
    assert (hinted.shift, hinted.level) == (plain.shift, plain.level)
    np.testing.assert_array_equal(hinted.solve(g), plain.solve(g))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("standardize", [True, False])
def test_budget_is_met_and_used(two_groups, tolerance, standardize):
    X, group = two_groups
    model = FairPCA(2, tolerance=tolerance, standardize=standardize).fit(X, sensitive_features=group)
    assert model.converged_
    assert 0.99 * tolerance <= model.mmd2_ <= tolerance
    certificate = model.result_.certificate
    assert certificate.kkt_residual < 1e-2
    assert certificate.local_maximum
    assert certificate.budget_used == pytest.approx(model.mmd2_ / tolerance)
    assert model.score(X) < certificate.variance_bound


def test_budget_keeps_more_than_repms(two_groups):
    X, group = two_groups
    for tolerance in (1e-2, 1e-3, 1e-4):
        budget, repms = (
            FairPCA(2, tolerance=tolerance, solver=solver).fit(X, sensitive_features=group)
            for solver in ("budget", "repms")
        )
        assert budget.score(X) > repms.score(X)


def test_no_nearby_subspace_in_the_budget_keeps_more(two_groups, rng):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    scaled = (X - model.mean_) / model.scale_
    mmd = exact_parity(scaled, group, model.bandwidth_)
    kept = np.sum((scaled @ model.components_.T) ** 2)
    slack = model.result_.certificate.multiplier * 2e-3 * 1e-3 * np.sum(scaled**2)
    for scale in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            V = np.linalg.qr(model.components_.T + scale * rng.normal(size=(6, 2)))[0]
            if mmd.value(V)[0] <= model.mmd2_:
                assert np.sum((scaled @ V) ** 2) <= kept + slack


def test_evaluations_are_few_and_counted(reference):
    for name, d in (("german", 2), ("german", 10), ("compas", 2)):
        data = reference(name, 0)
        result = FairPCA(d, tolerance=1e-3).fit(data["X_train"], sensitive_features=data["a_train"]).result_
        assert 0 < result.n_gradients <= 60
        assert 0 < result.n_hessians <= 15


@pytest.mark.parametrize(("name", "d", "margin"), [("german", 2, 0.2), ("german", 10, 0.3), ("compas", 2, 0.1)])
@pytest.mark.parametrize("split", [0, 1, 2])
def test_more_variance_than_the_published_answer(reference, name, d, margin, split):
    data = reference(name, split)
    X = data["X_train"]
    model = FairPCA(d, tolerance=1e-3).fit(X, sensitive_features=data["a_train"])
    published = np.sum((X @ data[f"V_mbf_d{d}_tau1e-3"]) ** 2) / np.sum(X**2)
    assert model.converged_
    assert model.mmd2_ <= 1e-3
    assert 100 * (model.score(X) - published) > margin


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "d", "least"), [("german", 2, 9.9), ("german", 10, 18.3), ("compas", 2, 16.5), ("adult", 10, 15.8)]
)
@pytest.mark.parametrize("split", [0, 1, 2])
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NullComponentsWarning")
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.ConvergenceWarning")
def test_a_strict_tolerance_leaves_as_much_variance_as_is_known_to_be_attainable(reference, name, d, least, split):
    data = reference(name, split)
    X = data["X_train"]
    model = FairPCA(d, tolerance=1e-6, random_state=0).fit(X, sensitive_features=data["a_train"])
    assert model.mmd2_ <= 1e-6
    assert 100 * model.score(X) >= least


def flat(two_groups):
    """Return rows with two constant directions, so that null components exist."""
    X, group = two_groups
    return np.hstack([X, X[:, :2] @ [[1.0, 2.0], [3.0, 4.0]]]), group


def test_a_strict_tolerance_may_leave_components_without_variance(two_groups):
    X, group = flat(two_groups)
    with pytest.warns(NullComponentsWarning, match=r"\d of 5 components carry variance"):
        model = FairPCA(5, tolerance=1e-3, random_state=0).fit(X, sensitive_features=group)
    live = model.n_live_components_
    assert 3 <= live < 5
    assert np.all(model.explained_variance_[live:] < 1e-12)
    np.testing.assert_allclose(model.transform(X)[:, live:], 0, atol=1e-9)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)
    assert model.mmd2_ <= 1e-3


def test_null_components_can_be_refused(two_groups):
    X, group = flat(two_groups)
    solver = Budget(allow_null=False)
    with pytest.warns(ConvergenceWarning, match=r"fewer components; [1-4] met the tolerance"):
        model = FairPCA(5, tolerance=1e-4, solver=solver, random_state=0).fit(X, sensitive_features=group)
    assert model.n_live_components_ == 5
    assert model.mmd2_ > 1e-4


def test_more_starts_never_keep_less(two_groups):
    X, group = two_groups
    one, five = (
        FairPCA(2, tolerance=1e-4, solver=Budget(n_starts=n), random_state=0).fit(X, sensitive_features=group)
        for n in (1, 5)
    )
    assert five.score(X) >= one.score(X) - 1e-6


def test_when_time_runs_out_the_best_point_comes_back_marked(reference):
    data = reference("adult", 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solver = Budget(max_seconds=0.3)
        model = FairPCA(10, tolerance=1e-6, solver=solver).fit(data["X_train"], sensitive_features=data["a_train"])
    assert model.result_.status is Status.OUT_OF_TIME
    assert not model.converged_
    assert any("max_seconds ran out" in str(warning.message) for warning in caught)


def test_zero_tolerance_is_explained(two_groups):
    X, group = two_groups
    with pytest.raises(ValueError, match=r"tolerance=0.0 must be greater than 0 .* 1e-8 is the smallest"):
        FairPCA(2, tolerance=0.0).fit(X, sensitive_features=group)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_starts": 0}, "n_starts=0 must be between 1 and 1000"),
        ({"n_starts": 5000}, "n_starts=5000 must be between 1 and 1000"),
        ({"max_cycles": 0}, "max_cycles=0 must be at least 1"),
        ({"gain_tolerance": 0.0}, "gain_tolerance=0.0 must be greater than 0"),
        ({"max_seconds": -1.0}, "max_seconds=-1.0 must be greater than 0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Budget(**settings)


def test_metric_is_diagonal_outside_the_leading_coordinates(rng):
    H, diagonal, g = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([9.0, 4.0, 9.0]), rng.normal(size=3)
    whole = np.array([[2.0, 0.0, 1.0], [0.0, 4.0, 0.0], [1.0, 0.0, 3.0]])
    metric = Metric(H, leading=np.array([0, 2]), diagonal=diagonal)
    np.testing.assert_allclose(metric.solve(g), np.linalg.solve(whole, g))
    negative = Metric(H, leading=np.array([0, 2]), diagonal=np.array([9.0, -1.0, 9.0]))
    assert negative.shift > 1.0


def test_a_hessian_on_leading_directions_leads_to_the_same_answer(reference, monkeypatch):
    data = reference("german", 0)
    fits = []
    for most in (10_000, 250):
        monkeypatch.setattr(_curvature, "MOST_DENSE", most)
        model = FairPCA(10, tolerance=1e-3, standardize=False).fit(data["X_train"], sensitive_features=data["a_train"])
        assert model.converged_
        fits.append(model.result_)
    assert fits[1].variance_kept == pytest.approx(fits[0].variance_kept, abs=5e-4)


def test_a_tolerance_out_of_reach_is_given_up_soon(rng):
    """One group is wider than the others in every direction, so that no subspace is fair."""
    group = np.arange(800) % 4
    X = rng.normal(size=(800, 4)) * np.where(group == 0, 3.0, 1.0)[:, None]
    with pytest.warns(ConvergenceWarning, match="did not meet tolerance"):
        model = FairPCA(2, tolerance=1e-4, random_state=0).fit(X, sensitive_features=group)
    assert not model.converged_
    assert model.result_.n_gradients <= 140


def test_a_random_frame_leans_to_axes_of_much_variance(problem):
    frames = [varied_frame(problem, np.random.default_rng(seed)) for seed in range(200)]
    shares = np.mean([np.sum(frame**2, axis=1) for frame in frames], axis=0)
    assert np.all(np.diff(shares) < 0)
    np.testing.assert_allclose(frames[0].T @ frames[0], np.eye(2), atol=1e-12)


def test_a_turned_frame_has_all_but_one_dimension_in_common(problem, frame):
    turned = turned_frame(problem, frame, np.random.default_rng(0))
    np.testing.assert_allclose(turned.T @ turned, np.eye(2), atol=1e-12)
    cosines = np.linalg.svd(frame.T @ turned, compute_uv=False)
    assert cosines[0] == pytest.approx(1.0, abs=1e-12)
    assert cosines[1] < 0.99
    another = turned_frame(problem, frame, np.random.default_rng(1))
    assert np.linalg.norm(turned.T @ another) < np.sqrt(2) - 1e-3


def test_a_turned_frame_stays_on_the_live_axes(problem, frame):
    live = replace(problem, rank=4)
    frame[4:] = 0.0
    turned = turned_frame(live, np.linalg.qr(frame)[0], np.random.default_rng(0))
    np.testing.assert_allclose(turned[4:], 0.0, atol=1e-15)


def run_of(problem, tolerance, kind, *arguments, **settings):
    """Return a run from where the means agree, and its outcome."""
    tolerances = np.array([tolerance])
    starts = Starts(problem, tolerances)
    starts.know_pca(problem.discrepancies(problem.pca()))
    journal = Journal(problem.counts, None, None)
    run = kind(problem, tolerances, RunSettings(60, 7, 1e-8, np.inf, **settings), journal.note, *arguments)
    return run, run.run(starts.mean_matched(problem.n_components))


@pytest.fixture
def wider_group():
    """Return a problem in whose last three of five components one group is wider: they cost more than they keep."""
    rng = np.random.default_rng(0)
    group = np.arange(600) % 2
    X = rng.normal(size=(600, 6)) * [2.0, 1.9, 1.0, 0.9, 0.8, 0.7]
    X[:, 2:] *= np.where(group == 1, 1.5, 1.0)[:, None]
    return replace(problem_of(X, group), n_components=5)


def test_a_run_drops_components_that_cost_more_than_they_keep(wider_group):
    run, outcome = run_of(wider_group, 1e-3, ThinningRun, 1)
    assert run.n_live == 2
    assert outcome.fairest.strain(np.array([1e-3])) <= 1.5


def test_no_component_is_dropped_for_a_row_that_stands_alone(monkeypatch):
    """A far row of a small group cannot be brought near: multipliers grow, and every component seems too much."""
    rng = np.random.default_rng(0)
    group = np.arange(400) < 40
    X = rng.normal(size=(400, 8)) * np.linspace(2.0, 1.0, 8)
    X[0] *= 30.0
    problem = replace(problem_of(X, group.astype(int)), n_components=5)
    noticing, outcome = run_of(problem, 1e-6, ThinningRun, 1, is_first_look=True)
    assert outcome.is_lost
    monkeypatch.setattr("fairpca.solvers.budget._thinning.ALONE", np.inf)
    blind, _ = run_of(problem, 1e-6, ThinningRun, 1, is_first_look=True)
    assert blind.n_live < noticing.n_live


def test_a_run_keeps_the_fewest_components_that_it_may(wider_group):
    run, _ = run_of(wider_group, 1e-3, ThinningRun, 4)
    assert run.n_live == 4


def test_a_run_that_drops_nothing_is_an_ordinary_one(two_groups):
    problem = problem_of(*two_groups)
    thinning, ended = run_of(problem, 1e-3, ThinningRun, 1)
    _, alone = run_of(problem, 1e-3, BudgetRun)
    assert thinning.n_live == 2
    np.testing.assert_array_equal(ended.best.point, alone.best.point)


def test_a_rough_run_ends_where_a_careful_one_does(two_groups):
    problem = problem_of(*two_groups)
    ends = [run_of(problem, 1e-3, BudgetRun, care=care)[1] for care in (CAREFUL, ROUGH)]
    assert all(end.stationary for end in ends)
    assert ends[1].best.variance == pytest.approx(ends[0].best.variance, abs=1e-5)


def test_steps_of_a_search_add_up_to_its_counts(two_groups):
    X, group = two_groups
    result = FairPCA(2, tolerance=1e-3, random_state=0).fit(X, sensitive_features=group).result_
    assert len(result.steps) > 1
    # Plain PCA is evaluated before the first step, and what ends a search after the last.
    assert 0 < sum(step.n_gradients for step in result.steps) <= result.n_gradients
    assert all(step.n_gradients > 0 for step in result.steps)
    assert all(step.seconds > 0 for step in result.steps)
    assert sum(step.seconds for step in result.steps) <= result.seconds


def test_the_most_that_chance_shows_is_the_sum_of_squared_weights(rng):
    group = rng.choice(["a", "b", "c"], size=200, p=[0.2, 0.3, 0.5])
    codes, comparison = by_group(group)
    squares = np.sum(comparison.columns.of(codes) ** 2, axis=0)
    np.testing.assert_allclose(comparison.chance_ceilings, np.bincount(comparison.owner, squares))


def test_far_below_chance_one_smooth_run_is_not_enough(many_optima):
    X, group = many_optima
    gains = []
    for rows in (slice(0, 900), slice(0, 700), slice(200, 900)):
        alone, searched = (
            FairPCA(2, tolerance=1e-4, random_state=0, solver=Budget(n_starts=n_starts)).fit(
                X[rows], sensitive_features=group[rows]
            )
            for n_starts in (1, None)
        )
        assert alone.converged_
        assert searched.converged_
        gains.append(searched.result_.variance_kept - alone.result_.variance_kept)
    # The first run may be lucky; of an optimum that both find, each uses up what buys visible variance.
    assert min(gains) >= -VISIBLE
    assert max(gains) > 0.005


def test_cheap_starts_are_tried_below_a_fifth_of_what_chance_shows(many_optima):
    X, group = (each[:600] for each in many_optima)
    chance = np.sum(1.0 / np.unique(group, return_counts=True)[1])
    for share, is_searched in ((0.1, True), (0.4, False)):
        alone, found = (
            FairPCA(2, tolerance=share * chance, random_state=0, solver=Budget(n_starts=n_starts))
            .fit(X, sensitive_features=group)
            .result_
            for n_starts in (1, None)
        )
        assert found.variance_kept >= alone.variance_kept - 1e-6
        assert (found.n_gradients > alone.n_gradients) == is_searched


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NullComponentsWarning")
def test_more_components_never_keep_less(two_groups):
    X, group = flat(two_groups)
    kept = [
        FairPCA(d, tolerance=1e-4, bandwidth=3.0, random_state=0).fit(X, sensitive_features=group).result_
        for d in (1, 2, 3)
    ]
    assert all(result.meets for result in kept)
    assert np.all(np.diff([result.variance_kept for result in kept]) >= -1e-5)


@pytest.fixture
def let_ways_be_long(monkeypatch):
    """Return a function that sets the number of cycles after which a way counts as long."""
    return partial(monkeypatch.setattr, "fairpca.solvers.budget._run.LONG")


def test_a_first_look_that_goes_on_ends_where_the_run_would_have_ended(two_groups, let_ways_be_long):
    problem = problem_of(*two_groups)
    _, whole = run_of(problem, 1e-3, BudgetRun)
    n_left_off = 0
    for n_cycles in range(1, 10):
        let_ways_be_long(n_cycles)
        run, looked = run_of(problem, 1e-3, BudgetRun, is_first_look=True)
        if looked.left_off is None:
            # It has ended before it became long, or is lost since it did not meet the tolerance by then.
            assert looked.is_lost if looked.best is None else np.array_equal(looked.best.point, whole.best.point)
            continue
        n_left_off += 1
        assert looked.left_off is run
        assert looked.best is not None
        assert not looked.stationary
        ended = run.go_on()
        assert ended.left_off is None
        assert ended.stationary
        np.testing.assert_array_equal(ended.best.point, whole.best.point)
    assert n_left_off > 0


def test_a_first_look_ends_where_rows_stand_alone():
    """One row of a group is far away along the first axis, and adds to h whatever the others do."""
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(400, 6)) * [2.0, 1.5, 1.2, 1.0, 0.9, 0.8], np.arange(400) % 2
    X[0, :2] = 60.0
    problem = replace(problem_of(X, group), n_components=2)
    (looking, looked), (going_on, whole) = (
        run_of(problem.afresh(), 1e-5, BudgetRun, is_first_look=first) for first in (True, False)
    )
    assert looked.is_lost
    assert not whole.is_lost
    assert whole.rugged
    assert looking._problem.counts.hessians < going_on._problem.counts.hessians


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NullComponentsWarning")
def test_who_asks_for_more_components_than_can_stay_live_keeps_as_much(reference):
    data = reference("german", 0)
    six, ten = (
        FairPCA(d, tolerance=1e-6, bandwidth=4.62, random_state=0).fit(
            data["X_train"], sensitive_features=data["a_train"]
        )
        for d in (6, 10)
    )
    assert six.n_live_components_ == ten.n_live_components_ == 6
    assert ten.result_.variance_kept == pytest.approx(six.result_.variance_kept, abs=1e-5)
