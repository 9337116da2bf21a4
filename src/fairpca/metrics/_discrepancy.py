"""The maximum mean discrepancy of groups, dependence on numbers, and how far estimates can be from the truth."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from fairpca._utils.checks import check_mmd
from fairpca._utils.threads import MEMORY_NUMBERS
from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2, MASS, Compared, Comparison, People, Terms, check_same_rows, compare
from fairpca.data import EXACT_PAIRS
from fairpca.inference import (
    SAMPLE_ROWS,
    ComparedRows,
    measure_in_blocks,
    mmd2_of_all_pairs,
    sampling_levels,
)
from fairpca.mmd import MEASURED_TO, Measurement, Scales, bandwidth_rows, median_bandwidth, rows_by_mass
from fairpca.rows import ArrayRows, DaskRows, Rows, compressed, dense, is_dask, is_sparse, number_blocks, sum_of_block


@dataclass(frozen=True, eq=False)
class Projected:
    """Projections of people who are compared.

    Attributes
    ----------
    rows : ArrayRows or DaskRows
        The projections, with the stratum of each row attached.
    compared : Compared
        Who is compared with whom.
    method : {"auto", "exact", "hermite"}
        How MMD^2 is computed.
    """

    rows: ArrayRows | DaskRows
    compared: Compared
    method: str

    @classmethod
    def of(cls, Z: Any, people: People, terms: Terms, tolerance: float, method: str) -> "Projected":
        """Check projections and what is known of people.

        Parameters
        ----------
        Z : array-like, sparse array or matrix, or Dask array or frame, of shape (n, d)
            Projections.
        people : People
            What is known of the rows.
        terms : Terms
            How they are compared.
        tolerance : float
            For all measures.
        method : {"auto", "exact", "hermite"}
            How MMD^2 is to be computed.
        """
        check_same_rows(Z, people.tables)
        if is_dask(Z):
            blocks = number_blocks(Z)
            chosen = _chosen(method, blocks.shape[0])
            compared = compare(people, blocks.chunks[0], terms, tolerance)
            rows = DaskRows(blocks, compared.attached)
            if not np.isfinite(rows.total(sum_of_block)).all():
                rows.check_finite()
            if chosen != "exact":
                return cls(rows, compared, chosen)
            held = rows.taken(np.arange(rows.n_rows))
            return cls(held, replace(compared, attached=held.attached), chosen)
        table = _in_memory(Z)
        chosen = _chosen(method, len(table))
        compared = compare(people, len(table), terms, tolerance)
        return cls(ArrayRows(table, compared.attached), compared, chosen)

    @property
    def comparison(self) -> Comparison:
        """What is compared."""
        assert self.compared.comparison is not None
        return self.compared.comparison

    def mmd2(self, scales: Scales, *, unbiased: bool = False, accuracy: float = 1e-8) -> Measurement:
        """Return MMD^2 of each measure, with its errors.

        Parameters
        ----------
        scales : Scales
            sigma, or how to find it, and its multiples.
        unbiased : bool, default=False
            Whether what samples of one distribution show on average is subtracted.
        accuracy : float, default=1e-8
            Errors that are small enough: far below any tolerance.
        """
        sigma = self._median_bandwidth if isinstance(scales.bandwidth, str) else scales.bandwidth
        kernel = sigma, scales.factors
        if self.method == "exact":
            found = Measurement.exact(mmd2_of_all_pairs(self.seen, *kernel))
        else:
            enough = np.full(self.comparison.n_measures, accuracy)
            found = measure_in_blocks(self.rows, self.comparison, sigma, enough, scales.factors)
        if not unbiased:
            return found
        levels = sampling_levels(self.seen, *kernel)
        share = 0.0 if self.method == "exact" else MEASURED_TO
        return Measurement(found.values - levels, found.errors + share * levels)

    @cached_property
    def seen(self) -> ComparedRows:
        """All rows where all pairs are compared, else a sample that stands for them."""
        if self.method != "exact":
            return ComparedRows.drawn(self.rows, self.compared, SAMPLE_ROWS, np.random.default_rng(0))
        Z, _ = self.rows.sample(np.arange(self.rows.n_rows))
        return ComparedRows.of(Z.astype(np.float64, copy=False), self.compared)

    @property
    def _median_bandwidth(self) -> float:
        rows: Rows = self.rows
        has_masses = self.compared.attached.shape[1] > MASS
        chosen = rows_by_mass(rows.attached_column(MASS)) if has_masses else bandwidth_rows(rows.n_rows)
        return median_bandwidth(rows.sample(chosen)[0].astype(np.float64, copy=False))


def _chosen(method: str, n: int) -> str:
    asked = check_mmd(method, "method")
    if asked != "auto":
        return asked
    return "exact" if n * n / 2 <= EXACT_PAIRS else "hermite"


def _in_memory(Z: Any) -> FloatArray:
    if not is_sparse(Z):
        rows: FloatArray = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
        return rows
    if np.prod(Z.shape) > MEMORY_NUMBERS:
        raise ValueError(
            f"Z is a sparse table of shape {Z.shape}, too large to be made dense; project its rows first, for example "
            "by FairPCA.transform, which takes sparse rows."
        )
    return dense(compressed(Z))


def mmd2(
    Z: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
    bandwidth: Any = "median",
    unbiased: bool = False,
    method: str = "auto",
    **terms: Any,
) -> float:
    r"""Return the squared maximum mean discrepancy between groups of rows.

    With the kernel k(z, z') = exp(-\|z - z'\|^2 / (2 sigma^2)) and groups of m and n rows, the plug-in value is

    .. math:: \frac{1}{m^2} \sum_{ij} k(x_i, x_j) + \frac{1}{n^2} \sum_{ij} k(y_i, y_j)
              - \frac{2}{mn} \sum_{ij} k(x_i, y_j).

    It is never negative and about (1/m + 1/n)(1 - E k) for two samples of one distribution. The unbiased value leaves
    the terms i = j out; its expectation is the squared discrepancy of the distributions, and it may be negative.

    Parameters
    ----------
    Z : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_components)
        Rows, usually projections. With Dask the other tables may be Dask's as well, with the same blocks.
    y : array-like of shape (n_samples,), default=None
        Labels, for notions of fairness that speak of them.
    sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k)
        Protected attributes.
    control_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
        Segments: groups are compared within each.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts.
    bandwidth : "median", "scales", float or Scales, default="median"
        sigma. "median" takes sqrt(median squared distance / 2) of these rows; to compare projections with each other,
        or train with test rows, give all of them one value, such as `FairPCA.bandwidth_`. With several scales the
        kernel is the mean of those of each: after a fit ``Scales(model.bandwidth_factors_, model.bandwidth_)`` of
        `fairpca.mmd` is the kernel of the model.
    unbiased : bool, default=False
        Which of the two estimates; of continuous attributes there is only the plug-in value.
    method : {"auto", "exact", "hermite"}, default="auto"
        "exact" compares all pairs of rows. "hermite" takes time linear in the rows, as a fit does, and has errors, see
        `mmd2_by_measure`. "auto" is exact up to 100,000 rows.
    **terms : dict
        How people are compared: `fairness`, `favourable`, `sensitive`, `sensitive_kind`, `small_groups`, `missing`,
        `attribute_error` as in `FairPCA`, and `min_group_size`, here 2 by default.

    Returns
    -------
    mmd2 : float
        The estimate; of several measures the largest, see `mmd2_by_measure`.

    Examples
    --------
    >>> mmd2([[0.0], [1.0], [0.0], [1.0]], sensitive_features=["a", "a", "b", "b"], bandwidth=1.0)
    0.0
    """
    known = {"sensitive_features": sensitive_features, "control_features": control_features}
    how = {"bandwidth": bandwidth, "unbiased": unbiased, "method": method}
    values: dict[str, float] = mmd2_by_measure(Z, y, **known, sample_weight=sample_weight, **how, **terms)
    return max(values.values())


def mmd2_by_measure(
    Z: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
    bandwidth: Any = "median",
    unbiased: bool = False,
    method: str = "auto",
    return_errors: bool = False,
    **terms: Any,
) -> Any:
    """Return the squared maximum mean discrepancy of each measure, by what it compares.

    Parameters
    ----------
    Z, y, sensitive_features, control_features, sample_weight, bandwidth, unbiased, method, **terms
        See `mmd2`.
    return_errors : bool, default=False
        Whether to return what the estimates may be off by because of the way in which they were computed, too.

    Returns
    -------
    mmd2s : dict of str to float
        The estimates, as in `FairPCA.mmd2_by_measure_`.
    errors : dict of str to float
        Only with `return_errors`. 0 where all pairs were compared, else exceeded with a probability of about one in a
        thousand. What is subtracted for an
        unbiased value is then known from a sample, to a percent, which the errors contain.

    Examples
    --------
    >>> people = {"sex": ["f", "m", "m", "f"], "age": ["old", "old", "young", "young"]}
    >>> found = mmd2_by_measure([[0.0], [1.0], [0.0], [1.0]], sensitive_features=people, bandwidth=1.0)
    >>> {name: round(value, 3) for name, value in found.items()}
    {'sex: f against m': 0.0, 'age: old against young': 0.0}
    """
    if sensitive_features is None:
        raise ValueError("sensitive_features=None: mmd2 needs the groups that are compared.")
    chosen = Terms.named(**({"min_group_size": 2} | terms))
    scales = Scales.of(bandwidth)
    people = People(sensitive_features, y, control_features, sample_weight)
    projected = Projected.of(Z, people, chosen, LARGEST_MMD2, method)
    if unbiased and projected.comparison.dense:
        raise ValueError("unbiased=True: of continuous attributes there is only the plug-in value.")
    found = projected.mmd2(scales, unbiased=unbiased)
    names = projected.comparison.names
    values, errors = (dict(zip(names, each.tolist(), strict=True)) for each in (found.values, found.errors))
    return (values, errors) if return_errors else values


def mmd_bound(m: int, n: int, *, confidence: float = 0.95) -> float:
    r"""Bound the error of the plug-in MMD (not squared) of samples of m and n rows.

    .. math:: |\Delta - \widehat\Delta| \le 2 \left( \frac{1}{\sqrt m} + \frac{1}{\sqrt n} \right) + \delta
              \quad \text{with probability at least} \quad 1 - 2 \exp\left( -\frac{\delta^2 m n}{2 (m + n)} \right).

    Parameters
    ----------
    m, n : int
        Rows in the two groups.
    confidence : float, default=0.95
        The probability, between 0 and 1.

    Returns
    -------
    bound : float
        The right-hand side with the delta that gives this probability.

    References
    ----------
    A. Gretton, K. Borgwardt, M. Rasch, B. Schoelkopf, A. Smola, "A kernel method for the two-sample-problem",
    NIPS 2006.

    Examples
    --------
    >>> round(mmd_bound(10_000, 10_000), 3)
    0.078
    """
    failure = _failure_probability(confidence)
    _check_sizes(m, n)
    delta = math.sqrt(2 * (m + n) / (m * n) * math.log(2 / failure))
    return 2 * (1 / math.sqrt(m) + 1 / math.sqrt(n)) + delta


def delta_a_bound(m: int, n: int, *, vc_dimension: int, confidence: float = 0.95) -> float:
    r"""Bound the error of the estimate of Delta_A from samples of m and n rows.

    .. math:: |\Delta_A - \widehat\Delta_A| \le 8 \sqrt{\frac{VC}{m + n}} + \delta
              \quad \text{with probability at least} \quad 1 - \exp\left( -\frac{(m + n) \delta^2}{2} \right).

    Parameters
    ----------
    m, n : int
        Rows in the two groups.
    vc_dimension : int
        VC dimension of the classifiers; d + 1 for linear ones on d components.
    confidence : float, default=0.95
        The probability, between 0 and 1.

    Returns
    -------
    bound : float
        The right-hand side with the delta that gives this probability.

    References
    ----------
    M. Olfat, A. Aswani, "Convex formulations for fair principal component analysis", AAAI 2019.

    Examples
    --------
    >>> round(delta_a_bound(10_000, 10_000, vc_dimension=3), 3)
    0.115
    """
    failure = _failure_probability(confidence)
    _check_sizes(m, n)
    if vc_dimension < 1:
        raise ValueError(f"vc_dimension={vc_dimension!r} must be at least 1.")
    return 8 * math.sqrt(vc_dimension / (m + n)) + math.sqrt(2 * math.log(1 / failure) / (m + n))


def _failure_probability(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1, for example 0.95.")
    return 1 - confidence


def _check_sizes(m: int, n: int) -> None:
    if m < 1 or n < 1:
        raise ValueError(f"m={m!r} and n={n!r} must be at least 1: the rows in the two groups.")
