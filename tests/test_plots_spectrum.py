import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from fairpca import FairPCA
from fairpca.baselines import FPCA
from fairpca.plots import SpectrumDisplay, projection_spectrum


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_the_spectrum_of_pca_is_its_explained_variance(two_groups):
    X, _ = two_groups
    eigenvalues, shares = projection_spectrum(PCA(2).fit(X), X)
    np.testing.assert_allclose(eigenvalues, [1, 1, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(shares, PCA().fit(X).explained_variance_ratio_)


def test_the_first_shares_of_fair_pca_are_its_components(two_groups):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-2).fit(X, sensitive_features=group)
    _, shares = projection_spectrum(model, X)
    np.testing.assert_allclose(shares[:2], model.explained_variance_ratio_)
    assert shares.sum() == pytest.approx(1)


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


def test_one_estimator_is_one_line(two_groups):
    X, _ = two_groups
    model = PCA(2).fit(X)
    display = SpectrumDisplay.from_estimator(model, X, name="PCA")
    assert len(display.lines_) == 1
    np.testing.assert_allclose(display.lines_[0].get_ydata(), 100 * projection_spectrum(model, X)[1])


def test_shared_axes_hold_both_drawings():
    _, axes = pyplot.subplots(1, 2, sharey=True)
    SpectrumDisplay(np.array([[0.3, 0.3, 0.4]]), 1).plot(ax=axes[0])
    display = SpectrumDisplay(np.array([[0.9, 0.05, 0.05]]), 1).plot(ax=axes[1], color="k")
    assert display.ax_ is axes[1]
    assert display.figure_ is axes[1].figure
    assert axes[0].get_ylim()[1] > 90
    assert display.lines_[-1].get_color() == "k"


def test_an_estimator_that_is_not_fitted_is_refused(two_groups):
    with pytest.raises(NotFittedError):
        SpectrumDisplay.from_estimator(PCA(2), two_groups[0])
