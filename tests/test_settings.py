"""Settings of solvers: what is of another kind is refused when they are made."""

import numpy as np
import pytest

from fairpca.solvers import REPMS, Budget


@pytest.mark.parametrize(
    ("solver", "settings", "message"),
    [
        (Budget, {"n_starts": 2.5}, "n_starts must be an integer between 1 and 1000, or None; got 2.5"),
        (Budget, {"n_starts": True}, "n_starts must be an integer"),
        (Budget, {"allow_null": "no"}, "allow_null must be True or False; got 'no'"),
        (Budget, {"max_cycles": 7.0}, "max_cycles must be an integer at least 1; got 7.0"),
        (Budget, {"max_steps": None}, "max_steps must be an integer"),
        (Budget, {"gain_tolerance": "1e-8"}, "gain_tolerance must be a number greater than 0; got '1e-8'"),
        (Budget, {"max_seconds": True}, "max_seconds must be a number greater than 0, or None; got True"),
        (REPMS, {"max_iter": 10.5}, "max_iter must be an integer at least 1; got 10.5"),
        (REPMS, {"n_restarts": None}, "n_restarts must be an integer at least 0; got None"),
        (REPMS, {"theta_epsilon": "0.5"}, "theta_epsilon must be a number between 0 and 1, or None; got '0.5'"),
        (REPMS, {"rho_max": None}, "rho_max must be a number greater than 0; got None"),
    ],
)
def test_settings_of_another_kind_are_refused(solver, settings, message):
    with pytest.raises(TypeError, match=message):
        solver(**settings)


def test_numbers_of_numpy_are_numbers():
    Budget(n_starts=np.int64(3), gain_tolerance=np.float32(1e-6), allow_null=np.True_)
    REPMS(max_iter=np.uint8(5), rho_max=np.float64(1e8))
