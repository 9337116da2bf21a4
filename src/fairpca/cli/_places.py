"""Where results may be written, before any work is done for them."""
# SPDX-License-Identifier: MIT

import tempfile
from collections.abc import Iterable
from pathlib import Path


def check_folder(folder: Path, names: Iterable[str], inputs: Iterable[Path]) -> None:
    """Make a folder, or refuse one that cannot be written to.

    Parameters
    ----------
    folder : Path
        Where results go.
    names : iterable of str
        What they are called.
    inputs : iterable of Path
        Files that are read, none of which may be written over.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file; name a folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _no_place("--out", folder, error) from None
    for name in names:
        _check_no_folder("--out", folder / name)
        _check_no_input("--out", folder / name, inputs)


def check_file(option: str, file: Path | None, inputs: Iterable[Path]) -> None:
    """Refuse a file that cannot be written.

    Parameters
    ----------
    option : str
        Who names it.
    file : Path or None
        The file, if one was asked for.
    inputs : iterable of Path
        Files that are read, none of which may be written over.
    """
    if file is None:
        return
    _check_no_folder(option, file)
    if not file.parent.is_dir():
        raise ValueError(f"{option} {file}: there is no folder {file.parent}; make it first.")
    _check_no_input(option, file, inputs)
    try:
        with tempfile.TemporaryFile(dir=file.parent):
            pass
    except OSError as error:
        raise _no_place(option, file, error) from None


def _check_no_folder(option: str, file: Path) -> None:
    if file.is_dir():
        raise ValueError(f"{option}: {file} is a folder; name a file.")


def _check_no_input(option: str, file: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if file.exists() and path.exists() and file.samefile(path):
            raise ValueError(f"{option}: {file} would be written over, and it is read; name another place.")


def _no_place(option: str, path: Path, error: OSError) -> ValueError:
    return ValueError(f"{option} {path} cannot be written: {(error.strerror or str(error)).lower()}.")
