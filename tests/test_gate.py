"""Builds fail where figures of an audit are above their limits."""
# SPDX-License-Identifier: MIT

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from cli_tables import PLAIN, people, run, said, written
from fairpca import audit
from fairpca.exceptions import LimitExceededError

SCRIPT = Path(__file__).parents[1] / "docs/howto/gate/gate.sh"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    outcome = run("fit", written(folder / "people.csv"), "-s", "sex", *PLAIN, "--no-path", "--out", folder / "out")
    assert outcome.exit_code == 0, outcome.output
    written(folder / "new.csv", people(400, seed=3))
    return folder


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    Z, group = rng.normal(size=(400, 2)), np.arange(400) % 2
    return audit(None, Z + group[:, None], group, sensitive_features=group, adversaries="linear", random_state=0)


def test_figures_within_their_limits_pass_and_others_are_named_one_by_one(found):
    found.require()
    found.require(auc=0.99, mmd2=1.0, demographic_parity=1.0)
    with pytest.raises(LimitExceededError) as error:
        found.require(auc=0.6, mmd2=0.01, upper_bound=2.0, promise=0.4)
    lines = str(error.value).splitlines()
    assert [line.split()[0] for line in lines] == ["promise", "mmd2", "auc"]
    assert lines[0] == "promise of any decision is not known, and must be at most 0.4"
    assert re.fullmatch(r"auc of the attribute by linear is 0\.\d+, above 0\.6", lines[2])


def test_limits_that_mean_nothing_are_refused(found):
    with pytest.raises(ValueError, match=r"no figure 'acu'; it has promise, mmd2, .*; did you mean auc\?"):
        found.require(acu=0.6)
    with pytest.raises(ValueError, match="no figure 'r2'; it has"):
        found.require(r2=0.6)
    with pytest.raises(TypeError, match="auc must be a number"):
        found.require(auc="0.6")


def test_a_failed_gate_is_code_1_a_line_for_each_and_a_file_of_tests(place):
    args = ["verify", place / "out/certificate.json", place / "out/model.fairpca", place / "people.csv", "--held-out"]
    gate = ["--fail-above", "mmd2=1e-9,upper_bound=2", "--junit", place / "j.xml"]
    outcome = run(*args, *gate)
    assert outcome.exit_code == 1
    (line,) = said(outcome)
    assert re.fullmatch(r"fail: mmd2 of Female against Male is \S+, above 1e-09", line)
    suite = ElementTree.parse(place / "j.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert [case.find("failure") is not None for case in suite] == [True, False]
    assert "::error title=fairpca::mmd2 of Female" in run(*args, *gate, "--github").stderr
    assert run(*args, "--fail-above", "mmd2=1").exit_code == 0


def test_a_promise_and_a_fit_are_held_too(place, tmp_path):
    table, fit = written(tmp_path / "p.csv", people(3000)), ["-s", "sex", *PLAIN, "--no-path", "--promise", "0.2"]
    assert run("fit", table, *fit, "--out", tmp_path / "o", "--fail-above", "promise=0.2").exit_code == 0
    args = ["verify", tmp_path / "o/promise.json", tmp_path / "o/release.fairpca", table, "--held-out"]
    assert run(*args, "--fail-above", "promise=0.2").exit_code == 0
    assert "fail: promise of any decision is 0.2, above 0.1" in run(*args, "--fail-above", "promise=0.1").stderr


@pytest.mark.thorough
@pytest.mark.parametrize("auc", [0.5, 0.99])
def test_the_script_of_the_docs_stops_before_it_deploys(place, auc, tmp_path):
    script = tmp_path / "gate.sh"
    script.write_text(SCRIPT.read_text().replace("upper_bound=0.05,auc=0.6", f"auc={auc}"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = ["sh", script, place / "new.csv", place / "out/model.fairpca"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"PATH": path})
    assert (done.returncode, "deploying" in done.stdout) == ((0, True) if auc > 0.9 else (1, False)), done.stderr
    assert ("fail: auc of sex" in done.stderr) == (auc < 0.9)
    assert (tmp_path / "fairness.xml").exists()
