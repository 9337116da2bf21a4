"""Who is compared with whom: one object that flows unchanged from the table to the certificate."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import lstsq, qr

from fairpca._utils.checks import check_at_least_zero
from fairpca._utils.typing import AnyArray, FloatArray, IntArray

INDEPENDENT = 1e-10
"""Size, relative to the largest, below which what is left of a column beside the others is rounding."""

NOWHERE = -1
"""Code of a row that takes no part."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The cells that rows are sorted into before they are compared.

    Attributes
    ----------
    labels : tuple of str
        What the rows of each stratum have in common, for example their group.
    sizes : ndarray of shape (n_strata,)
        n_s, their rows.
    """

    labels: tuple[str, ...]
    sizes: FloatArray


@dataclass(frozen=True, eq=False)
class Contrast:
    """One measure: what must be small.

    Attributes
    ----------
    name : str
        What it compares, in words.
    columns : ndarray of shape (n_strata, n_columns)
        Entry (s, c) is shared out equally among the rows of stratum s; every column sums to 0.
    """

    name: str
    columns: FloatArray


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Weights of rows by their strata.

    Attributes
    ----------
    table : ndarray of shape (n_strata + 1, n_columns)
        The weights of a row of each stratum; zeros at the end, for rows that take no part.
    """

    table: FloatArray

    @classmethod
    def of_strata(cls, table: FloatArray) -> "RowWeights":
        """Take the weights of each stratum."""
        return cls(np.vstack([table, np.zeros((1, table.shape[1]))]))

    @property
    def n_columns(self) -> int:
        """Number of weights of a row."""
        return self.table.shape[1]

    def of(self, attached: AnyArray) -> FloatArray:
        """Return the weights of rows.

        Parameters
        ----------
        attached : ndarray of int of shape (n, 1)
            The stratum of each row, or `NOWHERE`.
        """
        return self.table[attached[:, 0]]


