"""What the answer to one problem is worth to a similar one."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

from fairpca._utils.typing import FloatArray


@dataclass(frozen=True, eq=False)
class WarmStart:
    """The answer to a similar problem. Solvers that know more of it than its frame have a subclass.

    Attributes
    ----------
    frame : ndarray of shape (p, d)
        Its frame; live columns first.
    n_live : int
        How many of them carry variance.
    """

    frame: FloatArray
    n_live: int

    @property
    def doubtful(self) -> bool:
        """Whether a search from other starts may end higher."""
        return False

    def for_tolerances(self, discrepancies: FloatArray, tolerances: FloatArray) -> "WarmStart | None":
        """Return a start for the same rows with other tolerances, or None where another start is better.

        Parameters
        ----------
        discrepancies : ndarray of shape (n_measures,)
            The vector h of the answer.
        tolerances : ndarray of shape (n_measures,)
            The new tau.
        """
        return None

    def on_other_rows(self, pca: FloatArray | None) -> "WarmStart":
        """Return a start for more rows of the same table, where no other start needs to be tried.

        Parameters
        ----------
        pca : ndarray of shape (n_measures,) or None
            The vector h of plain PCA there, where it is known.
        """
        return self

    def worth_of(self, slack: FloatArray) -> float:
        """Return the variance share that tolerances larger by so much would buy, as far as is known."""
        return 0.0
