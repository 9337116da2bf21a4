"""Writing files so that nobody ever sees half of one."""
# SPDX-License-Identifier: MIT

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
"""What a disk says that takes no more; of which file it does not say."""


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; on success it takes the place of `path`, on failure it is removed.

    Parameters
    ----------
    path : Path
        The file to write.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        # Users know their file, not the place where it is put together.
        if error.filename == os.fspath(temporary) or (error.filename is None and error.errno in NO_ROOM):
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        temporary.unlink(missing_ok=True)
