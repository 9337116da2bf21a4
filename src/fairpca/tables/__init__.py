"""From people's files to numbers: reading, kinds of columns, encoding, roles, held-out rows, writing."""
# SPDX-License-Identifier: MIT

from fairpca.exceptions import TableError as TableError, TableWarning as TableWarning
from fairpca.tables._encoder import (
    TableColumn as TableColumn,
    TableEncoder as TableEncoder,
    tell_of_unknown as tell_of_unknown,
)
from fairpca.tables._file import TableFile as TableFile
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._people import is_continuous as is_continuous
from fairpca.tables._prepare import PreparedTable as PreparedTable, describe, prepare
from fairpca.tables._reading import texts_of as texts_of
from fairpca.tables._text import DELIMITERS as DELIMITERS, arrow as arrow
from fairpca.tables._write import (
    TableSink as TableSink,
    check_output as check_output,
    write_projections as write_projections,
)

__all__ = ["Roles", "TableOptions", "describe", "prepare"]
