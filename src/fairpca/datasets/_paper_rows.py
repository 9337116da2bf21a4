"""Which rows of a table the paper took."""
# SPDX-License-Identifier: MIT

from importlib.resources import as_file, files

import numpy as np

from fairpca._utils.typing import IntArray


def paper_rows(name: str, n_rows: int) -> IntArray:
    """Return the rows of the published sample, in the order of the table.

    Parameters
    ----------
    name : {"compas", "adult"}
        The data set.
    n_rows : int
        Rows of the table that was read; another table than the published one is refused.

    Returns
    -------
    rows : ndarray of int
        Increasing indices.

    Examples
    --------
    >>> len(paper_rows("compas", 6172))
    2468
    """
    with as_file(files("fairpca.datasets") / "data" / "paper" / f"{name}.npy") as path:
        packed = np.load(path, allow_pickle=False)
    if (n_rows + 7) // 8 != len(packed):
        raise ValueError(
            f"paper=True marks rows of the published {name} table, and the raw file given has {n_rows} usable rows, "
            "another number; use the raw file as its publisher gives it, or paper=False."
        )
    return np.flatnonzero(np.unpackbits(packed, count=n_rows))
