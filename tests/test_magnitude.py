"""Numbers so large or small that squares are none: refused before the work, or scaled first."""

import numpy as np
import pytest

from fairpca.baselines import FPCA, LEACE, ReconstructionFairPCA
from fairpca.metrics import delta_a, explained_variance


@pytest.mark.parametrize(
    ("scale", "message"),
    [(1e-300, "squares are not normal"), (1e160, "squares are not normal"), (1e300, "sums over rows overflow; divide")],
)
@pytest.mark.parametrize("method", [FPCA, ReconstructionFairPCA, LEACE])
def test_baselines_refuse_what_they_cannot_square(two_groups, method, scale, message):
    X, group = two_groups
    model = method(2, standardize=False)
    with pytest.raises(ValueError, match=message):
        model.fit(X * scale, sensitive_features=group)
    assert not hasattr(model, "mean_")


def test_fpca_refuses_variances_that_it_cannot_square(two_groups):
    X, group = two_groups
    with pytest.raises(ValueError, match=r"variances up to .* squares overflow; use standardize=True"):
        FPCA(2, standardize=False).fit(X * 1e80, sensitive_features=group)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_baselines_do_not_depend_on_units(two_groups, scale):
    X, group = two_groups
    for model in (FPCA(2), ReconstructionFairPCA(2), ReconstructionFairPCA(2, standardize=False)):
        expected = model.fit(X, sensitive_features=group).components_
        np.testing.assert_allclose(model.fit(X * scale, sensitive_features=group).components_, expected, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e160, 1e300])
def test_metrics_do_not_depend_on_units(two_groups, scale):
    X, group = two_groups
    assert explained_variance(X * scale, np.eye(6)[:2]) == pytest.approx(explained_variance(X, np.eye(6)[:2]))
    expected = delta_a(X, sensitive_features=group, random_state=0)
    assert delta_a(X * scale, sensitive_features=group, random_state=0) == pytest.approx(expected)
