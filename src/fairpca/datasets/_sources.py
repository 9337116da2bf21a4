"""Where the raw files of a data set come from: the package, the user's own copy, or the cache."""
# SPDX-License-Identifier: MIT

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairpca.datasets._archives import Archive
from fairpca.datasets._cache import cached_files, get_data_home
from fairpca.datasets._errors import DatasetUnavailableError

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Bundled:
    """Raw files that come with the package.

    Attributes
    ----------
    folder : Path
        Where they are.
    names : tuple of str
        What they are called.
    package, n_bytes : None and 0
        Nothing is fetched.
    """

    folder: Path
    names: tuple[str, ...]
    package: None = None
    n_bytes: int = 0

    def is_cached(self, data_home: PathLike | None) -> bool:
        """Tell that nothing has to be fetched."""
        return True

    def files(self, data_home: PathLike | None, path: PathLike | None, argument: str = "path") -> list[Path]:
        """Return the files: those in `path`, the user's own copy, or by default those of the package."""
        return own_files(self.folder if path is None else path, self.names, argument)


@dataclass(frozen=True)
class Fetched:
    """Raw files that are fetched when they are first asked for.

    Attributes
    ----------
    archive : Archive
        What carries the files.
    folder : str
        Name of the data set, and of its folder in the cache.
    publisher : str
        Where a user can get the files by hand.
    """

    archive: Archive
    folder: str
    publisher: str

    @property
    def names(self) -> tuple[str, ...]:
        """What the files are called, in the order of the archive."""
        return tuple(file.name for file in self.archive.files if file.folder == self.folder)

    @property
    def package(self) -> str:
        """What is fetched."""
        return self.archive.requirement

    @property
    def n_bytes(self) -> int:
        """Size of what is fetched."""
        return self.archive.n_bytes

    def is_cached(self, data_home: PathLike | None) -> bool:
        """Tell whether the files are in the cache; whether they are intact is checked when they are read."""
        return all((get_data_home(data_home) / self.folder / name).is_file() for name in self.names)

    def files(self, data_home: PathLike | None, path: PathLike | None, argument: str = "path") -> list[Path]:
        """Return the files, fetched first if need be.

        Parameters
        ----------
        data_home : path-like or None
            Where the cache is.
        path : path-like or None
            The user's own copy: the folder that holds the files, or the file if there is one only.
        argument : str, default="path"
            What the user knows it by.

        Returns
        -------
        paths : list of Path
            The files, in the order of `names`.

        Raises
        ------
        DatasetUnavailableError
            If there is no own copy and the files cannot be fetched.
        """
        if path is not None:
            return own_files(path, self.names, argument)
        try:
            return cached_files(self.archive, self.folder, data_home)
        except DatasetUnavailableError as error:
            raise DatasetUnavailableError(
                f"The data set {self.folder!r} is neither cached nor could it be fetched, because {error}; get "
                f"{' and '.join(self.names)} from {self.publisher} and pass {argument}=, the folder that holds "
                f"{'it' if len(self.names) == 1 else 'them'}."
            ) from error


def own_files(path: PathLike, names: Sequence[str], argument: str = "path") -> list[Path]:
    """Return the user's own copies of files.

    Parameters
    ----------
    path : path-like
        The folder that holds the files, or the file if there is one only.
    names : sequence of str
        Names of the files.
    argument : str, default="path"
        What the user knows the path by.

    Returns
    -------
    paths : list of Path
        The files, which exist.
    """
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
