"""Rows and what is known of them, and parts of both."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

from fairpca._utils.typing import IntArray
from fairpca.comparison import Compared, People
from fairpca.selection._held_out import HeldOut
from fairpca.selection._tables import part_of, people_at


@dataclass(frozen=True, eq=False)
class PeopleInParts:
    """The table of a fit, which is to be split.

    Attributes
    ----------
    X : table of shape (n, p)
        Rows.
    people : People
        What is known of them.
    compared : Compared
        Who is compared with whom, on all rows.
    seed : int
        With which everything is drawn.
    """

    X: Any
    people: People
    compared: Compared
    seed: int

    def to_fit(self, rows: IntArray) -> tuple[Any, People]:
        """Return some of the rows and what is known of them."""
        return part_of(self.X, rows), people_at(self.people, rows)

    def to_judge(self, rows: IntArray) -> HeldOut:
        """Return some of the rows, for judging models that were fitted to others."""
        return HeldOut.of(self.X, self.compared, rows, self.seed)

    @property
    def kinds(self) -> str | dict[str, str]:
        """The kinds of attributes on all rows: a part may have fewer distinct values."""
        kinds = self.compared.kinds
        return next(iter(kinds.values())) if len(kinds) == 1 else kinds
