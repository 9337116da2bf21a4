"""Data sets of the paper and others: tables with a protected attribute, and samples with known differences."""
# SPDX-License-Identifier: MIT

from fairpca.datasets._fetch import DatasetUnavailableError
from fairpca.datasets._loaders import (
    load_adult,
    load_census,
    load_compas,
    load_credit,
    load_crime,
    load_german,
    load_law,
    load_meps,
)
from fairpca.datasets._raw import available, raw_table, write_table as write_table
from fairpca.datasets._synthetic import make_ellipses, make_synthetic1, make_synthetic2

__all__ = [
    "DatasetUnavailableError",
    "available",
    "load_adult",
    "load_census",
    "load_compas",
    "load_credit",
    "load_crime",
    "load_german",
    "load_law",
    "load_meps",
    "make_ellipses",
    "make_synthetic1",
    "make_synthetic2",
    "raw_table",
]
