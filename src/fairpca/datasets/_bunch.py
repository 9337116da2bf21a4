"""From a table to what a loader returns."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from importlib.resources import as_file, files
from itertools import compress
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from fairpca._utils.checks import check_flag, check_name
from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, IntArray
from fairpca.datasets._entry import DataSet, Table, numbers
from fairpca.datasets._fetch import Place, raw_files
from fairpca.datasets._raw import whole_table


def load(
    data_set: DataSet,
    return_X_y: bool,
    as_frame: bool,
    data_home: Place,
    path: Place,
    *,
    sensitive: str | None = None,
    choose: Callable[[int], IntArray] | None = None,
) -> Any:
    """Return a data set as its loader does.

    Parameters
    ----------
    data_set : DataSet
        Its entry.
    return_X_y, as_frame, data_home, path
        As the loader has them.
    sensitive : str, default=None
        The protected attribute, by default the usual one.
    choose : callable, default=None
        Gets the number of rows that the entry keeps, and returns which of these are returned, by default all.

    Returns
    -------
    bunch : Bunch, or (data, target)
        The data set.
    """
    sensitive = next(iter(data_set.groups)) if sensitive is None else sensitive
    check_name("sensitive", sensitive, data_set.groups)
    check_flag("return_X_y", return_X_y)
    pandas = require("pandas", "frame") if check_flag("as_frame", as_frame) else None
    table = whole_table(data_set, raw_files(data_set, data_home, path))
    if data_set.keep is not None:
        kept = list(data_set.keep(table))
        table = {name: list(compress(column, kept)) for name, column in table.items()}
    target = data_set.target.ones(table)
    rows: Any = slice(None) if choose is None else choose(len(target))
    group = data_set.groups[sensitive].ones(table)
    data, names = _features(data_set, table, {sensitive: group}, rows)
    target, group = target[rows], group[rows]
    attributes = {name: _values(data_set, table, column)[rows] for name, column in data_set.attributes.items()}
    weights = None if data_set.weight is None else numbers(data_set.weight, table[data_set.weight])[rows]
    page = _page(data_set, sensitive, data, names, attributes)
    frame, target_name = None, data_set.target_name or data_set.label
    if pandas is not None:
        data, target = pandas.DataFrame(data, columns=names), pandas.Series(target, name=target_name)
        group, attributes = pandas.Series(group, name=sensitive), pandas.DataFrame(attributes)
        weights = None if weights is None else pandas.Series(weights, name=data_set.weight)
        frame = pandas.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        sensitive_features=group,
        attributes=attributes,
        sample_weight=weights,
        frame=frame,
        feature_names=names,
        target_name=target_name,
        target_names=list(data_set.target.names),
        sensitive_name=sensitive,
        sensitive_values=list(data_set.groups[sensitive].names),
        DESCR=page,
        license=data_set.license,
    )


def paper_rows(data_set: DataSet, n_rows: int) -> IntArray:
    """Return the rows of the published sample, increasing; another table than the published one is refused."""
    with as_file(files("fairpca.datasets") / "data" / "paper" / f"{data_set.name}.npy") as path:
        packed = np.load(path, allow_pickle=False)
    if (n_rows + 7) // 8 != len(packed):
        raise ValueError(
            f"paper=True marks rows of the published {data_set.name} table, and the raw file given has {n_rows} usable "
            "rows, another number; use the raw file as its publisher gives it, or paper=False."
        )
    return np.flatnonzero(np.unpackbits(packed, count=n_rows))


def _features(
    data_set: DataSet, table: Table, groups: dict[str, IntArray], rows: slice | IntArray
) -> tuple[AnyArray, list[str]]:
    """Return numeric columns, then one-hot columns by column with the categories sorted, and their names.

    Where the protected attribute is one of the columns, it is numeric, and its 0 and 1 take its place.
    """
    is_number = {*data_set.whole, *data_set.decimal, *groups}
    numeric = [name for name in data_set.features if name in is_number]
    # Of all rows, whichever are chosen.
    categories = {name: sorted(set(table[name])) for name in data_set.features if name not in is_number}
    names = [*numeric, *(f"{name}={category}" for name, listed in categories.items() for category in listed)]
    matrix = np.zeros((len(next(iter(groups.values()))[rows]), len(names)), dtype=data_set.dtype)
    for position, name in enumerate(numeric):
        matrix[:, position] = (groups[name] if name in groups else numbers(name, table[name]))[rows]
    start = len(numeric)
    for name, listed in categories.items():
        code = {category: index for index, category in enumerate(listed, start)}
        codes = np.fromiter(map(code.__getitem__, table[name]), dtype=np.int64, count=len(table[name]))[rows]
        matrix[np.arange(len(matrix)), codes] = 1
        start += len(listed)
    return matrix, names


def _values(data_set: DataSet, table: Table, column: str) -> AnyArray:
    if column in (*data_set.whole, *data_set.decimal):
        return numbers(column, table[column])
    return np.array(table[column], dtype=np.str_)


def _page(data_set: DataSet, sensitive: str, data: AnyArray, names: list[str], attributes: dict[str, AnyArray]) -> str:
    """Return what a user should know of the data, a line for each fact."""
    target, group = data_set.target.names, data_set.groups[sensitive].names
    kinds = {name: "words" if values.dtype.kind == "U" else "numbers" for name, values in attributes.items()}
    lines = [
        data_set.title,
        f"Source: {data_set.source}",
        f"Licence: {data_set.license}",
        f"Rows: {data.shape[0]}; columns: {data.shape[1]}. The protected attribute, {sensitive}, is "
        f"{'one of them, as 0/1: drop it unless you want it as a feature' if sensitive in names else 'none of them'}.",
        f"Target: {data_set.target_name or data_set.label}; 0 = {target[0]}, 1 = {target[1]}.",
        f"Protected attribute: {sensitive}; 0 = {group[0]}, 1 = {group[1]}.",
        f"Attributes as in the raw table: {', '.join(f'{name} ({kind})' for name, kind in kinds.items())}.",
        f"Survey weights: {data_set.weight or 'none'}.",
    ]
    return "\n".join(lines) + "\n"
