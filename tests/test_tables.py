"""People's files become numbers: what they are taken for, how they are encoded, held out and written."""
# SPDX-License-Identifier: MIT

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import warnings
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pyarrow.feather import write_feather

from fairpca.exceptions import AttributeInTableWarning
from fairpca.tables import (
    Roles,
    TableColumn,
    TableEncoder,
    TableError,
    TableFile,
    TableOptions,
    TableWarning,
    describe,
    prepare,
    write_projections,
)

SEX = Roles("sex")
FILL, DROP = TableOptions(missing="fill"), TableOptions(missing="drop-rows")


def people(n=60, seed=0):
    """A table with a column of every kind that can be used."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, n),
            "height": random.normal(170.0, 10.0, n).round(2),
            "member": random.random(n) < 0.5,
            "work": random.choice(["private", "public", "none"], n),
            "sex": random.choice(["f", "m"], n),
            "region": random.choice(["north", "south"], n),
            "income": random.choice(["low", "high"], n),
            "weight": random.uniform(0.5, 2.0, n).round(3),
        }
    )


EVERY_ROLE = Roles("sex", label="income", control="region", weight="weight")


def written(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        warnings.simplefilter("ignore", AttributeInTableWarning)
        return prepare(*arguments, **options)


def all_rows(table, roles=SEX, options=None, **more):
    """Return the features of all rows, in the order of the table."""
    return quietly(table, roles, options, held_out=0, **more)


def kinds(table, roles=SEX, options=None):
    return {row["column"]: row["kind"] for row in describe(table, roles, options)}


# Reading


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_delimiters_and_encodings_are_found(tmp_path, delimiter, encoding):
    table = people().assign(work=lambda t: t["work"].replace("none", "ohne, für; \t| sich"))
    path = written(tmp_path, table.to_csv(index=False, sep=delimiter).encode(encoding))
    found = all_rows(path, EVERY_ROLE)
    assert found.feature_names == ["age", "height", "member", *(f"work={v}" for v in sorted(table["work"].unique()))]
    assert found.notes == ()
    np.testing.assert_array_equal(found.X_train[:, :3], table[["age", "height", "member"]].astype(float))


@pytest.mark.parametrize(("word", "encoding"), [("Müller", "cp1252"), ("M\x81ller", "latin-1")])
def test_an_encoding_that_was_guessed_is_said(tmp_path, word, encoding):
    path = written(tmp_path, f"age,name,sex\n1,{word},f\n2,x,m\n3,x,f\n".encode("latin-1"))
    with pytest.warns(TableWarning, match=f"not UTF-8; it was read as {encoding}"):
        found = prepare(path, SEX, held_out=0)
    assert f"name={word}" in found.feature_names
    assert prepare(TableFile(path, encoding="latin-1"), SEX, held_out=0).notes == ()


@pytest.mark.parametrize(("encoding", "n_said"), [("utf-8", 0), ("utf-16", 0), ("latin-1", 1)])
def test_letters_may_begin_and_end_in_any_block(tmp_path, monkeypatch, encoding, n_said):
    monkeypatch.setattr("fairpca.tables._text.BLOCK", 61)
    rows = [f"{k},{'plain' if k < 50 else 'Größe' * (1 + k % 3)},{'fm'[k % 2]}\n" for k in range(100)]
    path = written(tmp_path, "".join(["age,name,sex\n", *rows]).encode(encoding))
    found = all_rows(TableFile(path), options=TableOptions(numbers="age"))
    assert found.feature_names == ["age", *(f"name={name}" for name in sorted({row.split(",")[1] for row in rows}))]
    assert len(found.notes) == n_said


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


def zipped(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("packer", [*PACKERS, "zip"])
def test_packed_files_are_unpacked_whatever_they_are_called(tmp_path, packer):
    content = people().to_csv(index=False).encode()
    packed = zipped(table=content) if packer == "zip" else PACKERS[packer](content)
    plain, other = written(tmp_path, content), written(tmp_path, packed, "table")
    np.testing.assert_array_equal(all_rows(other, EVERY_ROLE).X_train, all_rows(plain, EVERY_ROLE).X_train)


def test_all_files_and_frames_give_the_same(tmp_path):
    table = people()
    arrow = pa.Table.from_pandas(table)
    pq.write_table(arrow, tmp_path / "t.parquet")
    write_feather(arrow, tmp_path / "t.feather")
    with pa.ipc.new_stream(tmp_path / "t.stream", arrow.schema) as stream:
        stream.write_table(arrow)
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = prepare(table, EVERY_ROLE, random_state=0)
    others = [
        pl.from_pandas(table),
        arrow,
        dict(table),
        *(tmp_path / f"t.{e}" for e in ("parquet", "feather", "stream", "csv")),
    ]
    for other in [*others, table.astype({"work": "category", "sex": "category"}), str(tmp_path / "t.csv")]:
        found = prepare(other, EVERY_ROLE, random_state=0)
        for name in ("feature_names", "X_train", "X_new"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        np.testing.assert_equal(vars(found.people_new), vars(expected.people_new))


def test_types_of_frames_are_taken():
    table = pl.DataFrame(
        {
            "coded": pl.Series(["u", "v", None] * 20, dtype=pl.Categorical),
            "enum": pl.Series(["v", "u", "u"] * 20, dtype=pl.Enum(["v", "u", "never"])),
            "exact": pl.Series(["1.50", "2.25", "3"] * 20).cast(pl.Decimal(10, 2)),
            "small": pl.Series([1, None, 3] * 20, dtype=pl.Int8),
            "sex": ["f", "m", "m"] * 20,
        }
    )
    found = all_rows(table, options=FILL)
    assert found.feature_names == ["coded=u", "coded=v", "coded=(missing)", "enum=u", "enum=v", "exact", "small"]
    assert found.X_train[:3].tolist() == [[1, 0, 0, 0, 1, 1.5, 1], [0, 1, 0, 1, 0, 2.25, 2], [0, 0, 1, 1, 0, 3, 3]]
    large = pa.table({"id": pa.array([2**62 + 1, 2**62 + 2] * 9), "sex": ["f", "f", "m"] * 6})
    assert all_rows(large, options=TableOptions(categories="id")).feature_names == [f"id={2**62 + k}" for k in (1, 2)]


def test_blanks_lines_and_line_endings_do_not_matter(tmp_path):
    path = written(tmp_path, "age , work,sex\r\n 1, a b ,f\r\n\r\n2,c , m\r\n+3.5e0,a b,f")
    found = all_rows(path)
    assert found.feature_names == ["age", "work=a b", "work=c"]
    assert found.X_train.tolist() == [[1, 1, 0], [2, 0, 1], [3.5, 1, 0]]
    assert found.people_train.sensitive_features["sex"].tolist() == ["f", "m", "f"]


def test_columns_without_a_name_are_called_by_their_position(tmp_path):
    table = TableFile(written(tmp_path, ",sex,x,\n1,f,2,\n3,m,4,\n"))
    assert table.names == ("unnamed 1", "sex", "x", "unnamed 4")
    with pytest.warns(TableWarning, match="columns that do not vary are left out: 'unnamed 4'"):
        assert prepare(table, SEX, held_out=0).feature_names == ["unnamed 1", "x"]


def test_batches_are_bounded_and_whole(tmp_path):
    table = pa.table({"x": np.arange(50_000) % 977, "sex": np.arange(50_000) % 2})
    sizes = [batch.num_rows for batch in TableFile(table).batches()]
    assert max(sizes) <= 2**14
    assert sum(sizes) == 50_000


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8) | st.sampled_from(
    ['"', 'a"b', ",", ";x", "a\nb", "\u202eab", "\ufeff", "é", "日本", "a\r\nb", "\t|", "''", "=1+1"]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(CELL, CELL, st.integers(-(2**40), 2**40)), min_size=2, max_size=12),
    st.sampled_from(",;\t|"),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
)
def test_what_is_written_as_text_is_read_again(tmp_path, rows, delimiter, quoting):
    path = tmp_path / "round.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerows([("one", "two", "three"), *rows])
    batches = list(TableFile(path, delimiter=delimiter).batches())
    found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert found == [(one, two, str(three)) for one, two, three in rows]


# Kinds


def test_kinds_are_told_from_all_rows():
    n = 400
    table = pd.DataFrame(
        {
            "whole": np.arange(n) % 7,
            "real": np.linspace(0, 1, n) ** 2,
            "text numbers": [str(k % 9) for k in range(n)],
            "late text": ["1"] * (n - 1) + ["x"],
            "truth": ["True", "false"] * (n // 2),
            "zip": ["01234", "99999"] * (n // 2),
            "same": "x",
            "empty": [None] * n,
            "day": ["2024-01-01", "2024-02-03"] * (n // 2),
            "moment": pd.Timestamp("2024-01-01"),
            "name": [f"person {k}" for k in range(n)],
            "words": [f"word {k % 150}" for k in range(n)],
            "row": np.arange(n),
            "list": [[k] for k in range(n)],
            "sex": ["f", "m"] * (n // 2),
        }
    )
    table.loc[n - 1, "moment"] = pd.Timestamp("2024-01-02")
    assert kinds(table) == {
        **{"whole": "number", "real": "number", "text numbers": "number", "late text": "category"},
        **{"truth": "boolean", "zip": "category", "same": "constant", "empty": "constant", "day": "date"},
        **{"moment": "date", "name": "identifier", "words": "free text", "row": "row number", "list": "nested"},
        "sex": "category",
    }
    told = TableOptions(categories=["whole", "day"], numbers=["zip", "row"])
    assert {k: kinds(table, options=told)[k] for k in ("whole", "day", "zip", "row")} == {
        **{"whole": "category", "day": "category", "zip": "number", "row": "number"}
    }
    assert kinds(table, options=TableOptions(most_categories=150))["words"] == "category"
    assert TableOptions(dates=["day=DMY", "a=b", "DMY"]).date_orders == {"day": "DMY", "a=b": None, "DMY": None}


@pytest.mark.parametrize("rest", [",5", ""])
def test_the_mark_of_other_columns_says_what_points_are(rest):
    """Whole numbers among decimals are read by either mark, and show none."""
    pay = [f"{1 + k % 7}.{100 + (k * 37 + 11) % 101}" for k in range(60)]
    rate = [f"{k * 37 % 101}{',5' if k % 2 else rest}" for k in range(60)]
    found = all_rows({"pay": pay, "rate": rate, "sex": ["f", "m"] * 30})
    np.testing.assert_array_equal(found.X_train[:, 0], [float(text.replace(".", "")) for text in pay])
    np.testing.assert_array_equal(found.X_train[:, 1], [float(text.replace(",", ".")) for text in rate])


def test_what_columns_become_is_described():
    table = people().assign(work=lambda t: t["work"].where(t.index > 2), same=1)
    rows = {row["column"]: row for row in describe(table, EVERY_ROLE, FILL)}
    assert rows["work"] == {
        **{"column": "work", "role": "feature", "kind": "category", "distinct": 3, "more_distinct": False},
        **{"missing": 3, "features": 4, "note": ""},
    }
    assert (rows["same"]["features"], rows["same"]["note"]) == (0, "all values are the same")
    assert {name: row["role"] for name, row in rows.items() if row["role"] != "feature"} == {
        **{"sex": "sensitive", "region": "control", "income": "label", "weight": "weight"}
    }
    assert rows == {row["column"]: row for row in quietly(table, EVERY_ROLE, FILL).columns}


# Missing values


def test_missing_values_are_refused_counted_and_named():
    table = people().astype({"age": float})
    table.loc[4:6, "age"], table.loc[9, "work"] = np.nan, " ? "
    with pytest.raises(TableError, match=r"'age' \(3\), 'work' \(1\), the first of 'age' in row 5; use missing='fill'"):
        prepare(table, SEX)


def test_missing_values_are_filled_from_the_rows_to_fit():
    table = people(n=200).astype({"age": float, "member": object})
    table.loc[::5, "age"], table.loc[::7, "work"], table.loc[::9, "member"] = np.nan, "?", None
    found = prepare(table, EVERY_ROLE, FILL, random_state=0)
    fitted = table.iloc[found.rows_train]
    assert [column.fill for column in found.encoder.columns[:2]] == pytest.approx(
        [fitted["age"].mean(), fitted["height"].mean()]
    )
    assert found.encoder.columns[2].fill == pytest.approx(fitted["member"].mean())
    assert found.feature_names[3:] == ["work=none", "work=private", "work=public", "work=(missing)"]
    for X, rows in ((found.X_train, found.rows_train), (found.X_new, found.rows_new)):
        part = table.iloc[rows]
        np.testing.assert_allclose(X[:, 0], part["age"].fillna(fitted["age"].mean()))
        np.testing.assert_array_equal(X[:, 6], part["work"] == "?")
    np.testing.assert_allclose(
        found.encoder.encode(table[["age", "height", "member", "work"]])[found.rows_new], found.X_new
    )


def test_a_column_without_values_in_the_rows_to_fit_is_refused():
    table = {"x": [1, 2, *([None] * 38)], "y": [1, 2] * 20, "sex": ["f", "m"] * 20}
    with pytest.raises(TableError, match="'x' has no value in any row to fit"):
        prepare(table, SEX, FILL, held_out=0.9, random_state=0)


def test_rows_that_lack_something_are_dropped_and_counted():
    table = people().astype({"age": float}).assign(empty=np.nan, unused=np.nan)
    table.loc[3, "age"], table.loc[5, "sex"], table.loc[7, "income"], table.loc[8, "weight"] = np.nan, None, None, 0
    roles = Roles("sex", label="income", weight="weight", drop="unused")
    with pytest.warns(TableWarning) as told:
        found = prepare(table, roles, DROP, held_out=0)
    assert found.rows_train.tolist() == [k for k in range(60) if k not in (3, 5, 7, 8)]
    assert found.n_dropped == {"missing": 3, "zero weight": 1}
    assert [str(each.message) for each in told] == list(found.notes)
    assert "3 of 60 rows lack a value and are left out." in found.notes


def test_attributes_may_be_missing():
    table = people().assign(age_group=[None, *([1.0, 2.0, 3.0] * 20)[1:]])
    table.loc[2, "sex"] = None
    found = all_rows(table, Roles(["sex", "age_group"]))
    assert found.people_train.sensitive_features["sex"][2] is None
    assert np.isnan(found.people_train.sensitive_features["age_group"][0])
    assert found.people_train.sensitive_features["age_group"][1] == 2.0


def test_other_spellings_of_missing_values():
    table = people().assign(work=lambda t: t["work"].replace("none", "unknown"))
    found = all_rows(table, EVERY_ROLE, TableOptions(missing="fill", missing_values=["unknown"]))
    assert found.feature_names[3:] == ["work=private", "work=public", "work=(missing)"]


# The encoder


def frames():
    """Random frames of numbers, truths and categories, with missing ones."""
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
    cells = {
        "number": st.floats(-1e12, 1e12) | st.none(),
        "truth": st.booleans() | st.none(),
        "word": st.sampled_from(["a", "b, c", 'd"e', "\u202ff", "none"]) | st.none() | text,
    }
    row = st.fixed_dictionaries(cells)
    return st.lists(row, min_size=3, max_size=30).map(lambda rows: {k: [row[k] for row in rows] for k in cells})


@settings(max_examples=50, deadline=None)
@given(frames(), st.permutations(["number", "truth", "word", "sex", "more"]))
def test_new_rows_are_encoded_like_those_of_the_fit(frame, order):
    table = pa.table(
        {**frame, "sex": [k % 2 for k in range(len(frame["word"]))], "more": [1.5, 2.5, *frame["number"][2:]]}
    )
    told = TableOptions(missing="fill", categories=["word"], numbers=["more"])
    found = all_rows(table, options=told)
    encoder = TableEncoder.from_dict(json.loads(json.dumps(found.encoder.to_dict(), allow_nan=False)))
    assert encoder == found.encoder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        again = encoder.encode(table.select(order))
    np.testing.assert_array_equal(again, found.X_train)
    assert np.isfinite(again).all()
    for column in encoder.columns:
        if column.kind == "category":
            assert (again[:, encoder.slices[column.name]].sum(axis=1) == 1).all()


def encoder_of(table=None, options=None):
    return all_rows(people() if table is None else table, EVERY_ROLE, options).encoder


def test_unknown_categories_are_zeros_with_a_counted_warning():
    new = people(5)[["age", "height", "member", "work"]].assign(work=["space", "none", "sea", "space", "public"])
    with pytest.warns(
        TableWarning, match=r"not there before: 'space' in 'work' \(2 rows\), 'sea' in 'work' \(1 rows\)"
    ):
        X = encoder_of().encode(new)
    assert X[:, 3:].sum(axis=1).tolist() == [0, 1, 0, 0, 1]
    with pytest.raises(TableError, match=r"'space' in 'work' \(2 rows\).*unknown='warn'"):
        encoder_of().encode(new, unknown="refuse")


def test_a_category_that_was_never_missing_is_unknown_when_it_is():
    new = people(3)[["age", "height", "member", "work"]].assign(work=["none", None, "public"])
    with pytest.warns(TableWarning, match=r"'\(missing\)' in 'work' \(1 rows\)"):
        assert encoder_of(options=FILL).encode(new)[1, 3:].tolist() == [0, 0, 0]
    with pytest.raises(TableError, match=r"row 2 has no value in 'work'"):
        encoder_of().encode(new)


def test_a_missing_column_is_named_with_the_nearest():
    table = people().rename(columns={"height": "Heigth"})
    with pytest.raises(TableError, match=r"lacks the column 'height'; did you mean .*'Heigth'"):
        encoder_of().encode(table)


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("age", ["1", "old", "2"], "column 'age' holds 'old' in row 2, where finite numbers are expected"),
        ("age", [1.0, 2.0, np.inf], "column 'age' holds 'inf' in row 3"),
        ("age", [1.0, np.nan, 2.0], "row 2 has no value in 'age'"),
        ("member", ["yes", "no", "no"], "column 'member' holds 'yes' in row 1, where true or false"),
    ],
)
def test_new_rows_that_are_no_numbers_are_refused(column, values, words):
    new = people(3)[["age", "height", "member", "work"]].assign(**{column: values})
    with pytest.raises(TableError, match=words):
        encoder_of().encode(new)


# Roles, copies and parts


def test_only_features_are_features():
    table = people()
    of_work = [f"work={value}" for value in ("none", "private", "public")]
    assert all_rows(table, EVERY_ROLE).feature_names == ["age", "height", "member", *of_work]
    kept = Roles(["sex", "age"], label="income", control="region", weight="weight", drop="work", keep_sensitive=True)
    assert all_rows(table, kept).feature_names == ["age", "height", "member", "sex=f", "sex=m"]


def test_people_come_as_they_are():
    found = all_rows(
        people().assign(code="07", truth=lambda t: t["member"]),
        Roles(["sex", "age", "truth"], label="income", drop="code"),
    )
    about = found.people_train.sensitive_features
    assert about["sex"].dtype == object
    assert about["age"].dtype == np.int64
    assert about["truth"].dtype == bool
    assert found.people_train.control_features is None
    assert found.people_train.sample_weight is None


@pytest.mark.parametrize("held_out", [0, 0.1, 0.3, 0.5])
def test_the_same_share_of_each_group_is_held_out(held_out):
    table = people(2000).assign(rare=["x"] * 1990 + ["y"] * 10)
    found = prepare(table, Roles(["sex", "rare"]), held_out=held_out, random_state=0)
    assert sorted([*found.rows_train, *found.rows_new]) == list(range(2000))
    np.testing.assert_array_equal(found.X_new[:, 0], table["age"].iloc[found.rows_new])
    for name in ("sex", "rare"):
        for value, count in table[name].value_counts().items():
            assert abs((found.people_new.sensitive_features[name] == value).sum() - held_out * count) <= 2
    again = prepare(table, Roles(["sex", "rare"]), held_out=held_out, random_state=0)
    np.testing.assert_array_equal(found.rows_new, again.rows_new)


def test_a_continuous_attribute_is_held_out_evenly():
    table = people(1000)
    new = prepare(table, Roles("height"), held_out=0.3, random_state=1).people_new.sensitive_features["height"]
    for low in np.quantile(table["height"], [0.25, 0.5, 0.75]):
        assert abs((new < low).mean() - (table["height"] < low).mean()) < 0.01


def copies(column, attribute="sex", n=1000, **options):
    table = people(n).assign(more=column)
    found = quietly(table, Roles(attribute), **options)
    return {(copy.column, copy.attribute): copy for copy in found.near_copies}


def test_copies_of_an_attribute_are_named():
    sex = people(1000)["sex"]
    random = np.random.default_rng(0)
    for copy in (
        sex.map({"f": "W", "m": "M"}),
        sex.map({"f": 0.0, "m": 1.0}),
        sex.where(random.random(1000) > 0.03, "f"),
        (sex == "f").astype(float) + 0.1 * random.normal(size=1000),
        sex + random.choice(list("abc"), 1000),
    ):
        assert copies(copy)["more", "sex"].values == ()
        assert copies(copy)["more", "sex"].share > 0.9
    with pytest.warns(AttributeInTableWarning, match=r"'more' is nearly a copy of 'sex' \(100.0 %\)"):
        prepare(people(1000).assign(more=sex), SEX)


def test_values_that_one_group_has_are_named():
    table = people(1000)
    sex, random = table["sex"], np.random.default_rng(0)
    relationship = np.where((sex == "m") & (random.random(1000) < 0.6), "husband", "other")
    copy = copies(relationship)["more", "sex"]
    assert copy.values == ("husband",)
    assert copy.share == pytest.approx((relationship == "husband").mean(), abs=0.05)
    assert "'more' reveals 'sex' for" in str(copy)


def test_copies_of_numbers_are_named():
    height = people(1000)["height"]
    assert copies(np.exp(height / 20), "height")["more", "height"].share > 0.9
    assert copies((height / 5).round(), "height")["more", "height"].share > 0.9


def test_chance_is_no_copy():
    random = np.random.default_rng(1)
    assert copies(random.choice([f"v{k}" for k in range(90)], 1000)) == {}
    assert copies(random.normal(size=1000)) == {}
    assert copies(random.normal(size=40), n=40) == {}
    table = people(1000).assign(sex=["f"] * 970 + ["m"] * 30, more=random.choice(list("abcdefgh"), 1000))
    assert quietly(table, SEX).near_copies == []


# Large tables


def test_large_tables_are_kept_in_files_that_are_removed(tmp_path):
    table = people(500).astype({"age": float})
    table.loc[::6, "age"] = np.nan
    small = prepare(table, EVERY_ROLE, FILL, random_state=0)
    with prepare(table, EVERY_ROLE, FILL, most_bytes=0, folder=tmp_path, random_state=0) as large:
        assert isinstance(large.X_train, np.memmap)
        assert large.X_train.dtype == np.float32
        assert large.folder.parent == tmp_path
        np.testing.assert_allclose(large.X_train, small.X_train, rtol=1e-6)
        np.testing.assert_allclose(large.X_new, small.X_new, rtol=1e-6)
        assert large.encoder.columns[0].fill == pytest.approx(small.encoder.columns[0].fill)
    assert list(tmp_path.iterdir()) == []
    prepare(table, EVERY_ROLE, FILL, most_bytes=0, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_no_files(tmp_path):
    def stop(done, total, what):
        if what == "encoding rows":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(people(), EVERY_ROLE, most_bytes=0, folder=tmp_path, callback=stop)
    assert list(tmp_path.iterdir()) == []


def test_numbers_that_float32_would_blur_keep_their_digits():
    table = people(100).assign(second=1.7e9 + np.arange(100) % 9)
    with prepare(table, EVERY_ROLE, most_bytes=0, held_out=0) as found:
        assert found.X_train.dtype == np.float64
        np.testing.assert_array_equal(found.X_train[:, -1], table["second"])
    with prepare(people(100).assign(huge=1e300 * np.arange(1, 101) ** 2), EVERY_ROLE, most_bytes=0) as found:
        assert np.isfinite(found.X_train).all()


@pytest.mark.parametrize("other", [people(59), people(61), people(40_000), people().assign(work="sea")])
def test_a_typed_table_that_changes_while_it_is_read_is_refused(tmp_path, other):
    people().to_parquet(tmp_path / "table")

    def change(done, total, what):
        if what == "looking at columns":
            other.to_parquet(tmp_path / "table")

    with pytest.raises(TableError, match="has changed while it was read"):
        prepare(tmp_path / "table", EVERY_ROLE, callback=change)


@pytest.mark.parametrize("kept_in_memory", [0, 2**20])
def test_a_text_is_read_once_and_kept_as_it_was(tmp_path, monkeypatch, kept_in_memory):
    monkeypatch.setattr("fairpca.tables._file.KEPT_IN_MEMORY", kept_in_memory)
    path = written(tmp_path, people(20_000).to_csv(index=False))
    table, expected = TableFile(path), prepare(people(20_000), EVERY_ROLE, random_state=0)
    assert sum(batch.num_rows for batch in table.batches()) == table.n_rows == 20_000
    path.unlink()
    np.testing.assert_array_equal(prepare(table, EVERY_ROLE, random_state=0).X_train, expected.X_train)
    together = [first.equals(second) for first, second in zip(table.batches(), table.batches(), strict=True)]
    assert together == [True, True]


def test_a_text_that_was_read_in_part_is_read_again(tmp_path):
    path = written(tmp_path, people(20_000).to_csv(index=False))
    table = TableFile(path)
    next(table.batches())
    assert sum(batch.num_rows for batch in table.batches()) == 20_000


# Writing


def projected(path):
    readers = {".csv": pd.read_csv, ".tsv": lambda p: pd.read_csv(p, sep="\t"), ".parquet": pd.read_parquet}
    return readers.get(path.suffix, pd.read_feather)(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "feather"])
def test_projections_are_written_with_what_is_kept(tmp_path, ending):
    table = people(50).assign(name=[f'a "{k}",\n' for k in range(50)]).astype({"region": "category"})
    encoder, path = encoder_of(), tmp_path / f"out.{ending}"
    V = np.random.default_rng(0).normal(size=(encoder.n_features, 2))
    found = write_projections(path, table, encoder, lambda X: X @ V, keep=["name", "region"], row_numbers=True)
    out = projected(path)
    assert list(out) == ["row", "name", "region", "component1", "component2"]
    assert (found.n_rows, found.n_dropped, found.unknown) == (50, 0, {})
    assert out["name"].tolist() == table["name"].tolist()
    assert out["row"].tolist() == list(range(1, 51))
    with pytest.warns(TableWarning):
        np.testing.assert_array_equal(out[["component1", "component2"]], encoder.encode(table) @ V)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_rows_that_lack_a_value_are_not_written_where_such_rows_were_dropped(tmp_path):
    table = people(50).astype({"age": float})
    table.loc[[3, 4], "age"] = np.nan
    with pytest.warns(TableWarning, match="2 rows of the table lack a value and are left out"):
        found = write_projections(
            tmp_path / "out.csv", table, encoder_of(options=DROP), lambda X: X[:, :1], row_numbers=True
        )
    assert (found.n_rows, found.n_dropped) == (48, 2)
    assert 4 not in projected(found.path)["row"].tolist()
    with pytest.raises(TableError, match="row 4 has no value in 'age'"):
        write_projections(tmp_path / "other.csv", table, encoder_of(), lambda X: X[:, :1])
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


def test_what_cannot_be_written_is_refused(tmp_path):
    encoder, table = encoder_of(), people(20)
    path = written(tmp_path, table.to_csv(index=False))
    cases = {
        "must end in one of": {"path": tmp_path / "out.xlsx"},
        "does not exist; make it first": {"path": tmp_path / "no" / "out.csv"},
        "is the table itself": {"path": path, "table": path},
        "keep='nam' is no column": {"keep": "nam"},
        "two columns would be called 'component1'": {"table": table.assign(component1=1), "keep": "component1"},
        "unknown='guess'": {"unknown": "guess"},
        "every row of the table lacks a value": {
            "table": table.assign(age=np.nan),
            "encoder": encoder_of(options=DROP),
        },
        "cannot be written": {"table": table.assign(more=[[1]] * 20), "keep": "more"},
    }
    for words, changes in cases.items():
        chosen = {
            "path": tmp_path / "out.csv",
            "table": table,
            "encoder": encoder,
            "project": lambda X: X[:, :1],
        } | changes
        with pytest.raises(ValueError, match=words) as refused:
            write_projections(**chosen)
        assert_one_sentence(refused)
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]


# What is refused


def assert_one_sentence(refused):
    words = str(refused.value)
    assert "\n" not in words
    assert words.endswith((".", "?"))
    assert len(words) < 500
    assert not any(word in words for word in ("Arrow", "Traceback", "Errno", "CSV parse", "straddling"))


GOOD = "age,work,sex\n1,a,f\n2,b,m\n3,a,m\n"
BAD_FILES = {
    "nothing": (b"", "is empty"),
    "header only": (b"age,work,sex\n", "header but no rows"),
    "short row": (GOOD + "4,a\n", "2 fields in line 5, where the header has 3"),
    "long row": (GOOD + "4,a,f,9\n", "4 fields in line 5"),
    "unclosed quote": (GOOD + '4,"a,f\n5,b,m\n', "quotation mark that is opened and never closed|fields in line 5"),
    "unclosed quote at the start": (GOOD + '4,"a,f\n' + "5,b,m\n" * 30_000, "fields in line 5"),
    "same names": (GOOD.replace("work", "age"), "several columns of the same name: 'age'"),
    "no header": ("1.5,2,3\n4,5,6\n", "its first line must name the columns"),
    "one column": ("age\n1\n2\n", "has one column"),
    "NUL bytes": (b"age,work,sex\n1,a\0,f\n", "NUL bytes"),
    "PDF": (b"%PDF-1.7 a,b\n1,2\n", "a PDF document"),
    "broken Excel": (zipped(**{"[Content_Types].xml": "x", "xl/workbook.xml": "x"}), "damaged or not complete"),
    "office": (zipped(**{"[Content_Types].xml": "x", "word/document.xml": "x"}), "an office file other than Excel"),
    "archive": (zipped(a=GOOD, b=GOOD), "an archive of 2 files"),
    "cut gzip": (gzip.compress(GOOD.encode() * 99)[:-9], "damaged or not complete"),
    "cut Zstandard": (PACKERS["zst"](GOOD.encode() * 99)[:-9], "damaged or not complete"),
    "JSON": ('{"age": [1, 2]}', "is JSON"),
    "web page": ("<!DOCTYPE html><html></html>", "HTML or XML"),
    "cut Parquet": (b"PAR1" + b"x" * 20, "damaged or not complete"),
    "cut Arrow": (b"ARROW1\0\0" + b"x" * 20, "damaged or not complete"),
    "row of 9 MB": (GOOD + '4,"' + "x" * (9 * 2**20) + '",f\n', "a row is longer than 4 MB"),
    "broken UTF-16": (b"\xff\xfea\0,\0b\0\n\0\x00\xd8", "not text in the encoding utf-16"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_files_that_are_no_tables_are_refused(tmp_path, case):
    content, words = BAD_FILES[case]
    path = written(tmp_path, content)
    with pytest.raises(TableError, match=words) as refused:
        quietly(path, SEX)
    assert_one_sentence(refused)
    assert str(path) in str(refused.value)


def test_texts_that_are_none_are_refused(tmp_path):
    table = pa.table({"x": ["ab", "cd"], "sex": ["f", "m"]})
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="none", use_dictionary=False, write_statistics=False)
    path = written(tmp_path, stream.getvalue().replace(b"cd", b"c\x80"))
    with pytest.raises(TableError, match="damaged or not complete") as refused:
        prepare(path, SEX)
    assert_one_sentence(refused)


def test_files_that_cannot_be_opened_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    paths = {
        **{tmp_path / "no.csv": "does not exist", tmp_path: "is a folder", tmp_path / "pipe": "not a plain file"},
        **{"x" * 300: "cannot be read", "a\0b": "cannot be read"},
    }
    for path, words in paths.items():
        with pytest.raises(TableError, match=words) as refused:
            TableFile(path)
        assert_one_sentence(refused)


def repeated(**columns):
    """Columns of 60 rows."""
    return {name: (values * 60)[:60] for name, values in columns.items()}


BAD_COLUMNS = {
    "no rows": ({"x": [], "sex": []}, {}, "has columns but no rows"),
    "different lengths": ({"x": [1], "sex": ["f", "m"]}, {}, "columns of different lengths"),
    "mixed kinds": ({"x": [1, "a"], "sex": ["f", "m"]}, {}, "mixes kinds of values"),
    "date": (repeated(x=["2020-01-01", "2021-05-06 10:00"], sex=["f", "m"]), {}, "'x' is a date"),
    "identifier": ({"x": [f"p{k}" for k in range(60)], "sex": ["f", "m"] * 30}, {}, "'x' is an identifier"),
    "row numbers": ({"x": list(range(5, 65)), "sex": ["f", "m"] * 30}, {}, "'x' is a count of the rows"),
    "free text": ({"x": [f"{k % 150}a" for k in range(300)], "sex": ["f", "m"] * 150}, {}, "'x' is free text"),
    "long text": (repeated(x=["a" * 201, "b"], sex=["f", "m"]), {}, "'x' is long text.*name it in categories"),
    "records": (repeated(x=[{"a": 1}], sex=["f", "m"]), {}, "'x' is made of lists, bytes or records"),
    "infinite": (repeated(x=[1.0, 2.0, np.inf], sex=["f", "m"]), {}, "'x' holds an infinite number in row 3"),
    "missing": (repeated(x=[1, 2, None], sex=["f", "m"]), {}, r"missing in 'x' \(20\)"),
    "nothing varies": (repeated(x=[1], sex=["f", "m"]), {}, "no column is left to make features of"),
    "one group": (repeated(x=[1, 2], sex=["f"]), {}, "has the one value 'f'"),
    "no groups": (repeated(x=[1, 2], sex=[None]), {}, "has no values at all"),
    "names as groups": ({"x": [1, 2] * 30, "sex": [f"p{k}" for k in range(60)]}, {}, "names people, not groups"),
    "many groups": ({"x": [1, 2] * 150, "sex": [f"{k % 150}a" for k in range(300)]}, {}, "more than 100 values"),
    "lists as groups": (repeated(x=[1, 2], sex=[[1]]), {}, "is made of lists"),
    "unknown attribute": (repeated(x=[1, 2], Sex=["f", "m"]), {}, "sensitive='sex' is no column.*did you mean 'Sex'"),
    "missing label": (repeated(x=[1, 2], sex=["f", "m"], y=[1, None]), {"label": "y"}, r"missing in 'y' \(30\)"),
    "weights of text": (repeated(x=[1, 2], sex=["f", "m"], w=["1", "a"]), {"weight": "w"}, "holds 'a' in row 2"),
    "negative weights": (repeated(x=[1, 2], sex=["f", "m"], w=[1, -1]), {"weight": "w"}, "negative number in row 2"),
    "no weights": (repeated(x=[1, 2], sex=["f", "m"], w=[0]), {"weight": "w"}, "no weight above 0"),
    "absent weights": (repeated(x=[1, 2], sex=["f", "m"], w=[None]), {"weight": "w"}, "missing in 'w'"),
    "infinite weights": (
        repeated(x=[1, 2], sex=["f", "m"], w=[1.0, np.inf]),
        {"weight": "w"},
        "infinite number in row 2",
    ),
    "same features": (
        {"a=b": [1, 2, 3], "a": ["b", "c", "b"], "sex": ["f", "m", "f"]},
        {},
        "two columns would both make the feature 'a=b'",
    ),
}


@pytest.mark.parametrize("case", BAD_COLUMNS)
def test_columns_that_cannot_be_used_are_refused(case):
    table, roles, words = BAD_COLUMNS[case]
    with pytest.raises(TableError, match=words) as refused:
        quietly(table, Roles("sex", **roles))
    assert_one_sentence(refused)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Roles(()), "sensitive names no column"),
        (lambda: Roles("a", label="a"), "'a' is named twice"),
        (lambda: Roles([1]), "must be names of columns"),
        (lambda: Roles("a", label=["b"]), "label must be the name of a column"),
        (lambda: Roles("a", keep_sensitive="yes"), "keep_sensitive must be True or False"),
        (lambda: TableOptions(most_categories=1), "most_categories=1"),
        (
            lambda: prepare(people(), SEX, TableOptions(categories="height", most_categories=9)),
            "'height' is free text.*most_categories",
        ),
        (lambda: prepare({"x": [1, 2, None], "sex": ["f", None, "m"]}, SEX, DROP), "has 1 usable rows"),
        (lambda: prepare({"x": [1, 2], "sex": ["f", "m"]}, SEX, held_out=0.999), "leaves no row to fit"),
        (lambda: prepare(people(), SEX, held_out=1), "held_out=1 must be a share"),
        (lambda: prepare(people(), SEX, dtype="int8"), "dtype='int8' must be"),
        (lambda: prepare({"x": [1, 1e300], "sex": ["f", "m"]}, SEX, dtype="float32"), "too large for float32"),
        (lambda: prepare(people(), SEX, callback="print"), "callback must be a function"),
        (lambda: prepare(np.zeros((3, 3)), SEX), "table must be a path"),
        (
            lambda: prepare({"x": [1, 2, *[None] * 2], "y": [None, None, 1, 2], "sex": [1, 2] * 2}, SEX, DROP),
            "every row lacks",
        ),
        (lambda: TableEncoder((TableColumn("a", "number"), TableColumn("a", "number"))), "both make the feature 'a'"),
    ],
)
def test_what_a_user_says_is_checked(make, words):
    with pytest.raises((ValueError, TypeError), match=words) as refused:
        make()
    assert_one_sentence(refused)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=60)
    | st.text(st.sampled_from('a1,;\t|"\n\r ?é.-'), max_size=60).map(str.encode)
    | st.tuples(st.integers(0, 2000), st.binary(max_size=3))
)
def test_whatever_the_bytes_there_is_a_table_or_one_sentence(tmp_path, content):
    path = written(tmp_path, spliced(*content) if isinstance(content, tuple) else content)
    words, found = "", None
    try:
        found = quietly(path, SEX)
    except TableError as error:
        words = str(error)
    assert "\n" not in words
    assert "Arrow" not in words
    assert found is None or np.isfinite(found.X_train).all()


def spliced(place, more):
    """Return a good file of some kind with a few bytes changed."""
    frame = people(6)
    stream = io.BytesIO()
    if place % 3 == 0:
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), stream)
    elif place % 3 == 1:
        stream.write(gzip.compress(frame.to_csv(index=False).encode(), mtime=0))
    else:
        stream.write(frame.to_csv(index=False).encode())
    content = stream.getvalue()
    place %= len(content)
    return content[:place] + more + content[place + len(more) :]
