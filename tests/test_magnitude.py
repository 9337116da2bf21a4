"""Numbers so large or small that squares are none: refused before the work, or scaled first."""

import numpy as np
import pytest

from fairpca.baselines import FPCA, ReconstructionFairPCA


@pytest.mark.parametrize(("scale", "happen"), [(1e-300, "vanish"), (1e160, "overflow"), (1e300, "overflow")])
@pytest.mark.parametrize("method", [FPCA, ReconstructionFairPCA])
def test_baselines_refuse_what_they_cannot_square(two_groups, method, scale, happen):
    X, group = two_groups
    model = method(2, standardize=False)
    with pytest.raises(ValueError, match=f"largest entry of X has the size .* squares {happen}; it must be between"):
        model.fit(X * scale, sensitive_features=group)
    assert not hasattr(model, "mean_")


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_baselines_do_not_depend_on_units(two_groups, scale):
    X, group = two_groups
    for model in (FPCA(2), ReconstructionFairPCA(2), ReconstructionFairPCA(2, standardize=False)):
        expected = model.fit(X, sensitive_features=group).components_
        np.testing.assert_allclose(model.fit(X * scale, sensitive_features=group).components_, expected, atol=1e-6)
