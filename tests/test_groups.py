"""Group labels: what may come, what counts as one group, and which rows they belong to."""

import datetime
import enum
import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from comparisons import by_group
from fairpca import FairPCA, fair_pca_path
from fairpca.baselines import FPCA
from fairpca.comparison import check_same_rows, check_two_groups
from fairpca.exceptions import RowLabelsWarning
from fairpca.metrics import delta_a, mmd2

N = 12
CHUNKS = (5, 5, 2)
LETTERS = ["a", "b", "b"] * 4
DATES = [datetime.date(2020, 1, 1) if letter == "a" else datetime.date(2021, 6, 1) for letter in LETTERS]


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


def numbers(first, second):
    return [first if letter == "a" else second for letter in LETTERS]


KINDS = {
    "numpy objects": objects(LETTERS),
    "numpy booleans": np.array(numbers(False, True)),
    "numpy bytes": np.array(LETTERS, dtype="S1"),
    "numpy dates": np.array(DATES, dtype="datetime64[ns]"),
    "numpy column": np.array(LETTERS)[:, None],
    "dates": DATES,
    "enumeration": numbers(Colour.BLUE, Colour.RED),
    "huge integers": objects(numbers(2**70, 2**70 + 1)),
    "pandas category with others": pd.Series(LETTERS, dtype=pd.CategoricalDtype(["z", "b", "a"])),
    "pandas Int64": pd.Series(numbers(1, 2), dtype="Int64"),
    "pandas string[pyarrow]": pd.Series(LETTERS, dtype="string[pyarrow]"),
    "pandas dates of a zone": pd.Series(pd.to_datetime(DATES, utc=True)),
    "polars": pl.Series(LETTERS),
    "polars category": pl.Series(LETTERS, dtype=pl.Categorical),
    "pyarrow": pa.array(LETTERS),
    "pyarrow dictionary": pa.array(LETTERS).dictionary_encode(),
    "pyarrow table": pa.table({"group": LETTERS}),
}


def in_dask(values):
    """Return the labels as Dask's, in parts of three, where it has a kind for them."""
    if isinstance(values, pd.Series):
        return dd.from_pandas(values, npartitions=4)
    if isinstance(values, list):
        values = objects(values)
    return da.from_array(values, chunks=3) if isinstance(values, np.ndarray) else None


def groups_of(values, rows=N):
    """Return the name of the comparison and the number of the group of each row, after a look at its rows."""
    codes, comparison = by_group(values, rows=rows)
    codes = np.asarray(codes)
    assert codes.shape == (N, 1)
    assert np.bincount(codes[:, 0]).tolist() == comparison.sizes.tolist()
    assert sorted(comparison.sizes) == [4, 8]
    return comparison.names, codes[:, 0].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_kind_are_two_groups_in_dask_too(kind):
    names, codes = groups_of(KINDS[kind])
    assert codes == numbers(codes[0], 1 - codes[0])
    assert len(check_two_groups(KINDS[kind], N)) == N
    if (lazy := in_dask(KINDS[kind])) is not None:
        assert groups_of(lazy, CHUNKS) == (names, codes)


@pytest.mark.parametrize("values", [[1, 1.0, 2], [True, 1, 2.5], [np.float32(1), np.int8(1), 2]], ids=str)
def test_equal_numbers_are_one_group(values):
    values = objects(values * 4)
    for _, codes in (groups_of(values), groups_of(in_dask(values), CHUNKS)):
        assert codes == [0, 0, 1] * 4


NO_COLUMN = {
    "string": ("sex", "got the string 'sex': pass the column, not its name"),
    "set": ({"a", "b"}, "got an object of type set"),
    "generator": ((letter for letter in LETTERS), "got an object of type generator"),
    "tuples": (objects([("a", 1), ("b", 2), ("b", 2)] * 4), r"collections, such as \('a', 1\); each label must be one"),
    "lists": (objects([["a"], ["b"], ["b"]] * 4), "cannot be hashed; each label must be one"),
    "complex numbers": (np.array(numbers(1j, 2j)), "labels of type complex128; each label must be one"),
}


@pytest.mark.parametrize("case", NO_COLUMN)
def test_what_is_no_column_of_labels_is_named(case):
    values, message = NO_COLUMN[case]
    with pytest.raises(TypeError, match=message):
        check_two_groups(values, N)
    for rows in (N, CHUNKS):
        with pytest.raises(TypeError, match=message):
            by_group(values, rows=rows)


