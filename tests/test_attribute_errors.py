"""Groups that are recorded wrongly: bounds, audits and fits speak of the true ones."""
# SPDX-License-Identifier: MIT

import math

import dask.array as da
import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from fairpca import FairPCA, FairPCACV, Release, any_classifier_bound, audit, load, load_certificate, verify
from fairpca.auditing import certificate_of_release
from fairpca.comparison import People, Terms, compare, estimate_error_rates
from fairpca.metrics import mmd2, mmd2_by_measure
from fairpca.release import least_bound

RATES = 0.2, 0.1
"""Shares of those who are F and of those who are M that are recorded as the other."""

TRUE = {"true": {"F": 0.2, "M": 0.1}}


def people(n, gap=1.0, seed=0, rates=RATES, female=0.3):
    rng = np.random.default_rng(seed)
    is_female = rng.random(n) < female
    wrong = rng.random(n) < np.where(is_female, *rates)
    X = rng.normal(size=(n, 4))
    X[:, 0] += gap * is_female
    return X, np.where(is_female, "F", "M"), np.where(is_female ^ wrong, "F", "M")


def recorded_rates(true, recorded):
    """Return what stands in the data: shares of others among those recorded as F and as M."""
    return {group: float(np.mean(true[recorded == group] != group)) for group in "FM"}


def audited(Z, groups, **options):
    asked = {"adversaries": (), "n_permutations": 19, "bandwidth": 1.5, "random_state": 0}
    return audit(None, Z, sensitive_features=groups, **(asked | options))


def test_recorded_groups_are_the_true_ones_less_far_apart():
    X, true, recorded = people(15_000)
    a, b = recorded_rates(true, recorded).values()
    known = mmd2(X, sensitive_features=true, bandwidth=1.5, unbiased=True)
    shown = mmd2(X, sensitive_features=recorded, bandwidth=1.5, unbiased=True)
    assert shown == pytest.approx((1 - a - b) ** 2 * known, rel=0.15)
    rates = {"recorded": {"F": a, "M": b}}
    right = mmd2(X, sensitive_features=recorded, bandwidth=1.5, unbiased=True, attribute_error=rates)
    assert right == pytest.approx(shown / (1 - a - b) ** 2, rel=1e-9)


@pytest.mark.parametrize("female", [0.1, 0.3, 0.5])
def test_shares_of_true_groups_become_shares_of_recorded_ones(female):
    n = 10**9  # so many that their shares are certain
    A, B = RATES
    share = female * (1 - A) + (1 - female) * B
    a, b = (1 - female) * B / share, female * A / (1 - share)
    errors = Terms.named(attribute_error=TRUE).errors_of([""])[0]
    found = errors.correction(["F", "M"], [share * n, (1 - share) * n], n)
    assert found.scale == pytest.approx(1 / (1 - a - b), rel=1e-3)
    assert found.shares == pytest.approx((female, female))
    same = Terms.named(attribute_error={"recorded": {"M": b, "F": a}}).errors_of([""])[0]
    assert same.correction(["F", "M"], [share * n, (1 - share) * n], n).shares == pytest.approx((female, female))


def test_randomised_response_of_equal_groups_has_the_known_factor():
    errors = Terms.named(attribute_error={"epsilon": 1.0}).errors_of([""])[0]
    found = errors.correction(["a", "b"], [1e9, 1e9], 2e9)
    assert found.scale == pytest.approx(1 / math.tanh(0.5), rel=1e-3)


def test_all_figures_of_an_audit_speak_of_the_true_groups():
    X, true, recorded = people(20_000)
    y = (X[:, 0] + X[:, 1] > 0.5).astype(int)
    options = {"y": y, "adversaries": "linear"}
    wrong, right, known = (
        audited(X, groups, attribute_error=errors, **options)
        for groups, errors in ((recorded, None), (recorded, TRUE), (true, None))
    )
    for name in ("unbiased", "mmd2"):
        assert right.measures[0][name] == pytest.approx(known.measures[0][name], rel=0.15)
        assert wrong.measures[0][name] < 0.6 * known.measures[0][name]
    for name in ("auc", "balanced_accuracy"):
        assert right.adversaries[0][name] == pytest.approx(known.adversaries[0][name], abs=0.03)
    for name in ("demographic_parity", "equal_opportunity", "equalized_odds"):
        assert right.parity[0][name] == pytest.approx(known.parity[0][name], abs=0.04)
        assert wrong.parity[0][name] < right.parity[0][name]
    assert right.p_value == wrong.p_value
    assert right.upper_bound - right.measures[0]["unbiased"] > known.upper_bound - known.measures[0]["unbiased"]
    assert right.upper_bound > 1.5 * wrong.upper_bound
    assert known.judge().fair is right.judge().fair is False
    assert right.judge().at_most == pytest.approx(known.judge().at_most, abs=0.03)
    assert right.judge().at_most > wrong.judge().at_most + 0.1


