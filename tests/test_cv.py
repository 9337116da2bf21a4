import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from fairpca import FairPCA, FairPCACV, audit
from fairpca.comparison import People, Terms, compare
from fairpca.exceptions import LeftOutWarning, NotCertifiedWarning
from fairpca.metrics import mmd2
from fairpca.selection._held_out import HeldOut, one_split
from normal_people import NormalPeople
from people_tables import people

TOLERANCES = [2.0, 0.05, 5e-3]


@pytest.fixture(scope="module")
def data():
    """Return rows of eight columns, on which a fit is quick, whose groups differ in two of them."""
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], [240, 160])
    X = rng.normal(size=(400, 8)) * np.linspace(2, 1, 8)
    X[group == "b", 0] += 3
    X[group == "b", 1] *= 1.5
    order = rng.permutation(400)
    return X[order], group[order]


@pytest.fixture(scope="module")
def certified(data):
    X, group = data
    model = FairPCACV(FairPCA(2, standardize=False), tolerances=TOLERANCES, target=0.1, random_state=0)
    return model.fit(X, sensitive_features=group)


def test_it_projects_as_its_model_does(data, certified):
    X, _ = data
    np.testing.assert_array_equal(certified.transform(X), certified.best_estimator_.transform(X))
    np.testing.assert_array_equal(
        certified.inverse_transform(certified.transform(X)),
        certified.best_estimator_.inverse_transform(certified.transform(X)),
    )
    assert certified.get_feature_names_out().tolist() == ["fairpca0", "fairpca1"]
    assert certified.score(X) == certified.best_estimator_.score(X)
    assert certified.bandwidth_ == certified.best_estimator_.bandwidth_


def same_results(first, second):
    numbers = [name for name in first.cv_results_ if name != "measure"]
    for name in numbers:
        np.testing.assert_allclose(first.cv_results_[name], second.cv_results_[name], rtol=1e-6, err_msg=name)
    return first.best_index_ == second.best_index_


def test_the_seed_decides(data):
    X, group = data
    first, again, other = (
        FairPCACV(FairPCA(2), tolerances=[2.0], target=1.9, random_state=seed).fit(X, sensitive_features=group)
        for seed in (0, 0, 1)
    )
    assert same_results(first, again)
    np.testing.assert_array_equal(first.best_estimator_.components_, again.best_estimator_.components_)
    assert first.cv_results_["test_mmd2"][0] != other.cv_results_["test_mmd2"][0]


def test_default_tolerances_begin_with_plain_pca_and_end_below_chance(data):
    X, group = data
    model = FairPCACV(FairPCA(1, standardize=False), target=1.9, random_state=0).fit(X, sensitive_features=group)
    assert len(model.tolerances_) == 10
    assert model.tolerances_[0] == 2.0
    assert np.all(np.diff(model.tolerances_) < 0)
    assert model.tolerances_[-1] < model.best_estimator_.chance_level_ / 8
    pca = FairPCA(1, tolerance=2.0, standardize=False).fit(X, sensitive_features=group)
    assert model.tolerances_[1] <= pca.mmd2_


def test_a_certificate_is_of_rows_apart(data, certified):
    X, group = data
    assert certified.certified_
    model, certificate = certified.best_estimator_, certified.certificate_
    assert sorted([*certified.fitted_rows_, *certified.certified_rows_]) == list(range(400))
    assert model.n_samples_ == len(certified.fitted_rows_) == 200
    rows = certified.certified_rows_
    found = audit(model, X[rows], sensitive_features=group[rows], adversaries="linear", n_permutations=19)
    assert certificate.upper_bound == pytest.approx(found.upper_bound, rel=0.02)
    assert certificate.mmd2 == pytest.approx(found.mmd2, rel=1e-3)
    assert certificate.upper_bound <= certificate.target == 0.1
    assert certificate.n_rows == 200
    assert [measure["sides"] for measure in certificate.measures] == [
        tuple(map(int, np.unique(group[rows], return_counts=True)[1]))
    ]
    assert "With 95 % confidence the MMD^2 of the population is at most 0.1" in str(certificate)