MISSING = {
    "pandas Int64": pd.Series([*numbers(1, 2)[:-1], None], dtype="Int64"),
    "polars": pl.Series([*LETTERS[:-1], None]),
    "pyarrow": pa.array([*LETTERS[:-1], None]),
    "pyarrow integers": pa.array([*numbers(1, 2)[:-1], None]),
    "floats": np.array([*numbers(0.0, 1.0)[:-1], np.nan]),
    "masked": np.ma.array(numbers(1, 2), mask=[False] * (N - 1) + [True]),
}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_labels_are_counted(kind):
    with pytest.raises(ValueError, match="has 1 missing value, the first in row 11; drop"):
        check_two_groups(MISSING[kind], N)
    if (lazy := in_dask(MISSING[kind])) is not None:
        with pytest.raises(ValueError, match="has 1 missing value; drop"):
            by_group(lazy, rows=CHUNKS)


def test_more_groups_than_two_are_listed_by_size_where_two_are_compared():
    values = np.array(["d", "a", "b", "b", "c", "c", "c", "e", "f", "f", "f", "f"])
    message = (
        r"has 6 groups, 'f' \(4 rows\), 'c' \(3 rows\), 'b' \(2 rows\), 'a' \(1 row\), 'd' \(1 row\), ...; two can be "
        "compared. Merge some of them, for example one group against all others."
    )
    for labels in (values, values.astype(object), pl.Series(values.tolist())):
        with pytest.raises(ValueError, match=message):
            check_two_groups(labels, N)


# Rows and groups are matched by position


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(60, 3)), columns=list("xyz"), index=[f"person {k}" for k in range(60)])


@pytest.fixture
def group(frame):
    return pd.Series(np.arange(60) % 2, index=frame.index, name="group")


FITS = {
    "FairPCA": lambda X, group: FairPCA(1, tolerance=0.1).fit(X, sensitive_features=group),
    "path": lambda X, group: fair_pca_path(X, group, n_components=1, tolerances=[0.2, 0.1]),
    "FPCA": lambda X, group: FPCA(1).fit(X, sensitive_features=group),
    "mmd2": lambda X, group: mmd2(X, sensitive_features=group, bandwidth=1.0),
    "delta_a": lambda X, group: delta_a(X, sensitive_features=group, random_state=0),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_groups_in_another_order_are_refused(fit, frame, group):
    fit(frame, group)
    for reordered in (group[::-1], group[::-1].to_frame()):
        with pytest.raises(ValueError, match=r"row labels of X in another order, .* sensitive_features.loc\[X.index\]"):
            fit(frame, reordered)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_groups_of_other_row_labels_are_matched_by_position_with_a_warning(fit, frame, group):
    with pytest.warns(RowLabelsWarning, match="different row labels; rows were matched by position") as caught:
        fit(frame, group.reset_index(drop=True))
    assert caught[0].filename == __file__


def in_parts(table, npartitions):
    return dd.from_pandas(table, npartitions=npartitions, sort=False)


PARTS = {
    "both": (lambda X: in_parts(X, 3), lambda group: in_parts(group, 4)),
    "rows": (lambda X: in_parts(X, 3), lambda group: group),
    "groups": (lambda X: X, lambda group: in_parts(group, 4)),
}


@pytest.mark.parametrize(("rows", "groups"), PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("index", [None, range(60), pd.date_range("2020-01-01", periods=60)])
def test_row_labels_of_dask_are_compared_too(frame, group, rows, groups, index):
    if index is not None:
        frame, group = frame.set_axis(index), group.set_axis(index)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_same_rows(rows(frame), {"sensitive_features": groups(group)})
    with pytest.raises(ValueError, match="another order"):
        check_same_rows(rows(frame), {"sensitive_features": groups(group[::-1])})
    with pytest.raises(ValueError, match="another order"):
        check_same_rows(
            rows(frame), {"sensitive_features": groups(pd.concat([group[:7], group[8:20], group[7:8], group[20:]]))}
        )
    with pytest.warns(RowLabelsWarning):
        check_same_rows(rows(frame), {"sensitive_features": groups(group.set_axis(np.arange(60) + 0.5))})
