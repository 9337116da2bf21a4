"""Raw tables: as the source has them, in step with the loaders, as files, and ready for a fit."""
# SPDX-License-Identifier: MIT

import csv
import os
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import fairpca.datasets
from fairpca.datasets import DatasetUnavailableError, _crime, _tables, available, raw_table, write_table
from fairpca.exceptions import AttributeInTableWarning, TableError, TableWarning
from fairpca.tables import Roles, TableFile, TableOptions, describe, prepare
from local_index import use_index
from test_datasets_further import COLUMNS, FILES, ROWS
from test_datasets_loaders import write_census

INFO = {data_set.name: data_set for data_set in available()}
OBTAINABLE = ("german", "compas", "adult")
MADE_UP = ("census", "credit", "crime", "law", "meps")
ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather")
PEOPLE = [
    {"age": 30, "race": "White", "sex": "Male", "income": "- 50000."},
    {"age": 40, "race": "Black", "sex": "Female", "income": "50000+."},
    {"age": 50, "race": "White", "sex": "Female", "income": "50000+."},
]


@pytest.fixture(scope="session")
def raw_of(data_home):
    """Raw tables by name, each read once."""
    return cache(lambda name: raw_table(name, data_home=data_home))


@pytest.fixture
def own(tmp_path):
    """Return a function that writes the few made-up rows of a data set and says where they are."""

    def write(name):
        folder = tmp_path / name
        if name == "census":
            return write_census(folder, PEOPLE[:2], PEOPLE[2:])
        folder.mkdir()
        beside = ("fold", *_crime._INCOMES_BY_RACE) if name == "crime" else ()
        with (folder / FILES[name]).open("w", newline="") as stream:
            writer = csv.DictWriter(stream, (*COLUMNS[name], *beside), restval=0)
            writer.writeheader()
            writer.writerows(ROWS[name])
        return folder

    return write


def load(name, **arguments):
    return getattr(fairpca.datasets, f"load_{name}")(**arguments)


def roles_of(info, sensitive=None):
    return Roles(sensitive or info.sensitive[0], label=info.label, weight=info.weight, drop=info.drop)


def known(raw):
    """Return the rows without a missing value."""
    return np.all([column != None for column in raw.values()], axis=0)  # noqa: E711


def screened(raw):
    """Return the rows of COMPAS that its loader keeps."""
    return np.abs(raw["days_b_screening_arrest"]) <= 30


def check_agreement(raw, table, info):
    """Every feature, attribute, label and weight of a loader must be found in the raw table."""
    for feature, values in zip(table.feature_names, table.data.T, strict=True):
        column, is_one_hot, category = feature.partition("=")
        if column == table.sensitive_name and not is_one_hot:
            np.testing.assert_array_equal(values, table.sensitive_features)
        elif is_one_hot:
            expected = raw[column] == (None if category == "?" else category)
            np.testing.assert_array_equal(values, expected, err_msg=feature)
        else:
            np.testing.assert_array_equal(values, raw[column].astype(table.data.dtype), err_msg=feature)
    for column, values in zip(info.sensitive, table.attributes.values(), strict=True):
        np.testing.assert_array_equal(raw[column].astype(values.dtype), values)
    assert len(set(zip(raw[info.label], table.target, strict=True))) == len(set(raw[info.label]))
    assert (info.weight is None) == (table.sample_weight is None)
    if info.weight is not None:
        np.testing.assert_array_equal(raw[info.weight], table.sample_weight)


def check_form(raw, info):
    assert len(raw) == info.n_columns
    assert {len(column) for column in raw.values()} == {len(raw[info.label])}
    assert {*info.sensitive, info.label, *info.drop, *info.categories} <= set(raw)
    for name, column in raw.items():
        assert column.dtype in (np.int64, np.float64, object)
        if column.dtype == object:
            assert {type(cell) for cell in column} <= {str, type(None)}, name
    for name in (info.label, *info.categories):
        assert raw[name].dtype == object


def cells(path):
    """Return the columns of a file as `fairpca.tables` reads them."""
    table = TableFile(path)
    columns = {name: [] for name in table.names}
    for batch in table.batches():
        for name, values in columns.items():
            values.extend(batch.column(name).to_pylist())
    return columns