def test_attributes_keep_their_own_errors():
    X, _, recorded = people(2000)
    both = {"sex": recorded, "age": np.arange(2000) % 2}
    plain, right = (
        mmd2_by_measure(X, sensitive_features=both, attribute_error=errors)
        for errors in (None, {"sex": {"recorded": {"F": 0.1, "M": 0.1}}})
    )
    assert right["age: 0 against 1"] == plain["age: 0 against 1"]
    assert right["sex: F against M"] == pytest.approx(plain["sex: F against M"] / 0.8**2)


def test_probabilities_of_errors_are_turned_within_each_segment():
    _, true, recorded = people(40_000, seed=1)
    segment = np.where(np.random.default_rng(0).random(40_000) < np.where(true == "F", 0.8, 0.2), "old", "young")
    found = compare(People(recorded, control_features=segment), 40_000, Terms.named(attribute_error=TRUE), 2.0)
    for measure, name in zip(found.measures, ("old", "young"), strict=True):
        inside = segment == name
        a, b = recorded_rates(true[inside], recorded[inside]).values()
        # At the end of the interval for the shares of recorded groups.
        assert 1 / (1 - a - b) < measure.correction.scale < 1.15 / (1 - a - b)


def test_a_fit_meets_its_tolerance_for_the_true_groups():
    X, _, recorded = people(15_000, gap=1.5)
    X[:, 0] *= 2.0
    new, true, _ = people(40_000, gap=1.5, seed=1)
    new[:, 0] *= 2.0
    found = {}
    for name, errors in (("ignored", None), ("known", TRUE)):
        model = FairPCA(2, tolerance=0.02, bandwidth=2.0, attribute_error=errors).fit(X, sensitive_features=recorded)
        assert model.converged_
        assert model.mmd2_ <= 0.02
        Z = model.transform(new)
        found[name] = mmd2(Z, sensitive_features=true, bandwidth=2.0, unbiased=True), model.chance_level_
    # Up to chance, on which sides of this size leave a tenth.
    assert found["known"][0] <= 1.1 * 0.02 + found["known"][1]
    assert found["ignored"][0] > 0.03
    assert found["known"][1] > 1.5 * found["ignored"][1]


def test_what_few_rows_cannot_promise_is_counted_by_the_true_groups():
    rng = np.random.default_rng(3)
    X, recorded = rng.normal(size=(4200, 3)), rng.choice(["F", "M"], 4200)
    errors = {"recorded": {"F": 0.2, "M": 0.2}}
    release = Release(n_cells=4, attribute_error=errors, random_state=0).fit(X[:500])
    release.certify(X[500:3500], sensitive_features=recorded[500:3500], target=0.2)
    certificate = certificate_of_release(release, X[500:3500], sensitive_features=recorded[500:3500])
    of_recorded = least_bound(350, 350, 0.95, certificate.n_cells)
    assert of_recorded < 0.2 < of_recorded / 0.6
    (reason,) = verify(certificate, release, X[3500:], sensitive_features=recorded[3500:]).differences
    assert f"so few cannot show it of {certificate.n_cells} cells, even where groups do not differ" in reason


def test_errors_travel_with_models_certificates_and_releases(tmp_path):
    X, _, recorded = people(3000)
    new, _, known = people(3000, seed=1)
    rates = {"sex": estimate_error_rates(known, recorded_again(known))}
    model = FairPCA(2, attribute_error=rates).fit(X, sensitive_features={"sex": recorded})
    model.save(tmp_path / "model.fairpca")
    again = load(tmp_path / "model.fairpca")
    assert again.attribute_error == rates
    found = audit(model, new, sensitive_features={"sex": known}, adversaries=(), n_permutations=19, random_state=0)
    found.certificate().save(tmp_path / "certificate.json")
    certificate = load_certificate(tmp_path / "certificate.json")
    assert certificate.terms["attribute_error"]["sex"]["confidence"] == 0.99
    assert certificate.upper_bound == found.upper_bound
    assert (
        found.upper_bound
        > audit(
            model, new, sensitive_features={"sex": known}, adversaries=(), attribute_error=None, random_state=0
        ).upper_bound
    )
    assert verify(certificate, model, new, sensitive_features={"sex": known}).holds
    release = Release(n_cells=5, attribute_error={"recorded": {"F": 0.1, "M": 0.1}}, random_state=0)
    release = release.fit(X, sensitive_features=recorded).certify(new, sensitive_features=known, target=0.6)
    release.save(tmp_path / "release.fairpca")
    assert load(tmp_path / "release.fairpca").attribute_error == release.attribute_error
    assert release.certificate_.measures[0]["slack"] > 1.24 * least_slack(new, known)


