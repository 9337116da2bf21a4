"""Who is compared with whom: one object that flows unchanged from the table to the certificate."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.linalg import block_diag, lstsq, qr

from fairpca._utils.checks import check_at_least_zero
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.rows import strata_of

_MEANING = "the largest MMD^2 that is allowed"

AUTO = "auto"

LARGEST_MMD2 = 2.0
"""The largest MMD^2 there is: a tolerance that any measure meets, where none is asked for."""

MASS = 1
"""Where the mass of a row is among the numbers attached to it; without it every row has the mass 1."""

N_FEATURES = 11
"""Features of the attribute's kernel: what more of them would add to HSIC is `LEFT_OUT`."""

LEFT_OUT = 3e-6
"""What features leave of k(u, u) = 1, at most, for any u in [0, 1]."""

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
class Ranks:
    """Where a value stands among all: the share of the rows below it, and half of those that equal it.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Distinct values, increasing; of very many a part, and what lies between is interpolated.
    places : ndarray of shape (k,)
        Where they stand, between 0 and 1.

    Examples
    --------
    >>> ranks = Ranks.among(np.array([3.0, 10.0, np.nan, 3.0, 5.0]))
    >>> ranks.of(np.array([10.0, 5.0, np.nan, 3.0]))
    array([0.875, 0.625,   nan, 0.25 ])
    """

    values: FloatArray
    places: FloatArray

    @classmethod
    def among(cls, values: FloatArray, masses: FloatArray | None = None, most: int = 2**16) -> "Ranks":
        """Find where values stand.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Numbers, NaN where there is none; one at least is there.
        masses : ndarray of shape (n,), default=None
            Their masses; by default all are equal.
        most : int, default=2**16
            Distinct values at most that are kept, each then exact to one in so many.
        """
        counts = ~np.isnan(values) if masses is None else ~np.isnan(values) & (masses > 0)
        distinct, index = np.unique(values[counts], return_inverse=True)
        sums = np.bincount(index.ravel(), None if masses is None else masses[counts], minlength=len(distinct))
        places = (np.cumsum(sums) - sums / 2) / sums.sum()
        if len(distinct) > most:
            chosen = np.linspace(0, len(distinct) - 1, most).round().astype(np.int64)
            distinct, places = distinct[chosen], places[chosen]
        return cls(distinct, places)

    def of(self, values: FloatArray) -> FloatArray:
        """Return where numbers stand; NaN stays."""
        return np.where(np.isnan(values), np.nan, np.interp(values, self.values, self.places))


def features_of(places: FloatArray) -> FloatArray:
    """Return features phi with phi(u)'phi(v) = exp(-(u - v)^2 / (2 s^2)) to within `LEFT_OUT`.

    They are the leading principal axes of the kernel on [0, 1], the same for every attribute. What they leave out can
    only lower the independence criterion, by `LEFT_OUT` at most: |C_xr|^2 <= tr C_xx tr C_rr for the covariance of
    rows x and what is left out r, and tr C_xx <= 1.

    Parameters
    ----------
    places : ndarray of shape (n,)
        u in [0, 1].

    Returns
    -------
    features : ndarray of shape (n, N_FEATURES)
        phi(u) of each.
    """
    landmarks, matrix = _landmarks()
    return _kernel(places, landmarks) @ matrix


