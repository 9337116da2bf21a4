"""Model files: zip archives of one JSON document and plain arrays, from which nothing is ever run."""
# SPDX-License-Identifier: MIT

import os
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from fairpca._utils.files import writing
from fairpca._utils.typing import AnyArray
from fairpca.exceptions import ModelFileError
from fairpca.saving._arrays import array_of, npy_of
from fairpca.saving._document import digest_of, document_of, text_of

DOCUMENT = "model.json"
ARRAY = re.compile(r"arrays/(\w+(?:\.\w+)*)\.npy", re.ASCII)

MOST_BYTES = 2**30
"""Members are not compressed: whoever is to fill memory has to send as much."""

MOST_DIRECTORY = 2**20
"""Bytes of the list of members, which the zip library reads at once."""

END = struct.Struct("<4s4H2LH")
"""The end of an archive: signature, disks, counts, length and place of the list of members, length of a comment."""

END_SIGNATURE, LARGE_SIGNATURE = b"PK\5\6", b"PK\6\7"
LARGE_LOCATOR = 20
"""Bytes of a locator of lists beyond 4 GB, which the zip library would follow."""

MOST_WORDS = 400
"""Letters of a reason, which may repeat what the file says."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""All members have one time, so that one model is always the same bytes."""

Archive = tuple[dict[str, Any], dict[str, AnyArray]]
"""A document and its arrays."""


def write_archive(path: str | os.PathLike[str], document: dict[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a model file in one step; the same content gives the same bytes.

    Parameters
    ----------
    path : path
        Where to.
    document : dict
        `kind`, which says who can read it, and what belongs to it: JSON types, finite numbers.
    arrays : mapping of str to ndarray
        Arrays of truths, numbers or texts, by names of letters, digits and underscores, with dots between them.
    """
    members = {f"arrays/{name}.npy": npy_of(name, array) for name, array in arrays.items()}
    for member in members:
        if not ARRAY.fullmatch(member):
            raise ValueError(f"{member!r} is no name of a member; array names are words with dots between them.")
    text = text_of(document, {name: digest_of(members[f"arrays/{name}.npy"]) for name in arrays})
    if sum(map(len, members.values())) + len(text) + MOST_DIRECTORY > MOST_BYTES:
        raise ValueError(f"the arrays have more than the {MOST_BYTES >> 20} MiB that a model file may have.")
    with writing(Path(path)) as temporary, ZipFile(temporary, "w", ZIP_STORED, allowZip64=False) as archive:
        for member, content in ({DOCUMENT: text} | members).items():
            archive.writestr(_information(member), content)


def read_archive(path: str | os.PathLike[str]) -> Archive:
    """Return the document and the arrays of a model file, if it is as it was written.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    document : dict
        `kind` and what belongs to it.
    arrays : dict of str to ndarray
        The arrays by their names.
    """
    with naming(path), _plain(Path(path)).open("rb") as file:
        size = _check_end(file)
        with ZipFile(file) as archive:
            return _read(archive, size)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let every fault of a file end in one sentence that names it.

    Parameters
    ----------
    path : path
        Of the file.
    """
    try:
        yield
    except ModelFileError:
        raise
    # Besides ValueError: what the zip library and too deep a nesting can raise.
    except (ValueError, BadZipFile, EOFError, RuntimeError, OverflowError, struct.error) as error:
        reason = " ".join(str(error).split())[:MOST_WORDS]
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {reason}") from None


def _plain(path: Path) -> Path:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError("it is not a plain file, which has an end.")
    return path


def _information(member: str) -> ZipInfo:
    information = ZipInfo(member, EPOCH)
    information.create_system, information.external_attr = 3, 0o644 << 16
    return information


def _check_end(file: IO[bytes]) -> int:
    """Return the size of a file that ends as `write_archive` ends it; no other ending is given to the zip library."""
    size = file.seek(0, os.SEEK_END)
    if size > MOST_BYTES:
        raise ValueError(f"it has {size:,} bytes; {MOST_BYTES:,} are allowed.")
    file.seek(max(0, size - END.size - LARGE_LOCATOR))
    tail = file.read(END.size + LARGE_LOCATOR)
    if len(tail) < END.size + LARGE_LOCATOR or tail[-END.size :][:4] != END_SIGNATURE:
        raise ValueError("it is no model file, or not the whole of one.")
    *_, length, start, comment = END.unpack(tail[-END.size :])
    if comment or start + length + END.size != size or tail.startswith(LARGE_SIGNATURE):
        raise ValueError("it is no zip archive as model files are.")
    if length > MOST_DIRECTORY:
        raise ValueError("its list of members is too long.")
    return size


def _read(archive: ZipFile, size: int) -> Archive:
    members = _checked(archive.infolist(), size)
    if DOCUMENT not in members:
        raise ValueError(f"it has no {DOCUMENT}.")
    document, digests = document_of(_content(archive, members.pop(DOCUMENT)))
    if set(members) != {f"arrays/{name}.npy" for name in digests}:
        raise ValueError("its arrays are not those that its document lists.")
    arrays = {}
    for name, digest in digests.items():
        content = _content(archive, members[f"arrays/{name}.npy"])
        if digest_of(content) != digest:
            raise ValueError(f"the array {name!r} is not as it was written: the checksum differs.")
        arrays[name] = array_of(name, content)
    return document, arrays


def _checked(listed: list[ZipInfo], size: int) -> dict[str, ZipInfo]:
    """Return the members by their names, if all of them are what `write_archive` writes."""
    members = {each.filename: each for each in listed}
    if len(members) < len(listed):
        raise ValueError("it has a member twice.")
    for name, each in members.items():
        if name != DOCUMENT and not ARRAY.fullmatch(name):
            raise ValueError(f"it has a member {name[:80]!r}, which no model file has.")
        if each.compress_type != ZIP_STORED or each.flag_bits & 1 or each.compress_size != each.file_size:
            raise ValueError(f"{name!r} is compressed or encrypted, which members of model files are not.")
    if sum(each.file_size for each in listed) > size:
        raise ValueError("its members are larger than itself.")
    return members


def _content(archive: ZipFile, member: ZipInfo) -> bytes:
    with archive.open(member) as file:
        content = file.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise ValueError(f"{member.filename!r} does not have the size that it is said to have.")
    return content
