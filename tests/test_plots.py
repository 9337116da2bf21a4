"""Pictures show the numbers that they are made of."""
# SPDX-License-Identifier: MIT

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.path import Path
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from fairpca import FairPCA
from fairpca.baselines import FPCA
from fairpca.metrics import communality
from fairpca.plots import (
    BiplotDisplay,
    CommunalityDisplay,
    DensityDisplay,
    ProjectionDisplay,
    SpectrumDisplay,
    projection_spectrum,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_given_axes_and_styles_are_used(two_groups):
    X, group = two_groups
    _, (left, middle, right) = pyplot.subplots(1, 3)
    rows = ProjectionDisplay(X[:, :2], group).plot(ax=left, s=3)
    boxes = CommunalityDisplay({"PCA": [0.4, 0.5]}).plot(ax=right, widths=0.1)
    model = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    regions = DensityDisplay.from_estimator(model, X, sensitive_features=group, ax=middle, linewidths=3)
    assert (rows.ax_, regions.ax_, boxes.ax_, boxes.figure_) == (left, middle, right, right.figure)
    assert [set(lines.get_linewidths()) for lines in regions.contours_] == [{3}, {3}]
    assert rows.scatters_[0].get_sizes().tolist() == [3]
    assert np.ptp(boxes.boxes_["boxes"][0].get_path().vertices[:, 0]) == pytest.approx(0.1)


def test_an_estimator_that_is_not_fitted_is_refused(two_groups):
    X, group = two_groups
    for draw in (
        lambda: ProjectionDisplay.from_estimator(FairPCA(2), X, sensitive_features=group),
        lambda: CommunalityDisplay.from_estimators({"PCA": [PCA(2)]}, feature=0),
        lambda: SpectrumDisplay.from_estimator(PCA(2), X),
        lambda: BiplotDisplay.from_estimator(FairPCA(2), X, sensitive_features=group),
    ):
        with pytest.raises(NotFittedError):
            draw()


def test_projection_draws_every_row_once_by_group(two_groups):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    display = ProjectionDisplay.from_estimator(model, X, sensitive_features=group)
    drawn = np.vstack([scatter.get_offsets() for scatter in display.scatters_])
    expected = np.vstack([model.transform(X[group == name]) for name in ("a", "b")])
    np.testing.assert_allclose(drawn, expected)
    assert display.ax_.get_xlabel() == "component 1"


def test_one_component_is_drawn_as_strips(two_groups):
    X, group = two_groups
    display = ProjectionDisplay(X[:, :1], group).plot()
    heights = {tuple(np.unique(scatter.get_offsets()[:, 1])) for scatter in display.scatters_}
    assert heights == {(0.0,), (1.0,)}


def test_every_split_is_drawn_at_its_value():
    values = {"PCA": [0.4, 0.5, 0.3], "FairPCA": [0.02, 0.01, 0.015]}
    display = CommunalityDisplay(values, "age").plot()
    for column, scatter in zip(values.values(), display.scatters_, strict=True):
        np.testing.assert_allclose(scatter.get_offsets()[:, 1], column)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["PCA", "FairPCA"]
    assert display.ax_.get_ylabel() == "communality of age"
    assert display.ax_.get_legend() is not None


def test_the_spectrum_of_pca_is_its_explained_variance(two_groups):
    X, _ = two_groups
    eigenvalues, shares = projection_spectrum(PCA(2).fit(X), X)
    np.testing.assert_allclose(eigenvalues, [1, 1, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(shares, PCA().fit(X).explained_variance_ratio_)


def test_fpca_is_taken_by_its_relaxed_matrix(two_groups):
    X, group = two_groups
    model = FPCA(2, mu=0.5).fit(X, sensitive_features=group)
    eigenvalues, shares = projection_spectrum(model, X)
    np.testing.assert_allclose(eigenvalues, model.eigenvalues_, atol=1e-10)
    assert np.sum(eigenvalues) == pytest.approx(2)
    rows = (X - model.mean_) / model.scale_
    along = rows @ model.eigenvectors_
    expected = (along**2).sum(axis=0) / (rows**2).sum()
    alone = np.abs(np.diff(eigenvalues, prepend=2, append=-1))
    distinct = np.minimum(alone[:-1], alone[1:]) > 1e-3
    assert distinct.any()
    np.testing.assert_allclose(shares[distinct], expected[distinct], atol=1e-6)


def test_lines_are_the_splits_and_their_mean():
    shares = np.array([[0.5, 0.3, 0.2], [0.6, 0.1, 0.3]])
    display = SpectrumDisplay(shares, n_components=1, name="FPCA").plot()
    drawn = [line.get_ydata() for line in display.lines_]
    np.testing.assert_allclose(drawn, 100 * np.vstack([shares, shares.mean(axis=0)]))
    assert display.lines_[0].get_xdata().tolist() == [1, 2, 3]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["kept: first 1", "one split", "FPCA, mean of 2 splits"]
    assert "eigenvalue" in display.ax_.get_xlabel()


# Biplots


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
    frame = pd.DataFrame(X, columns=names)
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


# Densities


def inside(contours, level, rows):
    """Return the share of rows inside of the closed lines of one level."""
    hit = np.zeros(len(rows), dtype=bool)
    for line in contours.get_paths()[level]._iter_connected_components():
        hit ^= Path(line.vertices).contains_points(rows)
    return hit.mean()


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], [900, 300])
    Z = rng.normal(size=(1200, 3)) * [2.0, 0.5, 1.0]
    Z[group == "b"] += [5.0, -1.0, 0.0]
    return Z, group


def test_regions_hold_their_shares(rows):
    Z, group = rows
    display = DensityDisplay(Z, group, shares=(0.5, 0.8)).plot()
    for contours, name in zip(display.contours_, "ab", strict=True):
        # The largest share has the lowest level.
        held = [inside(contours, level, Z[group == name, :2]) for level in (0, 1)]
        assert held == pytest.approx([0.8, 0.5], abs=0.03)


def test_the_drawing_holds_all_regions_and_no_far_row(rows):
    Z, group = rows
    Z[0] = 1e4
    display = DensityDisplay(Z, group).plot()
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    for contours in display.contours_:
        corners = np.vstack([path.vertices for path in contours.get_paths()])
        assert left < corners[:, 0].min() < corners[:, 0].max() < right < 20
        assert bottom < corners[:, 1].min() < corners[:, 1].max() < top < 5


def test_what_has_no_plane_is_refused_with_the_way_out(rows):
    Z, group = rows
    with pytest.raises(ValueError, match="ProjectionDisplay"):
        DensityDisplay(Z[:, :1], group).plot()
    Z[group == "b", 1] = 0.0
    with pytest.raises(ValueError, match=r"'b'.* lie on a line.*ProjectionDisplay"):
        DensityDisplay(Z, group).plot()
