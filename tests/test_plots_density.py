"""Regions hold the shares of a group that they say, wherever the group is."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.path import Path

from fairpca import FairPCA
from fairpca.plots import DensityDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


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


def test_from_an_estimator_on_given_axes(two_groups):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    _, ax = pyplot.subplots()
    display = DensityDisplay.from_estimator(model, X, sensitive_features=group, ax=ax, linewidths=3)
    assert display.ax_ is ax
    assert len(display.contours_) == 2
    assert set(display.contours_[0].get_linewidths()) == {3}


def test_what_has_no_plane_is_refused_with_the_way_out(rows):
    Z, group = rows
    with pytest.raises(ValueError, match="ProjectionDisplay"):
        DensityDisplay(Z[:, :1], group).plot()
    Z[group == "b", 1] = 0.0
    with pytest.raises(ValueError, match=r"'b'.* lie on a line.*ProjectionDisplay"):
        DensityDisplay(Z, group).plot()
