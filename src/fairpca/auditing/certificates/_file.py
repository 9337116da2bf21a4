"""Certificates as files: JSON of plain numbers and texts, nothing of which is ever run."""
# SPDX-License-Identifier: MIT

import json
import os
from pathlib import Path
from typing import Any

from fairpca._utils import strict_json
from fairpca._utils.files import writing

FORMAT = "fairpca certificate"
SCHEMA = 1
"""Grows with every change of the fields."""

MOST_BYTES = 10 * 2**20
"""A certificate has a few thousand."""


def write(path: str | os.PathLike[str], fields: dict[str, Any]) -> None:
    """Write a file in one step.

    Parameters
    ----------
    path : path
        Where to.
    fields : dict
        Plain types.
    """
    text = json.dumps({"format": FORMAT, "schema": SCHEMA} | fields, indent=2, allow_nan=False)
    with writing(Path(path)) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of a file, those of this schema only.

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
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise ValueError(f"{path} is no certificate: it does not say that its format is {FORMAT!r}.")
    schema = found.pop("schema", None)
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"{path} has the schema {schema!r}; this version of fairpca reads schema {SCHEMA} only.")
    return found