def check_file(path, raw):
    written = cells(path)
    assert list(written) == list(raw)
    for name, column in raw.items():
        values = [None if value == "" else value for value in written[name]]
        if column.dtype == object:
            assert values == column.tolist(), name
        else:
            found = np.array([np.nan if value is None else float(value) for value in values])
            np.testing.assert_array_equal(found, column, err_msg=name)


@pytest.mark.parametrize(("name", "kept"), [("german", known), ("compas", screened), ("adult", known)])
def test_raw_table_agrees_with_the_loader(name, kept, raw_of, data_home):
    raw = raw_of(name)
    check_form(raw, INFO[name])
    assert len(raw[INFO[name].label]) == INFO[name].n_rows
    rows = kept(raw)
    check_agreement({name: column[rows] for name, column in raw.items()}, load(name, data_home=data_home), INFO[name])


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_raw_table_agrees_with_the_loader(name, own):
    folder = own(name)
    raw = raw_table(name, path=folder)
    check_form(raw, INFO[name])
    check_agreement(raw, load(name, path=folder), INFO[name])


def test_adult_has_all_people_and_says_what_is_unknown(raw_of):
    adult = raw_of("adult")
    missing = {name: int((column == None).sum()) for name, column in adult.items()}  # noqa: E711
    unknown = {"workclass": 2799, "occupation": 2809, "native-country": 857}
    assert {name: count for name, count in missing.items() if count} == unknown
    assert Counter(adult["income"]) == {"<=50K": 37_155, ">50K": 11_687}
    assert Counter(adult["race"])["White"] == 41_762
    assert adult["fnlwgt"].dtype == adult["age"].dtype == np.int64


def test_compas_names_nobody(raw_of, data_home):
    compas = raw_of("compas")
    left_out = {"name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"}
    with (data_home / "compas" / "compas-scores-two-years.csv").open(newline="") as stream:
        assert set(next(csv.reader(stream))) - set(compas) == left_out
    assert np.isnan(compas["days_b_screening_arrest"]).sum() == 307
    assert Counter(compas["two_year_recid"])["new arrest within two years"] == 3251
    assert (compas["c_charge_desc"] == None).sum() == 29  # noqa: E711


def test_german_has_the_sex_and_the_credit_in_words_and_other_codes_as_they_are():
    german = raw_table("german")
    assert Counter(german["sex"]) == {"male": 690, "female": 310}
    assert Counter(german["credit"]) == {"good": 700, "bad": 300}
    assert set(german["status"]) == {"A11", "A12", "A13", "A14"}


def test_census_in_small_blocks_is_the_same_table(own, monkeypatch, tmp_path):
    folder = own("census")
    whole = raw_table("census", path=folder)
    assert whole["migration_msa"].tolist() == [None] * 3
    assert whole["age"].tolist() == [30, 40, 50]
    monkeypatch.setattr(_tables, "BLOCK_ROWS", 1)
    told = []
    write_table("census", tmp_path / "census.csv", raw_path=folder, callback=lambda *done: told.append(done))
    assert told == [(1, None, "writing rows"), (2, None, "writing rows"), (3, None, "writing rows")]
    check_file(tmp_path / "census.csv", whole)
    for name, column in raw_table("census", path=folder).items():
        np.testing.assert_array_equal(column, whole[name])


def test_rows_are_numbered_through_blocks(own, monkeypatch):
    folder = own("census")
    monkeypatch.setattr(_tables, "BLOCK_ROWS", 1)
    with (folder / "census-income.data").open("a") as stream:
        stream.write("30, Private\n")
    with pytest.raises(ValueError, match="has 2 fields in row 3 where 42 are expected"):
        raw_table("census", path=folder)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["german", "compas"])
