"""What cannot be used is refused in a sentence that names it and the way out."""
# SPDX-License-Identifier: MIT

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV

from fairpca import FairPCA, FairPCAPath, Release, audit, plan
from fairpca.datasets import load_german
from fairpca.metrics import fair_variance_scorer

rng = np.random.default_rng(0)
X, SEX = rng.normal(size=(60, 4)), np.array(["a", "b"] * 30)
FRAME = pd.DataFrame(X, columns=list("wxyz"))
HOLED = np.where(np.arange(240).reshape(60, 4) == 9, np.nan, X)


def fit(rows=X, groups=SEX, weights=None, **options):
    return FairPCA(2, **options).fit(rows, sensitive_features=groups, sample_weight=weights)


def search():
    with sklearn.config_context(enable_metadata_routing=True):
        fair = FairPCA(2).set_fit_request(sensitive_features=True)
        tried = GridSearchCV(fair, {"bandwidth": ["median"]}, scoring=fair_variance_scorer(), cv=3, error_score="raise")
        tried.fit(X, sensitive_features=np.where(np.arange(60) % 10, "a", "b"))


SENTENCES = {
    "texts in a frame": (lambda: fit(FRAME.assign(t="u")), r"texts in column 't', such as 'u'; encode them"),
    "dates": (
        lambda: fit(FRAME.assign(t=pd.Timestamp("2020-01-01"))),
        r"dates in column 't', such as '2020-01-01.*encode",
    ),
    "dates in an audit": (
        lambda: audit(None, FRAME.assign(t=pd.Timestamp("2020-01-01")), sensitive_features=SEX),
        "dates in column 't', such as '2020-01-01",
    ),
    "texts in a release": (
        lambda: Release().fit(FRAME.assign(t="u"), sensitive_features=SEX),
        "texts in column 't', such as 'u'; encode them",
    ),
    "NaN in a release": (lambda: Release().fit(HOLED, sensitive_features=SEX), "NaN in column 1, first in row 2"),
    "texts in new rows": (lambda: fit(FRAME).transform(FRAME.assign(z="q")), "texts in column 'z', such as 'q'"),
    "NaN": (lambda: fit(HOLED), r"NaN in column 1, first in row 2 \(1 in all\); fill missing values in"),
    "masked entries": (lambda: fit(np.ma.masked_less(X, -2)), r"masked entries, the first in row \d+, column \d; fill"),
    "blanks": (
        lambda: fit(groups=np.where(np.arange(60) % 4, SEX, "a ")),
        "differ only by blanks, 'a' and 'a '; strip",
    ),
    "codes": (
        lambda: fit(groups=[f"{k % 9:05}" for k in range(60)], sensitive_kind="continuous"),
        "zip codes, have no distance: merge them",
    ),
    "weights": (lambda: fit(weights=np.full(60, 1e300)), r"adds up to 6e\+301.*divide all of it"),
    "a plan": (
        lambda: plan(0.01, groups=(500, 500), n_components=10**6),
        "n_components=1000000 must be between 1 and 1000",
    ),
    "no adversaries": (
        lambda: audit(fit(), X + 1, sensitive_features=SEX, adversaries=None),
        r"adversaries must be names among .*, or \(\) for none; got None",
    ),
    "a tolerance": (lambda: fit(tolerance={"zzz": 1e-3}), "'zzz', but sensitive_features has no name. Give one number"),
    "tiny numbers": (
        lambda: fit(np.c_[X, 1e-320 * X[:, 0]]),
        "differs in column 4 by .*lost their digits; change its unit",
    ),
    "folds": (
        search,
        r"min_group_size=5 rows: 'b' \(\d.*small_groups=\"leave\".*fold of a cross-validation may have fewer",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_what_cannot_be_used_is_refused_in_one_sentence(case):
    make, words = SENTENCES[case]
    with pytest.raises((ValueError, TypeError), match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_weights_beyond_whole_counts_are_shares():
    np.testing.assert_allclose(fit(weights=np.full(60, 1e20)).components_, fit().components_, atol=1e-8)


def test_a_path_is_printed_as_its_table():
    path = FairPCAPath(FairPCA(2), tolerances=[1e-1, 1e-2])
    assert str(path).startswith("FairPCAPath(")
    heading, *rows = str(path.fit(X, sensitive_features=SEX)).splitlines()
    assert heading.split() == ["tolerance", "MMD^2", "variance", "kept", "met"]
    assert [row.split()[0] for row in rows] == ["0.1", "0.01"]


def test_a_data_set_says_whether_its_attribute_is_a_feature():
    german = load_german(as_frame=True)
    among = german.sensitive_name in german.data.columns
    assert f"{german.sensitive_name}, is {'one' if among else 'none'} of them" in german.DESCR
