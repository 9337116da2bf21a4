"""FairPCACV for those who know of no groups: scikit-learn's checks."""
# SPDX-License-Identifier: MIT

import hashlib

import numpy as np
from sklearn.utils import _safe_indexing

from fairpca import FairPCACV


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
