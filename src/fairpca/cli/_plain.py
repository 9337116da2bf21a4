"""Texts of strangers on a terminal."""
# SPDX-License-Identifier: MIT

from rich.markup import escape


def plain(text: str) -> str:
    r"""Return a text that is shown as it is: nothing in it formats, moves the cursor or turns the direction of reading.

    Parameters
    ----------
    text : str
        What a file may hold, such as the name of a column.

    Examples
    --------
    >>> print(plain("sex \x1b[31m"))
    sex \x1b[31m
    """
    return escape("".join(letter if letter.isprintable() or letter == "\n" else _code(letter) for letter in text))


def _code(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
