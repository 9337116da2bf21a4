"""Who is compared with whom: one object that flows unchanged from the table to the certificate."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import block_diag, lstsq, qr

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison._checks import check_tolerances
from fairpca.comparison._weights import N_FEATURES, DenseColumns, RowWeights, masses_of
from fairpca.rows import strata_of

INDEPENDENT = 1e-10
"""Size, relative to the largest, below which what is left of a column beside the others is rounding."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The cells that rows are sorted into before they are compared.

    Attributes
    ----------
    labels : tuple of str
        What the rows of each stratum have in common, for example their group.
    sizes : ndarray of shape (n_strata,)
        n_s, the sum of the masses of its rows.
    """

    labels: tuple[str, ...]
    sizes: FloatArray


@dataclass(frozen=True, eq=False)
class Contrast:
    """One measure that compares strata: what must be small.

    Attributes
    ----------
    name : str
        What it compares, in words.
    columns : ndarray of shape (n_strata, n_columns)
        Entry (s, c) is shared out among the rows of stratum s by their masses; every column sums to 0.
    attribute : str, default=""
        The attribute that is compared.
    """

    name: str
    columns: FloatArray
    attribute: str = ""


@dataclass(frozen=True, eq=False)
class Dependence:
    """One measure of how rows depend on a continuous attribute: what must be small.

    Attributes
    ----------
    name : str
        What it compares, in words.
    columns : DenseColumns
        The weights of rows.
    attribute : str, default=""
        The attribute.
    """

    name: str
    columns: DenseColumns
    attribute: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    r"""Strata of rows, contrasts between them, and dependence on continuous attributes.

    Column c of a contrast puts the weight w_ic = m_i C_sc / n_s on row i of mass m_i in stratum s, and measure j has
    the value

    .. math:: h_j = \sum_{c \in j} w_c' K w_c.

    The columns are spanned by fewer where they depend on each other: W = D C_B with D the indicators of strata divided
    by n_s, C = C_B A, so that h_j = <P_j, W'KW> with the forms P_j = sum_{c in j} a_c a_c'. Columns of continuous
    attributes come after those of contrasts and are taken as they are.

    Attributes
    ----------
    sizes : ndarray of shape (n_strata,)
        n_s.
    contrasts : ndarray of shape (n_strata, n_contrasts)
        C.
    contrast_owner : ndarray of shape (n_contrasts,)
        The measure j that each contrast belongs to.
    names : tuple of str
        What each measure compares.
    tolerances : ndarray of shape (n_measures,)
        tau_j, the largest h_j allowed.
    dense : tuple of DenseColumns, default=()
        The columns of continuous attributes.
    dense_owner : tuple of int, default=()
        The measures that these belong to.
    heaviest : ndarray of shape (n_strata,) or None, default=None
        Largest mass of a row of each stratum; None where all have the mass 1.

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
    contrast_owner: IntArray
    names: tuple[str, ...]
    tolerances: FloatArray
    dense: tuple[DenseColumns, ...] = ()
    dense_owner: tuple[int, ...] = ()
    heaviest: FloatArray | None = None

    @classmethod
    def of(
        cls,
        sizes: FloatArray,
        measures: Sequence[Contrast | Dependence],
        tolerance: Any,
        heaviest: FloatArray | None = None,
    ) -> "Comparison":
        """Put measures side by side.

        Parameters
        ----------
        sizes : ndarray of shape (n_strata,)
            n_s.
        measures : sequence of Contrast or Dependence
            The measures.
        tolerance : float, array-like of shape (n_measures,) or mapping of attributes to float
            tau, for all of them, one by one, or by attribute.
        heaviest : ndarray of shape (n_strata,), default=None
            Largest mass of a row of each stratum, where rows have masses.
        """
        sizes = np.asarray(sizes, dtype=np.float64)
        compared = [(j, measure) for j, measure in enumerate(measures) if isinstance(measure, Contrast)]
        depending = [(j, measure) for j, measure in enumerate(measures) if isinstance(measure, Dependence)]
        for _, contrast in compared:
            empty = (sizes <= 0) & np.any(contrast.columns != 0, axis=1)
            if not contrast.columns.any() or empty.any():
                where = f" in {int(empty.sum())} of its strata" if empty.any() else ""
                raise ValueError(
                    f"the measure {contrast.name!r} has no rows to compare{where}; "
                    "every measure needs rows on both sides."
                )
        blocks = [np.zeros((len(sizes), 0)), *(contrast.columns for _, contrast in compared)]
        owner = [np.full(contrast.columns.shape[1], j) for j, contrast in compared]
        names = tuple(measure.name for measure in measures)
        tolerances = check_tolerances(tolerance, names, [measure.attribute for measure in measures])
        return cls(
            sizes=sizes,
            contrasts=np.hstack(blocks),
            contrast_owner=np.concatenate([np.zeros(0, dtype=np.int64), *owner]),
            names=names,
            tolerances=np.broadcast_to(tolerances, len(names)).copy(),
            dense=tuple(measure.columns for _, measure in depending),
            dense_owner=tuple(j for j, _ in depending),
            heaviest=heaviest,
        )

    @property
    def n_measures(self) -> int:
        """Number of measures, the length of the vector h."""
        return len(self.names)

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return len(self.sizes)

    @cached_property
    def owner(self) -> IntArray:
        """The measure j that each column belongs to."""
        return np.concatenate([self.contrast_owner, np.repeat(np.asarray(self.dense_owner, np.int64), N_FEATURES)])

    def sampled(self, attached: AnyArray) -> "Comparison":
        """Return the same comparison of some of the rows.

        Parameters
        ----------
        attached : ndarray of shape (n, k)
            What is attached to the rows that were drawn. Contrasts stay what they are, with the masses that the strata
            have in the sample: h of the sample estimates that of all rows.
        """
        codes, masses = strata_of(attached), masses_of(attached)
        inside = codes >= 0
        weights = None if masses is None else masses[inside]
        sizes = np.bincount(codes[inside], weights, minlength=self.n_strata).astype(np.float64)
        shares = sizes / np.maximum(self.sizes, 1e-300)
        return replace(self, sizes=sizes, dense=tuple(columns.sampled(attached, shares) for columns in self.dense))

    @cached_property
    def columns(self) -> RowWeights:
        """The weights w_ic."""
        return RowWeights.of_strata(self._shared_out(self.contrasts), self.dense)

    @cached_property
    def weights(self) -> RowWeights:
        """The weights W, which span the columns."""
        return RowWeights.of_strata(self._shared_out(self.contrasts[:, self._independent]), self.dense)

    @cached_property
    def largest_weights(self) -> FloatArray:
        """No less than the largest |w_ic| of the rows of each stratum, of shape (n_strata, n_columns)."""
        # Features lie between -1 and 1, and so do their means.
        dense = [2.0 * np.repeat(columns.scales[:-1, None], N_FEATURES, axis=1) for columns in self.dense]
        largest = np.hstack([np.abs(self._shared_out(self.contrasts)), *dense])
        return largest if self.heaviest is None else largest * self.heaviest[:, None]

    @cached_property
    def chance_ceilings(self) -> FloatArray:
        """The largest chance level of each h_j, sum_c |w_c|^2, of rows of equal mass; 0 for continuous attributes."""
        squares = np.sum(self.contrasts * self._shared_out(self.contrasts), axis=0)
        return np.bincount(self.contrast_owner, squares, minlength=self.n_measures).astype(np.float64)

    def _shared_out(self, contrasts: FloatArray) -> FloatArray:
        return contrasts / np.where(self.sizes > 0, self.sizes, 1.0)[:, None]

    @cached_property
    def mixing(self) -> FloatArray:
        """A, of shape (n_weights, n_columns)."""
        chosen = self._independent
        if len(chosen) == self.contrasts.shape[1]:
            return np.eye(len(self.owner))
        spanned = lstsq(self.contrasts[:, chosen], self.contrasts)[0]
        return np.asarray(block_diag(spanned, np.eye(N_FEATURES * len(self.dense))))

    @cached_property
    def forms(self) -> FloatArray:
        """The forms P_j, of shape (n_measures, n_weights, n_weights)."""
        forms = np.zeros((self.n_measures, *2 * (len(self.mixing),)))
        for column, owner in zip(self.mixing.T, self.owner, strict=True):
            forms[owner] += np.outer(column, column)
        return forms

    @cached_property
    def _independent(self) -> IntArray:
        """Contrasts that span all others, in their order."""
        if self.contrasts.shape[1] < 2:
            return np.arange(self.contrasts.shape[1])
        lengths = np.linalg.norm(self.contrasts, axis=0)
        triangle, order = qr(self.contrasts / np.maximum(lengths, 1e-300), mode="r", pivoting=True)
        sizes = np.abs(np.diag(triangle))
        return np.sort(order[: max(1, int(np.sum(sizes > INDEPENDENT * sizes.max(initial=0.0))))])

    def unique(self) -> tuple["Comparison", IntArray]:
        """Return the measures of which none repeats another, and for each measure the one among these that it equals.

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
        if len(firsts) == self.n_measures:
            return self, index
        kept = np.isin(self.contrast_owner, firsts)
        tolerances = np.full(len(firsts), np.inf)
        np.minimum.at(tolerances, index, self.tolerances)
        unique = replace(
            self,
            contrasts=self.contrasts[:, kept],
            contrast_owner=index[self.contrast_owner[kept]],
            names=tuple(self.names[first] for first in firsts),
            tolerances=tolerances,
            dense_owner=tuple(int(index[owner]) for owner in self.dense_owner),
        )
        return unique, index


def _equal(form: FloatArray, other: FloatArray) -> bool:
    return bool(np.linalg.norm(form - other) <= INDEPENDENT * np.linalg.norm(other))