def test_written_tables_hold_the_same(name, ending, raw_of, data_home, tmp_path):
    path = tmp_path / f"people{ending}"
    written = write_table(name, path, data_home=data_home)
    assert (written.path, written.n_rows) == (path, INFO[name].n_rows)
    assert list(written.columns) == list(raw_of(name))
    check_file(path, raw_of(name))
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_keep_their_digits_and_their_type(own, tmp_path):
    import pyarrow.parquet

    folder = own("meps")
    write_table("meps", tmp_path / "meps.csv", raw_path=folder)
    assert "21854.5,19," in (tmp_path / "meps.csv").read_text()
    write_table("meps", tmp_path / "meps.parquet", raw_path=folder)
    schema = pyarrow.parquet.read_schema(tmp_path / "meps.parquet")
    kinds = {name: str(schema.field(name).type) for name in ("AGELAST", "PERWT15F", "RACETHX", "REGION53")}
    assert kinds == {"AGELAST": "int64", "PERWT15F": "double", "RACETHX": "string", "REGION53": "string"}


def test_files_do_not_depend_on_the_day(tmp_path):
    for ending in ENDINGS:
        first, second = (write_table("german", tmp_path / f"{k}{ending}").path.read_bytes() for k in (1, 2))
        assert first == second


@pytest.mark.thorough
@pytest.mark.parametrize("name", OBTAINABLE)
def test_files_can_be_prepared_for_each_attribute(name, data_home, tmp_path):
    info = INFO[name]
    path = write_table(name, tmp_path / f"{name}.csv", data_home=data_home).path
    options = TableOptions(missing="fill", categories=info.categories)
    for sensitive in info.sensitive:
        # Columns that tell sex or age are no fault of the table.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AttributeInTableWarning)
            prepared = prepare(path, roles_of(info, sensitive), options, random_state=0)
        assert len(prepared.X_train) + len(prepared.X_new) == info.n_rows
        assert np.isfinite(prepared.X_train).all()
        assert set(prepared.people_train.sensitive_features) == {sensitive}
        assert (prepared.people_train.sample_weight is None) == (info.weight is None)


def test_in_memory_and_from_files_the_same_features_are_made(raw_of, data_home, tmp_path):
    info = INFO["compas"]
    paths = [write_table("compas", tmp_path / f"compas{ending}", data_home=data_home).path for ending in ENDINGS]
    options = TableOptions(missing="fill", categories=info.categories)
    first, *others = [prepare(table, roles_of(info), options, random_state=0) for table in (raw_of("compas"), *paths)]
    for other in others:
        assert other.feature_names == first.feature_names
        np.testing.assert_array_equal(other.X_train, first.X_train)
        assert other.people_new.y.tolist() == first.people_new.y.tolist()


def test_what_is_to_be_dropped_is_what_cannot_be_used_or_must_not(data_home, tmp_path):
    info = INFO["compas"]
    path = write_table("compas", tmp_path / "compas.csv", data_home=data_home).path
    kinds = {row["column"]: row["kind"] for row in describe(path, Roles("race"), TableOptions(missing="fill"))}
    refused = {name for name, kind in kinds.items() if kind not in ("number", "boolean", "category")}
    assert refused - {"race"} <= set(info.drop)
    with pytest.raises(TableError, match="drop"):
        prepare(path, Roles("race"), TableOptions(missing="fill"))


def test_available_reads_nothing_and_fetches_nothing(tmp_path, monkeypatch):
    use_index(tmp_path / "nowhere", monkeypatch)
    listed = available(tmp_path / "empty")
    assert not (tmp_path / "empty").exists()
    assert [info.name for info in listed] == sorted(info.name for info in listed)
    assert {f"load_{info.name}" for info in listed} == {name for name in dir(fairpca.datasets) if name[:5] == "load_"}
    assert {info.name for info in listed if info.where == "bundled"} == {"german"}
    for info in listed:
        assert info.where in ("bundled", "package index")
        assert (info.package is None) == (info.n_bytes == 0) == (info.where == "bundled")
        assert info.license
        assert info.source
        assert asdict(info)["title"] == info.title


def test_available_finds_what_is_cached(data_home):
    where = {info.name: info.where for info in available(data_home)}
    assert where["adult"] == where["compas"] == "cached"


def test_licence_is_that_of_the_loader(own):
    for name in MADE_UP:
        assert load(name, path=own(name)).license == INFO[name].license
    assert "MEPS data use agreement" in INFO["meps"].license


