"""What becomes of groups with few rows: refused, merged or left out, but never without a word."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

from fairpca._utils.typing import IntArray


@dataclass(frozen=True)
class SmallGroups:
    """The rule for groups with few rows.

    Attributes
    ----------
    least : int
        Rows that a group needs.
    rule : {"refuse", "merge", "leave"}
        What becomes of smaller ones.
    """

    least: int
    rule: str

    def settle(self, where: str, labels: list[str], rows: IntArray) -> "Settled":
        """Decide which groups are compared.

        Parameters
        ----------
        where : str
            What they are groups of, in words.
        labels : list of str
            Their names.
        rows : ndarray of int of shape (n_groups,)
            Their rows.
        """
        small = [g for g, n in enumerate(rows) if n < self.least]
        if not small:
            return Settled([[g] for g in range(len(labels))], [])
        if self.rule == "refuse":
            raise ValueError(
                f"{where} has groups of fewer than min_group_size={self.least} rows: {named(labels, rows, small)}. "
                'Merge them with others, use small_groups="merge" or small_groups="leave" to leave them out of the '
                "comparison, or lower min_group_size."
            )
        large = [[g] for g in range(len(labels)) if g not in small]
        if self.rule == "leave":
            return Settled(large, [f"{named(labels, rows, small)} of {where}"])
        merged = [g for g in small if rows[g] > 0]
        by_size = sorted(large, key=lambda members: int(rows[members[0]]))
        while merged and sum(int(rows[g]) for g in merged) < self.least and by_size:
            merged += by_size.pop(0)
        kept = [members for members in large if members[0] not in merged]
        return Settled([*kept, sorted(merged)] if merged else kept, [])


@dataclass(frozen=True)
class Settled:
    """Groups that are compared.

    Attributes
    ----------
    members : list of list of int
        The groups that make up each of them.
    left_out : list of str
        What is left out of the comparison, in words.
    """

    members: list[list[int]]
    left_out: list[str]


def named(labels: list[str], rows: IntArray, chosen: list[int]) -> str:
    """Return some groups with their rows, in words."""
    return ", ".join(f"{labels[g]!r} ({rows[g]} {'row' if rows[g] == 1 else 'rows'})" for g in chosen)
