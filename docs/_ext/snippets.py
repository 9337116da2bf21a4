"""What a reader of a page would run: its blocks of Python, and its lines for a shell."""
# SPDX-License-Identifier: MIT

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXTRAS = re.compile(r"fairpca\[([a-z,]+)\]")
_BESIDE = re.compile(r"pip install 'fairpca\[[a-z,]+\]'((?: [a-z-]+)+)")
_PROMPT = "$ "


@dataclass(frozen=True)
class Snippet:
    """One block of a page that is run.

    Attributes
    ----------
    language : {"python", "console"}
        What it is written in.
    source : str
        The code; of a console the commands alone, one a line.
    line : int
        Lines of the page before it.
    end : int
        Where its fence ends in the text of the page.
    """

    language: str
    source: str
    line: int
    end: int


def snippets(text: str) -> list[Snippet]:
    """Return the blocks of a page that are run, in order.

    Python always is. Of a console lines with a prompt are; a block without one is only shown.
    """
    found = []
    for fence in _FENCE.finditer(text):
        language, source = fence[1], fence[2]
        if language == "console":
            source = "\n".join(line.removeprefix(_PROMPT) for line in source.splitlines() if line.startswith(_PROMPT))
        if source:
            found.append(Snippet(language, source, text.count("\n", 0, fence.start(2)), fence.end()))
    return found


def extras(text: str) -> set[str]:
    """Return the extras of the package that a page tells its reader to install."""
    return {extra for named in _EXTRAS.findall(text) for extra in named.split(",")}


def beside(text: str) -> set[str]:
    """Return the other packages that a page tells its reader to install."""
    return {name for named in _BESIDE.findall(text) for name in named.split()}
