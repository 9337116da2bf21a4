"""A model comes back from its file as it was."""
# SPDX-License-Identifier: MIT

import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fairpca
from fairpca import FairPCA, fair_pca_path
from fairpca.comparison import DemographicParity, EqualizedOdds
from fairpca.mmd import Scales
from fairpca.saving import from_archive, to_archive
from fairpca.saving._estimators import COMMON, OWN, PARAMETERS
from fairpca.saving._values import Decoder, Encoder
from fairpca.solvers import REPMS, Budget, Status
from people_tables import people

LEARNED = COMMON | OWN["FairPCA"]
X, KNOWN = people(n=300)
MANY, MANY_KNOWN = people(n=5001)
FRAME = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
LABELLED = {"y": KNOWN["y"], "sensitive_features": KNOWN["sex"]}
SEX = {"sensitive_features": KNOWN["sex"]}
ODD_NAMES = ["", "$array", "a[0], {b}", 'ü"\\', "\u2028", "NaN", "\x00", "x" * 300]

MODELS = {
    "plain": lambda: FairPCA(2, tolerance=5e-4, random_state=3).fit(X, **SEX),
    "measures": lambda: FairPCA(2, tolerance=3e-3).fit(X, sensitive_features=KNOWN[["sex", "race"]]),
    "tolerances": lambda: FairPCA(2, tolerance={"sex": 5e-4, "race": 1}).fit(
        X, sensitive_features=KNOWN[["sex", "race"]]
    ),
    "continuous": lambda: FairPCA(2, tolerance=2e-4, sensitive_kind={"age": "continuous"}).fit(
        X, sensitive_features=KNOWN[["age"]]
    ),
    "odds": lambda: FairPCA(2, tolerance=1e-2, fairness="equalized_odds", solver=Budget(n_starts=1)).fit(X, **LABELLED),
    "opportunity": lambda: FairPCA(
        2, tolerance=1e-3, fairness="equal_opportunity", favourable=np.int64(1), small_groups="merge"
    ).fit(X, **LABELLED),
    "weights": lambda: FairPCA(2, tolerance=5e-4).fit(X, **SEX, sample_weight=KNOWN["weight"]),
    "scales": lambda: FairPCA(2, tolerance=3e-3, bandwidth="scales").fit(X, **SEX),
    "repms": lambda: FairPCA(2, tolerance=5e-4, solver=REPMS(rho_scale=2.0)).fit(X, **SEX),
    "init": lambda: FairPCA(2, tolerance=5e-4, init=np.eye(2, X.shape[1])).fit(X, **SEX),
    "path": lambda: fair_pca_path(X, KNOWN["sex"], tolerances=[1e-2, 5e-4]).select(max_mmd2=1e-3),
    "many rows": lambda: FairPCA(2, tolerance=5e-4, random_state=0).fit(MANY, sensitive_features=MANY_KNOWN["sex"]),
    "without groups": lambda: FairPCA(2).fit(X),
    "not met": lambda: FairPCA(5, tolerance=1e-9, solver=Budget(max_cycles=1, n_starts=1)).fit(X[:, :5], **SEX),
    "frame": lambda: FairPCA(2, tolerance=5e-4).set_output(transform="pandas").fit(FRAME, **SEX),
    "odd names": lambda: FairPCA(2, tolerance=5e-4).fit(FRAME.set_axis(ODD_NAMES, axis=1), **SEX),
    "float32": lambda: FairPCA(2, tolerance=5e-4).fit(X.astype(np.float32), **SEX),
}
FITTED = {}


def fitted(name):
    if name not in FITTED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            FITTED[name] = MODELS[name]()
    return FITTED[name]


@pytest.fixture(params=MODELS)
def model(request):
    return fitted(request.param)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.fairpca"


