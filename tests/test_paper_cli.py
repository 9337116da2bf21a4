import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from fairpca.cli._app import app


@pytest.fixture
def paper():
    runner = CliRunner(env={"COLUMNS": "120"})
    return lambda *arguments: runner.invoke(app, ["paper", *(str(argument) for argument in arguments)])


def test_an_experiment_ends_with_the_place_of_its_page(paper, tmp_path):
    outcome = paper("contrast", "--output", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.output
    assert str(tmp_path / "out" / "contrast.html") in outcome.output
    assert (tmp_path / "out" / "contrast.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table3"], "experiment='table3' is unknown; choose one of all, biplots, communality, contrast"),
        (["contrast", "--splits", "0"], "splits=0 must be at least 1."),
        (["contrast", "--jobs", "0"], "jobs=0 must be at least 1."),
    ],
)
def test_bad_values_are_one_sentence_and_exit_code_2(arguments, message, paper, tmp_path):
    outcome = paper(*arguments, "--output", tmp_path / "out")
    assert outcome.exit_code == 2
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written(paper, tmp_path):
    (tmp_path / "file").write_text("")
    outcome = paper("contrast", "--output", tmp_path / "file" / "out")
    assert outcome.exit_code == 2
    assert "is a file, not a folder" in outcome.stderr


def test_an_index_that_cannot_be_reached(paper, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    outcome = paper("table1", "--data-home", tmp_path / "home", "--output", tmp_path / "out")
    assert outcome.exit_code == 2
    assert "The data set 'compas' is neither cached nor could it be fetched" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal that can be sent to one process there")
def test_ctrl_c_says_how_to_go_on(tmp_path):
    command = [
        sys.executable,
        "-c",
        "from fairpca.cli import main; main()",
        "paper",
        "leakage",
        "--splits",
        "50",
        "--output",
        tmp_path / "out",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.rglob("*.json")) and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted: what is finished is stored, and the same command goes on from there." in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "out" / "leakage_runs.csv").exists()
    assert list((tmp_path / "out" / ".tasks").rglob("*.json"))
