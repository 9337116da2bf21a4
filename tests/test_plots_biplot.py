import itertools

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from fairpca import FairPCA
from fairpca.metrics import communality
from fairpca.plots import BiplotDisplay
from fairpca.plots._biplot import spread


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def wide(rng):
    """Return 60 rows of 20 features, groups and a fitted PCA."""
    X = rng.normal(size=(60, 20)) @ rng.normal(size=(20, 20))
    return X, np.repeat(["a", "b"], 30), PCA(2).fit(X)


def test_rows_are_drawn_by_group(wide):
    X, group, model = wide
    display = BiplotDisplay.from_estimator(model, X, sensitive_features=group)
    drawn = np.vstack([scatter.get_offsets() for scatter in display.scatters_])
    np.testing.assert_allclose(drawn, model.transform(X))
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["a (30)", "b (30)"]


def test_arrows_are_the_scaled_loadings_of_the_strongest_features(wide):
    X, group, model = wide
    display = BiplotDisplay.from_estimator(model, X, sensitive_features=group)
    strongest = np.argsort(-communality(model.components_))[:10]
    assert set(display.arrows_) == set(strongest.tolist())
    for feature, arrow in display.arrows_.items():
        np.testing.assert_allclose(np.array(arrow.xy) / display.arrow_scale_, model.components_[:, feature])


def test_the_protected_attribute_is_always_drawn_and_highlighted(wide):
    X, group, model = wide
    weakest = int(np.argmin(communality(model.components_)))
    display = BiplotDisplay.from_estimator(model, X, sensitive_features=group, sensitive=weakest)
    assert len(display.arrows_) == 11
    others = {display.labels_[feature].get_color() for feature in display.labels_ if feature != weakest}
    assert display.labels_[weakest].get_color() not in others
    assert display.labels_[weakest].get_fontweight() == "bold"


def test_names_come_from_the_argument_else_from_the_estimator_else_are_numbers(wide):
    X, group, model = wide
    names = [f"column {j}" for j in range(20)]
    given = BiplotDisplay.from_estimator(model, X, sensitive_features=group, feature_names=names)
    assert all(label.get_text() == f"column {feature}" for feature, label in given.labels_.items())
    numbered = BiplotDisplay.from_estimator(model, X, sensitive_features=group)
    assert all(label.get_text() == str(feature) for feature, label in numbered.labels_.items())
    import pandas

    frame = pandas.DataFrame(X, columns=names)
    seen = BiplotDisplay.from_estimator(PCA(2).fit(frame), frame, sensitive_features=group)
    assert {label.get_text() for label in seen.labels_.values()} <= set(names)


def test_labels_do_not_overlap(wide):
    X, group, model = wide
    _, ax = pyplot.subplots(figsize=(9, 4.6), layout="constrained")
    display = BiplotDisplay.from_estimator(model, X, sensitive_features=group, sensitive=3, ax=ax)
    display.figure_.draw_without_rendering()
    # The extent of an annotation includes its line; the text alone is that of its parent class.
    boxes = [super(type(label), label).get_window_extent() for label in display.labels_.values()]
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))


def test_other_than_two_components_are_refused(wide):
    X, group, _ = wide
    with pytest.raises(ValueError, match=r"a biplot needs n_components=2, but the estimator was fitted with 3\."):
        BiplotDisplay.from_estimator(PCA(3).fit(X), X, sensitive_features=group)
    with pytest.raises(NotFittedError):
        BiplotDisplay.from_estimator(FairPCA(2, tolerance=1e-3), X, sensitive_features=group)


@pytest.mark.parametrize("wanted", [[0.5] * 11, [0.0, 0.0, 1.0, 1.0], np.linspace(0, 1, 12), [0.2], []])
def test_spread_keeps_the_gap_the_order_and_the_bounds(wanted):
    positions = spread(np.array(wanted, dtype=float), gap=0.07)
    assert len(positions) == len(wanted)
    assert np.all(np.diff(positions) >= 0.07 - 1e-12)
    assert np.all((positions >= 0.03 - 1e-12) & (positions <= 0.88 + 1e-12))
