"""Attributes dealt out again by lot, within the classes in which they may change places."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import MASS
from fairpca.inference._compared_rows import ComparedRows


def lots(classes: IntArray, n_draws: int, generator: np.random.Generator) -> Iterator[IntArray]:
    """Yield `n_draws` orders of rows in which rows of a class have changed places.

    Parameters
    ----------
    classes : ndarray of int of shape (n,)
        The class of each row.
    n_draws : int
        How many.
    generator : numpy.random.Generator
        Draws them.
    """
    members = [np.flatnonzero(classes == each) for each in np.unique(classes)]
    order = np.arange(len(classes))
    for _ in range(n_draws):
        for rows in members:
            order[rows] = generator.permutation(rows)
        yield order


def dealt_columns(rows: ComparedRows, mixing: FloatArray, n_draws: int, generator: np.random.Generator) -> AnyArray:
    """Return combinations of the weights as they are, and after each of `n_draws` lots, in single precision.

    The masses of rows stay where they are: what is dealt out are attributes.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    mixing : ndarray of shape (n_columns, k)
        The combinations.
    n_draws : int
        How many lots.
    generator : numpy.random.Generator
        Draws them.

    Returns
    -------
    columns : ndarray of shape (n, 1 + n_draws, k)
        The weights.
    """
    own = rows.columns @ mixing
    columns = np.empty((rows.n_rows, 1 + n_draws, own.shape[1]), dtype=np.float32)
    columns[:, 0] = own
    for draw, order in enumerate(lots(rows.classes, n_draws, generator), start=1):
        if not rows.has_masses:
            columns[:, draw] = own[order]
            continue
        attached = rows.attached[order]
        attached[:, MASS] = rows.attached[:, MASS]
        columns[:, draw] = rows.comparison.sampled(attached).columns.of(attached) @ mixing
    return columns