def test_the_sequence_ends_with_the_first_failure(certified):
    bounds = certified.cv_results_["upper_bound"]
    best = certified.best_index_
    assert np.all(bounds[best:] <= 0.1)
    assert bounds[best - 1] > 0.1
    assert np.isnan(bounds[: best - 1]).all()
    assert certified.best_score_ == certified.cv_results_["test_variance"][best]


def test_a_generous_target_keeps_plain_pca(data):
    X, group = data
    model = FairPCACV(FairPCA(2), tolerances=[2.0, 0.05], target=1.5, random_state=0).fit(X, sensitive_features=group)
    assert model.best_tolerance_ == 2.0
    assert model.certified_


def test_a_target_that_so_few_rows_cannot_show_is_explained(data):
    X, group = data
    model = FairPCACV(FairPCA(2, standardize=False), tolerances=[0.05, 5e-3], target=1e-3, random_state=0)
    message = r"smallest bound found is 0\.0.*Even of equal groups 200 held-out rows can show no less than about 0\.0"
    with pytest.warns(NotCertifiedWarning, match=message):
        model.fit(X, sensitive_features=group)
    assert not model.certified_
    assert model.certificate_ is None
    assert model.best_tolerance_ == 5e-3
    assert model.transform(X).shape == (400, 2)


def test_groups_that_differ_too_much_are_not_certified(data):
    X, group = data
    with pytest.warns(NotCertifiedWarning, match=r"these still differ. A target of 0\.\d+ is possible"):
        FairPCACV(FairPCA(2, standardize=False), tolerances=[2.0], target=0.1, random_state=0).fit(
            X, sensitive_features=group
        )


def test_every_measure_is_certified():
    X, table = people()
    known = {"sex": table["sex"].tolist(), "age": table["age"].to_numpy()}
    model = FairPCACV(FairPCA(2), tolerances=[0.02, 0.005], target=0.5, random_state=0).fit(X, sensitive_features=known)
    assert [measure["attribute"] for measure in model.certificate_.measures] == ["sex", "age"]
    assert model.certificate_.upper_bound == max(measure["upper_bound"] for measure in model.certificate_.measures)


KNOWN = {
    "pandas": lambda table: table[["sex", "race"]],
    "polars": lambda table: pl.DataFrame({"sex": table["sex"].tolist(), "race": table["race"].tolist()}),
    "mapping": lambda table: {"sex": table["sex"].tolist(), "race": tuple(table["race"])},
    "array": lambda table: table[["sex", "race"]].to_numpy(),
    "list": lambda table: table[["sex", "race"]].to_numpy().tolist(),
}


@pytest.fixture(scope="module")
def plain_table():
    X, table = people()
    model = FairPCACV(FairPCA(2), tolerances=[2.0], target=1.9, random_state=0)
    return X, table, model.fit(X, sensitive_features=table[["sex", "race"]])


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_any_table_of_attributes(plain_table, known):
    X, table, expected = plain_table
    model = FairPCACV(FairPCA(2), tolerances=[2.0], target=1.9, random_state=0).fit(X, sensitive_features=known(table))
    for name in ("test_mmd2", "test_excess", "test_variance"):
        np.testing.assert_allclose(model.cv_results_[name], expected.cv_results_[name])


def test_frames_keep_their_names_and_odd_indices_do_not_matter(plain_table):
    X, table, expected = plain_table
    names = [f"x{k}" for k in range(8)]
    index = np.arange(500)[::-1] * 7
    frame, known = pd.DataFrame(X, columns=names, index=index), table[["sex", "race"]].set_axis(index)
    model = FairPCACV(FairPCA(2), tolerances=[2.0], target=1.9, random_state=0).set_output(transform="pandas")
    Z = model.fit_transform(frame, sensitive_features=known)
    assert list(Z.columns) == ["fairpca0", "fairpca1"]
    assert model.feature_names_in_.tolist() == model.best_estimator_.feature_names_in_.tolist() == names
    np.testing.assert_allclose(model.cv_results_["test_mmd2"], expected.cv_results_["test_mmd2"])
    model.set_params(target=1.8).fit(frame, sensitive_features=known)
    assert model.best_estimator_.feature_names_in_.tolist() == names


