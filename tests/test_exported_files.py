"""Files as people export them are read as they are meant, or refused with a command that works."""
# SPDX-License-Identifier: MIT

import json
import shlex
import warnings

import numpy as np
import openpyxl
import pytest

import cli_tables
from exported_files import EXPORTS, KINDS, N, exported, made_by_hand, other
from fairpca.exceptions import TableError, TableWarning
from fairpca.tables import Roles, TableEncoder, TableFile, TableOptions, describe, prepare


def kinds_and_numbers(path):
    """Return what columns are taken for, and the features of all rows."""
    table = TableFile(path)
    kinds = {row["column"]: row["kind"] for row in describe(table, Roles("sex"))}
    if not set(kinds.values()) <= {"number", "category", "boolean"}:
        return kinds, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return kinds, prepare(table, Roles("sex"), TableOptions("fill"), held_out=0)


@pytest.mark.parametrize(
    ("country", "way"), [*EXPORTS[::3], *(pytest.param(*each, marks=pytest.mark.thorough) for each in EXPORTS[1::3])]
)
def test_exports_of_several_countries(tmp_path, country, way):
    content, expected = exported(country, way, seed=3)
    (tmp_path / "table.csv").write_bytes(content)
    kinds, found = kinds_and_numbers(tmp_path / "table.csv")
    assert list(kinds.values()) == list(KINDS.values())
    gaps = np.arange(len(expected["age"])) % 17 == 3
    for name, values in expected.items():
        if name not in ("town", "sex"):
            column = found.X_train[:, found.encoder.slices[name].start]
            keep = ~gaps if way == "gaps" else slice(None)
            np.testing.assert_allclose(column[keep], values[keep], err_msg=name)


def test_files_made_by_hand(tmp_path):
    for name, made in made_by_hand(tmp_path).items():
        (tmp_path / "table").write_bytes(made.content)
        kinds, found = kinds_and_numbers(tmp_path / "table")
        assert kinds == made.kinds, name
        for column, value in made.first.items():
            assert found.X_train[0, found.encoder.slices[column].start] == pytest.approx(value), (name, column)


def fit(path, folder, *options):
    return cli_tables.run("fit", path, "--sensitive", "sex", "--no-path", "--out", folder, *options)


def check_refusal(outcome, words):
    """Check that a refusal says what is wrong, and that the command below it works."""
    assert outcome.exit_code == 2, outcome.output
    sentence, command = cli_tables.said(outcome)
    assert words in sentence
    assert command.startswith("try: fairpca fit ")
    again = cli_tables.run(*shlex.split(command)[2:])
    assert again.exit_code in (0, 1), again.output


def test_what_is_refused_comes_with_a_command_that_works(tmp_path):
    made = made_by_hand(tmp_path)
    for name in ("a register", "whole thousands alone"):
        (tmp_path / "my table").write_bytes(made[name].content)
        check_refusal(fit(tmp_path / "my table", tmp_path / "out"), made[name].refusal)


def test_dates_and_times_become_numbers_where_they_are_named(tmp_path):
    days = [f"{1 + k % 12}/{1 + 5 * k % 12}/2024" if k else "" for k in range(N)]
    rows = [f"{day},{8 + k % 9}:30,{'fm'[k % 2]}" for k, day in enumerate(days)]
    (tmp_path / "shifts.csv").write_text("\n".join(["day,start,sex", *rows]))
    with pytest.raises(TableError, match="'day' is a date of which the day or the month may come first") as refused:
        prepare(tmp_path / "shifts.csv", Roles("sex"), TableOptions("fill", dates=["day", "start"]))
    assert refused.value.options == {"dates": ("day=DMY",)}
    named = TableOptions("fill", dates=["day=MDY", "start"])
    found = prepare(tmp_path / "shifts.csv", Roles("sex"), named, held_out=0)
    assert [column.kind for column in found.encoder.columns] == ["date", "time"]
    again = TableEncoder.from_dict(json.loads(json.dumps(found.encoder.to_dict())))
    assert again == found.encoder
    X = again.encode({"day": ["1/31/2024", "unknown"], "start": ["12:45", "08:00 pm"]})
    assert X.tolist() == [[19753, 12.75], [again.columns[0].fill, 20]]


def test_a_sheet_is_chosen_by_its_name(tmp_path):
    book = openpyxl.Workbook()
    for title, factor in (("first", 1), ("second", 3)):
        sheet = book.create_sheet(title)
        for row in [["pay", "sex"], *([factor * other(k), "fm"[k % 2]] for k in range(N))]:
            sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    assert "2 sheets; the first, 'first', was read" in TableFile(tmp_path / "book.xlsx").notes[0]
    second = prepare(TableFile(tmp_path / "book.xlsx", sheet="second"), Roles("sex"), held_out=0)
    assert second.X_train[0, 0] == 3 * other(0)
    with pytest.raises(TableError, match=r"sheet='third' is no sheet of .*; it has 'Sheet', 'first', 'second'"):
        TableFile(tmp_path / "book.xlsx", sheet="third")
