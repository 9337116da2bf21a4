"""What an algorithm that is linear in the rows may ask of them."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from fairpca._typing import AnyArray


class Addable(Protocol):
    """Anything with a sum."""

    def __add__(self, other: Self, /) -> Self: ...


Partial = TypeVar("Partial", bound=Addable)


class Rows(Protocol):
    """A table of n rows and p columns with c weights a row, of which only sums over blocks of rows are seen.

    Attributes
    ----------
    n_rows, n_columns : int
        n and p.
    """

    n_rows: int
    n_columns: int

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over the blocks of ``function(X_block, weights_block, *arguments)``.

        The blocks are consecutive rows, of the dtype that the table has. The order of the additions is fixed, so that
        the same table and blocks give the same bits. Function and arguments may travel to other processes.

        Parameters
        ----------
        function : callable
            A function at the top of a module: takes arrays of shape (n_block, p) and (n_block, c), returns something
            that can be added.
        *arguments : Any
            The same for all blocks.
        """

    def sample(self, indices: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return rows and their weights by increasing row number, in memory."""

    def stratified_sample(self, size: int, generator: np.random.Generator) -> tuple[AnyArray, AnyArray]:
        """Return about `size` random rows and their weights, every group with a fair share, in memory."""
