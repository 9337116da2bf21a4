"""Back from one-hot columns to categories."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from itertools import compress

from fairpca.datasets._tables import Table


def merge_one_hot(table: Table, columns: Mapping[str, str], name: str) -> list[str]:
    """Return the category of each row of one-hot columns.

    Parameters
    ----------
    table : dict of str to sequence of str
        The columns, of which the one-hot ones hold "0" and "1".
    columns : dict of str to str
        The one-hot columns, with the category that each stands for.
    name : str
        What they encode, for the message.

    Returns
    -------
    categories : list of str
        One for each row.

    Examples
    --------
    >>> table = {"Sex_1": ["1", "0"], "Sex_2": ["0", "1"]}
    >>> merge_one_hot(table, {"Sex_1": "Female", "Sex_2": "Male"}, "sex")
    ['Female', 'Male']
    """
    categories = list(columns.values())
    merged = []
    for number, marks in enumerate(zip(*(table[column] for column in columns), strict=True), start=1):
        marked = list(compress(categories, (mark == "1" for mark in marks)))
        if len(marked) != 1:
            raise ValueError(f"Row {number} of the raw file must have a 1 in one column of {name!r}; got {marked}.")
        merged.append(marked[0])
    return merged
