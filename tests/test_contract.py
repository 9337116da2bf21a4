"""Every estimator keeps to what scikit-learn asks of one."""
# SPDX-License-Identifier: MIT

import hashlib

import numpy as np
import pytest
from sklearn.utils import _safe_indexing
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairpca import FairPCA, FairPCACV, Release
from fairpca.baselines import FPCA, LEACE, SPLINCE, AugmentedPCA, ClosedFormFairPCA, ReconstructionFairPCA


class GroupedByRow(FairPCACV):
    """Deals groups out by what rows hold, so that equal rows are in one group wherever they stand."""

    def fit(self, X, y=None, *, sensitive_features=None, control_features=None, sample_weight=None):
        groups = groups_of(X) if sensitive_features is None else sensitive_features
        rows = _repeated(X)
        known = {"sensitive_features": _repeated(groups), "control_features": _repeated(control_features)}
        super().fit(rows, _repeated(y), **known, sample_weight=_repeated(sample_weight))
        return self

    def fit_transform(self, X, y=None, *, sensitive_features=None, control_features=None, sample_weight=None):
        known = {"sensitive_features": sensitive_features, "control_features": control_features}
        return self.fit(X, y, **known, sample_weight=sample_weight).transform(X)


def groups_of(X):
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if rows.dtype.kind not in "fiub" or rows.ndim != 2:
        # Rows that are to be refused.
        return np.arange(len(rows)) % 2
    return [hashlib.md5(row.tobytes()).digest()[1] % 2 for row in np.ascontiguousarray(rows, dtype=np.float32)]


def _repeated(table):
    """Return each row twelve times: the tables of scikit-learn are too small for a certificate."""
    if table is None:
        return None
    if not hasattr(table, "iloc") and not hasattr(table, "tocsr"):
        table = np.asarray(table)
    if table.ndim == 0 or table.shape[0] == 1:
        return table
    return _safe_indexing(table.tocsr() if hasattr(table, "tocsr") else table, np.tile(np.arange(table.shape[0]), 12))


WEIGHTS = "check_sample_weight_equivalence_on"
FAILS = {
    "Release(n_cells=5, output='codes')": {
        f"{WEIGHTS}_dense_data": "k-means draws its first centres from rows, not from their weights"
    },
    "GroupedByRow": {
        f"{WEIGHTS}_{kind}_data": "rows that are repeated may be on both sides of the split, a row with a weight on one"
        for kind in ("dense", "sparse")
    },
}


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NoSensitiveFeaturesWarning")
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NotCertifiedWarning")
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.RankWarning")
@parametrize_with_checks(
    [
        *(FairPCA(tolerance=1e-3), FairPCA(n_components=1, standardize=False, tolerance=1e-3)),
        *(FPCA(), FPCA(1, delta=0.1, form="text", standardize=False, rounding="stiefel")),
        *(ReconstructionFairPCA(), ReconstructionFairPCA(1, standardize=False)),
        *(ClosedFormFairPCA(), LEACE(1, standardize=False), SPLINCE(), AugmentedPCA()),
        *(Release(), Release(n_cells=5, output="codes")),
        GroupedByRow(FairPCA(1, min_group_size=2), tolerances=[2.0], target=1.9, random_state=0),
    ],
    expected_failed_checks=lambda estimator: next(
        (FAILS[name] for name in FAILS if repr(estimator).startswith(name)), {}
    ),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
