"""MEPS, people who use much health care."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairpca._utils.checks import check_flag, check_integer, check_name
from fairpca._utils.typing import AnyArray
from fairpca.datasets._archives import AIF360
from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._headed import read_columns
from fairpca.datasets._labels import Labels, in_words, translate
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Fetched, PathLike
from fairpca.datasets._tables import Table, design, indicator, keep_rows, numbers

_NUMERIC = ("PCS42", "MCS42", "K6SUM42")
_CATEGORICAL = (
    *("REGION53", "MARRY53X", "FTSTU53X", "ACTDTY53", "HONRDC53", "RTHLTH53", "MNHLTH53", "HIBPDX", "CHDDX"),
    *("ANGIDX", "MIDX", "OHRTDX", "STRKDX", "EMPHDX", "CHBRON53", "CHOLDX", "CANCERDX", "DIABDX", "JTPAIN53"),
    *("ARTHDX", "ARTHTYPE", "ASTHDX", "ADHDADDX", "PREGNT53", "WLKLIM53", "ACTLIM53", "SOCLIM53", "COGLIM53"),
    *("DFHEAR42", "DFSEE42", "ADSMOK42", "PHQ242", "EMPST53", "POVCAT15", "INSCOV15"),
)
_RACE = {"1": "Hispanic", "2": "White", "3": "Black", "4": "Asian", "5": "other or multiple"}
_SEX = {"1": "Male", "2": "Female"}
_VISITS = ("OBTOTV15", "OPTOTV15", "ERTOT15", "IPNGTD15", "HHTOTD15")
_MANY_VISITS = 10
_TARGET = "utilization"
_WEIGHT = "PERWT15F"
_PANELS = (19, 20)
# Codes below zero: -1 the question does not apply; -7, -8, -9 refused, not known, not ascertained.
_MUST_APPLY = ("REGION53", "AGE53X", "MARRY53X", "ASTHDX")
_MUST_BE_KNOWN = (*_CATEGORICAL, "EDUCYR", "HIDEG")
_COLUMNS = (
    *(*_NUMERIC, *_CATEGORICAL, "RACETHX", "SEX", "AGELAST", *_VISITS, _WEIGHT),
    *("PANEL", "AGE53X", "EDUCYR", "HIDEG"),
)
_GROUPS = {"race": ("not White", "White"), "sex": ("Female", "Male")}
_ABOUT = About(
    title="MEPS, 2015",
    source="Agency for Healthcare Research and Quality, Medical Expenditure Panel Survey, HC-181, 2015 full year "
    "consolidated data file; from AI Fairness 360 0.2.2.",
    license="MEPS data use agreement, https://meps.ahrq.gov/data_stats/data_use.jsp",
    target_name=_TARGET,
    target_names=("fewer than 10 visits", "10 visits or more"),
    sensitive_name="race",
    sensitive_values=("not White", "White"),
    weight_name=_WEIGHT,
)


def load_meps(
    *,
    sensitive: str = "race",
    panel: int | None = None,
    complete: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
) -> Any:
    """Load MEPS 2015: 35427 people, 223 columns, protected attribute race or sex, target much use of health care.

    The columns are three scores, PCS42 (physical health), MCS42 (mental health) and K6SUM42 (distress), then one-hot
    columns for the 35 categorical ones that AI Fairness 360 takes. Codes below zero (the question does not apply, or is
    not answered) are categories of their own, so no row is lost; in the three scores, which children do not have, they
    stay the numbers they are. Race, sex and age are in `attributes`, the survey weight PERWT15F in `sample_weight`;
    none is among the features.

    The target is 10 or more visits: office-based, outpatient and emergency ones, nights in hospital, and days of home
    health care. Such days are not ascertained for 94 people and count as none; AI Fairness 360 adds their code -9,
    which gives 21 people the other label.

    The raw file is fetched once through pip, from AI Fairness 360, and cached: 56 MB come over the network, 151 MB
    stay. Its instructions make it your responsibility to read and abide by the usage rules stated on the MEPS web site
    before you download the data. By using them you agree to use them for statistical reporting and analysis only, to
    make no use of an identity that you discover, and not to link them with records in which people can be identified.

    Parameters
    ----------
    sensitive : {"race", "sex"}, default="race"
        The protected attribute: race (White = 1, and not Hispanic) or sex (Male = 1).
    panel : {19, 20}, default=None
        Take the people of one panel of the survey, by default of both.
    complete : bool, default=False
        Leave out people with unanswered questions, as AI Fairness 360 does: 15830 people of panel 19 and 17570 of
        panel 20 stay.
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are in neither.
    as_frame : bool, default=False
        Return pandas objects, frames and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        Where the raw file is cached, see `get_data_home`.
    path : path-like, default=None
        Your own h181.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes` (race,
        sex and age, as in the raw table: a dict of arrays, or a frame), `sample_weight` (PERWT15F), `frame` (features
        and target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    DatasetUnavailableError
        If the raw file is neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> from fairpca.datasets import load_meps
    >>> load_meps().data.shape  # doctest: +SKIP
    (35427, 223)
    >>> load_meps(panel=19, complete=True).data.shape  # doctest: +SKIP
    (15830, 134)
    """
    check_name("sensitive", sensitive, _GROUPS)
    check_integer("panel", panel, *_PANELS, or_none=True)
    check_flag("complete", complete)
    pandas = pandas_if(as_frame, return_X_y)
    table = _kept(RAW.table(data_home, path), panel, complete)
    attributes = _attributes(table)
    group = (attributes[sensitive] == _GROUPS[sensitive][1]).astype(np.int64)
    target = indicator(table[_TARGET], _ABOUT.target_names[1])
    labels = Labels(target, group, attributes, numbers(_WEIGHT, table[_WEIGHT]))
    about = _ABOUT.protecting(sensitive, _GROUPS[sensitive])
    return bunch(about, design(table, _NUMERIC, _CATEGORICAL, {}), labels, pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path]) -> list[Table]:
    (file,) = files
    table = read_columns(file, _COLUMNS)
    race, sex = translate(table["RACETHX"], _RACE), translate(table["SEX"], _SEX)
    return [{**table, "RACETHX": race, "SEX": sex, _TARGET: _utilization(table)}]


def _kept(table: Table, panel: int | None, complete: bool) -> Table:
    keep = np.ones(len(table["PANEL"]), dtype=bool)
    if panel is not None:
        keep &= numbers("PANEL", table["PANEL"]) == panel
    if complete:
        keep &= _at_least(0, _MUST_APPLY, table) & _at_least(-1, _MUST_BE_KNOWN, table)
    return table if keep.all() else keep_rows(table, keep)


def _at_least(lowest: int, names: Sequence[str], table: Table) -> AnyArray:
    return np.all([numbers(name, table[name]) >= lowest for name in names], axis=0)


def _attributes(table: Table) -> dict[str, AnyArray]:
    return {
        "race": in_words(table["RACETHX"]),
        "sex": in_words(table["SEX"]),
        # The age when the person was last in the survey: other ages are unknown for people who left it early.
        "age": numbers("AGELAST", table["AGELAST"]),
    }


def _utilization(table: Table) -> list[str]:
    visits = np.sum([np.maximum(numbers(name, table[name]), 0) for name in _VISITS], axis=0)
    return [_ABOUT.target_names[are_many] for are_many in (visits >= _MANY_VISITS).tolist()]


RAW = RawSource(
    name="meps",
    about=_ABOUT,
    origin=Fetched(
        AIF360, "meps", "the Medical Expenditure Panel Survey (HC-181, converted to comma-separated values)"
    ),
    read=_read,
    n_rows=35_427,
    columns=(*_COLUMNS, _TARGET),
    sensitive=("RACETHX", "SEX", "AGELAST"),
    label=_TARGET,
    whole=("K6SUM42", "AGELAST", *_VISITS, "AGE53X", "EDUCYR"),
    decimal=("PCS42", "MCS42", _WEIGHT),
    categories=(*_CATEGORICAL, "HIDEG"),
    # The label is made of the visits; the panel is one of the survey, and one age is enough.
    drop=(*_VISITS, "PANEL", "AGE53X"),
)
