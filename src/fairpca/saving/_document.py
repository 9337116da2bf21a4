"""The document of a model file: JSON that says what it is and carries a checksum of itself."""
# SPDX-License-Identifier: MIT

import hashlib
import json
from importlib.metadata import version
from typing import Any

from fairpca._utils import strict_json
from fairpca._utils.schema import TEXT, TEXTS, check_fields

FORMAT = "fairpca model"
VERSION = 1
"""Grows with every change of what a file holds; all versions up to it are read."""

MOST_BYTES = 16 * 2**20
MOST_VALUES = 2**19
"""Values in a document, about: each takes a hundred bytes of memory."""

HEADER = {"fairpca": TEXT, "sha256": TEXT, "arrays": TEXTS, "kind": TEXT}
UNSIGNED = "0" * 64


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
    found = strict_json.parse(text)
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
    if len(text) > MOST_BYTES:
        raise ValueError(f"the document has {len(text):,} bytes; {MOST_BYTES:,} are allowed.")
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise ValueError(f"the document has about {values:,} values; {MOST_VALUES:,} are allowed.")
