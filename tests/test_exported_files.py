"""Files as people export them are read as they are meant, or refused with a command that works."""
# SPDX-License-Identifier: MIT

import shlex
import warnings

import numpy as np
import pytest

import cli_tables
from exported_files import EXPORTS, KINDS, exported, made_by_hand
from fairpca.exceptions import TableWarning
from fairpca.tables import Roles, TableFile, TableOptions, describe, prepare


def kinds_and_numbers(path):
    """Return what columns are taken for, and the features of all rows."""
    table = TableFile(path)
    kinds = {row["column"]: row["kind"] for row in describe(table, Roles("sex"))}
    if not set(kinds.values()) <= {"number", "category", "boolean"}:
        return kinds, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return kinds, prepare(table, Roles("sex"), TableOptions("fill"), held_out=0)


@pytest.mark.parametrize(("country", "way"), EXPORTS)
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


@pytest.mark.thorough
def test_sixty_files_through_the_command(tmp_path):
    files = {f"{country}, {way}": (exported(country, way, 4)[0], "") for country, way in EXPORTS}
    files |= {name: (made.content, made.refusal) for name, made in made_by_hand(tmp_path).items()}
    n_read = 0
    for content, words in files.values():
        (tmp_path / "table").write_bytes(content)
        outcome = fit(tmp_path / "table", tmp_path / "out")
        if outcome.exit_code == 2:
            check_refusal(outcome, words or "values are missing in")
        n_read += outcome.exit_code != 2
    assert len(files) == 60
    assert n_read >= 55, n_read
