"""What a report is of: a model, new rows, and both reductions of them audited."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairpca._utils.typing import FloatArray
from fairpca.auditing import AuditResult
from fairpca.comparison import Compared, People
from fairpca.inference import ComparedRows
from fairpca.report._about import About
from fairpca.report._before import Before
from fairpca.report._colouring import Colouring


@dataclass(frozen=True, eq=False)
class Side:
    """One reduction of the new rows.

    Attributes
    ----------
    Z : ndarray of shape (n, k)
        The rows after it.
    audit : AuditResult
        What they tell.
    variance : float
        The share of the variance that they keep.
    """

    Z: FloatArray
    audit: AuditResult
    variance: float


@dataclass(frozen=True, eq=False)
class Case:
    """Everything that a report says something of.

    Attributes
    ----------
    model : FairPCA
        The model.
    path : FairPCAPath or None
        Models along tolerances.
    X : array-like of shape (n, p)
        New rows.
    people : People
        What is known of them.
    n_rows : int
        Their number.
    spread : float
        Their variance, as the model scales them.
    masses : ndarray of shape (n,) or None
        How much each counts.
    compared : Compared
        Who is compared with whom.
    colours : list of Colouring
        By which attributes pictures are coloured.
    origin : Before
        What the model is compared with.
    before, after : Side
        Both reductions of the new rows.
    about : About
        What else is known of the data.
    title : str
        Of the report.
    n_points : int
        Rows that are drawn as points.
    random_state : int
        With which samples are drawn.
    """

    model: Any
    path: Any
    X: Any
    people: People
    n_rows: int
    spread: float
    masses: FloatArray | None
    compared: Compared
    colours: Sequence[Colouring]
    origin: Before
    before: Side
    after: Side
    about: About
    title: str
    n_points: int
    random_state: int

    def rows_of(self, Z: FloatArray) -> ComparedRows:
        """Return projections of the new rows as they are compared."""
        return ComparedRows.of(Z, self.compared)
