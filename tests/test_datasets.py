"""Data sets: the matrix of a loader, the raw table, the file, and that the three agree."""
# SPDX-License-Identifier: MIT

import csv
import doctest
import json
import warnings
from collections import Counter
from functools import cache

import numpy as np
import pytest

import fairpca.datasets
from fairpca.datasets import _raw, available, load_compas, raw_table, write_table
from fairpca.exceptions import AttributeInTableWarning, TableError, TableWarning
from fairpca.tables import Roles, TableFile, TableOptions, describe, prepare
from local_index import use_index
from people_files import ROWS, write_people

INFO = {info.name: info for info in available()}
# Of each table: shape, rows in the group and with the label, numeric columns, and what no feature begins with.
EXPECTED = {
    "german": ((1000, 57), 851, 300, 7, ("personal_status",)),
    "compas": ((6172, 11), 2103, 2809, 6, ("sex",)),
    "adult": ((45222, 97), 30527, 11208, 6, ("fnlwgt", "race", "income")),
    "census": ((299285, 509), 143510, 18568, 8, ("instance_weight", "income")),
    "crime": ((1993, 136), 970, 653, 90, ("race", "Violent", "high_crime", "white", "black", "Asian", "Hisp")),
    "law": ((21791, 3), 18285, 19360, 3, ("Race", "Sex", "PF")),
    "credit": ((30000, 19), 11888, 6636, 19, ("SEX", "AGE", "EDUCATION", "MARRIAGE", "default", "ID")),
    "meps": ((35427, 223), 13147, 6161, 3, ("RACE", "SEX", "AGE", "PERWT", "TOT", "IPNGTD")),
}
# What survey weights add up to: the civilian population of the United States that is not in institutions, for one.
WEIGHTS = {"adult": 8_580_184_155, "census": 520_786_165.08, "meps": 321_423_250.92}
# What the loaders make of the made-up rows: groups, labels and attributes, and columns by name.
MADE_UP = {
    "census": ([1, 0, 0], [0, 1, 1], [["Male", "Female", "Female"], ["White", "Black", "White"], [30, 40, 50]]),
    "credit": ([0, 1], [1, 0], [["female", "male"], [24, 57], ["university", "5"], ["married", "0"]]),
    "crime": ([1, 0], [0, 1], [[0.07, 0.06], [0.9, 0], [0, 0], [0, 0.3]]),
    "law": ([1, 0], [1, 0], [["White", "Puertorican"], ["Female", "Male"]]),
    # Home health days that are not ascertained count as none.
    "meps": (
        *([1, 0, 0, 1], [1, 0, 1, 0]),
        [
            ["White", "Hispanic", "other or multiple", "White"],
            *(["Male", "Female", "Female", "Female"], [60, 8, 85, 30]),
        ],
    ),
}
MADE_UP_COLUMNS = {
    "census": {"age": [30, 40, 50], "sex": [1, 0, 0], "race=Black": [0, 1, 0], "migration_msa=?": [1, 1, 1]},
    "credit": {"LIMIT_BAL": [20000, 0], "PAY_AMT6": [0, 5]},
    "crime": {"population": [0.5, 0], "state=1": [1, 0], "state=56": [0, 1]},
    "law": {"LSAT": [33, 45], "UGPA": [2.7, 3.9], "ZFYA": [1.16, -0.15]},
    "meps": {"PCS42": [0, -1, 0, 0], "REGION53=4": [0, 0, 1, 0], "ADHDADDX=-8": [0, 0, 0, 1]},
}
OBTAINABLE = ("german", "compas", "adult")
ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather")
each_name = pytest.mark.parametrize(
    "name", [name if name in OBTAINABLE else pytest.param(name, marks=pytest.mark.slow) for name in EXPECTED]
)
obtainable = pytest.mark.parametrize("name", OBTAINABLE)
each_made_up = pytest.mark.parametrize("name", MADE_UP)


def load(name, **arguments):
    return getattr(fairpca.datasets, f"load_{name}")(**arguments)


@pytest.fixture(scope="session")
def loaded(data_home):
    """Tables of loaders by name, each read once."""
    return cache(lambda name: load(name, data_home=data_home))


@pytest.fixture(scope="session")
def raw_of(data_home):
    """Raw tables by name, each read once."""
    return cache(lambda name: raw_table(name, data_home=data_home))


