"""German credit, which comes with the package."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._labels import Labels, in_words, translate
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Bundled, PathLike
from fairpca.datasets._tables import Table, design, indicator, numbers, read_blocks

_FIELDS = (
    *("status", "duration", "credit_history", "purpose", "credit_amount", "savings", "employment"),
    *("installment_rate", "personal_status", "other_debtors", "residence_since", "property", "age"),
    *("installment_plans", "housing", "existing_credits", "job", "people_liable", "telephone"),
    *("foreign_worker", "credit"),
)
_NUMERIC = (
    *("duration", "credit_amount", "installment_rate", "residence_since", "age", "existing_credits"),
    "people_liable",
)
# personal_status is left out: it says the sex as well as the marital status.
_CATEGORICAL = (
    *("status", "credit_history", "purpose", "savings", "employment", "other_debtors", "property"),
    *("installment_plans", "housing", "job", "telephone", "foreign_worker"),
)
_SEX_IN_PERSONAL_STATUS = {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}
_CREDIT = {"1": "good", "2": "bad"}
_ADULT_AGE = 25
_ABOUT = About(
    title="German credit",
    source="Hofmann, H. (1994), Statlog (German Credit Data), UCI Machine Learning Repository, doi:10.24432/C5NC77.",
    license="CC BY 4.0",
    target_name="credit",
    target_names=("good", "bad"),
    sensitive_name="age",
    sensitive_values=("under 25", "25 or older"),
)


def load_german(
    *,
    paper: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
    random_state: Any = 0,
) -> Any:
    """Load German credit: 1000 rows, 57 columns, protected attribute age (25 or older = 1), target bad credit.

    The columns are seven numeric ones, of which age is 0/1, then one-hot columns for twelve coded ones;
    personal_status, which carries the sex, is dropped. Codes such as A11 are those of the raw file.

    Parameters
    ----------
    paper : bool, default=False
        No effect here: the paper uses all rows. Present so that all loaders can be called alike.
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are the column `age` of the data.
    as_frame : bool, default=False
        Return pandas objects, a frame and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        No effect here: the file comes with the package.
    path : path-like, default=None
        Your own german.data, or the folder that holds it.
    random_state : int, RandomState instance or None, default=0
        No effect here: no rows are drawn.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes` (age
        and sex, as in the raw table: a dict of arrays, or a frame), `sample_weight` (None), `frame` (features and
        target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from fairpca.datasets import load_german
    >>> german = load_german()
    >>> german.data.shape, german.sensitive_features.mean()
    ((1000, 57), np.float64(0.851))
    >>> german.target_names[1], german.feature_names[-1]
    ('bad', 'foreign_worker=A202')
    """
    pandas = pandas_if(as_frame, return_X_y)
    table = RAW.table(data_home, path)
    age = numbers("age", table["age"])
    sensitive = (age >= _ADULT_AGE).astype(np.int64)
    features = design(table, _NUMERIC, _CATEGORICAL, {"age": sensitive})
    attributes = {"age": age, "sex": in_words(table["sex"])}
    labels = Labels(indicator(table["credit"], "bad"), sensitive, attributes)
    return bunch(_ABOUT, features, labels, pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path]) -> Iterator[Table]:
    (file,) = files
    for block in read_blocks(file, _FIELDS, delimiter=" "):
        sex = translate(block["personal_status"], _SEX_IN_PERSONAL_STATUS)
        yield {**block, "sex": sex, "credit": translate(block["credit"], _CREDIT)}


RAW = RawSource(
    name="german",
    about=_ABOUT,
    origin=Bundled(Path(__file__).parent / "data" / "german", ("german.data",)),
    read=_read,
    n_rows=1000,
    columns=(*_FIELDS[:-1], "sex", "credit"),
    sensitive=("age", "sex"),
    label="credit",
    whole=_NUMERIC,
    drop=("personal_status",),
)
