"""Model files: zip archives of one JSON document with a checksum and plain arrays, from which nothing is ever run."""
# SPDX-License-Identifier: MIT

import hashlib
import json
import math
import os
import re
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from fairpca._utils.files import writing
from fairpca._utils.schema import TEXT, TEXTS, check_fields, parse
from fairpca._utils.typing import AnyArray
from fairpca.exceptions import ModelFileError

PLAIN = re.compile(r"\|[bi]1|<i[248]|<f[48]|<U[1-9]\d{0,5}")
"""Truths, whole numbers, numbers, and texts of a fixed width, lowest byte first."""

ARRAY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([^']{1,9})', 'fortran_order': (?:True|False), "
    rb"'shape': \(((?:\d{1,18}, )*(?:\d{1,18},?)?)\), \} *\n",
    re.DOTALL,
)
"""As numpy writes it, and nothing that would have to be evaluated."""

FORMAT = "fairpca model"

VERSION = 1
"""Grows with every change of what a file holds; all versions up to it are read."""

MOST_TEXT = 16 * 2**20

MOST_VALUES = 2**19
"""Values in a document, about: each takes a hundred bytes of memory."""

HEADER = {"fairpca": TEXT, "sha256": TEXT, "arrays": TEXTS, "kind": TEXT}

UNSIGNED = "0" * 64
"""Where the digest of a document stands in it, while it is computed."""

DOCUMENT = "model.json"

ARRAY = re.compile(r"arrays/(\w+(?:\.\w+)*)\.npy", re.ASCII)

MOST_BYTES = 2**30
"""Members are not compressed: whoever is to fill memory has to send as much."""

MOST_DIRECTORY = 2**20
"""Bytes of the list of members, which the zip library reads at once."""

END_SIGNATURE, LARGE_SIGNATURE = b"PK\5\6", b"PK\6\7"

LARGE_LOCATOR = 20
"""Bytes of a locator of lists beyond 4 GB, which the zip library would follow."""


def npy_of(name: str, array: AnyArray) -> bytes:
    """Return the content of a .npy file, the same on every machine.

    Parameters
    ----------
    name : str
        What the array is called, for messages.
    array : ndarray
        Truths, numbers or texts of a fixed width.
    """
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not PLAIN.fullmatch(array.dtype.str):
        raise ValueError(
            f"{name} is an array of {array.dtype}; a model file holds arrays of bool, int, float32, float64 and texts "
            "of a fixed width."
        )
    stream = BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def array_of(name: str, content: bytes) -> AnyArray:
    """Return the array of a .npy file, if it is plain and its size is what it says.

    Parameters
    ----------
    name : str
        What the array is called, for messages.
    content : bytes
        Of the file.
    """
    header = ARRAY_HEADER.match(content[:1024])
    if header is None or not PLAIN.fullmatch(header[2].decode("latin1")):
        raise ValueError(f"the array {name!r} is no plain array of numbers or texts.")
    dtype = np.dtype(header[2].decode("latin1"))
    shape = [int(length) for length in re.findall(rb"\d+", header[3])]
    # The length of the header counts from where it is said.
    if header.end(1) + int.from_bytes(header[1], "little") != header.end():
        raise ValueError(f"the array {name!r} does not begin where it says.")
    if header.end() + math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"the array {name!r} has {len(content)} bytes, which is not what its shape {shape} takes.")
    array: AnyArray = np.lib.format.read_array(BytesIO(content), allow_pickle=False)
    if dtype.kind == "U" and np.any(array.reshape(-1).view("<u4") > sys.maxunicode):
        raise ValueError(f"the array {name!r} holds what is no text.")
    return array.astype(dtype.newbyteorder("="), copy=False)


def text_of(document: dict[str, Any], digests: dict[str, str]) -> bytes:
    """Return the text of a document.

    Parameters
    ----------
    document : dict
        `kind` and what belongs to it, in plain types.
    digests : dict of str to str
        SHA-256 of each array.
    """
    header = {"format": FORMAT, "format_version": VERSION, "fairpca": version("fairpca"), "sha256": UNSIGNED}
    if known := header.keys() & document.keys() | {"arrays"} & document.keys():
        raise ValueError(f"a document has no fields {sorted(known)} of its own; they belong to every model file.")
    text = json.dumps(header | {"arrays": digests} | document, allow_nan=False).encode("ascii")
    _check_size(text)
    return text.replace(UNSIGNED.encode(), digest_of(text).encode(), 1)


def document_of(text: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a document and the SHA-256 of each of its arrays, if the text is as it was written.

    Parameters
    ----------
    text : bytes
        JSON.
    """
    _check_size(text)
    found = parse(text)
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise ValueError(f"the document does not say that its format is {FORMAT!r}.")
    _check_version(found.pop("format_version", None), found.get("fairpca"))
    check_fields("the document", {name: found[name] for name in HEADER if name in found}, HEADER)
    del found["fairpca"]
    claimed, digests = found.pop("sha256"), found.pop("arrays")
    if digest_of(text.replace(claimed.encode("utf-8", "replace"), UNSIGNED.encode(), 1)) != claimed:
        raise ValueError("the document is not as it was written: the checksum differs.")
    return found, digests


def digest_of(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _check_version(found: Any, written_by: Any) -> None:
    if type(found) is not int or found < 1:
        raise ValueError(f"the document has the format version {found!r}, which must be a whole number of at least 1.")
    if found > VERSION:
        raise ValueError(
            f"it was written by a newer version, fairpca {written_by}: format {found}, this fairpca reads {VERSION}; "
            "upgrade fairpca."
        )


def _check_size(text: bytes) -> None:
    if len(text) > MOST_TEXT:
        raise ValueError(f"the document has {len(text):,} bytes; {MOST_TEXT:,} are allowed.")
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise ValueError(f"the document has about {values:,} values; {MOST_VALUES:,} are allowed.")


END = struct.Struct("<4s4H2LH")
"""The end of an archive: signature, disks, counts, length and place of the list of members, length of a comment."""


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
def naming(path: str | os.PathLike[str], most_letters: int = 400) -> Iterator[None]:
    """Let every fault of a file end in one sentence that names it.

    Parameters
    ----------
    path : path
        Of the file.
    most_letters : int, default=400
        Of the reason, which may repeat what the file says.
    """
    try:
        yield
    except ModelFileError:
        raise
    # Besides ValueError: what the zip library and too deep a nesting can raise.
    except (ValueError, BadZipFile, EOFError, RuntimeError, OverflowError, struct.error) as error:
        reason = " ".join(str(error).split())[:most_letters]
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {reason}") from None


def _plain(path: Path) -> Path:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError("it is not a plain file, which has an end.")
    return path


def _information(member: str) -> ZipInfo:
    # Its time is that of the class, 1980, so that one model is always the same bytes.
    information = ZipInfo(member)
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