@pytest.fixture
def own(tmp_path):
    """Return a function that writes the few made-up rows of a data set, or others, and says where they are."""
    return lambda name, rows=None: write_people(name, tmp_path / name, rows)


@each_name
def test_tables_are_the_published_ones(name, loaded):
    table, (shape, n_sensitive, n_target, n_numeric, left_out) = loaded(name), EXPECTED[name]
    assert table.data.shape == shape
    assert table.data.dtype == (np.float32 if name == "census" else np.float64)
    assert len(table.feature_names) == len(set(table.feature_names)) == shape[1]
    assert (int(table.sensitive_features.sum()), int(table.target.sum())) == (n_sensitive, n_target)
    assert (table.sample_weight is not None) == (name in WEIGHTS)
    if name in WEIGHTS:
        assert table.sample_weight.sum() == pytest.approx(WEIGHTS[name], rel=1e-10)
    assert not [feature for feature in table.feature_names if feature.startswith(left_out)]
    one_hot = table.data[:, n_numeric:]
    sources = {feature.partition("=")[0] for feature in table.feature_names[n_numeric:]}
    np.testing.assert_array_equal(one_hot.sum(axis=1), len(sources))
    assert np.isin(one_hot, (0, 1)).all()
    if table.sensitive_name in table.feature_names:
        protected = table.data[:, table.feature_names.index(table.sensitive_name)]
        np.testing.assert_array_equal(protected, table.sensitive_features)


@each_made_up
def test_made_up_rows_are_read(name, own):
    table, (sensitive, target, attributes) = load(name, path=own(name)), MADE_UP[name]
    assert (table.sensitive_features.tolist(), table.target.tolist()) == (sensitive, target)
    assert [values.tolist() for values in table.attributes.values()] == attributes
    for column, values in MADE_UP_COLUMNS[name].items():
        np.testing.assert_array_equal(table.data[:, table.feature_names.index(column)], values)
    if table.sample_weight is not None:
        assert table.sample_weight.tolist() == {"meps": [21854.5, 0, 0, 0], "census": [1032.38] * 3}[name]
    assert table.license == INFO[name].license
    for fact in (table.license, *table.attributes, "Survey weights: ", f"Rows: {len(sensitive)}"):
        assert fact in table.DESCR


@pytest.mark.parametrize(
    ("name", "arguments", "groups"),
    [
        ("census", {"sensitive": "race"}, [1, 0, 1]),
        ("law", {"sensitive": "sex"}, [0, 1]),
        ("meps", {"sensitive": "sex"}, [1, 0, 0, 0]),
        ("meps", {"panel": 20}, [0, 0, 1]),
        ("meps", {"panel": 20, "complete": True}, [0]),
    ],
)
def test_other_groups_and_fewer_people(name, arguments, groups, own):
    table = load(name, path=own(name), **arguments)
    assert table.sensitive_features.tolist() == groups
    assert table.sensitive_name == arguments.get("sensitive", "race")
    assert table.sensitive_values == (["Female", "Male"] if table.sensitive_name == "sex" else ["not White", "White"])
    if name == "census":
        assert {"sex=Female", "sex=Male", "race"} < set(table.feature_names)
    assert ("ADHDADDX=-8" in table.feature_names) == (name == "meps" and "complete" not in arguments)


def test_census_sample_has_all_columns(own):
    folder = own("census")
    full, drawn = (load("census", path=folder, n_samples=count) for count in (None, 1))
    assert drawn.feature_names == full.feature_names
    assert not rows_of(drawn) - rows_of(full)
    assert len(drawn.sample_weight) == len(drawn.attributes["age"]) == 1
    assert drawn.attributes["age"][0] == drawn.data[0, 0]


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("census", {"sensitive": "age"}, ValueError, r"sensitive='age' is unknown; choose one of \['race', 'sex'\]"),
        ("census", {"n_samples": 4}, ValueError, "n_samples=4 must be between 1 and 3, or None"),
        ("law", {"return_X_y": "no"}, TypeError, "return_X_y must be True or False; got 'no'"),
        ("meps", {"panel": 21}, ValueError, "panel=21 must be between 19 and 20, or None"),
        ("meps", {"complete": "no"}, TypeError, "complete must be True or False; got 'no'"),
        ("law", {"rows": []}, ValueError, "holds no rows"),
        ("law", {"rows": [{"Sex_1": 1}]}, ValueError, r"must have a 1 in one column of 'race'; one has it in \[\]"),
        ("crime", {"rows": [{"state_1": 1, "racepctblack": "?"}]}, ValueError, "'racepctblack' .* must hold numbers"),
    ],
)
def test_bad_arguments_and_rows_are_refused(name, arguments, error, message, own):
    folder = own(name, arguments.pop("rows", None))
    with pytest.raises(error, match=message):
        load(name, path=folder, **arguments)