def test_labels_segments_weights_and_intersections():
    X, table = people()
    known = {"sensitive_features": table[["sex", "race"]], "sample_weight": table["weight"]}
    terms = {"sensitive": "intersections", "fairness": "equal_opportunity", "small_groups": "merge"}
    model = FairPCACV(FairPCA(2, **terms), tolerances=[2.0, 0.2], target=1.9, test_size=0.66, random_state=0).fit(
        X, table["y"], **known
    )
    assert len(model.certificate_.measures) == len(model.best_estimator_.measures_) == 6
    controlled = FairPCACV(FairPCA(2), tolerances=[2.0], target=1.9, random_state=0)
    controlled.fit(X, sensitive_features=table["sex"], control_features=table["department"])
    assert len(controlled.best_estimator_.measures_) == 2


def test_a_part_with_fewer_values_of_an_attribute_keeps_its_kind():
    rng = np.random.default_rng(0)
    number = np.repeat(np.arange(21.0), [40] * 20 + [1])
    X = rng.normal(size=(801, 3)) + 0.1 * number[:, None]
    model = FairPCACV(FairPCA(1), tolerances=[2.0], target=1.9, random_state=0).fit(X, sensitive_features=number)
    assert model.best_estimator_.sensitive_kinds_ == {"sensitive_features": "continuous"}
    assert [each["name"] for each in model.certificate_.measures] == list(model.best_estimator_.mmd2_by_measure_)


def test_a_share_of_the_variance_is_the_same_number_of_components_everywhere(data):
    X, group = data
    model = FairPCACV(FairPCA(0.6), tolerances=[2.0], target=1.9, random_state=0).fit(X, sensitive_features=group)
    whole = FairPCA(0.6, tolerance=2.0).fit(X, sensitive_features=group)
    assert model.best_estimator_.n_components_ == whole.n_components_


def test_weights_of_sides_sum_to_one_where_rare_combinations_are_absent():
    sex, race = np.tile(["f", "m"], 30), np.repeat(["a", "b"], 30)
    sex[30:] = np.where(np.arange(30) == 7, "f", "m")
    compared = compare(People({"sex": sex, "race": race}), 60, Terms(), 2.0)
    held_out = np.arange(0, 60, 3)
    assert not np.any((sex == "f") & (race == "b") & np.isin(np.arange(60), held_out))
    rows = HeldOut.of(np.zeros((60, 2)), compared, held_out, seed=0).rows
    for j in range(2):
        column = rows.columns_of(j)[:, 0]
        np.testing.assert_allclose([column[column > 0].sum(), column[column < 0].sum()], [1.0, -1.0])


def test_every_part_has_its_share_of_each_group(rng):
    group = rng.choice(["a", "b", "c"], size=203, p=[0.6, 0.3, 0.1])
    compared = compare(People(group), 203, Terms(), 2.0)
    parts = one_split(0.3, compared, rng)
    for g in "abc":
        assert abs(np.sum(group[parts.held_out] == g) - 0.3 * np.sum(group == g)) < 1
    assert len(parts.held_out) + len(parts.fitted) == 203


def test_models_of_several_bandwidths_are_judged_at_one(data):
    X, group = data
    model = FairPCACV(FairPCA(2, bandwidth="scales"), tolerances=[2.0], target=1.9, random_state=0).fit(
        X, sensitive_features=group
    )
    single = FairPCACV(FairPCA(2), tolerances=[2.0], target=1.9, random_state=0).fit(X, sensitive_features=group)
    assert len(model.best_estimator_.bandwidth_factors_) == 4
    np.testing.assert_allclose(model.cv_results_["test_mmd2"], single.cv_results_["test_mmd2"])


def test_groups_are_handed_on_by_pipelines(data, rng):
    X, group = data
    y = rng.integers(2, size=400)
    with config_context(enable_metadata_routing=True):
        fair = FairPCACV(FairPCA(2), tolerances=[2.0], target=1.9).set_fit_request(sensitive_features=True)
        pipeline = make_pipeline(fair, LogisticRegression()).fit(X, y, sensitive_features=group)
    assert pipeline[0].best_tolerance_ == 2.0


