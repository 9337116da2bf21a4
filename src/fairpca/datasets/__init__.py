"""Data sets of the paper and others: tables with a protected attribute, and samples with known differences."""
# SPDX-License-Identifier: MIT

from fairpca.datasets._adult import load_adult
from fairpca.datasets._cache import clear_data_home, get_data_home
from fairpca.datasets._catalogue import DatasetInfo, available
from fairpca.datasets._census import load_census
from fairpca.datasets._compas import load_compas
from fairpca.datasets._credit import load_credit
from fairpca.datasets._crime import load_crime
from fairpca.datasets._errors import DatasetUnavailableError
from fairpca.datasets._german import load_german
from fairpca.datasets._law import load_law
from fairpca.datasets._meps import load_meps
from fairpca.datasets._raw_table import raw_table
from fairpca.datasets._synthetic import make_ellipses, make_synthetic1, make_synthetic2
from fairpca.datasets._write import WrittenTable, write_table

__all__ = [
    "DatasetInfo",
    "DatasetUnavailableError",
    "WrittenTable",
    "available",
    "clear_data_home",
    "get_data_home",
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
    "write_table",
]
