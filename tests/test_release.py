"""What is promised of released data holds, and what cannot be promised is refused."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import fairpca
from cli_tables import answer, people as cli_people, run, written
from fairpca import Release, any_classifier_bound
from fairpca.exceptions import ModelFileError, NotCertifiedWarning
from fairpca.release._noise import drawn_distance, grid_distance, grid_error, rounded
from fairpca.release._task import BoostedTrees, boosting

KEY = b"sixteen or more secret bytes"


def people(n, seed=0, shift=0.4, d=2):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    Z = rng.normal(size=(n, d))
    Z[:, 0] += shift * (group == "b")
    y = (Z[:, -1] + rng.normal(size=n) > 0).astype(int)
    return Z, group, y


@pytest.fixture(scope="module")
def certified():
    return released(*people(8000)[:2], 0.12)


def released(Z, group, target, kind="cells", y=None, new_y=None, **settings):
    """Return a release that is fitted to one half of rows and certified on the other."""
    half, release = len(Z) // 2, Release(kind, random_state=0, **settings)
    release.fit(Z[:half], None if y is None else y[:half], sensitive_features=group[:half])
    return release.certify(Z[half:], new_y, sensitive_features=group[half:], target=target)


def with_noise(d=1, n=6000, target=0.15, **moved):
    Z, group, _ = people(n, d=d, **moved)
    return released(Z, group, target, "noise"), Z


def bound_of(cells, group, **known):
    return any_classifier_bound(cells, sensitive_features=group, **known)


@pytest.mark.parametrize("sizes", [(30, 30), (200, 200), (1500, 1500), (400, 40), (3000, 150)])
def test_two_cells_are_covered_by_exact_probabilities(sizes):
    """With two cells nothing but the slack protects: the failure probability is a sum over two binomials."""
    m, n = sizes
    group, cell = np.repeat([0, 1], sizes), np.concatenate([np.arange(size) % 2 for size in sizes])
    slack = bound_of(cell, group).measures[0]["slack"]
    counts = np.arange(m + 1)
    worst = 0.0
    for p in (0.02, 0.1, 0.3, 0.5, 0.6, 0.8, 0.95):
        for tv in (0.01, 0.05, 0.1, 0.3, 0.5):
            if p + tv > 1:
                continue
            # Fails where |share_0 - share_1| + slack < tv.
            lowest, highest = n * (counts / m - tv + slack), n * (counts / m + tv - slack)
            inside = binom.cdf(np.ceil(highest) - 1, n, p + tv) - binom.cdf(np.floor(lowest), n, p + tv)
            worst = max(worst, float(binom.pmf(counts, m, p) @ np.where(tv > slack, np.maximum(inside, 0), 0)))
    assert worst <= 0.05
    if min(sizes) >= 1500:
        assert worst > 0.02  # the slack is not wasteful where rows are many


def test_a_bound_of_two_cells_is_what_the_formula_says():
    group, cell = np.repeat([0, 1], [400, 600]), np.concatenate([np.arange(400) < 100, np.arange(600) < 300])
    bound = any_classifier_bound(cell, sensitive_features=group)
    (measure,) = bound.measures
    assert measure["distance"] == pytest.approx(0.25)
    assert measure["slack"] <= math.sqrt((1 / 400 + 1 / 600) * math.log(20) / 2) + 1e-12
    assert bound.upper_bound == measure["upper_bound"] == pytest.approx(0.25 + measure["slack"])
    assert bound.balanced_accuracy == (1 + bound.upper_bound) / 2
    assert bound.auc == 0.5 + bound.upper_bound - bound.upper_bound**2 / 2
    assert bound.accuracy == pytest.approx(0.6 + 0.4 * bound.upper_bound)
    assert "No classifier, however it is built" in str(bound)
    assert bound.to_dict()["auc"] == bound.auc


def test_swapped_groups_and_renamed_cells_give_the_same_bound():
    rng = np.random.default_rng(0)
    group, cell = rng.integers(0, 2, 900), rng.integers(0, 6, 900)
    bound, names = bound_of(cell, group).upper_bound, np.array(list("uvwxyz"), dtype=object)[cell]
    for cells, groups in ((cell, 1 - group), (names, group), (np.column_stack([cell % 2, cell // 2]), group)):
        assert bound_of(cells, groups).upper_bound == pytest.approx(bound, abs=1e-12)


def test_several_groups_labels_and_segments():
    rng = np.random.default_rng(0)
    n = 3000
    group, y, part = rng.choice(["a", "b", "c"], n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    cell = rng.integers(0, 4, n)
    pairs = bound_of(cell, group)
    assert [m["name"] for m in pairs.measures] == ["a against b", "a against c", "b against c"]
    # Single bounds hold all at once and are wider; the largest distance needs no correction.
    assert max(m["upper_bound"] for m in pairs.measures) > pairs.upper_bound
    kept = [group != left_out for left_out in "abc"]
    alone = [bound_of(cell[rows], group[rows]).upper_bound for rows in kept]
    assert pairs.upper_bound == pytest.approx(max(alone))
    assert bound_of(cell, group, against="all others").measures[0]["name"] == "a against all others"
    odds = bound_of(cell, group == "a", y=y, fairness="equalized_odds")
    within = [bound_of(cell[y == k], (group == "a")[y == k]).upper_bound for k in (0, 1)]
    assert odds.upper_bound == pytest.approx(max(within))
    assert "equalized odds gap" in str(odds)
    opportunity = bound_of(cell, group == "a", y=y, fairness="equal_opportunity")
    assert opportunity.upper_bound == pytest.approx(within[1])
    assert len(bound_of(cell, group, control_features=part).measures) == 6
    both = {"group": group, "part": part}
    assert [len(bound_of(cell, both, sensitive=how).measures) for how in ("each", "intersections")] == [4, 15]


def test_weights_by_design_count_as_their_squares():
    rng = np.random.default_rng(0)
    group, cell = rng.integers(0, 2, 4000), rng.integers(0, 4, 4000)
    equal, weight = bound_of(cell, group), rng.uniform(0.2, 5, 4000)
    assert bound_of(cell, group, sample_weight=np.full(4000, 3.0)).upper_bound == pytest.approx(equal.upper_bound)
    drawn = bound_of(cell, group, sample_weight=weight, largest_weight=5.0)
    slacks = [each.measures[0]["slack"] for each in (equal, bound_of(cell, group, sample_weight=weight), drawn)]
    assert slacks[0] < slacks[1] < slacks[2]
    assert "drawn with the people" in str(drawn)
    wrong = bound_of(cell, group, attribute_error={"recorded": {"0": 0.1, "1": 0.05}}).upper_bound
    assert wrong == pytest.approx(equal.upper_bound / 0.85)


@pytest.mark.parametrize("level", [0.5, 1.0, 3.0])
def test_noise_between_two_points_has_the_known_distance(level):
    Z, weights = np.array([[0.03], [1.0]]), np.array([1.0, -1.0])
    known = 2 * norm.cdf(0.97 / (2 * level)) - 1
    # Rounding to s / 8 hides a little.
    assert known - 2e-3 < grid_distance(Z, weights, level) <= known + grid_error(1)
    drawn = drawn_distance(Z, weights, level, 1e-3, np.random.default_rng(0))
    assert known <= drawn < known + 0.06


def test_grid_and_draws_agree_and_fall_with_noise():
    Z, group, _ = people(600)
    weights = np.where(group == "a", 1 / np.sum(group == "a"), -1 / np.sum(group == "b"))
    levels = (0.3, 0.6, 1.2, 2.4)
    found = [grid_distance(Z, weights, level) for level in levels]
    drawn = [drawn_distance(Z, weights, level, 1e-3, np.random.default_rng(0)) for level in levels]
    assert found == sorted(found, reverse=True)
    assert all(0 < d - g < 0.03 for d, g in zip(drawn, found, strict=True))
    assert grid_distance(Z, -weights, 0.6) == pytest.approx(found[1])
    assert grid_distance(Z[:, ::-1], weights, 0.6) == pytest.approx(found[1], abs=2 * grid_error(2))
    assert grid_distance(np.vstack([Z, [[1e6, 0], [0, 1e6]]]), np.append(weights, [0, 0]), 0.3) is None


def test_distances_on_a_grid_are_those_of_what_is_released():
    """Against released rows themselves, many of them for each row."""
    rng = np.random.default_rng(0)
    Z, weights = np.array([[0.0], [0.4], [1.1]]), np.array([0.5, 0.5, -1.0])
    chosen = rng.choice(3, 400_000)
    released = rounded(Z[chosen] + 0.7 * rng.normal(size=(400_000, 1)), 0.7)
    codes = np.unique(released, return_inverse=True)[1].ravel()
    shares = np.bincount(codes, 3 * weights[chosen] / 400_000)
    assert grid_distance(Z, weights, 0.7) == pytest.approx(0.5 * np.abs(shares).sum(), abs=5e-3)


@pytest.mark.parametrize(
    ("kind", "shift", "targets"), [("cells", 0.4, (0.06, 0.09, 0.12, 0.2)), ("task", 0.8, (0.12, 0.2, 0.3, 0.9))]
)
def test_the_search_ends_with_the_last_level_that_keeps_the_target(kind, shift, targets):
    """Levels are nested: with their cells grows what they tell of groups, and of the label of a task."""
    Z, group, y = people(8000, shift=shift)
    release, found, known = Release(kind, n_cells=40, output="codes", random_state=0), [], []
    release.fit(Z[:4000], y[:4000], sensitive_features=group[:4000])
    assert np.all(np.diff(release.levels_) > 0)
    for target in targets:
        release.certify(Z[4000:], sensitive_features=group[4000:], target=target)
        # A level's bound is its own, not that of the finest.
        found.append((release.level_, release.certificate_.measures[0]["distance"]))
        codes = release.transform(Z[4000:]).ravel()
        assert not known or all(len(set(known[-1][codes == cell])) == 1 for cell in set(codes))
        known.append(codes)
    shares = [[np.bincount(each, y[4000:] == label, minlength=300) for label in (0, 1)] for each in known]
    told = [np.max(each, axis=0).sum() for each in shares]
    for rising in (*zip(*found, strict=True), told):
        assert list(rising) == sorted(rising)
        assert rising[-1] > rising[0]


def test_a_certified_release_promises_its_target(certified):
    assert certified.certificate_.upper_bound == 0.12
    assert 1 < certified.level_ < 64
    assert certified.certificate_.n_levels == certified.level_  # the coarsest has two cells, and the next one failed
    assert "demographic parity gap above 12 points" in str(certified.certificate_)
    # On the same rows the bound of the level alone is smaller, and is not what is promised.
    (measure,) = certified.certificate_.measures
    assert measure["distance"] + measure["slack"] <= 0.12
    assert measure["upper_bound"] == 0.12
    assert measure["accuracy"] == pytest.approx(max(measure["sides"]) / 4000 * 0.88 + 0.12, abs=1e-9)


def test_transform_gives_centres_or_numbers_and_warns_without_certificate(certified):
    Z, group, _ = people(3000, seed=2)
    released = certified.transform(Z)
    codes = clone(certified).set_params(output="codes")
    codes.fit(*people(8000)[:1])
    assert len(np.unique(released, axis=0)) <= certified.level_
    assert np.array_equal(certified.transform(Z[:5]), released[:5])
    with pytest.warns(NotCertifiedWarning, match="no certificate"):
        assert codes.transform(Z).shape == (3000, 1)
    pandas = pytest.importorskip("pandas")
    frame = clone(certified).set_output(transform="pandas")
    frame.fit(pandas.DataFrame(Z, columns=["one", "two"]), sensitive_features=group)
    frame.certify(pandas.DataFrame(people(4000, 5)[0], columns=["one", "two"]), sensitive_features=people(4000, 5)[1])
    assert frame.transform(pandas.DataFrame(Z, columns=["one", "two"])).columns.tolist() == ["one", "two"]


def test_after_any_reduction():
    Z, group, _ = people(6000, d=4)
    pipeline = make_pipeline(PCA(2), Release(random_state=0))
    pipeline.fit(Z[:3000], release__sensitive_features=group[:3000])
    pipeline[-1].certify(pipeline[:-1].transform(Z[3000:]), sensitive_features=group[3000:], target=0.15)
    assert pipeline.transform(Z[:7]).shape == (7, 2)
    # The rows of the fit are known again, though projected in other blocks.
    with pytest.raises(ValueError, match=r"100 % of them were in the fit"):
        pipeline[-1].certify(pipeline[:-1].transform(Z[:1501]), sensitive_features=group[:1501])


ADVERSARIES = {
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=30, class_weight="balanced", random_state=0),
    "neighbours": lambda: KNeighborsClassifier(25),
    "tree": lambda: DecisionTreeClassifier(class_weight="balanced", random_state=0),
}


@pytest.mark.parametrize("kind", ["cells", "task", "noise"])
def test_no_adversary_exceeds_the_bound(kind):
    Z, group, y = people(16_000, seed=3, shift=0.6)
    fit, hold, new = slice(0, 5000), slice(5000, 9000), slice(9000, None)
    release = Release(kind, n_cells=24, random_state=0).fit(Z[fit], y[fit], sensitive_features=group[fit])
    release.certify(Z[hold], sensitive_features=group[hold], target=0.2)
    known = {"ids": np.arange(len(Z)), "key": KEY} if kind == "noise" else {}
    released = release.transform(Z, **known)
    for make in ADVERSARIES.values():
        adversary = make().fit(released[fit], group[fit])
        # Three thousandths for the 7,000 rows that the adversary is scored on, whose groups differ by chance.
        assert balanced_accuracy_score(group[new], adversary.predict(released[new])) <= 0.6 + 0.003
    task = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(released[fit], y[fit])
    told = task.predict(released[new])
    assert abs(told[group[new] == "a"].mean() - told[group[new] == "b"].mean()) <= 0.2


def test_cells_for_a_task_keep_more_of_it():
    rng = np.random.default_rng(0)
    n = 12_000
    group = rng.integers(0, 2, n)
    Z = rng.normal(size=(n, 6))
    y = (Z[:, 5] + 0.5 * rng.normal(size=n) > 0).astype(int)
    Z[:, :5] *= 3
    Z[:, 0] += group
    fit, new, kept = slice(0, 4000), slice(8000, None), {}
    for kind in ("cells", "task"):
        release = released(Z[:8000], group[:8000], 0.1, kind, y, n_cells=32)
        model = DecisionTreeClassifier(max_leaf_nodes=16).fit(release.transform(Z[fit]), y[fit])
        kept[kind] = model.score(release.transform(Z[new]), y[new])
    assert release.get_feature_names_out().tolist() == ["chance of 1"]
    assert kept["task"] > kept["cells"] + 0.1


def test_several_groups_and_labels_are_certified_together():
    rng = np.random.default_rng(0)
    group, y = rng.choice(["a", "b", "c"], 12_000), rng.integers(0, 2, 12_000)
    Z = rng.normal(size=(12_000, 2)) + 0.3 * (group == "c")[:, None] * y[:, None]
    release = released(Z, group, 0.15, y=y, new_y=y[6000:], fairness="equalized_odds", n_cells=16)
    assert len(release.certificate_.measures) == 6
    shown = bound_of(release.transform(Z[6000:]), group[6000:], y=y[6000:], fairness="equalized_odds")
    assert shown.upper_bound <= 0.15
    assert "equalized odds gap above 15 points" in str(release.certificate_)


def test_noise_belongs_to_the_person():
    release, Z = with_noise()
    ids = np.arange(len(Z))
    once = release.transform(Z[:50], ids=ids[:50], key=KEY)
    again = release.transform(Z[:50][::-1], ids=ids[:50][::-1].astype(float), key=KEY)[::-1]
    assert np.array_equal(once, again)
    assert not np.array_equal(once, Z[:50])
    # Numbers that are multiples of s / 8 have no last bits to learn from.
    steps = once * 8 / release.level_
    assert np.allclose(steps, np.rint(steps), atol=1e-9)


def test_there_is_no_way_to_noise_by_row():
    release, Z = with_noise()
    same = release.transform(np.repeat(Z[:1], 30, axis=0), ids=["one person"] * 30, key=KEY)
    assert len(np.unique(same)) == 1
    for ids, message in [
        (None, "noise belongs to a person"),
        (np.arange(3), "one for each of the 5 rows"),
        ([1, 2, None, 4, 5], "None in row 2"),
        ([1.5, 2, 3, 4, 5], "1.5 in row 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            release.transform(Z[:5], ids=ids, key=KEY)
    for key in (None, b"short", "text that is long enough"):
        with pytest.raises(ValueError, match="secret bytes"):
            release.transform(Z[:5], ids=np.arange(5), key=key)


def test_a_second_release_of_the_same_people_is_refused():
    release, Z = with_noise()
    ids = [f"person {k}" for k in range(20)]
    release.transform(Z[:20], ids=ids, key=KEY)
    with pytest.raises(ValueError, match="'person 3' would be released a second time"):
        release.transform(Z[:20] + 0.1 * (np.arange(20) == 3)[:, None], ids=ids, key=KEY)
    rows, group, _ = people(6000, seed=9, d=1)
    release.fit(Z[:3000]).certify(rows, sensitive_features=group, target=0.3)
    with pytest.raises(ValueError, match="a second time"):
        release.transform(Z[:20], ids=ids, key=KEY)


def test_noise_in_three_columns_is_certified_by_draws():
    release, Z = with_noise(3, 3000, 0.2, shift=0.2)
    assert release.certificate_.upper_bound == 0.2
    noise = (release.transform(Z, ids=np.arange(len(Z)), key=KEY) - Z) / release.level_
    assert np.abs(noise.mean(axis=0)).max() < 0.08
    assert np.abs(np.cov(noise.T) - np.eye(3)).max() < 0.1


def test_what_cannot_be_promised_is_refused_in_a_sentence():
    Z, group, y = people(2000)
    seen, held, known = Z[:1000], Z[1000:], {"sensitive_features": group[1000:]}
    release = Release(n_cells=8, random_state=0).fit(seen, sensitive_features=group[:1000])
    far = Release(n_cells=2, random_state=0).fit(seen + 9 * (group[:1000] == "a")[:, None])
    apart = Release("noise", random_state=0).fit(seen)
    cells, others = np.arange(1000) % 3, np.append(group[1000:-100], ["new"] * 100)
    heavy = {"sample_weight": np.full(1000, 2.0), "largest_weight": 1.0}
    few, lone = {"sensitive_features": group[1000:1100]}, np.vstack([held[:-1], [[1e6, 1e6]]])
    for refused, words in (
        (
            lambda: release.certify(held[:100], **few, target=0.05),
            r"out of reach: with \d+ and \d+ rows .* at least [\d,]+",
        ),
        (
            lambda: far.certify(held + 9 * (group[1000:] == "a")[:, None], **known, target=0.2),
            "release shows no less than",
        ),
        (lambda: release.certify(Z[500:1600], sensitive_features=group[500:1600], target=0.2), "were in the fit"),
        (lambda: release.certify(held, sensitive_features=others, target=0.4), "a against new is new"),
        (lambda: release.certify(held, sensitive_features=None), "sensitive_features=None"),
        (lambda: bound_of(cells, Z[:1000, 0]), "cut it into ranges"),
        (lambda: bound_of(cells, group[:1000], **heavy), "largest_weight"),
        (lambda: apart.certify(lone, **known, target=0.4), "further apart"),
        (lambda: Release("task").fit(Z, sensitive_features=group), 'kind="task" keeps what tells a label'),
        (lambda: Release("task").fit(Z, Z[:, 0], sensitive_features=group), "labels with few values"),
        (lambda: Release("noise", output="codes").fit(Z, y, sensitive_features=group), "numbers places"),
        (lambda: apart.transform(Z, ids=np.arange(2000), key=KEY), "noise is drawn once"),
    ):
        with pytest.raises(ValueError, match=words):
            refused()
    assert not [name for name in ("certificate_", "level_") if hasattr(far, name)]
    assert "promise nothing" in str(bound_of(seen, group[:1000]))


def test_common_duplicates_are_no_rows_of_the_fit():
    rng = np.random.default_rng(0)
    cells, group = rng.integers(0, 30, (8000, 2)).astype(float), rng.integers(0, 2, 8000)
    release = Release(n_cells=16, random_state=0).fit(cells[:4000], sensitive_features=group[:4000])
    release.certify(cells[4000:], sensitive_features=group[4000:], target=0.2)
    mixed = rng.normal(size=(3000, 2))
    mixed[:1000] = 0.0
    release.fit(mixed[:2000], sensitive_features=group[:2000])
    with pytest.raises(ValueError, match="were in the fit"):
        release.certify(mixed[1000:], sensitive_features=group[1000:3000], target=0.2)


@pytest.mark.parametrize("kind", ["cells", "task"])
def test_a_release_is_saved_without_anything_of_rows(kind, tmp_path):
    Z, group, y = people(6000)
    y = np.array(["no", "yes"])[y]
    release = Release(kind, n_cells=24, random_state=0).fit(Z[:3000], y[:3000], sensitive_features=group[:3000])
    with pytest.raises(ValueError, match="no certificate"):
        release.save(tmp_path / "none.fairpca")
    release.certify(Z[3000:], sensitive_features=group[3000:], target=0.15)
    release.save(tmp_path / "release.fairpca")
    loaded = fairpca.load(tmp_path / "release.fairpca")
    new = people(500, seed=4)[0]
    assert np.array_equal(loaded.transform(new), release.transform(new))
    assert loaded.certificate_ == release.certificate_
    assert loaded.get_params() == release.get_params()
    assert loaded.get_feature_names_out().tolist() == release.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="does not know the rows of its fit"):
        loaded.certify(Z, sensitive_features=group)
    broken = (tmp_path / "release.fairpca").read_bytes()
    (tmp_path / "broken.fairpca").write_bytes(broken.replace(b'"upper_bound": 0.15', b'"upper_bound": 0.02', 1))
    with pytest.raises(ModelFileError):
        fairpca.load(tmp_path / "broken.fairpca")


def test_noise_is_saved_with_its_ledger_and_without_its_key(tmp_path):
    release, Z = with_noise()
    ids = [f"person {k}" for k in range(40)]
    released = release.transform(Z[:20], ids=ids[:20], key=KEY)
    for key, message in [(None, "secret bytes"), (KEY[::-1], "not the key")]:
        with pytest.raises(ValueError, match=message):
            release.save(tmp_path / "noise.fairpca", key=key)
    release.save(tmp_path / "noise.fairpca", key=KEY)
    content = (tmp_path / "noise.fairpca").read_bytes()
    assert KEY not in content
    assert b"person 3" not in content
    loaded = fairpca.load(tmp_path / "noise.fairpca")
    assert loaded.certificate_ == release.certificate_
    assert np.array_equal(loaded.transform(Z[:20], ids=ids[:20], key=KEY), released)
    assert np.array_equal(
        loaded.transform(Z[20:40], ids=ids[20:], key=KEY), release.transform(Z[20:40], ids=ids[20:], key=KEY)
    )
    with pytest.raises(ValueError, match="not the key of the first release"):
        loaded.transform(Z[:1], ids=["new"], key=KEY[::-1])
    with pytest.raises(ValueError, match="'person 3' would be released a second time"):
        loaded.transform(Z[:1], ids=["person 3"], key=KEY)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_in_arrays_say_what_boosting_says(n_classes):
    rng = np.random.default_rng(0)
    Z = np.round(rng.normal(size=(3000, 5)), 1)
    target = np.digitize(Z[:, 0] * Z[:, 1] + rng.normal(size=3000), [0.0, 1.0][: n_classes - 1])
    trees = BoostedTrees.fit(Z[:2000], target[:2000], 0)
    expected = boosting(0).fit(Z[:2000], target[:2000]).predict_proba(Z)
    assert np.allclose(trees.predict_proba(Z), expected, rtol=0.0, atol=1e-12)


@pytest.mark.thorough
def test_maps_are_compared_on_rows_that_certify_nothing(tmp_path):
    table = written(tmp_path / "people.csv", cli_people(3000))
    options = ["--sensitive", "sex", "--label", "hired", "--drop", "race,town,weight", "--no-path"]
    found = answer("fit", table, *options, "--promise", 0.25, "--compare-maps", "--out", tmp_path / "out")
    maps = {each["map"]: each for each in found["promise"]["maps"]}
    assert list(maps) == ["fair PCA", "fair PCA, --scales", "plain PCA"]
    (chosen,) = (name for name, each in maps.items() if each["chosen"])
    assert maps[chosen]["label_auc"] == max(each["label_auc"] or 0 for each in maps.values())
    assert maps["plain PCA"]["variance_kept"] >= maps["fair PCA"]["variance_kept"]
    # What is certified is the one map that was chosen, fitted to all rows to fit, on all rows held out.
    model = fairpca.load(tmp_path / "out/release.fairpca")
    assert model.release_.certificate_.n_rows == found["rows"]["held_out"]
    assert (model.model_.bandwidth == "scales") == (chosen == "fair PCA, --scales")
    files = [tmp_path / "out/promise.json", tmp_path / "out/release.fairpca"]
    assert run("verify", *files, table, "--held-out").exit_code == 0
    assert "say with --promise" in run("fit", table, *options, "--compare-maps", "--out", tmp_path / "none").output


@pytest.mark.parametrize("draws", [100, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", ["groups", "labels", "design weights", "drawn weights"])
def test_coverage_of_groups_labels_and_weights(case, draws):
    rng = np.random.default_rng(0)
    shares = np.array([[0.5, 0.3, 0.2], [0.42, 0.33, 0.25], [0.55, 0.25, 0.2]])
    known = {(a, b): 0.5 * np.abs(shares[a] - shares[b]).sum() for a in range(3) for b in range(a)}
    fails = single = 0
    for _ in range(draws):
        group = rng.choice(3 if case == "groups" else 2, 1500)
        uniform = rng.uniform(size=1500)
        y = rng.integers(0, 2, 1500)
        weight = np.where(rng.uniform(size=1500) < 0.2, 4.0, 1.0)
        used = np.where((case == "labels") & (y == 0), 0, group)
        if case == "drawn weights":
            # Those with large weights differ most: a ratio of means.
            used = np.where(weight > 1, group, 0)
        cell = (uniform[:, None] > np.cumsum(shares[used], axis=1)).sum(axis=1)
        arguments = {"sensitive_features": group}
        true = known[1, 0]
        if case == "groups":
            true = max(known.values())
        elif case == "labels":
            arguments |= {"y": y, "fairness": "equalized_odds"}
        elif case == "design weights":
            arguments |= {"sample_weight": weight}
        else:
            arguments |= {"sample_weight": weight, "largest_weight": 4.0}
            true = known[1, 0] * 0.8 / (0.8 + 0.8)  # 4 * 0.2 of a weight of 4 * 0.2 + 0.8
        found = any_classifier_bound(cell, **arguments)
        fails += found.upper_bound < true
        if case == "groups":
            truths = [known[1, 0], known[2, 0], known[2, 1]]
            single += any(m["upper_bound"] < t for m, t in zip(found.measures, truths, strict=True))
    assert fails <= 0.05 * draws
    assert single <= 0.05 * draws
