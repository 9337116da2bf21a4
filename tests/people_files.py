"""A few made-up people in files of the form that their publishers use."""
# SPDX-License-Identifier: MIT

import csv

from fairpca.datasets._entries import DATA_SETS

CENSUS_ROW = (
    "{age}, Private, 6, 36, Children, 0, No, Divorced, Construction, Sales, {race}, All other, {sex}, No, Re-entrant, "
    "Full-time schedules, 0, 0, 0, Nonfiler, South, Utah, Householder, Householder, 1032.38, ?, ?, ?, No, ?, 4, "
    "Not in universe, Mexico, Mexico, Mexico, Foreign born- Not a citizen of U S , 0, No, 2, 12, 95, {income}\n"
)
PEOPLE = [
    {"age": 30, "race": "White", "sex": "Male", "income": "- 50000."},
    {"age": 40, "race": "Black", "sex": "Female", "income": "50000+."},
    {"age": 50, "race": "White", "sex": "Female", "income": "50000+."},
]
ROWS = {
    "meps": [
        {"PANEL": 19, "RACETHX": 2, "SEX": 1, "AGELAST": 60, "OBTOTV15": 9, "HHTOTD15": 1, "PERWT15F": 21854.5},
        {"PANEL": 20, "RACETHX": 1, "SEX": 2, "AGELAST": 8, "OBTOTV15": 9, "PERWT15F": 0, "PCS42": -1, "AGE53X": -1},
        {"PANEL": 20, "RACETHX": 5, "SEX": 2, "AGELAST": 85, "OBTOTV15": 12, "HHTOTD15": -9, "REGION53": 4},
        {"PANEL": 20, "RACETHX": 2, "SEX": 2, "AGELAST": 30, "ADHDADDX": -8},
    ],
    "crime": [
        {"racepctblack": 0.07, "racePctWhite": 0.9, "ViolentCrimesPerPop": 0.25, "state_1": 1, "population": 0.5},
        {"racepctblack": 0.06, "racePctHisp": 0.3, "ViolentCrimesPerPop": 0.26, "state_56": 1},
    ],
    "law": [
        {"LSAT": 33.0, "UGPA": 2.7, "ZFYA": 1.16, "Race_White": 1, "Sex_1": 1, "PF_1": 1},
        {"LSAT": 45.0, "UGPA": 3.9, "ZFYA": -0.15, "Race_Puertorican": 1, "Sex_2": 1},
    ],
    "credit": [
        {
            **{"LIMIT_BAL": 20000.0, "SEX": 1, "AGE": 24, "EDUCATION_2": 1, "MARRIAGE_1": 1},
            "default-payment-next-month": 1,
        },
        {"PAY_AMT6": 5.0, "SEX": 0, "AGE": 57, "EDUCATION_5": 1, "MARRIAGE_0": 1},
    ],
}


def write_people(name, folder, rows=None):
    """Write the made-up rows of a data set, or others, into a folder and return it."""
    folder.mkdir(exist_ok=True)
    if name == "census":
        texts = [CENSUS_ROW.format(**person) for person in PEOPLE]
        (folder / "census-income.data").write_text("".join(texts[:2]))
        (folder / "census-income.test").write_text(texts[2])
        return folder
    entry = DATA_SETS[name]
    read = [entry.made[column].reads if column in entry.made else (column,) for column in entry.columns]
    with (folder / entry.files[0].name).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, dict.fromkeys(column for columns in read for column in columns), restval=0)
        writer.writeheader()
        writer.writerows(ROWS[name] if rows is None else rows)
    return folder
