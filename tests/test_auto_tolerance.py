"""tolerance="auto": no less is asked for than half of the chance level, and what is said of that is true."""
# SPDX-License-Identifier: MIT

import dask.dataframe as dd
import numpy as np
import pytest
from sklearn.decomposition import PCA

from comparisons import kernel
from fairpca import FairPCA, fair_pca_path
from fairpca.exceptions import ConvergenceWarning, EffortWarning, StrictToleranceWarning
from fairpca.geometry import projection_distance
from fairpca.metrics import mmd2_by_measure
from fairpca.solvers import Status
from people_tables import KINDS, NOTIONS, people


def by_lot(rng, n, p=8):
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)), rng.permutation(np.arange(n) % 3)


def apart(rng, n, p=8):
    X, group = by_lot(rng, n, p)
    X[group == 0] += rng.normal(size=p)
    return X, group == 0


def is_pca(model, X):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    pca = PCA(model.n_components_).fit(scaled)
    return projection_distance(model.components_.T, pca.components_.T) < 1e-6


def test_it_is_the_default_and_half_of_what_chance_shows(rng):
    X, group = apart(rng, 600)
    model = FairPCA(2, random_state=0).fit(X, sensitive_features=group)
    assert model.converged_
    assert model.mmd2_ <= model.tolerance_
    assert not is_pca(model, X)
    Z = model.transform(X)
    K = kernel(Z, model.bandwidth_)
    off_diagonal = (K.sum() - len(Z)) / (len(Z) * (len(Z) - 1))
    chance = (1 / 200 + 1 / 400) * (1 - off_diagonal)
    assert model.chance_level_ == pytest.approx(chance, rel=1e-9)
    assert model.tolerance_ == pytest.approx(chance / 2, rel=0.1)
    assert model.expected_mmd2_new_ == model.mmd2_ + model.chance_level_
    (measure,) = model.measures_
    assert measure["sides"] == (400, 200)
    assert measure["chance_level"] == model.chance_level_
    assert measure["tolerance"] == model.tolerance_


def test_plain_pca_is_kept_where_groups_are_drawn_by_lot(rng):
    kept = 0
    for _ in range(12):
        X, group = by_lot(rng, 200)
        model = FairPCA(2, random_state=0).fit(X, sensitive_features=group)
        assert model.converged_
        kept += model.result_.status is Status.PCA_IS_FAIR
        if model.result_.status is Status.PCA_IS_FAIR:
            assert is_pca(model, X)
            assert model.expected_mmd2_new_ == max(model.mmd2_, model.chance_level_)
    assert kept >= 9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("notion", NOTIONS)
def test_every_notion_and_kind(notion, kind):
    names, terms = KINDS[kind]
    X, table = people()
    model = FairPCA(2, fairness=notion, random_state=0, **terms)
    model.fit(X, table["y"], sensitive_features=table[names], sample_weight=table["weight"])
    assert model.converged_
    for measure in model.measures_:
        assert 0 < measure["mmd2"] <= measure["tolerance"] * (1 + 1e-9)
        assert measure["tolerance"] >= 0.4 * measure["chance_level"] > 0


@pytest.mark.parametrize("container", ["memory", "dask"])
def test_plain_pca_of_many_rows_is_kept_too(rng, container):
    X, group = by_lot(rng, 6000)
    rows = X if container == "memory" else dd.from_array(X, chunksize=2500)
    model = FairPCA(2, random_state=0).fit(rows, sensitive_features=group)
    assert model.result_.status is Status.PCA_IS_FAIR
    assert is_pca(model, X)


def test_a_given_tolerance_is_told_beside_chance(rng):
    X, group = apart(rng, 300)
    model = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    assert model.tolerance_ == 1e-3
    assert model.expected_mmd2_new_ == model.mmd2_ + model.chance_level_
    path = fair_pca_path(X, group, tolerances=[1e-2, 1e-3])
    assert path.models_[1].chance_level_ == pytest.approx(model.chance_level_, rel=0.05)


def test_new_people_show_what_was_expected(rng):
    X, group = apart(rng, 4000)
    found, expected = [], []
    for part in np.split(rng.permutation(4000), 5):
        model = FairPCA(2, random_state=0).fit(X[part], sensitive_features=group[part])
        others = np.setdiff1d(np.arange(4000), part)[: len(part)]
        new = mmd2_by_measure(model.transform(X[others]), sensitive_features=group[others], bandwidth=model.bandwidth_)
        found += new.values()
        expected.append(model.expected_mmd2_new_)
    assert 0.5 <= np.mean(found) / np.mean(expected) <= 1.6


def test_the_summary_says_it_in_words(rng):
    X, group = apart(rng, 300)
    words = FairPCA(2, random_state=0).fit(X, sensitive_features=group).summary()
    assert "on as many new people expect about" in words
    assert "random groups of this size (200 and 100 rows) would differ by about" in words
    X, group = by_lot(rng, 300)
    assert "This is plain PCA: its groups differ by no more than random groups would" in (
        FairPCA(2, random_state=0).fit(X, sensitive_features=group).summary()
    )
    assert "This is plain PCA: it meets the tolerance." in (
        FairPCA(2, tolerance=[1.0, 1.0, 1.0]).fit(X, sensitive_features=group).summary()
    )
    missed = FairPCA(7, tolerance=1e-9)
    with pytest.warns(ConvergenceWarning, match="did not meet tolerance"):
        missed.fit(*apart(rng, 60)[:1], sensitive_features=np.arange(60) % 2)
    assert "Not what was asked for" in missed.summary()


def test_a_large_table_is_not_asked_for_less_than_one_point(rng):
    group = np.arange(24_000) % 2
    X = rng.normal(size=(24_000, 4)) * [2.0, 1.5, 1.0, 0.8]
    X[:, 0] += 0.8 * group
    model = FairPCA(2, random_state=0).fit(X, sensitive_features=group)
    assert model.chance_level_ / 2 < 1e-4
    assert model.tolerance_ == 1e-4
    assert 0.9e-4 < model.mmd2_ <= 1e-4
    assert "one point" in model.summary()


def test_a_tolerance_far_below_chance_is_taken_as_it_is_with_a_warning(two_groups):
    X, group = two_groups
    with pytest.warns(StrictToleranceWarning, match="less than a twentieth of .* fits single rows"):
        model = FairPCA(2, tolerance=1e-4, random_state=0).fit(X, sensitive_features=group)
    assert model.tolerance_ == 1e-4


def test_progress_is_shown_where_it_is_asked_for_and_nowhere_else(two_groups, capsys, monkeypatch):
    monkeypatch.setattr("fairpca._utils.progress.ProgressLines.every", 0.0)
    X, group = two_groups
    FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    assert capsys.readouterr() == ("", "")
    FairPCA(2, tolerance=1e-3, verbose=True).fit(X, sensitive_features=group)
    out, err = capsys.readouterr()
    assert out == ""
    assert "% of the variance" in err.splitlines()[-1]


def test_a_fit_of_minutes_says_so_before_it_begins(monkeypatch):
    monkeypatch.setattr("fairpca.fitting._fitter.SECONDS_PER_ROW", 1e-3)
    X, group = np.random.default_rng(0).normal(size=(6000, 5)), np.arange(6000) % 2
    with pytest.warns(EffortWarning, match=r"over 6000 rows, which takes about \d+ minutes"):
        FairPCA(1, tolerance=1.0).fit(X, sensitive_features=group)
