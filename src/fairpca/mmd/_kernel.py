"""The kernel, the mean of Gaussians of several widths; rows beyond its reach; quadratic forms of its products."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray

GAP = 40.0
"""Distance in bandwidths beyond which the kernel is 0: exp(-GAP^2 / 2) = 1e-348 is below the smallest number."""

LARGEST_SINGLE = 1e15
"""Coordinates, in bandwidths, whose products with each other stay within float32, which ends at 3e38."""

NEGLIGIBLE = 1e-14
"""Eigenvalue, relative to the largest, below which another adds nothing but rounding to sums in float64."""


@dataclass(frozen=True)
class Mixture:
    r"""phi(s) = mean_l exp(-r_l s) of s = \|z - z'\|^2 / 2, with z in units of the widest scale.

    All that values, gradients and Hessians need of the kernel are

    .. math:: K_q = (-1)^q \phi^{(q)}(s) = \frac{1}{m} \sum_l r_l^q e^{-r_l s}, \qquad q = 0, 1, 2,

    the kernels of order q; those of a single Gaussian are equal. With scales that differ by powers of two, r_l is 4,
    16, 64, ..., and e^(-r_l s) follows from the wider ones by squaring.

    Attributes
    ----------
    rates : tuple of float
        r_l >= 1, increasing; the first is 1.
    """

    rates: tuple[float, ...] = (1.0,)

    @classmethod
    def of(cls, factors: Sequence[float]) -> "Mixture":
        """Return the kernel whose widths are multiples of a bandwidth.

        Parameters
        ----------
        factors : sequence of float
            The multiples. The unit is the bandwidth times the largest of them.
        """
        widest = max(factors)
        return cls(tuple(sorted((widest / factor) ** 2 for factor in factors)))

    @property
    def is_single(self) -> bool:
        """Whether it is one Gaussian, all orders of whose kernel are equal."""
        return len(self.rates) == 1

    @property
    def narrowing(self) -> float:
        """How many times narrower than the widest scale the narrowest is."""
        return math.sqrt(self.rates[-1])

    def coefficients(self, order: int) -> FloatArray:
        """Return r_l^q / m, what each exponential adds to the kernel of order q."""
        return np.array(self.rates) ** order / len(self.rates)

    @cached_property
    def squarings(self) -> tuple[int, ...]:
        """For each scale how often the exponential of the one before is squared; -1 for an exponential of its own."""
        found, power = [-1], 1.0
        for before, rate in zip(self.rates, self.rates[1:], strict=False):
            mantissa, exponent = math.frexp(rate / before)
            power *= rate / before
            # Rounding errors grow by the power, to 3e-14.
            if mantissa != 0.5 or power > 256.0:
                found.append(-1)
                power = 1.0
            else:
                found.append(exponent - 1)
        return tuple(found)

    def fill(
        self,
        exponents: AnyArray,
        orders: Sequence[int],
        kernels: Sequence[AnyArray],
        exponential: Callable[[AnyArray], None],
    ) -> None:
        """Write the kernels of some orders.

        Parameters
        ----------
        exponents : ndarray
            -s.
        orders : sequence of int
            q of each.
        kernels : sequence of ndarray
            Where to; not where the exponents are.
        exponential : callable
            Replaces the entries of an array by their exponentials.
        """
        power = np.empty_like(exponents)
        for each in kernels:
            each[...] = 0.0
        coefficients = [self.coefficients(order).tolist() for order in orders]
        for k, (rate, squarings) in enumerate(zip(self.rates, self.squarings, strict=True)):
            if squarings < 0:
                np.multiply(exponents, rate, out=power)
                exponential(power)
            for _ in range(squarings):
                power *= power
            for each, coefficient in zip(kernels, coefficients, strict=True):
                each += coefficient[k] * power


GAUSSIAN = Mixture()
"""A single scale."""


@dataclass(frozen=True)
class Clusters:
    r"""Rows in bandwidths, with every empty stretch of a coordinate that is wider than `GAP` cut down to `GAP`.

    Rows on two sides of such a stretch do not know of each other, before and after; rows that have none between them,
    those of one cluster, keep their differences. So the kernel and all its derivatives stay what they are, while no
    row is much further than `GAP` from the next: squares of coordinates neither overflow nor cost the other
    rows their digits. Sums that multiply kernel values with coordinates may take those of each cluster from an origin
    of its own.

    Attributes
    ----------
    positions : ndarray of shape (n, d)
        The rows, brought together and centred.
    origins : ndarray of shape (n,) or None
        For each row the number of a row of its cluster, the same for all of it; None when there is one cluster.
    """

    positions: FloatArray
    origins: IntArray | None

    @classmethod
    def of(cls, Z: FloatArray, bandwidth: float = 1.0) -> "Clusters":
        """Find the clusters.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows, in any units.
        bandwidth : float, default=1.0
            sigma in these units.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            # The mean, without what numpy does around the sum, which takes longer.
            centred = Z - np.add.reduce(Z, axis=0) / len(Z)
            centred /= bandwidth
            # The usual case, told at the least cost.
            if max(centred.max(initial=0.0), -centred.min(initial=0.0)) <= GAP / 2:
                return cls(centred, None)
            wide = np.flatnonzero(np.ptp(Z, axis=0) > GAP * bandwidth)
            if not len(wide):
                return cls(centred, None)
            together, cluster = Z.astype(np.float64), np.zeros(len(Z), dtype=np.int64)
            for a in wide:
                together[:, a], parts = _without_gaps(Z[:, a], GAP * bandwidth)
                _, first, cluster = np.unique(cluster * len(Z) + parts, return_index=True, return_inverse=True)
        positions = (together - np.median(together, axis=0)) / bandwidth
        return cls(positions, first[cluster] if len(first) > 1 else None)

    @cached_property
    def local(self) -> FloatArray:
        """The positions, seen from the cluster of each row."""
        return self.positions if self.origins is None else self.seen_locally(self.positions)

    def seen_locally(self, values: AnyArray) -> AnyArray:
        """Return linear functions of the rows, minus those of an origin on the cluster of each row.

        Parameters
        ----------
        values : ndarray of shape (n, k)
            Other coordinates of the same rows.
        """
        if self.origins is None:
            return values - values.mean(axis=0)
        # A row, not a mean: differences of rows that are far and near each other lose nothing.
        return values - values[self.origins]