def recorded_again(groups):
    """Return groups of which every fiftieth is the other."""
    return np.where(np.arange(len(groups)) % 50 == 0, np.where(groups == "F", "M", "F"), groups)


def least_slack(X, groups):
    return any_classifier_bound(X[:, 0] > 0, sensitive_features=groups).measures[0]["slack"]


def test_a_chosen_tolerance_is_certified_for_the_true_groups():
    X, _, recorded = people(2000, gap=0.2)
    chosen = {"target": 0.9, "tolerances": [0.05], "random_state": 0}
    plain, right = (
        FairPCACV(FairPCA(1, attribute_error=errors), **chosen).fit(X, sensitive_features=recorded).certificate_
        for errors in (None, {"recorded": {"F": 0.2, "M": 0.2}})
    )
    assert right.upper_bound > 1.5 * plain.upper_bound


def test_weights_and_blocks_have_the_same_correction():
    _, _, recorded = people(3000)
    terms, weight = Terms.named(attribute_error=TRUE), np.random.default_rng(9).uniform(0.5, 1.0, 3000)
    plain = compare(People(recorded), 3000, terms, 2.0).measures[0].correction
    blocks = da.from_array(recorded.astype("U1"), chunks=1000)
    assert compare(People(blocks), (1000, 1000, 1000), terms, 2.0).measures[0].correction == plain
    # Weights make shares less certain.
    heavy = compare(People(recorded, sample_weight=weight), 3000, terms, 2.0).measures[0].correction
    assert plain.scale < heavy.scale < 1.1 * plain.scale


def test_noise_that_belongs_to_people_is_certified_for_the_true_groups():
    X, _, recorded = people(4000, gap=0.1)
    levels = []
    for errors in (None, {"recorded": {"F": 0.15, "M": 0.15}}):
        release = Release("noise", attribute_error=errors, random_state=0).fit(X[:2000, :1])
        release.certify(X[2000:, :1], sensitive_features=recorded[2000:], target=0.2)
        levels.append(release.level_)
        bound = release.certificate_
        assert bound.measures[0]["distance"] + bound.measures[0]["slack"] <= 0.2
    assert levels[1] > levels[0]


@pytest.mark.parametrize("way", ["recorded", "true", "estimated"])
def test_bounds_for_every_classifier_hold_for_the_true_groups(way):
    X, true, recorded = people(3000)
    cells, distance = X[:, 0] > 0.5, norm.cdf(0.5) - norm.cdf(-0.5)
    exact = {"recorded": recorded_rates(true, recorded)}
    _, others, seen = people(2000, seed=1)
    errors = {"recorded": exact, "true": TRUE, "estimated": estimate_error_rates(seen, others)}[way]
    found = any_classifier_bound(cells, sensitive_features=recorded, attribute_error=errors)
    assert any_classifier_bound(cells, sensitive_features=recorded).upper_bound < distance < found.upper_bound
    best = np.mean((true == "F") == cells), 0.7
    assert found.accuracy >= max(best)
    assert found.auc >= roc_auc_score(true == "F", cells)


def coverage(draws, rates, n, of, labelled):
    """Return how often U holds for the true groups, whose MMD^2 is known."""
    gap, sigma, d = 0.8, 1.5, 4
    known = 2 * (sigma**2 / (sigma**2 + 2)) ** (d / 2) * (1 - math.exp(-(gap**2) / (2 * (sigma**2 + 2))))
    holds = []
    for seed in range(draws):
        X, _, recorded = people(n, gap, seed, rates)
        errors = {"true": dict(zip("FM", rates, strict=True))}
        if labelled:
            _, true, seen = people(labelled, gap, 10_000 + seed, rates)
            errors = estimate_error_rates(seen, true, of=of)
        holds.append(audited(X, recorded, attribute_error=errors, random_state=seed).upper_bound >= known)
    return np.mean(holds)


def test_the_bound_of_an_audit_holds_for_the_true_groups():
    # Of 60 draws fewer than 54 hold with a probability of 3 % where 95 % do.
    assert coverage(60, RATES, 500, "recorded", 0) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.1, 0.1), (0.3, 0.1), (0.3, 0.3)])