@cache
def _landmarks(count: int = 20, n_points: int = 2048) -> tuple[FloatArray, FloatArray]:
    """Return u_l, denser near the ends, and the matrix with phi(u) = k(u, u_l) @ matrix.

    Twice as many landmarks as features span the kernel to rounding; the axes are those of evenly spaced points.
    """
    landmarks = (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2
    sizes, vectors = np.linalg.eigh(_kernel(landmarks, landmarks))
    kept = sizes > 1e-13 * sizes[-1]
    spanning = vectors[:, kept] / np.sqrt(sizes[kept])
    points = _kernel((np.arange(n_points) + 0.5) / n_points, landmarks) @ spanning
    axes = np.linalg.eigh(points.T @ points)[1][:, ::-1]
    return landmarks, spanning @ axes[:, :N_FEATURES]


def _kernel(places: FloatArray, landmarks: FloatArray) -> FloatArray:
    # By the median heuristic: of half of the pairs of numbers in [0, 1] the distance is below 1 - sqrt(1/2).
    bandwidth = (1.0 - math.sqrt(0.5)) / math.sqrt(2.0)
    return np.exp(-0.5 * ((places[:, None] - landmarks) / bandwidth) ** 2)


def masses_of(attached: AnyArray) -> FloatArray | None:
    """Return the mass of each row; None where all have the mass 1.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows.
    """
    return attached[:, MASS].astype(np.float64, copy=False) if attached.shape[1] > MASS else None


@dataclass(frozen=True, eq=False)
class DenseColumns:
    r"""Columns of a continuous attribute in some strata.

    Row i of mass m_i has the weights w_ic = m_i s (phi_c(u_i) - mean_c): with s = 1 / sum_i m_i over these strata
    sum_c w_c'Kw_c is the Hilbert-Schmidt independence criterion of rows and attribute, see `features_of`.

    Attributes
    ----------
    position : int
        Where u, the ranks of the attribute, is among the numbers attached to rows; NaN for rows without.
    means : ndarray of shape (N_FEATURES,)
        The means of the features.
    scales : ndarray of shape (n_strata + 1,)
        s for rows of each stratum; 0 at the end, for rows that take no part.
    """

    position: int
    means: FloatArray
    scales: FloatArray

    def of(self, attached: AnyArray) -> FloatArray:
        """Return s (phi_c(u_i) - mean_c), of shape (n, N_FEATURES)."""
        scales = self.scales[strata_of(attached)]
        values = attached[:, self.position]
        taking_part = (scales > 0) & ~np.isnan(values)
        weights = np.zeros((len(attached), N_FEATURES))
        weights[taking_part] = scales[taking_part, None] * (features_of(values[taking_part]) - self.means)
        return weights

    def sampled(self, attached: AnyArray, shares: FloatArray) -> "DenseColumns":
        """Return the same for some of the rows: those of each stratum stand for all of its rows.

        Parameters
        ----------
        attached : ndarray of shape (n, k)
            What is attached to the rows.
        shares : ndarray of shape (n_strata,)
            Mass of each stratum in the sample, relative to that of all rows.
        """
        scales = self.scales * np.append(1.0 / np.where(shares > 0, shares, 1.0), 1.0)
        masses = masses_of(attached)
        weights = scales[strata_of(attached)] * (1.0 if masses is None else masses)
        values = attached[:, self.position]
        taking_part = (weights > 0) & ~np.isnan(values)
        weights = weights[taking_part]
        means = weights @ features_of(values[taking_part]) / weights.sum()
        return replace(self, means=means, scales=scales / weights.sum())


@dataclass(frozen=True, eq=False)
class Contrast:
    """One measure that compares strata, or says how rows depend on a continuous attribute: what must be small.

    Attributes
    ----------
    name : str
        What it compares, in words.
    columns : ndarray of shape (n_strata, n_columns) or DenseColumns
        Entry (s, c) is shared out among the rows of stratum s by their masses; every column sums to 0. Of a continuous
        attribute the weights differ from row to row.
    attribute : str, default=""
        The attribute that is compared.
    """

    name: str
    columns: FloatArray | DenseColumns
    attribute: str = ""


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Weights of rows.

    Attributes
    ----------
    table : ndarray of shape (n_strata + 1, n_columns_of_strata)
        The weights of a row of mass 1 of each stratum; zeros at the end, for rows that take no part.
    dense : tuple of DenseColumns
        Columns that differ from row to row, which come after those of the table.
    mixing : ndarray of shape (n_table_and_dense, n_columns) or None
        What the weights are mixed by; None where they are taken as they are.
    """

    table: FloatArray
    dense: tuple[DenseColumns, ...] = ()
    mixing: FloatArray | None = None

    @classmethod
    def of_strata(cls, table: FloatArray, dense: tuple[DenseColumns, ...] = ()) -> "RowWeights":
        """Take the weights of each stratum."""
        return cls(np.vstack([table, np.zeros((1, table.shape[1]))]), dense)

    @property
    def n_columns(self) -> int:
        """Number of weights of a row."""
        if self.mixing is not None:
            return self.mixing.shape[1]
        return self.table.shape[1] + N_FEATURES * len(self.dense)

    def of(self, attached: AnyArray) -> FloatArray:
        """Return the weights of rows.

        Parameters
        ----------
        attached : ndarray of shape (n, k)
            The stratum of each row, -1 where it takes no part; then, where rows have them, its mass and its attributes.
        """
        weights = self.table[strata_of(attached)]
        if self.dense:
            weights = np.hstack([weights, *(columns.of(attached) for columns in self.dense)])
        masses = masses_of(attached)
        if masses is not None:
            weights = weights * masses[:, None]
        return weights if self.mixing is None else weights @ self.mixing

    def mixed(self, mixing: FloatArray) -> "RowWeights":
        """Return other weights that are linear combinations of these, of shape (n_columns, n_others)."""
        if not self.dense:
            return RowWeights(self.table @ mixing)
        return replace(self, mixing=mixing if self.mixing is None else self.mixing @ mixing)


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
        measures: Sequence[Contrast],
        tolerance: Any,
        heaviest: FloatArray | None = None,
    ) -> "Comparison":
        """Put measures side by side.

        Parameters
        ----------
        sizes : ndarray of shape (n_strata,)
            n_s.
        measures : sequence of Contrast
            The measures.
        tolerance : float, array-like of shape (n_measures,) or mapping of attributes to float
            tau, for all of them, one by one, or by attribute.
        heaviest : ndarray of shape (n_strata,), default=None
            Largest mass of a row of each stratum, where rows have masses.
        """
        sizes = np.asarray(sizes, dtype=np.float64)
        names = tuple(measure.name for measure in measures)
        blocks, owner = [np.zeros((len(sizes), 0))], [np.zeros(0, dtype=np.int64)]
        dense: dict[int, DenseColumns] = {}
        for j, measure in enumerate(measures):
            if isinstance(measure.columns, DenseColumns):
                dense[j] = measure.columns
                continue
            empty = (sizes <= 0) & np.any(measure.columns != 0, axis=1)
            if not measure.columns.any() or empty.any():
                where = f" in {int(empty.sum())} of its strata" if empty.any() else ""
                raise ValueError(
                    f"the measure {measure.name!r} has no rows to compare{where}; every measure needs rows on both "
                    "sides."
                )
            blocks.append(measure.columns)
            owner.append(np.full(measure.columns.shape[1], j))
        tolerances = check_tolerances(tolerance, names, [measure.attribute for measure in measures])
        return cls(
            sizes=sizes,
            contrasts=np.hstack(blocks),
            contrast_owner=np.concatenate(owner),
            names=names,
            tolerances=np.broadcast_to(tolerances, len(names)).copy(),
            dense=tuple(dense.values()),
            dense_owner=tuple(dense),
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
            for k, first in enumerate(firsts):
                other = self.forms[first]
                if np.linalg.norm(form - other) <= INDEPENDENT * np.linalg.norm(other):
                    index[j] = k
                    break
            else:
                index[j] = len(firsts)
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


def check_auto(tolerance: str) -> None:
    """Refuse a word that is no tolerance.

    Parameters
    ----------
    tolerance : str
        What the user passed.
    """
    if tolerance != AUTO:
        raise ValueError(f"tolerance={tolerance!r} must be {AUTO!r}, or a number, {_MEANING}.")


def check_tolerances(
    tolerance: Any, names: Sequence[str] | None = None, attributes: Sequence[str] | None = None
) -> FloatArray:
    """Return the largest MMD^2 allowed, one number or one for each measure, all >= 0.

    Parameters
    ----------
    tolerance : float, array-like of shape (n_measures,) or mapping of attributes to float
        What the user passed.
    names : sequence of str, default=None
        What each measure compares, where that is known.
    attributes : sequence of str, default=None
        The attribute of each measure, where that is known.
    """
    if isinstance(tolerance, Mapping):
        return _by_attribute(tolerance, attributes)
    if np.ndim(tolerance) == 0:
        return np.array(check_at_least_zero("tolerance", tolerance, _MEANING))
    listed = list(tolerance)
    if names is None:
        names = [f"measure {number}" for number in range(len(listed))]
    if len(listed) != len(names):
        raise ValueError(
            f"tolerance has {len(listed)} numbers, but there are {len(names)} measures: {', '.join(names)}. Give one "
            "number for all, or one for each."
        )
    pairs = zip(listed, names, strict=True)
    return np.array([check_at_least_zero(f"tolerance of {name!r}", value, _MEANING) for value, name in pairs])


def _by_attribute(tolerance: Mapping[Any, Any], attributes: Sequence[str] | None) -> FloatArray:
    values = {
        str(name): check_at_least_zero(f"tolerance of {str(name)!r}", value, _MEANING)
        for name, value in tolerance.items()
    }
    if attributes is None:
        return np.array(list(values.values()))
    known = list(dict.fromkeys(attributes))
    if known == [""]:
        raise ValueError(
            f"tolerance names the attributes {', '.join(map(repr, values))}, but sensitive_features has no name. Give "
            "one number, or pass a frame or a dict whose column is called so."
        )
    if sorted(known) != sorted(values):
        raise ValueError(
            f"tolerance names the attributes {', '.join(map(repr, values))}, but those compared are "
            f"{', '.join(map(repr, known))}. Give a number for each, or one number for all."
        )
    return np.array([values[attribute] for attribute in attributes])