def _without_gaps(z: FloatArray, gap: float) -> tuple[FloatArray, IntArray]:
    """Return one coordinate with its wider gaps cut down, and the part between two of them that each row is in."""
    order = np.argsort(z)
    ordered = z[order]
    starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(ordered) > gap)])
    part_of = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(z))))
    inside = ordered - ordered[starts][part_of]
    lengths = inside[np.append(starts[1:], len(z)) - 1]
    bases = np.concatenate([[0.0], np.cumsum(lengths[:-1] + gap)])
    together, parts = np.empty_like(ordered), np.empty_like(part_of)
    together[order], parts[order] = inside + bases[part_of], part_of
    return together, parts


def weighted_form(forms: FloatArray, multipliers: FloatArray | None) -> FloatArray:
    """Return sum_j lambda_j P_j.

    Parameters
    ----------
    forms : ndarray of shape (n_measures, k, k)
        P_j.
    multipliers : ndarray of shape (n_measures,) or None
        The lambda_j; None takes 1 for all.
    """
    if multipliers is None:
        return forms.sum(axis=0)
    return np.einsum("j,jab->ab", multipliers, forms)


def factor(form: FloatArray) -> FloatArray:
    """Return L with as few columns as possible and L L' = P, for a positive semidefinite P.

    Parameters
    ----------
    form : ndarray of shape (k, k)
        P.
    """
    sizes, axes = np.linalg.eigh(form)
    kept = sizes > NEGLIGIBLE * max(float(sizes[-1]), 0.0)
    return axes[:, kept] * np.sqrt(sizes[kept])


@dataclass(frozen=True, eq=False)
class Factors:
    """Forms P_j as sums over few columns, P_j = sum_{c in j} a_c a_c'.

    Attributes
    ----------
    columns : ndarray of shape (n_columns, k)
        a_c, those of each form one after the other.
    ends : tuple of int
        Where the columns of each form end.
    """

    columns: FloatArray
    ends: tuple[int, ...]

    @classmethod
    def of(cls, forms: FloatArray) -> "Factors":
        """Factor forms, of shape (n_forms, k, k)."""
        factors = [factor(form).T for form in forms]
        return cls(np.vstack(factors), tuple(np.cumsum([len(columns) for columns in factors]).tolist()))

    def diagonals(self, weights: FloatArray) -> FloatArray:
        """Return w_i'P_j w_i of each form and row, of shape (n_forms, n), for weights of shape (k, n)."""
        squares = (self.columns @ weights) ** 2
        starts = (0, *self.ends[:-1])
        return np.stack([squares[start:end].sum(axis=0) for start, end in zip(starts, self.ends, strict=True)])

    def row_gradients(self, slopes: FloatArray, weights: FloatArray) -> FloatArray:
        """Return sum_ab w_ia P_ab slope_b(i) for each form P: half the gradient with respect to row i.

        Parameters
        ----------
        slopes : ndarray of shape (d, k, n)
            Gradient at row i of the potential of the weight b of all rows.
        weights : ndarray of shape (k, n)
            w.

        Returns
        -------
        gradients : ndarray of shape (n_forms, d, n)
            For each form those of all coordinates.
        """
        terms = np.matmul(self.columns, slopes)
        terms *= self.columns @ weights
        starts = (0, *self.ends[:-1])
        return np.stack([terms[:, start:end].sum(axis=1) for start, end in zip(starts, self.ends, strict=True)])