def rows_for(model):
    rows = np.random.default_rng(1).normal(size=(20, model.n_features_in_)) * 3
    return pd.DataFrame(rows, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else rows


def text_of(value):
    """Return what a value looks like, wherever it lies in memory."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def again(model, path):
    model.save(path)
    return fairpca.load(path)


def test_everything_comes_back(model, path):
    loaded = again(model, path)
    rows = rows_for(model)
    assert type(loaded) is FairPCA
    np.testing.assert_array_equal(np.asarray(loaded.transform(rows)), np.asarray(model.transform(rows)), strict=True)
    assert type(loaded.transform(rows)) is type(model.transform(rows))
    Z = np.ones((3, model.n_components_))
    np.testing.assert_array_equal(loaded.inverse_transform(Z), model.inverse_transform(Z), strict=True)
    assert loaded.summary() == model.summary()
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())
    # Who was in the fit is no part of what is handed on.
    assert [name for name in vars(model) if not hasattr(loaded, name)] == ["_seen_rows"]
    with np.printoptions(floatmode="unique", threshold=10**6):
        # repr tells numbers apart to the last bit, and types, and NaN equals itself.
        assert repr(loaded.result_) == repr(model.result_)
        for name in LEARNED:
            assert repr(getattr(loaded, name)) == repr(getattr(model, name)), name
            assert type(getattr(loaded, name)) is type(getattr(model, name)), name
    for name, value in model.get_params(deep=False).items():
        found = getattr(loaded, name)
        assert text_of(found) == text_of(value.item() if isinstance(value, np.generic) else value), name
    assert text_of(clone(loaded)) == text_of(loaded)
    first = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == first


def test_a_loaded_model_can_be_audited_and_fitted_again(path):
    model = fitted("odds")
    model.save(path, rows=f"{path}.rows")
    loaded = fairpca.load(path)
    others, known = people(seed=1, n=300)
    quick = {"sensitive_features": known["sex"], "adversaries": (), "n_permutations": 99, "random_state": 0}
    ours, theirs = (fairpca.audit(each, others, known["y"], **quick) for each in (model, loaded))
    assert repr(ours.measures) == repr(theirs.measures)
    with pytest.raises(ValueError, match="could not be checked whether these rows were in the fit"):
        theirs.certificate()
    with_rows = fairpca.audit(loaded, others, known["y"], fitted_rows=f"{path}.rows", **quick)
    assert with_rows.certificate() == ours.certificate()
    np.testing.assert_array_equal(loaded.fit(X, **LABELLED).components_, model.components_)


def test_loaded_models_can_be_set_and_changed(path):
    loaded = again(fitted("plain"), path).set_output(transform="pandas")
    assert list(loaded.transform(X[:3])) == ["fairpca0", "fairpca1"]
    loaded.components_[0, 0] = 1.0


def test_names_of_columns_are_still_checked(path):
    loaded = again(fitted("frame"), path)
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(FRAME[FRAME.columns[::-1]])


def test_the_format_knows_every_parameter_and_attribute():
    model = fitted("frame")
    # Whether a fit shows how far it has come is no property of a model.
    assert set(PARAMETERS) == set(model.get_params(deep=False)) - {"verbose", "attribute_error"}
    learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert learned == set(LEARNED) | {"feature_names_in_"}


def test_what_is_for_the_next_fit_only_is_left_out(path):
    model = clone(fitted("plain")).set_params(callback=print, random_state=np.random.RandomState(0))
    model.callback = lambda step: None
    loaded = again(model.fit(X, **SEX), path)
    assert (loaded.callback, loaded.random_state) == (None, None)
    assert model.callback is not None
    assert again(model.set_params(random_state=np.random), path).random_state is None


class OwnNotion(DemographicParity):
    """Like demographic parity, but who knows."""


class OwnBudget(Budget):
    """A solver of a class that no other machine has."""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fairness", OwnNotion()),
        ("solver", OwnBudget()),
        ("favourable", pd.Timestamp("2020-01-01")),
        ("tolerance", pd.Series([0.1])),
        ("tolerance", {"sex": {1, 2}}),
        ("init", np.array([[object()]])),
        ("random_state", 10**30),
    ],
)
def test_what_cannot_be_written_is_named_with_the_way_out(name, value, path):
    # Not through clone, which would refuse some of them first.
    model = from_archive(*to_archive(fitted("plain")))
    setattr(model, name, value)
    with pytest.raises(ValueError, match=rf"^{name}\S*=.* cannot be written to a model file.*set_params\({name}"):
        model.save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("standardize", 1, "parameters has 1 in 'standardize'"),
        ("tolerance", "lax", "tolerance='lax' must be 'auto'"),
        ("tolerance", [0.1, -1.0], "tolerance of 'measure 1'=-1.0 must be"),
        ("init", [[0.0] * 3], r"init has shape \(1, 3\)"),
        ("components_", np.zeros((3, 3)), r"components_ is an array of float64 of shape \(3, 3\)"),
        ("mean_", "0", "which must be an array"),
        ("mmd2_by_measure_", object(), "mmd2_by_measure_ was changed by hand"),
        ("n_rows_", 3, "n_rows_, which no fit learns"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(name, value, words, path):
    model = from_archive(*to_archive(fitted("plain")))
    setattr(model, name, value)
    with pytest.raises(ValueError, match=words):
        model.save(path)
    assert not path.exists()


def test_only_fitted_models_are_saved(path):
    with pytest.raises(NotFittedError):
        FairPCA().save(path)
    half = from_archive(*to_archive(fitted("plain")))
    del half.result_
    with pytest.raises(ValueError, match="the model lacks result_"):
        half.save(path)


def test_classes_of_ones_own_are_refused(path):
    class Mine(FairPCA):
        pass

    with pytest.raises(TypeError, match="a Mine would not come back as one"):
        Mine(2, tolerance=0.02).fit(X, **SEX).save(path)


def test_the_file_is_a_plain_zip_of_json_and_npy(path):
    fitted("plain").save(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        with archive.open("arrays/components_.npy") as member:
            np.testing.assert_array_equal(np.load(member, allow_pickle=False), fitted("plain").components_)


whole = st.integers(-(2**63) + 1, 2**63 - 1)
plain = st.none() | st.booleans() | whole | st.floats() | st.text()
keys = st.none() | st.booleans() | whole | st.floats(allow_nan=False, allow_infinity=False) | st.text()
records = st.sampled_from([*Status, Budget(), REPMS(), Scales(), EqualizedOdds()])
values = st.recursive(
    plain | records,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(values)
def test_every_value_that_is_written_is_read_as_it_was(value):
    assert text_of(Decoder({}).decode(Encoder("").encode(value, "x"))) == text_of(value)