@pytest.mark.parametrize(("name", "n_rows"), [("german", 1000), ("compas", 2468), ("adult", 2261)])
def test_paper_draws_rows_of_the_full_table(name, n_rows, loaded, data_home):
    full, drawn = loaded(name), load(name, paper=True, data_home=data_home)
    assert drawn.data.shape == (n_rows, full.data.shape[1])
    assert drawn.feature_names == full.feature_names
    assert not rows_of(drawn) - rows_of(full)
    # Attributes and weights follow the rows, which are in the order of the table.
    ages = Counter(zip(*(full.attributes[each].tolist() for each in full.attributes), strict=True))
    assert not Counter(zip(*(drawn.attributes[each].tolist() for each in drawn.attributes), strict=True)) - ages
    if name == "adult":
        np.testing.assert_array_equal(drawn.attributes["age"], drawn.data[:, 0])
        assert not Counter(drawn.sample_weight) - Counter(full.sample_weight)


def test_paper_rows_are_refused_on_another_table(data_home, tmp_path):
    lines = (data_home / "compas" / "compas-scores-two-years.csv").read_text().splitlines(keepends=True)
    (tmp_path / "compas-scores-two-years.csv").write_text("".join(lines[:200]))
    with pytest.raises(ValueError, match="paper=False"):
        load_compas(paper=True, path=tmp_path)


@obtainable
def test_published_rows_are_rows_of_ours(name, loaded, data_home, reference):
    """Undo the published standardisation column by column and look every row up, with its label and its group."""
    ours, drawn = loaded(name), load(name, paper=True, data_home=data_home)
    with reference(name, 0) as stored:
        X, y, a = (np.concatenate([stored[f"{part}_train"], stored[f"{part}_test"]]) for part in "Xya")
    assert X.shape == drawn.data.shape
    columns = [unscaled(*pair) for pair in zip(X.T, ours.data.T, strict=True)]
    assert not count_rows(*columns, y, a) - rows_of(ours)
    assert count_rows(*columns, y, a) == rows_of(drawn)


def rows_of(table):
    return count_rows(table.data, table.target, table.sensitive_features)


def count_rows(*columns):
    return Counter(row.tobytes() for row in np.column_stack(columns).astype(np.int32))


def unscaled(standardised, raw):
    """Return the affine image of a standardised column that has values of the raw column only."""
    low, high = standardised.min(), standardised.max()
    if low == high:
        return np.full(len(standardised), raw.min())
    for top in np.unique(raw)[:0:-1]:
        candidate = raw.min() + (standardised - low) * (top - raw.min()) / (high - low)
        if np.abs(candidate - candidate.round()).max() < 1e-6 and np.isin(candidate.round(), raw).all():
            return candidate.round()
    raise AssertionError("no scale maps the column to values of the raw table")


@pytest.mark.parametrize("name", [*MADE_UP, "german"])
def test_frames_and_pairs_hold_the_same(name, own):
    pandas = pytest.importorskip("pandas")
    given = {} if name == "german" else {"path": own(name)}
    plain, framed = (load(name, as_frame=kind, **given) for kind in (False, True))
    assert plain.frame is None
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(framed.sensitive_features.to_numpy(), plain.sensitive_features)
    assert framed.sensitive_features.name == framed.sensitive_name
    assert list(framed.frame.columns) == [*plain.feature_names, plain.target_name]
    assert {each: values.tolist() for each, values in framed.attributes.items()} == {
        each: values.tolist() for each, values in plain.attributes.items()
    }
    if plain.sample_weight is not None:
        assert framed.sample_weight.name == INFO[name].weight
        assert framed.sample_weight.tolist() == plain.sample_weight.tolist()
    X, y = load(name, as_frame=True, return_X_y=True, **given)
    pandas.testing.assert_frame_equal(X, framed.data)
    pandas.testing.assert_series_equal(y, framed.target)
    X, y = load(name, return_X_y=True, **given)
    np.testing.assert_array_equal(X, plain.data)
    np.testing.assert_array_equal(y, plain.target)


