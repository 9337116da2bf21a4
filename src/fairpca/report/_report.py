"""The report: a page and the facts behind it."""
# SPDX-License-Identifier: MIT

import html
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairpca._utils.files import writing

_HEIGHT = 700
"""Of the frame in a notebook, in pixels."""


@dataclass(frozen=True, eq=False)
class Report:
    """A page that can be handed on, and the facts that it shows.

    Attributes
    ----------
    html : str
        The page: one file that needs no other, and no network.
    summary : dict
        The facts, as plain numbers, texts, lists and dicts, which `json.dumps` takes.
    """

    html: str = field(repr=False)
    summary: dict[str, Any] = field(repr=False)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write the page, in one step.

        Parameters
        ----------
        file : path
            Where to, for example "report.html".

        Returns
        -------
        file : Path
            The same.
        """
        path = Path(file)
        with writing(path) as temporary:
            temporary.write_text(self.html, encoding="utf-8", newline="\n")
        return path

    def __str__(self) -> str:
        return "\n".join([self.summary["title"], "", *(said["text"] for said in self.summary["verdicts"])])

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which cannot touch the notebook."""
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.summary["title"])}" width="100%" '
            f'height="{_HEIGHT}" srcdoc="{html.escape(self.html)}"></iframe>'
        )