def test_text_files_need_no_other_library(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from fairpca.datasets import write_table\n"
        "print(write_table('german', 'german.csv').n_rows)\n"
        "write_table('german', 'german.parquet')"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ
    )
    assert finished.stdout == "1000\n"
    assert "this needs pyarrow, which is not installed: pip install 'fairpca[table]'" in finished.stderr
    assert os.listdir(tmp_path) == ["german.csv"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_that_breaks_leaves_the_former_file(ending, own, tmp_path):
    folder, path = own("census"), tmp_path / f"out{ending}"
    path.write_text("former")
    with (folder / "census-income.test").open("a") as stream:
        stream.write("30, Private\n")
    with pytest.raises(ValueError, match=r"census-income\.test has 2 fields in row 2"):
        write_table("census", path, raw_path=folder)
    assert path.read_text() == "former"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["census", path.name]


@pytest.mark.parametrize("amount", ["many", "1169.5", "9" * 30])
@pytest.mark.parametrize("file", [None, "out.csv", "out.parquet"])
def test_what_is_no_number_is_named(file, amount, tmp_path):
    row = "A11 6 A34 A43 {} A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n"
    (tmp_path / "german.data").write_text(row.format("1169") + row.format(amount))
    with pytest.raises(ValueError, match="Column 'credit_amount' of the raw file must hold whole numbers"):
        write_table("german", tmp_path / file, raw_path=tmp_path) if file else raw_table("german", path=tmp_path)


@pytest.mark.parametrize(
    ("name", "file", "error", "message"),
    [
        ("iris", "out.csv", ValueError, r"name='iris' is unknown; choose one of \['adult', 'census'"),
        ("german", "out.xlsx", ValueError, "must end in one of .csv"),
        ("german", "nowhere/out.csv", TableError, "nowhere does not exist; make it first"),
        ("german", "folder.csv", TableError, "folder.csv is a folder; name a file"),
    ],
)
def test_bad_arguments_are_refused(name, file, error, message, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(error, match=message):
        write_table(name, tmp_path / file)


def test_messages_name_the_argument_of_the_raw_files(tmp_path, monkeypatch):
    use_index(tmp_path, monkeypatch)
    with pytest.raises(DatasetUnavailableError, match=r"get adult\.data and adult\.test from .* pass raw_path="):
        write_table("adult", tmp_path / "adult.csv", data_home=tmp_path / "home")
    with pytest.raises(FileNotFoundError, match=r"^raw_path='.*nowhere' does not exist"):
        write_table("german", tmp_path / "german.csv", raw_path=tmp_path / "nowhere")
    assert not list(tmp_path.glob("*.csv*"))


def test_callback_that_cannot_be_called(tmp_path):
    with pytest.raises(TypeError, match="callback must be a function of rows done, all rows and a text, or None"):
        write_table("german", tmp_path / "german.csv", callback="bar")
    assert not list(tmp_path.iterdir())


def test_the_raw_file_is_not_written_over(own):
    file = own("law") / "law.csv"
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is the raw file itself; write to another file"):
        write_table("law", file, raw_path=file)
    assert file.read_bytes() == before


@pytest.fixture(scope="session")
def fetched(tmp_path_factory):
    """A cache for the large archives; FAIRPCA_DATA may name one that is filled already."""
    return Path(os.environ.get("FAIRPCA_DATA") or tmp_path_factory.mktemp("fairpca-data"))


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE_UP)
def test_whole_tables_as_fetched(name, fetched, tmp_path):
    info = INFO[name]
    raw = raw_table(name, data_home=fetched)
    check_form(raw, info)
    assert len(raw[info.label]) == info.n_rows
    check_agreement(raw, load(name, data_home=fetched), info)
    path = write_table(name, tmp_path / f"{name}.csv", data_home=fetched).path
    check_file(path, raw)
    options = TableOptions(missing="fill", categories=info.categories)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", TableWarning)
        with prepare(path, roles_of(info), options, random_state=0) as prepared:
            n_rows = len(prepared.X_train) + len(prepared.X_new) + sum(prepared.n_dropped.values())
            assert n_rows == info.n_rows
