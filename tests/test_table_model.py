"""A model for tables: columns to features to components, in pipelines and as a file."""
# SPDX-License-Identifier: MIT

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import fairpca
from cli_tables import people
from damaged_files import Mutations, edit, members_of, signed, zipped
from fairpca import FairPCA
from fairpca.exceptions import ModelFileError, TableError, TableWarning
from fairpca.table_model import HeldOut, TableModel
from fairpca.tables import Roles, TableOptions, prepare

ROLES = Roles("sex", label="hired", control="town", weight="weight", drop="race")
HELD_OUT = HeldOut(0.3, 0)


def fitted(roles=ROLES, held_out=HELD_OUT, **options):
    prepared = prepare(people(), ROLES, TableOptions(**options), held_out=0.3, random_state=0)
    model = FairPCA(2, tolerance=0.05, random_state=0)
    model.fit(prepared.X_train, sensitive_features=prepared.people_train.sensitive_features)
    return TableModel.of_fitted(prepared.encoder, model, roles, held_out, TableOptions(**options))


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.fairpca"
    model.save(path)
    return path


def test_it_projects_what_its_encoder_encodes(model):
    X = model.encoder.encode(people().drop(columns=list(ROLES.by_column)))
    np.testing.assert_array_equal(model.transform(people()), model.model_.transform(X))
    assert model.get_feature_names_out().tolist() == ["fairpca0", "fairpca1"]
    assert "Female against Male" in model.summary()


def test_columns_with_roles_are_ignored_silently_and_others_are_named(model):
    model.transform(people())
    with pytest.warns(TableWarning, match="has 1 columns that are not used: 'shoes'"):
        model.transform(people().assign(shoes=1))


@pytest.mark.parametrize(
    ("roles", "held_out", "options"),
    [
        (ROLES, HELD_OUT, {"missing": "fill"}),
        (None, None, {"missing": "drop-rows"}),
        (ROLES, None, {"categories": ("age",)}),
        (None, HeldOut(0.5, 2**32 - 1), {}),
    ],
)
def test_what_is_saved_is_loaded_and_what_is_not_known_stays_unknown(tmp_path, roles, held_out, options):
    model, path = fitted(roles, held_out, **options), tmp_path / "model"
    model.save(path)
    loaded = fairpca.load(path)
    assert isinstance(loaded, TableModel)
    assert (loaded.encoder, loaded.options) == (model.encoder, model.options)
    assert (loaded.roles, loaded.held_out) == (roles, held_out)
    assert loaded.model.get_params() == model.model.get_params()
    table = people().drop(columns=list(ROLES.by_column))
    np.testing.assert_array_equal(loaded.transform(table), model.transform(table))
    assert list(tmp_path.iterdir()) == [path]


def test_it_goes_into_a_pipeline_and_is_not_fitted_again(saved):
    loaded, table = fairpca.load(saved), people()
    pipeline = make_pipeline(FrozenEstimator(loaded), LogisticRegression()).fit(table, table["hired"])
    assert pipeline.score(table, table["hired"]) > 0.5
    np.testing.assert_array_equal(pipeline[:-1].transform(table), loaded.transform(table))
    expected = LogisticRegression().fit(loaded.transform(table), table["hired"]).predict(loaded.transform(table))
    np.testing.assert_array_equal(pipeline.predict(table), expected)


def test_it_is_an_estimator(model):
    again = clone(model)
    with pytest.raises(NotFittedError):
        again.transform(people())
    with pytest.raises(NotFittedError):
        again.save("model.fairpca")
    again.fit(people(), sensitive_features=people()["sex"])
    assert again.transform(people()).shape == (200, 2)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(people()), model.transform(people()))


def test_what_does_not_fit_is_refused(model):
    with pytest.raises(TableError, match="lacks the column 'age'"):
        model.transform(people().drop(columns="age"))
    other = FairPCA(1).fit(np.eye(6)[[0, 1, 2, 3, 4, 5, 0, 1, 2, 3]], sensitive_features=list("aaaaabbbbb"))
    with pytest.raises(ValueError, match=r"the model has 6 features, but the encoder makes 8\."):
        TableModel.of_fitted(model.encoder, other)
    with pytest.raises(NotFittedError):
        TableModel.of_fitted(model.encoder, FairPCA(2))


# Files of strangers


def state(model):
    """Return all that a model is, to compare."""
    learned = {name: repr(value) for name, value in vars(model.model_).items()}
    arrays = {name: value.tobytes() for name, value in vars(model.model_).items() if isinstance(value, np.ndarray)}
    return model.encoder, model.roles, model.held_out, model.options, learned, arrays


def loaded_from(path, content):
    """Return the model of a file, or None where it is refused in one sentence that names it."""
    path.write_bytes(content)
    try:
        return fairpca.load(path)
    except ModelFileError as error:
        words = str(error)
    assert words.startswith(f"{path} cannot be loaded: ")
    assert "\n" not in words
    return None


def test_a_thousand_mutations_are_refused_or_the_same_model(saved, tmp_path):
    content = saved.read_bytes()
    known = state(fairpca.load(saved))
    loaded = 0
    for mutation in Mutations(content).every(1000):
        found = loaded_from(tmp_path / "mutated.fairpca", mutation)
        if found is not None:
            loaded += 1
            assert state(found) == known
    assert loaded < 100


def test_edits_with_a_new_checksum_are_refused_or_usable(saved, tmp_path):
    members = members_of(saved.read_bytes())
    usable = 0
    for number in range(300):
        document = json.loads(members["model.json"])
        edit(document, np.random.default_rng(number))
        found = loaded_from(tmp_path / "edited.fairpca", zipped(members | {"model.json": signed(document)}))
        if isinstance(found, TableModel):
            usable += 1
            found.save(tmp_path / "again.fairpca")
    assert usable < 300


CHANGES = {
    "no encoder": (lambda d: d.pop("encoder"), "lacks 'encoder'"),
    "another field": (lambda d: d.update(code="x"), "fields that nobody knows: 'code'"),
    "an encoder of fewer columns": (lambda d: d["encoder"]["columns"].pop(), "the encoder makes"),
    "a column twice": (lambda d: d["encoder"].update(columns=d["encoder"]["columns"] * 2), "two columns of the same"),
    "a role that lacks": (lambda d: d["roles"].pop("label"), "roles lacks 'label'"),
    "no attribute": (lambda d: d["roles"].update(sensitive=[]), "sensitive names no column"),
    "two roles of one column": (lambda d: d["roles"].update(label="sex"), "named twice among the roles"),
    "a share above all": (lambda d: d["held_out"].update(share=1.5), "which must be a share of the rows"),
    "a seed below 0": (lambda d: d["held_out"].update(random_state=-1), "a whole number of at least 0"),
    "no options": (lambda d: d["options"].pop("numbers"), "options lacks 'numbers'"),
    "options that are unknown": (lambda d: d["options"].update(missing="x"), "missing='x' is unknown"),
    "a model that is none": (lambda d: d.update(model={"kind": "FairPCA"}), "lacks 'parameters', 'learned', 'output'"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_wrong_with_a_document_is_said(saved, tmp_path, name):
    change, words = CHANGES[name]
    members = members_of(saved.read_bytes())
    document = json.loads(members["model.json"])
    change(document)
    (tmp_path / "changed").write_bytes(zipped(members | {"model.json": signed(document)}))
    with pytest.raises(ModelFileError, match=words):
        fairpca.load(tmp_path / "changed")