@pytest.mark.parametrize("name", ["adult", "compas", *(pytest.param(name, marks=pytest.mark.slow) for name in MADE_UP)])
def test_examples_of_the_fetching_loaders(name, data_home, monkeypatch):
    """The examples are skipped where the cache may be empty; here it is filled."""
    monkeypatch.setenv("FAIRPCA_DATA", str(data_home))
    (test,) = doctest.DocTestFinder().find(getattr(fairpca.datasets, f"load_{name}"), globs={})
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def check_agreement(raw, table, info):
    """Every feature, attribute, label and weight of a loader must be found in the raw table."""
    for feature, values in zip(table.feature_names, table.data.T, strict=True):
        column, is_one_hot, category = feature.partition("=")
        if column == table.sensitive_name and not is_one_hot:
            expected = table.sensitive_features
        elif is_one_hot:
            expected = raw[column] == (None if category == "?" else category)
        else:
            expected = raw[column].astype(table.data.dtype)
        np.testing.assert_array_equal(values, expected, err_msg=feature)
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


@each_name
def test_raw_table_agrees_with_the_loader(name, raw_of, loaded):
    raw = raw_of(name)
    check_form(raw, INFO[name])
    assert len(raw[INFO[name].label]) == INFO[name].n_rows
    rows = slice(None)
    if name == "adult":
        rows = np.all([column != None for column in raw.values()], axis=0)  # noqa: E711
    elif name == "compas":
        rows = np.abs(raw["days_b_screening_arrest"]) <= 30
    check_agreement({column: values[rows] for column, values in raw.items()}, loaded(name), INFO[name])


@each_made_up
def test_made_up_raw_table_agrees_with_the_loader(name, own):
    raw = raw_table(name, path=own(name))
    check_form(raw, INFO[name])
    check_agreement(raw, load(name, path=own(name)), INFO[name])


def test_raw_tables_say_what_is_unknown_and_name_nobody(raw_of, data_home):
    adult, compas, german = (raw_of(name) for name in ("adult", "compas", "german"))
    unknown = {name: int((column == None).sum()) for name, column in adult.items()}  # noqa: E711
    assert {name: count for name, count in unknown.items() if count} == {
        **{"workclass": 2799, "occupation": 2809, "native-country": 857}
    }
    assert Counter(adult["income"]) == {"<=50K": 37_155, ">50K": 11_687}
    with (data_home / "compas" / "compas-scores-two-years.csv").open(newline="") as stream:
        left_out = set(next(csv.reader(stream))) - set(compas)
    assert left_out == {"name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"}
    assert np.isnan(compas["days_b_screening_arrest"]).sum() == 307
    assert Counter(compas["two_year_recid"])["new arrest within two years"] == 3251
    assert Counter(german["credit"]) == {"good": 700, "bad": 300}
    assert set(german["status"]) == {"A11", "A12", "A13", "A14"}


def test_small_blocks_are_the_same_table(own, monkeypatch, tmp_path):
    folder = own("census")
    whole = raw_table("census", path=folder)
    assert whole["migration_msa"].tolist() == [None] * 3
    monkeypatch.setattr(_raw.blocks, "__defaults__", (1,))
    told = []
    write_table("census", tmp_path / "census.csv", raw_path=folder, callback=lambda *done: told.append(done))
    assert told == [(1, None, "writing rows"), (2, None, "writing rows"), (3, None, "writing rows")]
    check_file(tmp_path / "census.csv", whole)
    for name, column in raw_table("census", path=folder).items():
        np.testing.assert_array_equal(column, whole[name])
    with (folder / "census-income.data").open("a") as stream:
        stream.write("30, Private\n")
    with pytest.raises(ValueError, match="has 2 fields in row 3 where 42 are expected"):
        raw_table("census", path=folder)


