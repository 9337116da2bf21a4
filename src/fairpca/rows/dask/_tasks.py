"""Delayed tasks with names that people can read, and their sum."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from itertools import count
from typing import Any
from uuid import uuid4

from fairpca._utils.extras import require
from fairpca.rows.dask._work import add_terms

FAN_IN = 32
"""Terms added in one task. Fixed, so that the same chunks give the same bits."""


class Tasks:
    """Delayed calls that share a name, which the dashboard of Dask shows; a number tells them apart.

    Parameters
    ----------
    name : str
        The name.
    """

    def __init__(self, name: str) -> None:
        self._name = f"fairpca_{name}-{uuid4().hex}"
        self._numbers = count()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a call, as a `dask.delayed.Delayed`.

        Parameters
        ----------
        function : callable
            Called where Dask chooses. It may hold data, in which Dask does not look for work of its own.
        *arguments : dask.delayed.Delayed
            Results of other tasks.
        """
        lazy = require("dask", "dask").delayed(function, pure=False, traverse=False)
        return lazy(*arguments, dask_key_name=(self._name, next(self._numbers)))


def tree_sum(terms: list[Any], name: str) -> Any:
    """Return the sum of delayed terms, neighbours first: a tree, so that no process holds all terms.

    Parameters
    ----------
    terms : list of dask.delayed.Delayed
        At least one.
    name : str
        Name of the tasks.
    """
    additions = Tasks(name)
    while len(terms) > 1:
        groups = (terms[start : start + FAN_IN] for start in range(0, len(terms), FAN_IN))
        # Not as one list: Dask would optimize what is in a list on the spot.
        terms = [additions.call(add_terms, *group) for group in groups]
    return terms[0]
