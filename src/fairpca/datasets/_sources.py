"""Where the raw files of a data set come from: the user's own copy, or the cache."""
# SPDX-License-Identifier: MIT

import os
from collections.abc import Sequence
from pathlib import Path

from fairpca.datasets._archives import Archive
from fairpca.datasets._cache import cached_files
from fairpca.datasets._errors import DatasetUnavailableError

PathLike = str | os.PathLike[str]


def raw_files(
    archive: Archive, folder: str, publisher: str, data_home: PathLike | None, path: PathLike | None
) -> list[Path]:
    """Return the raw files of a data set that is not bundled.

    Parameters
    ----------
    archive : Archive
        What carries the files.
    folder : str
        Name of the data set, and of its folder in the cache.
    publisher : str
        Where a user can get the files by hand.
    data_home : path-like or None
        Where the cache is.
    path : path-like or None
        The user's own copy: the folder that holds the files, or the file if there is one only.

    Returns
    -------
    paths : list of Path
        The files, in the order of `archive.files`.

    Raises
    ------
    DatasetUnavailableError
        If there is no own copy and the files cannot be fetched.
    """
    names = [file.name for file in archive.files if file.folder == folder]
    if path is not None:
        return own_files(path, names)
    try:
        return cached_files(archive, folder, data_home)
    except DatasetUnavailableError as error:
        raise DatasetUnavailableError(
            f"The data set {folder!r} is neither cached nor could it be fetched, because {error}; get "
            f"{' and '.join(names)} from {publisher} and pass path=, the folder that holds "
            f"{'it' if len(names) == 1 else 'them'}."
        ) from error


def own_files(path: PathLike, names: Sequence[str]) -> list[Path]:
    """Return the user's own copies of files.

    Parameters
    ----------
    path : path-like
        The folder that holds the files, or the file if there is one only.
    names : sequence of str
        Names of the files.

    Returns
    -------
    paths : list of Path
        The files, which exist.
    """
    place = Path(path).expanduser()
    wanted = " and ".join(names)
    if place.is_file():
        if len(names) > 1:
            raise ValueError(f"path={str(path)!r} is one file; it must be the folder that holds {wanted}.")
        return [place]
    missing = [name for name in names if not (place / name).is_file()]
    if missing:
        what = f"has no {' and no '.join(missing)}" if place.is_dir() else "does not exist"
        raise FileNotFoundError(f"path={str(path)!r} {what}; it must be a folder that holds {wanted}.")
    return [place / name for name in names]
