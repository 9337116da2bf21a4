"""All fair reductions on equal terms: which of them can do what is asked, and what each keeps and reveals."""
# SPDX-License-Identifier: MIT

from fairpca.methods._case import Case as Case, Part as Part
from fairpca.methods._compare import Asked as Asked, compare as compare, compare_parts as compare_parts
from fairpca.methods._known import (
    KNOWN as KNOWN,
    PLAIN as PLAIN,
    SLOW_BEYOND as SLOW_BEYOND,
    method_of as method_of,
    names_of_methods as names_of_methods,
)
from fairpca.methods._result import MethodComparison as MethodComparison, notes_of as notes_of, table_of as table_of
