"""Raw tables in memory."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import AnyArray
from fairpca.datasets._catalogue import source_of
from fairpca.datasets._sources import PathLike


def raw_table(name: str, *, data_home: PathLike | None = None, path: PathLike | None = None) -> dict[str, AnyArray]:
    """Return the raw table of a data set: all rows, numbers as numbers and categories in words.

    The columns have the names of the source. Its codes are in words where the package knows these: sex, race,
    education, marriage and the label; other codes stay as they are. Where the source has one-hot columns they are one
    column again, and of two columns with the same name the first counts. What has no value in the source, such as "?",
    is missing. Nothing is left out but who somebody is: COMPAS comes without names, dates of birth and numbers of
    cases. Of MEPS there are the columns that the loader uses, 51 of 1831.

    Three tables have a column more than their source: `sex` in "german", from the personal status; `utilization` in
    "meps", from the visits; and `high_crime` in "crime", from the rate of violent crimes.

    Parameters
    ----------
    name : {"adult", "census", "compas", "credit", "crime", "german", "law", "meps"}
        The data set; `available` says more of them.
    data_home : path-like, default=None
        Where raw files are cached, see `get_data_home`.
    path : path-like, default=None
        Your own raw files: the folder that holds them, or the file if there is one only.

    Returns
    -------
    table : dict of str to ndarray of shape (n_rows,)
        The columns. Numbers are int64, or float64 if some are missing (NaN) or not whole; the others are objects, texts
        and None where a value is missing. Adult has the rows of adult.test first, Census-Income those of
        census-income.data.

    Raises
    ------
    DatasetUnavailableError
        If the raw files are neither given nor cached and cannot be fetched.

    See Also
    --------
    write_table : The same as a file.

    Examples
    --------
    >>> from fairpca.datasets import raw_table
    >>> german = raw_table("german")
    >>> german["age"][:3], german["sex"][:3].tolist(), german["credit"][:3].tolist()
    (array([67, 22, 49]), ['male', 'female', 'male'], ['good', 'bad', 'good'])

    It can be used as any other table:

    >>> from fairpca.tables import Roles, prepare
    >>> prepared = prepare(german, Roles("sex", label="credit", drop="personal_status"), random_state=0)
    >>> prepared.X_train.shape
    (700, 57)
    """
    source = source_of(name)
    blocks = [source.values(block) for block in source.blocks(source.origin.files(data_home, path))]
    # Blocks are given up column by column, so that no table is in memory twice.
    return {column: np.concatenate([block.pop(column) for block in blocks]) for column in source.columns}
