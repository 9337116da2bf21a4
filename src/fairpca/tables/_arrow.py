"""pyarrow, which reads and writes the files, and its faults in plain words."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fairpca._utils.extras import require
from fairpca.exceptions import TableError

EXTRA = "table"
"""What installs pyarrow. It reads files of any size in batches, and says in which row a text table breaks."""


def arrow() -> Any:
    """Return pyarrow."""
    return require("pyarrow", EXTRA)


def arrow_module(name: str) -> Any:
    """Return a part of pyarrow, such as "compute"."""
    return require(f"pyarrow.{name}", EXTRA)


@contextmanager
def in_plain_words(label: str, otherwise: str) -> Iterator[None]:
    """Turn the faults of libraries and of the disk into one sentence on a table.

    Parameters
    ----------
    label : str
        What the table is called.
    otherwise : str
        What is wrong with it where nothing better is known.
    """
    try:
        yield
    except TableError:
        raise
    except FileNotFoundError:
        raise TableError(f"{label} does not exist.") from None
    except IsADirectoryError:
        raise TableError(f"{label} is a folder; give the file of the table.") from None
    except PermissionError:
        raise TableError(f"{label} may not be read: permission denied.") from None
    except (arrow().lib.ArrowException, OSError, EOFError, ValueError):
        raise TableError(f"{label} {otherwise}.") from None
