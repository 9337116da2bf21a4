"""The verdict follows the size of what can be predicted and its uncertainty, and its next steps do what they say."""
# SPDX-License-Identifier: MIT

from dataclasses import replace

import numpy as np
import pytest

from fairpca import FairPCA, audit
from fairpca.auditing import judge, with_remedies
from fairpca.comparison import People
from fairpca.exceptions import TrainingRowsWarning

QUICK = {"adversaries": ("linear",), "n_permutations": 199, "random_state": 0}


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    return rng.normal(size=(20_000, 2)), rng.integers(0, 2, size=20_000)


@pytest.mark.parametrize(
    ("shift", "fair", "words"),
    [(0.0, True, "Fair enough for sex"), (0.1, True, "of a size that the limit allows"), (1.0, False, "reveal sex")],
)
def test_it_follows_the_size_and_not_the_p_value(large, shift, fair, words):
    Z, sex = large
    found = audit(None, Z + shift * sex[:, None] * [1, 0], sensitive_features={"sex": sex}, **QUICK)
    assert (found.p_value < 0.05) == (shift > 0)
    assert judge(found).fair is fair
    assert words in found.verdict
    # A limit of nothing is never kept, and one of everything always.
    assert judge(found, limit=1e-6).fair is not True
    assert judge(found, limit=1.0).fair is True


def test_few_rows_show_nothing_and_say_how_many_would(large):
    Z, sex = (each[:300] for each in large)
    found = judge(audit(None, Z, sensitive_features={"sex": sex}, **QUICK))
    assert found.fair is None
    rows = int(found.steps[-1].split("about ")[1].split(" ")[0].replace(",", ""))
    Z, sex = (each[:rows] for each in large)
    assert judge(audit(None, Z, sensitive_features={"sex": sex}, **QUICK)).fair is True


def test_what_would_help_does(large):
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, size=3000)
    X = rng.normal(size=(3000, 5))
    X[:, 2] += 2.5 * sex
    X[:, 3] += X[:, 2]
    people = {"sensitive_features": {"sex": sex[1500:]}}
    model = FairPCA(2, tolerance=1.9).fit(X[:1500], sensitive_features={"sex": sex[:1500]})
    found = audit(model, X[1500:], **people, **QUICK)
    columns = {name: slice(j, j + 1) for j, name in enumerate("abcde")}
    step = with_remedies(found, model, X[1500:], People(**people), columns, ["c", "d"]).remedies[0]
    assert step.startswith("Drop 'c' and 'd' and fit again")
    without = FairPCA(2, tolerance=1.9).fit(X[:1500, [0, 1, 4]], sensitive_features={"sex": sex[:1500]})
    assert judge(audit(without, X[1500:, [0, 1, 4]], **people, **QUICK)).fair is not False
    with pytest.warns(TrainingRowsWarning):
        seen = audit(model, X[:1500], sensitive_features={"sex": sex[:1500]}, **QUICK)
    assert judge(seen).fair is None
    assert "confidence" not in judge(seen).certainty
    assert np.isnan(judge(seen).at_most)


def test_it_never_contradicts_a_number_beside_it(large):
    Z, sex = (each[:4000] for each in large)
    y = (Z[:, 0] > 0).astype(int)
    found = audit(None, Z, y, sensitive_features={"sex": sex}, **QUICK)
    assert judge(found).fair is True
    # Smooth scores and adversaries show nothing, but predictions of the label do.
    (gaps,) = found.parity
    apart = replace(found, parity=[gaps | {"demographic_parity": 0.35}])
    assert judge(apart).fair is False
    assert "Predictions of the label have a gap of 35 points" in apart.verdict
    assert judge(apart).at_most > 0.35
    # Gaps within labels are what demographic parity does not speak of.
    assert judge(replace(found, parity=[gaps | {"equalized_odds": 0.35}])).fair is True
    # A difference that the kernel of the fit cannot see is said to be finer than that.
    (measure,) = found.measures
    fine = replace(found, measures=[measure | {"p_value": 0.4, "p_value_adjusted": 0.001}])
    assert "detects a difference finer than the kernel width of the fit" in fine.verdict


def test_two_groups_within_labels_are_two_groups(large):
    Z, sex = (each[:2000] for each in large)
    y = (np.arange(2000) % 3 == 0).astype(int)
    found = audit(None, Z, y, sensitive_features=sex, fairness="equalized_odds", **QUICK)
    assert "mean over groups" not in found.verdict


def test_an_attribute_that_is_revealed_has_a_next_step_beside_others(large):
    Z, sex = (each[:3000] for each in large)
    age = np.random.default_rng(3).normal(size=3000)
    people = {"sex": sex, "age": age}
    found = judge(audit(None, Z + sex[:, None] * [1, 0], sensitive_features=people, **QUICK))
    assert found.fair is False
    assert any("Release cells" in step and "of sex" in step for step in found.steps)


def test_groups_too_small_for_adversaries_are_said_to_be(large):
    Z, sex = (each[:30] for each in large)
    found = audit(None, Z, sensitive_features=sex, **QUICK)
    assert "too few rows for adversaries" in found.verdict
    assert not any(step.startswith("Audit with adversaries") for step in judge(found).steps)
