"""From people's files to numbers: reading, kinds of columns, encoding, roles, held-out rows, writing."""
# SPDX-License-Identifier: MIT

from fairpca.exceptions import TableError, TableWarning
from fairpca.tables._cells import MISSING_VALUES
from fairpca.tables._column import TableColumn
from fairpca.tables._copies import NearCopy, near_copies
from fairpca.tables._encoder import EncodedRows, TableEncoder
from fairpca.tables._file import TableFile
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._prepare import describe, prepare
from fairpca.tables._prepared import PreparedTable
from fairpca.tables._sink import TableSink, check_output
from fairpca.tables._write import WrittenRows, write_projections

__all__ = [
    "MISSING_VALUES",
    "EncodedRows",
    "NearCopy",
    "PreparedTable",
    "Roles",
    "TableColumn",
    "TableEncoder",
    "TableError",
    "TableFile",
    "TableOptions",
    "TableSink",
    "TableWarning",
    "WrittenRows",
    "check_output",
    "describe",
    "near_copies",
    "prepare",
    "write_projections",
]
