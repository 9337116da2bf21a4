"""Figures and titles of the experiments when only a part of them is run."""

import pytest
from matplotlib import pyplot

from fairpca.paper import _table1
from fairpca.paper._data import TITLES
from fairpca.paper._experiment import Settings
from fairpca.paper._results import Outcome, Results
from fairpca.paper._uci import table1_methods


@pytest.mark.parametrize(
    ("data", "n_components"), [(("german",), (2,)), (("german",), (2, 10)), (("compas", "german", "adult"), (2, 10))]
)
def test_the_legend_of_table_1_lies_inside_the_figure(data, n_components):
    rows = [
        {"data": name, "n_components": d, "method": method.name, "mmd2_test": 0.01, "variance_percent_test": 10.0}
        for name in data
        for d in n_components
        for method in table1_methods(d)
    ]
    results = Results(tuple(Outcome(row, 1.0) for row in rows))
    (drawing,) = _table1.draw(Settings(data=data, n_components=n_components), results)
    drawing.figure.canvas.draw()
    (legend,) = drawing.figure.legends
    place, whole = legend.get_window_extent(), drawing.figure.bbox
    assert whole.x0 <= place.x0 < place.x1 <= whole.x1
    assert whole.y0 <= place.y0 < place.y1 <= whole.y1
    assert all(ax.get_window_extent().height > 0.4 * whole.height / len(n_components) for ax in drawing.figure.axes)
    pyplot.close(drawing.figure)


def test_the_title_of_table_1_names_no_data_that_may_be_absent():
    assert not any(name in _table1.EXPERIMENT.title for name in TITLES.values())