@dataclass(frozen=True, eq=False)
class Comparison:
    r"""Strata of rows and contrasts between them.

    Column c puts the weight w_ic = C_sc / n_s on row i of stratum s, and measure j has the value

    .. math:: h_j = \sum_{c \in j} w_c' K w_c.

    The columns are spanned by fewer where they depend on each other: W = D C_B with D the indicators of strata divided
    by n_s, C = C_B A, so that h_j = <P_j, W'KW> with the forms P_j = sum_{c in j} a_c a_c'.

    Attributes
    ----------
    sizes : ndarray of shape (n_strata,)
        n_s.
    contrasts : ndarray of shape (n_strata, n_columns)
        C.
    owner : ndarray of shape (n_columns,)
        The measure j that each column belongs to.
    names : tuple of str
        What each measure compares.
    tolerances : ndarray of shape (n_measures,)
        tau_j, the largest h_j allowed.

    Examples
    --------
    >>> import numpy as np
    >>> contrast = Contrast("a against b", np.array([[1.0], [-1.0]]))
    >>> comparison = Comparison.of(np.array([3.0, 1.0]), [contrast], tolerance=1e-3)
    >>> comparison.weights.of(np.array([[0], [1], [0], [0]])).ravel()
    array([ 0.33333333, -1.        ,  0.33333333,  0.33333333])
    """

    sizes: FloatArray
    contrasts: FloatArray
    owner: IntArray
    names: tuple[str, ...]
    tolerances: FloatArray

    @classmethod
    def of(cls, sizes: FloatArray, measures: Sequence[Contrast], tolerance: Any) -> "Comparison":
        """Put measures side by side.

        Parameters
        ----------
        sizes : ndarray of shape (n_strata,)
            n_s.
        measures : sequence of Contrast
            The measures.
        tolerance : float or array-like of shape (n_measures,)
            tau, for all of them or one by one.
        """
        for measure in measures:
            _check_rows(measure, sizes)
        owner = np.repeat(np.arange(len(measures)), [measure.columns.shape[1] for measure in measures])
        contrasts = np.hstack([measure.columns for measure in measures])
        names = tuple(measure.name for measure in measures)
        tolerances = np.broadcast_to(check_tolerances(tolerance, names), len(names)).copy()
        return cls(np.asarray(sizes, dtype=np.float64), contrasts, owner, names, tolerances)

    @property
    def n_measures(self) -> int:
        """Number of measures, the length of the vector h."""
        return len(self.names)

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return len(self.sizes)

    def sampled(self, sizes: AnyArray) -> "Comparison":
        """Return the same contrasts between strata of which only some rows were drawn.

        Parameters
        ----------
        sizes : ndarray of shape (n_strata,)
            Rows of each stratum in the sample. Nothing is renormalised: h of the sample estimates that of all rows.
        """
        return replace(self, sizes=np.asarray(sizes, dtype=np.float64))

    @cached_property
    def columns(self) -> RowWeights:
        """The weights w_ic."""
        return RowWeights.of_strata(self.contrasts / np.maximum(self.sizes, 1.0)[:, None])

    @cached_property
    def weights(self) -> RowWeights:
        """The weights W, which span the columns."""
        return RowWeights.of_strata(self.contrasts[:, self._independent] / np.maximum(self.sizes, 1.0)[:, None])

    @cached_property
    def mixing(self) -> FloatArray:
        """A, of shape (n_weights, n_columns)."""
        chosen = self._independent
        if len(chosen) == self.contrasts.shape[1]:
            return np.eye(len(chosen))
        return np.asarray(lstsq(self.contrasts[:, chosen], self.contrasts)[0])

    @cached_property
    def forms(self) -> FloatArray:
        """The forms P_j, of shape (n_measures, n_weights, n_weights)."""
        forms = np.zeros((self.n_measures, *2 * (len(self._independent),)))
        for column, owner in zip(self.mixing.T, self.owner, strict=True):
            forms[owner] += np.outer(column, column)
        return forms

    @cached_property
    def _independent(self) -> IntArray:
        """Columns that span all others, in their order."""
        lengths = np.linalg.norm(self.contrasts, axis=0)
        triangle, order = qr(self.contrasts / np.maximum(lengths, 1e-300), mode="r", pivoting=True)
        sizes = np.abs(np.diag(triangle))
        return np.sort(order[: max(1, int(np.sum(sizes > INDEPENDENT * sizes.max(initial=0.0))))])

    def essential(self) -> tuple["Comparison", IntArray]:
        """Return the measures of which none repeats another, and for each measure the essential one that it equals.

        A group against its complement and the complement against the group are one measure, which has to keep to the
        stricter of their tolerances.
        """
        firsts: list[int] = []
        index = np.zeros(self.n_measures, dtype=np.int64)
        for j, form in enumerate(self.forms):
            known = [k for k, first in enumerate(firsts) if _equal(form, self.forms[first])]
            index[j] = known[0] if known else len(firsts)
            if not known:
                firsts.append(j)
        kept = np.isin(self.owner, firsts)
        owner = index[self.owner[kept]]
        names = tuple(self.names[first] for first in firsts)
        tolerances = np.full(len(firsts), np.inf)
        np.minimum.at(tolerances, index, self.tolerances)
        return Comparison(self.sizes, self.contrasts[:, kept], owner, names, tolerances), index


def check_tolerances(tolerance: Any, names: Sequence[str] | None = None) -> FloatArray:
    """Return the largest MMD^2 allowed, one number or one for each measure, all >= 0.

    Parameters
    ----------
    tolerance : float or array-like of shape (n_measures,)
        What the user passed.
    names : sequence of str, default=None
        What each measure compares, where that is known.
    """
    meaning = "the largest MMD^2 that is allowed"
    if np.ndim(tolerance) == 0:
        return np.array(check_at_least_zero("tolerance", tolerance, meaning))
    listed = list(tolerance)
    if names is None:
        names = [f"measure {number}" for number in range(len(listed))]
    if len(listed) != len(names):
        raise ValueError(
            f"tolerance has {len(listed)} numbers, but there are {len(names)} measures: {', '.join(names)}. Give one "
            "number for all, or one for each."
        )
    pairs = zip(listed, names, strict=True)
    return np.array([check_at_least_zero(f"tolerance of {name!r}", value, meaning) for value, name in pairs])


def _equal(form: FloatArray, other: FloatArray) -> bool:
    return bool(np.linalg.norm(form - other) <= INDEPENDENT * np.linalg.norm(other))


def _check_rows(measure: Contrast, sizes: FloatArray) -> None:
    empty = (sizes <= 0) & np.any(measure.columns != 0, axis=1)
    if not measure.columns.any() or empty.any():
        raise ValueError(
            f"the measure {measure.name!r} has no rows to compare"
            + (f" in {int(empty.sum())} of its strata" if empty.any() else "")
            + "; every measure needs rows on both sides."
        )