def test_people_who_are_left_out_are_named_once(data):
    X, group = data
    few = np.where(np.arange(400) < 3, "c", group)
    with pytest.warns(LeftOutWarning, match="'c'") as caught:
        FairPCACV(FairPCA(2, small_groups="leave"), tolerances=[2.0], target=1.9, random_state=0).fit(
            X, sensitive_features=few
        )
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"target": 0.0}, ValueError, "target=0.0 must be greater than 0"),
        ({"target": -1e-3}, ValueError, "target=-0.001 must be greater than 0"),
        ({"target": "small"}, TypeError, "target must be a number greater than 0"),
        (
            {"target": 0.1, "confidence": 1.0},
            ValueError,
            "confidence=1.0 must be a number of at least 0.5 and less than 1",
        ),
        ({"target": 0.1, "test_size": 1.5}, ValueError, "test_size=1.5 must be between 0 and 1"),
        (
            {"target": 0.1, "test_size": 0.04},
            ValueError,
            "test_size=0.04 leaves 15. rows of one side of 'a against b' to fit to and [67] to judge by; at least 5",
        ),
        ({"target": None}, ValueError, r'Without a target use FairPCA\(tolerance="auto"\)'),
        ({"estimator": 2}, TypeError, r"estimator=2 must be a FairPCA, for example FairPCA\(n_components=2\)"),
        ({"tolerances": [1e-3, 1e-2]}, ValueError, "tolerances must decrease"),
        ({"tolerances": 1e-3}, ValueError, "a single tolerance is for FairPCA"),
        ({"estimator": FairPCA(9)}, ValueError, "n_components=9 must be between 1"),
        ({"estimator": FairPCA(solver="sdp")}, ValueError, "solver='sdp' is unknown"),
        ({"estimator": FairPCA(fairness="equalized_odds")}, ValueError, "speaks of labels: pass them as y"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(data, parameters, error, message):
    X, group = data
    with pytest.raises(error, match=message):
        FairPCACV(**({"target": 0.1} | parameters)).fit(X, sensitive_features=group)


def test_groups_are_needed(data):
    with pytest.raises(ValueError, match="sensitive_features=None: a tolerance is chosen by how groups differ"):
        FairPCACV(FairPCA(2), target=0.1).fit(data[0], sensitive_features=None)


def test_rows_must_be_in_memory(data):
    array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="needs them in memory; got a Dask collection"):
        FairPCACV(FairPCA(2), target=0.1).fit(array.from_array(data[0]), sensitive_features=data[1])


def test_a_failed_fit_learns_nothing(data):
    X, group = data
    model = FairPCACV(FairPCA(2), target=0.1)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(np.where(X > 2, np.nan, X), sensitive_features=group)
    with pytest.raises(NotFittedError):
        model.transform(X)


@pytest.mark.slow
def test_wrong_certificates_are_rare():
    population = NormalPeople.made(3, shift=2.0)
    # About what the loosest tolerance leaves in the population, and most draws could certify the next.
    target, n_draws, wrong, right = 0.11, 500, 0, 0
    for seed in range(n_draws):
        X, group = population.draw(600, seed=1000 + seed)
        model = FairPCACV(FairPCA(2), tolerances=[0.12, 0.06, 0.03], target=target, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            model.fit(X, sensitive_features=group)
        exceeds = population.mmd2(model.best_estimator_) > target
        wrong, right = wrong + (model.certified_ and exceeds), right + (model.certified_ and not exceeds)
    # A binomial share of 5 % exceeds this once in a thousand times.
    assert wrong <= binom.ppf(0.999, n_draws, 0.05)
    assert right > 0


def test_the_population_is_known():
    population = NormalPeople.made(0)
    X, group = population.draw(20_000, seed=1)
    model = FairPCA(2, tolerance=0.05).fit(X[:300], sensitive_features=group[:300])
    measured = mmd2(model.transform(X), sensitive_features=group, bandwidth=model.bandwidth_)
    assert population.mmd2(model) == pytest.approx(measured, abs=0.004)
