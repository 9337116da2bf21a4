"""Small tables of people as files, and the command line in this process."""
# SPDX-License-Identifier: MIT

import json

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from fairpca.cli._app import app

N = 200


def people(n=N, seed=0):
    """Return people of numbers, texts and truths, of whom men earn more and work longer."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["Female", "Male"], size=n, p=[0.45, 0.55])
    man, skill, thrift = sex == "Male", rng.normal(size=n), rng.normal(size=n)
    age = rng.integers(18, 80, size=n)
    return pd.DataFrame(
        {
            "age": age,
            "income": np.round(30 + 5 * skill + 6 * man + rng.gamma(2.0, 1.0, size=n), 2),
            "hours": np.round(38 + 4 * skill + 3 * man + rng.normal(size=n), 1),
            "debt": np.round(10 - 3 * thrift + 0.05 * age + rng.normal(size=n), 1),
            "work": rng.choice(["public", "private", "none"], size=n),
            "owner": np.where(thrift + rng.normal(size=n) > 0, "true", "false"),
            "sex": sex,
            "race": rng.choice(["A", "B", "C"], size=n, p=[0.5, 0.3, 0.2]),
            "hired": np.where(skill + rng.normal(size=n) > 0, "yes", "no"),
            "town": rng.choice(["north", "south"], size=n),
            "weight": rng.integers(1, 4, size=n),
        }
    )


PLAIN = ["--drop", "race,hired,town,weight"]
"""What leaves the columns that a fit on sex alone takes as features."""


def written(path, table=None, **settings):
    """Write a table as CSV and return its path."""
    (people() if table is None else table).to_csv(path, index=False, **settings)
    return path


def run(*arguments, **settings):
    """Run a command in this process, on a terminal of 80 columns."""
    runner = CliRunner(env={"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"})
    return runner.invoke(app, [str(argument) for argument in arguments], **settings)


def answer(*arguments, code=0):
    """Return the JSON document that a command prints, which must be all that it prints."""
    outcome = run(*arguments, "--json")
    assert outcome.exit_code == code, outcome.output
    return json.loads(outcome.stdout, parse_constant=lambda name: 1 / 0)


def said(outcome):
    """Return what a command has said beside its results, but for the stages of its work."""
    return [line for line in outcome.stderr.splitlines() if not line.startswith("- ")]


def refused(*arguments):
    """Return the one sentence in which a command must end, without the word error; a command to paste may follow."""
    outcome = run(*arguments)
    assert outcome.exit_code == 2, (outcome.exit_code, outcome.output)
    line, *command = said(outcome)
    assert all(each.startswith("try: fairpca ") for each in command[:1]), command
    assert not command[1:], command
    assert line.startswith("error: "), line
    return line.removeprefix("error: ")
