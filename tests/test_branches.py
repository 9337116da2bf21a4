"""Optima that are followed from looser to stricter tolerances."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from comparisons import problem_of
from fairpca import FairPCA, fair_pca_path
from fairpca.solvers import Budget
from fairpca.solvers.budget._branches import AHEAD, LOOSEST, STEP, Branches
from fairpca.solvers.budget._branching import Branching
from fairpca.solvers.budget._effort import affordable_breadth
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._pool import Pool
from fairpca.solvers.budget._run_terms import RunSettings
from fairpca.solvers.budget._rung import ENOUGH_FAILED, WORTH_KEEPING, Rung
from fairpca.solvers.budget._span import Span

SETTINGS = RunSettings(60, 7, 1e-8, math.inf)
BREADTH = 3


@pytest.fixture
def rugged(rng):
    """Return a problem of few distinct numbers in seven axes, whose strict tolerances have several optima."""
    group = np.arange(400) % 2
    X = rng.poisson(1.0, size=(400, 7)) * np.linspace(2.0, 1.0, 7) + 1.0 * group[:, None] * (np.arange(7) < 3)
    return problem_of(X, group, 2)


def branches_of(problem, tolerances, max_seconds=None):
    journal = Journal(problem.counts, max_seconds, None)
    return Branches(problem, np.asarray(tolerances), replace(SETTINGS, deadline=journal.deadline), BREADTH, journal)


def rungs_of(problem):
    (rungs,) = problem.memory.values()
    return rungs


def test_an_answer_is_the_same_to_the_last_bit_whatever_was_asked_before(rugged):
    chance = float(rugged.chance[0])
    wanted = np.array([0.03 * chance])
    alone = branches_of(rugged, wanted).best()
    shared = replace(rugged, memory={})
    for share in (0.15, 0.004):
        branches_of(shared, [share * chance]).best()
    before = shared.counts.gradients
    again = branches_of(shared, wanted).best()
    np.testing.assert_array_equal(alone.reached.point, again.reached.point)
    assert alone.reached.meets(wanted)
    assert shared.counts.gradients - before < 0.5 * before


def test_rungs_are_made_as_far_below_a_tolerance_as_is_looked_ahead(rugged):
    share = 0.9 * LOOSEST * STEP
    branches_of(rugged, share * rugged.chance).best()
    rungs = rungs_of(rugged)
    assert len(rungs) == 2 + AHEAD
    for number, outcomes in enumerate(rungs):
        tolerances = LOOSEST * STEP**number * rugged.chance
        kept = [outcome.best.variance for outcome in outcomes]
        assert 0 < len(kept) <= BREADTH
        assert all(outcome.best.meets(tolerances) for outcome in outcomes)
        assert min(kept) >= WORTH_KEEPING * max(kept)


def test_an_answer_keeps_what_the_rungs_below_keep(rugged):
    for share in (0.15, 0.08, 0.02):
        best = branches_of(rugged, share * rugged.chance).best()
        below = [
            outcome.best.variance
            for number, outcomes in enumerate(rungs_of(rugged))
            for outcome in outcomes
            if LOOSEST * STEP**number <= share and number < math.log(share / LOOSEST, STEP) + AHEAD
        ]
        assert best.variance >= max(below) - 1e-5


def test_equal_tolerances_of_several_measures_share_their_rungs(rng):
    group = rng.integers(0, 3, size=300)
    problem = problem_of(rng.normal(size=(300, 4)), group, 1)
    assert len(problem.chance) == 3
    for tolerance in (1.1e-4, 3e-5, 7.7e-5):
        branches_of(problem, np.full(3, tolerance))
    assert len(problem.memory) == 1
    branches_of(problem, np.array([1e-4, 1e-4, 2e-4]))
    assert len(problem.memory) == 2


def test_a_rung_that_time_has_cut_short_is_not_remembered(rugged):
    found = branches_of(rugged, 0.01 * rugged.chance, max_seconds=0.0).best()
    assert found is None
    assert rungs_of(rugged) == []


def test_branches_that_keep_less_than_is_known_are_not_followed_further(rugged):
    tolerances = 0.01 * rugged.chance
    assert branches_of(rugged, tolerances).best(elsewhere=1.0) is None
    assert len(rungs_of(rugged)) == 1


def test_tolerances_that_no_branch_meets_end_them(rng):
    """The groups stand apart in every direction."""
    group = np.arange(120) % 2
    problem = problem_of(rng.normal(size=(120, 2)) * 0.1 + 9.0 * group[:, None] * [1.0, 0.8], group, 2)
    assert branches_of(problem, 1e-3 * problem.chance).best() is None
    assert set(rungs_of(problem)) == {()}


def test_starts_on_a_rung_that_none_meets_are_given_up(rng):
    group = np.arange(120) % 2
    problem = problem_of(rng.normal(size=(120, 3)) * 0.1 + 9.0 * group[:, None] * [1.0, 0.8, 0.5], group, 2)
    drawn = [0, 0]
    for number, n_starts in enumerate((ENOUGH_FAILED, 40)):
        rung = Rung(problem, 1e-3 * problem.chance, SETTINGS, Journal(problem.counts, None, None))
        before = problem.counts.gradients
        rung.look_elsewhere(n_starts, np.random.default_rng(0))
        drawn[number] = problem.counts.gradients - before
        assert rung.best is None
    assert drawn[0] == drawn[1] > 0


def test_a_rung_holds_each_optimum_once(rugged):
    tolerances = 0.1 * rugged.chance
    rung = Rung(rugged, tolerances, SETTINGS, Journal(rugged.counts, None, None))
    rung.begin(6, np.random.default_rng(0))
    (best, *others) = rung.highest(99)
    before = len(rung.highest(99))
    rung.follow(best)
    assert len(rung.highest(99)) == before
    assert all(other.best.variance <= best.best.variance + 1e-4 for other in others)


def test_what_a_looser_tolerance_does_not_keep_is_not_tried_at_a_stricter(rugged):
    journal = Journal(rugged.counts, None, None)
    loose = Rung(rugged, 0.15 * rugged.chance, SETTINGS, journal)
    loose.begin(2, np.random.default_rng(0))
    (outcome, *_) = loose.highest(1)
    strict = Rung(rugged, 0.01 * rugged.chance, SETTINGS, journal)
    before = rugged.counts.gradients
    strict.follow(outcome, floor=outcome.best.variance / WORTH_KEEPING + 1e-3)
    assert rugged.counts.gradients == before
    strict.follow(outcome)
    assert rugged.counts.gradients > before


def test_part_of_the_axes_is_another_problem(rugged):
    branches_of(rugged, 0.1 * rugged.chance).best()
    restricted = Span.of(rugged, 3, np.eye(7)[:, :1]).restricted(rugged)
    assert restricted.memory == {}


@pytest.mark.parametrize(("rank", "share", "pays"), [(9, 0.1, True), (9, 0.3, False), (40, 0.1, False)])
def test_branches_pay_where_runs_are_cheap_and_tolerances_far_below_chance(rugged, rank, share, pays):
    problem = replace(rugged, rank=rank)
    tolerances = share * problem.chance
    branching = Branching(problem, tolerances, SETTINGS, Journal(problem.counts, None, None), Pool(tolerances))
    assert branching.pays(2) == pays


def test_less_is_affordable_of_more_coordinates():
    breadths = [affordable_breadth(rank, 2) for rank in (4, 9, 12, 17, 18, 60)]
    assert breadths == sorted(breadths, reverse=True)
    assert breadths[0] > breadths[1] > breadths[2] > breadths[3] > 1
    assert breadths[4:] == [0, 0]
    assert affordable_breadth(2, 2) == 0


@pytest.mark.thorough
def test_fits_keep_what_points_of_a_path_keep(many_optima):
    X, group = (each[:600] for each in many_optima)
    path = fair_pca_path(X, group, 2, tolerances=np.geomspace(1e-3, 3e-5, 8), random_state=0)
    for model in path.models_:
        alone = FairPCA(2, tolerance=model.tolerance, random_state=0).fit(X, sensitive_features=group)
        assert alone.result_.variance_kept == pytest.approx(model.result_.variance_kept, abs=5e-4)


@pytest.mark.thorough
def test_a_stricter_tolerance_never_keeps_more(many_optima):
    X, group = (each[200:800] for each in many_optima)
    kept = [
        FairPCA(1, tolerance=tolerance, random_state=0, solver=Budget()).fit(X, sensitive_features=group)
        for tolerance in np.geomspace(6e-4, 2e-5, 6)
    ]
    shares = [model.result_.variance_kept for model in kept]
    assert all(model.converged_ for model in kept)
    assert all(stricter <= looser + 5e-4 for looser, stricter in itertools.pairwise(shares))
