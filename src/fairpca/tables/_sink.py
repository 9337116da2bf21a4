"""Tables as files, written batch by batch."""
# SPDX-License-Identifier: MIT

import os
from pathlib import Path
from typing import Any

from fairpca.exceptions import TableError
from fairpca.tables._arrow import arrow, arrow_module

ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


class TableSink:
    """A file that takes batches; what its columns are is known from the first.

    Parameters
    ----------
    temporary : Path
        Where it is written.
    path : Path
        What it will be called in the end; the ending says which kind of file it is.
    """

    def __init__(self, temporary: Path, path: Path) -> None:
        self._path, self._label, self._ending = temporary, str(path), path.suffix.lower()
        self._writer: Any = None

    def write(self, batch: Any) -> None:
        """Write some rows.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            The rows, with the columns of all others.
        """
        try:
            if self._writer is None:
                self._writer = self._open(batch.schema)
            self._writer.write_batch(batch)
        except OSError as error:
            raise self._refused(error) from None
        except arrow().lib.ArrowException:
            raise TableError(
                f"{self._label} cannot be written: a column has values that this kind of file lacks."
            ) from None

    def close(self) -> None:
        """End the file."""
        if self._writer is not None:
            try:
                self._writer.close()
            except OSError as error:
                raise self._refused(error) from None

    def _refused(self, error: OSError) -> OSError:
        """Return an error that names the file, not the place where it is put together."""
        if error.errno is None:
            return error
        return OSError(error.errno, os.strerror(error.errno), self._label)

    def _open(self, schema: Any) -> Any:
        if self._ending in (".csv", ".tsv"):
            csv = arrow_module("csv")
            delimiter = "\t" if self._ending == ".tsv" else ","
            options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            return csv.CSVWriter(str(self._path), schema, write_options=options)
        if self._ending == ".parquet":
            return arrow_module("parquet").ParquetWriter(str(self._path), schema)
        return arrow_module("ipc").new_file(str(self._path), schema)


def check_output(path: str | os.PathLike[str]) -> Path:
    """Return the path of a table that is to be written, or refuse it.

    Parameters
    ----------
    path : path
        The file: .csv, .tsv, .parquet, .arrow or .feather, in a folder that exists.

    Examples
    --------
    >>> from fairpca.tables import check_output
    >>> check_output("people.csv").suffix
    '.csv'
    """
    checked = Path(path)
    if checked.suffix.lower() not in ENDINGS:
        raise ValueError(f"{checked} must end in one of {', '.join(ENDINGS)}.")
    if not checked.parent.is_dir():
        raise TableError(f"the folder {checked.parent} does not exist; make it first.")
    if checked.is_dir():
        raise TableError(f"{checked} is a folder; name a file.")
    return checked
