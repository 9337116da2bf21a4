import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from fairpca.metrics import communality
from fairpca.plots import CommunalityDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_every_split_is_drawn_at_its_value():
    values = {"PCA": [0.4, 0.5, 0.3], "FairPCA": [0.02, 0.01, 0.015]}
    display = CommunalityDisplay(values, "age").plot()
    for column, scatter in zip(values.values(), display.scatters_, strict=True):
        np.testing.assert_allclose(scatter.get_offsets()[:, 1], column)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["PCA", "FairPCA"]
    assert display.ax_.get_ylabel() == "communality of age"
    assert display.ax_.get_legend() is not None


def test_the_line_in_a_box_is_the_median():
    display = CommunalityDisplay({"PCA": [0.4, 0.5, 0.1], "FairPCA": [0.02, 0.01, 0.03]}).plot()
    medians = [line.get_ydata()[0] for line in display.boxes_["medians"]]
    np.testing.assert_allclose(medians, [0.4, 0.02])


def test_communalities_are_those_of_the_estimators(rng):
    models = [PCA(2).fit(rng.normal(size=(30, 5))) for _ in range(3)]
    display = CommunalityDisplay.from_estimators({"PCA": models}, feature=4, feature_name="x")
    np.testing.assert_allclose(display.communalities["PCA"], [communality(model.components_)[4] for model in models])


def test_axes_and_style_are_used():
    _, ax = pyplot.subplots()
    display = CommunalityDisplay({"PCA": [0.4, 0.5]}).plot(ax=ax, widths=0.1)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    edges = display.boxes_["boxes"][0].get_path().vertices[:, 0]
    assert np.ptp(edges) == pytest.approx(0.1)


def test_an_estimator_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        CommunalityDisplay.from_estimators({"PCA": [PCA(2)]}, feature=0)
