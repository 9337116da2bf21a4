"""From people's files to numbers: reading, kinds of columns, encoding, roles, held-out rows, writing."""
# SPDX-License-Identifier: MIT

from fairpca.exceptions import TableError, TableWarning
from fairpca.tables._encoder import TableColumn, TableEncoder
from fairpca.tables._file import TableFile
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._prepare import PreparedTable, describe, prepare
from fairpca.tables._write import TableSink, check_output, write_projections

__all__ = [
    "PreparedTable",
    "Roles",
    "TableColumn",
    "TableEncoder",
    "TableError",
    "TableFile",
    "TableOptions",
    "TableSink",
    "TableWarning",
    "check_output",
    "describe",
    "prepare",
    "write_projections",
]
