"""Certificates as files: JSON of plain numbers and texts, nothing of which is ever run."""
# SPDX-License-Identifier: MIT

import json
import os
from pathlib import Path
from typing import Any

from fairpca._utils import strict_json
from fairpca._utils.files import writing

FORMAT, PROMISE = "fairpca certificate", "fairpca promise"
"""What was shown of a projection by a kernel, and of a release for every classifier."""

SCHEMA = 1
"""Grows with every change of the fields."""

MOST_BYTES = 10 * 2**20
"""A certificate has a few thousand."""


def write(path: str | os.PathLike[str], fields: dict[str, Any], kind: str = FORMAT) -> None:
    """Write a file in one step.

    Parameters
    ----------
    path : path
        Where to.
    fields : dict
        Plain types.
    kind : str, default="fairpca certificate"
        What it is.
    """
    text = json.dumps({"format": kind, "schema": SCHEMA} | fields, indent=2, allow_nan=False)
    with writing(Path(path)) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return what a file is and its fields, those of this schema only.

    Parameters
    ----------
    path : path
        Of the file.
    """
    with Path(path).open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES >> 20} MB: a certificate has a few thousand bytes.")
    try:
        found = strict_json.parse(content)
    except ValueError as error:
        raise ValueError(f"{path} is no certificate: its text cannot be read as JSON ({error}).") from None
    kind = found.pop("format", None) if isinstance(found, dict) else None
    if kind not in (FORMAT, PROMISE):
        raise ValueError(f"{path} is no certificate: it does not say that its format is {FORMAT!r}.")
    schema = found.pop("schema", None)
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"{path} has the schema {schema!r}; this version of fairpca reads schema {SCHEMA} only.")
    return kind, found