def check_file(path, raw):
    """A file must hold a raw table, as `fairpca.tables` reads it."""
    table = TableFile(path)
    assert list(table.names) == list(raw)
    written = {name: [] for name in table.names}
    for batch in table.batches():
        for name, values in written.items():
            values.extend(batch.column(name).to_pylist())
    for name, column in raw.items():
        values = [None if value == "" else value for value in written[name]]
        if column.dtype == object:
            assert values == column.tolist(), name
        else:
            found = np.array([np.nan if value is None else float(value) for value in values])
            np.testing.assert_array_equal(found, column, err_msg=name)


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        *((name, ending) for name in ("german", "compas") for ending in ENDINGS),
        *(pytest.param(name, ".csv", marks=pytest.mark.slow) for name in MADE_UP),
    ],
)
def test_written_tables_hold_the_same(name, ending, raw_of, data_home, tmp_path):
    path = tmp_path / f"people{ending}"
    assert write_table(name, path, data_home=data_home) == path
    check_file(path, raw_of(name))
    first = path.read_bytes()
    write_table(name, path, data_home=data_home)
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_keep_their_digits_and_their_type(own, tmp_path):
    from pyarrow.parquet import read_schema

    folder = own("meps")
    assert "21854.5,19," in write_table("meps", tmp_path / "meps.csv", raw_path=folder).read_text()
    schema = read_schema(write_table("meps", tmp_path / "meps.parquet", raw_path=folder))
    kinds = {name: str(schema.field(name).type) for name in ("AGELAST", "PERWT15F", "RACETHX", "REGION53")}
    assert kinds == {"AGELAST": "int64", "PERWT15F": "double", "RACETHX": "string", "REGION53": "string"}


def roles_of(info, sensitive=None):
    return Roles(sensitive or info.sensitive[0], label=info.label, weight=info.weight, drop=info.drop)


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        *(pytest.param(name, None, marks=pytest.mark.thorough) for name in OBTAINABLE),
        *(pytest.param(name, None, marks=pytest.mark.slow) for name in MADE_UP),
    ],
)
def test_files_can_be_prepared_for_each_attribute(name, mark, data_home, tmp_path):
    info = INFO[name]
    path = write_table(name, tmp_path / f"{name}.csv", data_home=data_home)
    options = TableOptions(missing="fill", categories=info.categories)
    for sensitive in info.sensitive if name in OBTAINABLE else info.sensitive[:1]:
        # Columns that tell sex or age are no fault of the table.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AttributeInTableWarning)
            warnings.simplefilter("ignore", TableWarning)
            with prepare(path, roles_of(info, sensitive), options, random_state=0) as prepared:
                n_rows = len(prepared.X_train) + len(prepared.X_new) + sum(prepared.n_dropped.values())
                assert n_rows == info.n_rows
                assert np.isfinite(prepared.X_train[:1000]).all()
                assert set(prepared.people_train.sensitive_features) == {sensitive}
                assert (prepared.people_train.sample_weight is None) == (info.weight is None)


def test_what_is_to_be_dropped_is_what_cannot_be_used_or_must_not(data_home, tmp_path):
    path = write_table("compas", tmp_path / "compas.csv", data_home=data_home)
    kinds = {row["column"]: row["kind"] for row in describe(path, Roles("race"), TableOptions(missing="fill"))}
    refused = {name for name, kind in kinds.items() if kind not in ("number", "boolean", "category")}
    assert refused - {"race"} <= set(INFO["compas"].drop)
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
        assert json.loads(json.dumps(info))["title"] == info.title
    assert "MEPS data use agreement" in INFO["meps"].license


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
        ("law", "law/law.csv", ValueError, "is the raw file itself; write to another file"),
        ("iris", "out.csv", ValueError, r"name='iris' is unknown; choose one of \['adult', 'census'"),
        ("german", "out.xlsx", ValueError, "must end in one of .csv"),
        ("german", "nowhere/out.csv", TableError, "nowhere does not exist; make it first"),
        ("german", "folder.csv", TableError, "folder.csv is a folder; name a file"),
    ],
)
def test_bad_outputs_are_refused(name, file, error, message, own, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    raw = own("law") / "law.csv"
    before = raw.read_bytes()
    with pytest.raises(error, match=message):
        write_table(name, tmp_path / file, raw_path=raw if name == "law" else None)
    assert raw.read_bytes() == before


def test_every_made_up_table_is_expected():
    assert set(ROWS) | {"census"} == set(MADE_UP) == set(INFO) - set(OBTAINABLE)
