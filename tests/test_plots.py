"""Pictures show the numbers that they are made of."""
# SPDX-License-Identifier: MIT

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from fairpca import FairPCA
from fairpca.baselines import FPCA
from fairpca.plots import CommunalityDisplay, ProjectionDisplay, SpectrumDisplay, projection_spectrum


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_given_axes_and_styles_are_used(two_groups):
    X, group = two_groups
    _, (left, right) = pyplot.subplots(1, 2)
    rows = ProjectionDisplay(X[:, :2], group).plot(ax=left, s=3)
    boxes = CommunalityDisplay({"PCA": [0.4, 0.5]}).plot(ax=right, widths=0.1)
    assert (rows.ax_, boxes.ax_, boxes.figure_) == (left, right, right.figure)
    assert rows.scatters_[0].get_sizes().tolist() == [3]
    assert np.ptp(boxes.boxes_["boxes"][0].get_path().vertices[:, 0]) == pytest.approx(0.1)


def test_an_estimator_that_is_not_fitted_is_refused(two_groups):
    X, group = two_groups
    for draw in (
        lambda: ProjectionDisplay.from_estimator(FairPCA(2), X, sensitive_features=group),
        lambda: CommunalityDisplay.from_estimators({"PCA": [PCA(2)]}, feature=0),
        lambda: SpectrumDisplay.from_estimator(PCA(2), X),
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


def test_without_matplotlib_the_install_line_is_given():
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "import numpy as np\n"
        "from fairpca.plots import ProjectionDisplay\n"
        "ProjectionDisplay(np.ones((2, 2)), np.array([0, 1])).plot()\n"
    )
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'fairpca[plot]'" in outcome.stderr


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


def test_shared_axes_hold_both_drawings():
    _, axes = pyplot.subplots(1, 2, sharey=True)
    SpectrumDisplay(np.array([[0.3, 0.3, 0.4]]), 1).plot(ax=axes[0])
    display = SpectrumDisplay(np.array([[0.9, 0.05, 0.05]]), 1).plot(ax=axes[1], color="k")
    assert display.ax_ is axes[1]
    assert display.figure_ is axes[1].figure
    assert axes[0].get_ylim()[1] > 90
    assert display.lines_[-1].get_color() == "k"
