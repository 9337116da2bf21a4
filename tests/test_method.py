"""Which way the discrepancy of all rows is computed, and what is said before it takes long."""

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.data import choose_method
from fairpca.exceptions import EffortWarning


@pytest.mark.parametrize("d", [1, 3, 4, 16, 17, 40])
def test_many_rows_take_time_linear_in_them_for_any_number_of_components(rng, d):
    X = rng.normal(size=(5001, 3))
    assert choose_method("auto", X, d) == "hermite"
    assert choose_method("auto", X[:5000], d) == "exact"
    assert choose_method("auto", np.round(X), d) == "exact"
    assert choose_method("exact", X, d) == "exact"


def test_comparing_very_many_pairs_is_said_beforehand(rng):
    X = rng.normal(size=(80_000, 3))
    with pytest.warns(EffortWarning, match=r'mmd="exact" compares all pairs of 80000 distinct rows: about .* in all'):
        assert choose_method("exact", X, 2) == "exact"
    # Equal rows are merged, and take no time.
    assert choose_method("exact", np.round(X), 2) == "exact"


@pytest.mark.parametrize("shape", [(30_000, 6000), (3000, 40_000)])
def test_very_many_columns_are_said_beforehand(shape):
    with pytest.warns(EffortWarning, match=rf"X has {shape[1]} columns: .* takes about .*PCA"):
        choose_method("hermite", np.broadcast_to(0.0, shape), 2)


def test_the_warning_points_at_the_call_of_fit(rng, monkeypatch):
    monkeypatch.setattr("fairpca.data._prepared.LONG", 0.0)
    X, group = rng.normal(size=(60, 3)), np.arange(60) % 2
    with pytest.warns(EffortWarning) as caught:
        FairPCA(1, mmd="exact", tolerance=0.5).fit(X, sensitive_features=group)
    assert {warning.filename for warning in caught} == {__file__}
