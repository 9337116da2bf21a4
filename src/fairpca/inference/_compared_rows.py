"""Projected rows with their weights in everything that is compared."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.comparison import MASS, Compared, Comparison, masses_of
from fairpca.rows import ArrayRows, Rows, StratifiedDraw, strata_of

SAMPLE_ROWS = 2**14
"""Rows of the sample by which deviations of many rows are known: to about a percent."""


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Rows after projection, and who among them is compared with whom.

    Attributes
    ----------
    Z : ndarray of shape (n, d)
        The rows.
    attached : ndarray of shape (n, k)
        The stratum of each row, and its mass and attributes where it has them.
    comparison : Comparison
        What is compared.
    classes : ndarray of int of shape (n,)
        The same number for rows whose attributes may change places, see `Compared.exchangeable`; -1 for rows without
        mass.
    stands_for : ndarray of shape (n,) or None, default=None
        How many rows of a larger table each row stands for, whose masses it has; None where these are all rows.
    """

    Z: FloatArray
    attached: AnyArray
    comparison: Comparison
    classes: IntArray
    stands_for: FloatArray | None = None

    @classmethod
    def of(cls, Z: FloatArray, compared: Compared) -> "ComparedRows":
        """Take rows that were compared.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            The rows after projection.
        compared : Compared
            Who is compared with whom.
        """
        assert compared.comparison is not None
        return cls(
            Z, compared.attached, compared.comparison, exchange_classes(compared.attached, compared.exchangeable)
        )

    @classmethod
    def drawn(cls, rows: Rows, compared: Compared, size: int, generator: np.random.Generator) -> "ComparedRows":
        """Draw random rows, every stratum with a fair share, that stand for all: they have the masses of those.

        Parameters
        ----------
        rows : Rows
            Rows after projection, wherever they are, with the stratum of each attached.
        compared : Compared
            Who is compared with whom.
        size : int
            About how many.
        generator : numpy.random.Generator
            Draws them.
        """
        assert compared.comparison is not None
        draw = rows.stratified_draw(size, generator)
        Z, known = rows.sample(draw.indices)
        attached, stands_for = with_masses_of_all(known, draw)
        classes = exchange_classes(attached, compared.exchangeable)
        return cls(Z.astype(np.float64), attached, compared.comparison.sampled(attached), classes, stands_for)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.Z)

    @cached_property
    def columns(self) -> FloatArray:
        """The weights w_ic, of shape (n, n_columns)."""
        return self.comparison.columns.of(self.attached)

    @cached_property
    def masses(self) -> FloatArray:
        """The mass of each row."""
        masses = masses_of(self.attached)
        return np.ones(self.n_rows) if masses is None else masses

    @property
    def shares(self) -> FloatArray:
        """What the squares of weights and masses of each row count, where it stands for several: 1 / their number."""
        return np.ones(self.n_rows) if self.stands_for is None else 1.0 / self.stands_for

    @property
    def has_masses(self) -> bool:
        """Whether some rows count more than others."""
        return self.attached.shape[1] > MASS and bool(np.ptp(self.masses) > 0)

    def columns_of(self, measure: int) -> FloatArray:
        """Return the weights in one measure, of shape (n, n_columns_of_the_measure)."""
        return self.columns[:, self.comparison.owner == measure]

    @cached_property
    def informative(self) -> tuple[FloatArray, IntArray]:
        """Combinations of columns, of shape (n_columns, k), that give measures but for a thousandth, and their owners.

        The columns of a continuous attribute are many, and most of them small: tests can do without a thousandth of
        their squares.
        """
        blocks, owners = [], []
        for measure in range(self.comparison.n_measures):
            columns = self.columns_of(measure)
            sizes, axes = np.linalg.eigh(columns.T @ columns)
            axes = axes[:, sizes > 1e-3 * sizes[-1]]
            block = np.zeros((len(self.comparison.owner), axes.shape[1]))
            block[self.comparison.owner == measure] = axes
            blocks.append(block)
            owners.append(np.full(axes.shape[1], measure))
        return np.hstack(blocks), np.concatenate(owners)

    def taking_part(self, measure: int) -> BoolArray:
        """Return which rows a measure compares."""
        return np.asarray(self.columns_of(measure).any(axis=1))

    def sample(self, size: int, generator: np.random.Generator) -> "ComparedRows":
        """Return random rows, every stratum with a fair share, that stand for all: they have the masses of those.

        Parameters
        ----------
        size : int
            About how many.
        generator : numpy.random.Generator
            Draws them.
        """
        draw = ArrayRows(self.Z, self.attached).stratified_draw(size, generator)
        attached, stands_for = with_masses_of_all(self.attached[draw.indices], draw)
        comparison, classes = self.comparison.sampled(attached), self.classes[draw.indices]
        return ComparedRows(self.Z[draw.indices], attached, comparison, classes, stands_for)

    def chosen(self, rows: AnyArray) -> "ComparedRows":
        """Return the same of some of the rows."""
        attached = self.attached[rows]
        return ComparedRows(self.Z[rows], attached, self.comparison.sampled(attached), self.classes[rows])


def with_masses_of_all(attached: AnyArray, draw: StratifiedDraw) -> tuple[AnyArray, FloatArray]:
    """Return what is attached to drawn rows, with the masses of the rows that each stands for, and their number.

    Parameters
    ----------
    attached : ndarray of shape (k, n_attached)
        What is attached to the rows that were drawn.
    draw : StratifiedDraw
        The draw.
    """
    stands_for = (draw.counts / np.maximum(draw.drawn, 1))[strata_of(attached)]
    masses = masses_of(attached)
    heavy = np.column_stack([attached[:, :MASS], stands_for * (1.0 if masses is None else masses)])
    return np.hstack([heavy, attached[:, MASS + 1 :]]), stands_for


def exchange_classes(attached: AnyArray, exchangeable: IntArray) -> IntArray:
    """Return the class of each row within which attributes may change places.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows; a missing continuous attribute is NaN.
    exchangeable : ndarray of int of shape (n_strata,)
        The class of each stratum.
    """
    strata = strata_of(attached)
    classes = np.append(exchangeable, -1)[strata]
    if attached.shape[1] <= 2:
        return classes
    lacking = np.isnan(attached[:, 2:])
    return np.where(
        strata < 0, -1, np.unique(np.column_stack([classes, lacking]), axis=0, return_inverse=True)[1].ravel()
    )