@pytest.mark.parametrize(("of", "labelled"), [("recorded", 0), ("recorded", 1000), ("true", 1000)])
def test_coverage_is_at_least_what_is_said(rates, of, labelled):
    # 500 draws of which 95 % hold have at least 93 % but for one in fifty times.
    assert coverage(500, rates, 800, of, labelled) >= 0.93


def test_estimated_rates_lie_in_their_intervals():
    held = []
    for seed in range(200):
        _, true, recorded = people(400, seed=seed)
        found = estimate_error_rates(recorded, true, of="true", confidence=0.9)["true"]
        held.append(all(low <= rate <= high for (low, high), rate in zip(found.values(), RATES, strict=True)))
    assert np.mean(held) >= 0.87


NAMED = {"recorded": {"F": 0.1, "M": 0.1}}

REFUSED = {
    "a pair": ((0.1, 0.05), "whose errors are known"),
    "a number": (0.1, "whose errors are known"),
    "nothing": ({}, "whose errors are known"),
    "no rates": ({"sex": 0.1}, "whose errors are known"),
    "both": ({"sex": {"recorded": {"F": 0.1, "M": 0.1}, "true": {"F": 0.1, "M": 0.1}}}, "whose errors are known"),
    "sum to 1": ({"sex": {"recorded": {"F": 0.5, "M": 0.5}}}, "must sum to less than 1"),
    "ends sum to 1": ({"sex": {"true": {"F": (0.0, 0.6), "M": (0.1, 0.4)}}}, "must sum to less than 1"),
    "negative": ({"sex": {"recorded": {"F": -0.1, "M": 0.1}}}, "a share from 0 to 1, or the interval"),
    "turned": ({"sex": {"recorded": {"F": (0.2, 0.1), "M": 0.1}}}, "a share from 0 to 1, or the interval"),
    "text": ({"sex": {"recorded": {"F": "10 %", "M": 0.1}}}, "a share from 0 to 1, or the interval"),
    "one group": ({"sex": {"recorded": {"F": 0.1}}}, "a share for each of two groups"),
    "three groups": ({"sex": {"recorded": {"F": 0.1, "M": 0.1, "X": 0.1}}}, "merge groups until there are two"),
    "other groups": ({"sex": {"recorded": {"F": 0.1, "W": 0.1}}}, "names the groups 'F', 'W'; it has 'F', 'M'"),
    "other attribute": ({"gender": NAMED}, "of 'gender', and sensitive_features has 'sex', 'race', 'age'"),
    "no attribute": (NAMED, "of which attribute it speaks"),
    "more groups": ({"race": NAMED}, "is for attributes of two groups, and .*race.* has 3: 'a', 'b', 'c'"),
    "numbers": ({"age": NAMED}, "is for attributes of two groups, and .*age.* has numbers"),
    "epsilon": ({"sex": {"epsilon": 0.0}}, "epsilon of attribute_error=0.0 must be between 0 and 500"),
    "impossible": ({"sex": {"true": {"F": 0.1, "M": 0.6}}}, "cannot be right, or rows are too few"),
    "unsure": ({"sex": NAMED | {"confidence": 0.95}}, "holds with 95 % confidence, too little for a bound with 95 %"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    errors, words = REFUSED[name]
    X, _, recorded = people(300)
    known = {"sex": recorded, "race": np.array(list("abc") * 100), "age": np.random.default_rng(0).random(300)}
    with pytest.raises(ValueError, match=words):
        audited(X, known, attribute_error=errors)
    if name != "unsure":
        with pytest.raises(ValueError, match=words):
            FairPCA(1, attribute_error=errors).fit(X, sensitive_features=known)
    del known["age"]
    if name not in ("numbers", "other attribute"):
        with pytest.raises(ValueError, match=words):
            any_classifier_bound(X[:, 0] > 0, sensitive_features=known, attribute_error=errors)


def test_crossed_attributes_have_more_than_two_groups():
    X, _, recorded = people(300)
    with pytest.raises(ValueError, match='sensitive="intersections" has more'):
        FairPCA(1, sensitive="intersections", attribute_error={"sex": NAMED}).fit(X, sensitive_features=recorded)


@pytest.mark.parametrize(
    ("recorded", "true", "words"),
    [
        (["a", "b"], ["a"], "both must be one column"),
        (["a", "b", "c"], ["a", "b", "a"], "3 groups, and two are needed"),
    ],
)
def test_what_cannot_be_estimated(recorded, true, words):
    with pytest.raises(ValueError, match=words):
        estimate_error_rates(recorded, true)
