import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

from fairpca import FairPCA
from fairpca.plots import ProjectionDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_projection_draws_every_row_once_by_group(two_groups):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    display = ProjectionDisplay.from_estimator(model, X, sensitive_features=group)
    drawn = np.vstack([scatter.get_offsets() for scatter in display.scatters_])
    expected = np.vstack([model.transform(X[group == name]) for name in ("a", "b")])
    np.testing.assert_allclose(drawn, expected)
    assert display.ax_.get_xlabel() == "component 1"


def test_projection_uses_given_axes_and_style(two_groups):
    X, group = two_groups
    _, ax = pyplot.subplots()
    display = ProjectionDisplay(X[:, :2], group).plot(ax=ax, s=3)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.scatters_[0].get_sizes().tolist() == [3]


def test_one_component_is_drawn_as_strips(two_groups):
    X, group = two_groups
    display = ProjectionDisplay(X[:, :1], group).plot()
    heights = {tuple(np.unique(scatter.get_offsets()[:, 1])) for scatter in display.scatters_}
    assert heights == {(0.0,), (1.0,)}


def test_an_estimator_that_is_not_fitted_is_refused(two_groups):
    X, group = two_groups
    with pytest.raises(NotFittedError):
        ProjectionDisplay.from_estimator(FairPCA(2, tolerance=1e-3), X, sensitive_features=group)


def test_without_matplotlib_the_install_line_is_given():
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "import numpy as np\n"
        "from fairpca.plots import ProjectionDisplay\n"
        "ProjectionDisplay(np.ones((2, 2)), np.array([0, 1])).plot()\n"
    )
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'fairpca[plot]'" in outcome.stderr
