"""Settings of solvers: what is of another kind or out of range is refused when they are made."""

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.solvers import REPMS, Budget

REFUSED = {
    TypeError: [
        *((Budget, "n_starts", value) for value in (2.5, True)),
        (Budget, "allow_null", "no"),
        (Budget, "gain_tolerance", "1e-8"),
        (REPMS, "n_restarts", None),
    ],
    ValueError: [
        *((Budget, "n_starts", value) for value in (0, 5000)),
        *((Budget, name, 0) for name in ("max_cycles", "gain_tolerance", "max_seconds")),
        *((REPMS, name, 0) for name in ("epsilon_0", "rho_max", "max_iter")),
        (REPMS, "theta_epsilon", 2),
        (REPMS, "retraction", "exp"),
    ],
}


@pytest.mark.parametrize("error", REFUSED)
def test_a_refusal_names_the_setting_what_came_and_what_is_allowed(error):
    for solver, name, value in REFUSED[error]:
        with pytest.raises(error) as caught:
            solver(**{name: value})
        message = str(caught.value)
        assert name in message
        assert repr(value) in message
        assert "must be" in message or "choose one of" in message


def test_numbers_of_numpy_are_numbers():
    Budget(n_starts=np.int64(3), gain_tolerance=np.float32(1e-6), allow_null=np.True_)
    REPMS(max_iter=np.uint8(5), rho_max=np.float64(1e8))


def test_zero_tolerance_is_explained(two_groups):
    X, group = two_groups
    with pytest.raises(ValueError, match=r"tolerance=0.0 must be greater than 0 .* 1e-8 is the smallest"):
        FairPCA(2, tolerance=0.0).fit(X, sensitive_features=group)
