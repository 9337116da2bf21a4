"""What an algorithm that is linear in the rows may ask of them."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from fairpca._utils.typing import AnyArray
from fairpca.rows._strata import StratifiedDraw


class Addable(Protocol):
    """Anything with a sum."""

    def __add__(self, other: Self, /) -> Self: ...


Partial = TypeVar("Partial", bound=Addable)

Transform = Callable[[AnyArray], AnyArray]
"""From some rows to as many others."""


class Rows(Protocol):
    """A table of n rows and p columns, with k numbers attached to each row, of which only sums over blocks are seen.

    Attributes
    ----------
    n_rows, n_columns : int
        n and p.
    """

    n_rows: int
    n_columns: int

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over the blocks of ``function(X_block, attached_block, *arguments)``.

        The blocks are consecutive rows, of the dtype that the table has. The order of the additions is fixed, so that
        the same table and blocks give the same bits. Function and arguments may travel to other processes.

        Parameters
        ----------
        function : callable
            A function at the top of a module: takes arrays of shape (n_block, p) and (n_block, k), returns something
            that can be added.
        *arguments : Any
            The same for all blocks.
        """

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and what is attached to them by increasing row number, in memory.

        Parameters
        ----------
        indices : ndarray of shape (k,)
            Row numbers.
        transform : callable, default=None
            Applied to some rows at a time where they are; its results are returned instead of the rows.
        """

    def taken(self, indices: AnyArray) -> "RowsInMemory":
        """Return rows by increasing row number, with what is attached to them, in memory, as compact as they came.

        Parameters
        ----------
        indices : ndarray of shape (k,)
            Row numbers.
        """

    def mapped(self, transform: Transform) -> "RowsInMemory":
        """Return all rows as a transform makes them, with what is attached to them, in memory.

        Parameters
        ----------
        transform : callable
            Applied to some rows at a time where they are; its results should be small.
        """

    def attached_column(self, position: int) -> AnyArray:
        """Return one of the numbers attached to every row, in memory.

        Parameters
        ----------
        position : int
            Which.
        """

    def stratified_draw(self, size: int, generator: np.random.Generator) -> StratifiedDraw:
        """Choose about `size` random rows, every stratum with a fair share.

        The first number attached to a row is its stratum; rows with a negative one are not chosen.
        """

    def check_finite(self, column_names: AnyArray | None = None) -> None:
        """Raise an error that says where the first number is that is not finite, if there is one.

        Parameters
        ----------
        column_names : ndarray of shape (p,), default=None
            Names of the columns; without them the error has the number.
        """


class RowsInMemory(Rows, Protocol):
    """Rows whose attached numbers, too, are in memory.

    Attributes
    ----------
    attached : ndarray of shape (n, k)
        What is attached to each row.
    """

    attached: AnyArray
