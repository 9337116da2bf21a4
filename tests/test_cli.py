import subprocess
import sys

import pytest
from typer.testing import CliRunner

from fairpca import __version__
from fairpca.cli._app import app

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def run():
    runner = CliRunner(env={"COLUMNS": "120"})
    return lambda *arguments: runner.invoke(app, [str(argument) for argument in arguments])


def test_demo_prints_a_table_and_saves_a_picture(run, tmp_path):
    outcome = run("demo", "--output", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.output
    assert "FairPCA" in outcome.output
    assert "parity gap" in outcome.output
    assert (tmp_path / "out" / "projections.png").read_bytes()[:8] == PNG
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["projections.png", "report.html"]


def test_demo_into_a_place_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").write_text("")
    outcome = run("demo", "--output", tmp_path / "file" / "out")
    assert outcome.exit_code == 2
    assert "error:" in outcome.stderr


def test_demo_with_a_negative_tolerance(run, tmp_path):
    outcome = run("demo", "--output", tmp_path, "--tolerance", "-1")
    assert outcome.exit_code == 2
    assert "--tolerance -1.0 must be" in outcome.stderr


def test_version(run):
    assert run("--version").output.strip() == __version__


def test_without_the_extra_the_install_line_is_given(tmp_path):
    code = "import sys; sys.modules['typer'] = None; from fairpca.cli import main; main()"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert outcome.returncode == 2
    assert "pip install 'fairpca[cli]'" in outcome.stderr
