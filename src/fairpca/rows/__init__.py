"""Rows wherever they are, seen as blocks over which things are summed."""
# SPDX-License-Identifier: MIT

from fairpca.rows._array import ArrayRows
from fairpca.rows._columns import ColumnSummary
from fairpca.rows._protocol import Rows
from fairpca.rows._strata import normalised, shares, strata

__all__ = ["ArrayRows", "ColumnSummary", "Rows", "normalised", "shares", "strata"]
