"""Do two samples come from one distribution? The tests of this package, for anyone's rows."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_array, check_random_state

from fairpca._utils.checks import check_confidence, check_integer
from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import LARGEST_MMD2, MASS, Compared, People, Terms, compare
from fairpca.inference._compared_rows import SAMPLE_ROWS, ComparedRows
from fairpca.inference._evidence import Evidence
from fairpca.inference._permutation import BLOCK_ROWS, PermutationTest
from fairpca.mmd import FOUR_SCALES, Scales, bandwidth_rows, median_bandwidth
from fairpca.rows import ArrayRows, DaskRows, Rows, is_dask, number_blocks, sum_of_block

GROUPS = Terms(sensitive_kind="groups", min_group_size=2)
"""Samples are numbered, and each is compared however small it is."""


@dataclass(frozen=True)
class TwoSampleResult:
    """What two samples say of whether they come from one distribution.

    Attributes
    ----------
    mmd2 : float
        Plug-in MMD^2 at the bandwidth: what is measured, chance included.
    mmd2_error : float
        What it may be wrong by because of the way it was computed; 0 where all pairs of rows were compared, as up to
        20,000 rows.
    chance_level : float
        What two samples of this size from one distribution show on average.
    unbiased : float
        Unbiased estimate of the MMD^2 of the distributions.
    p_value : float
        Probability that two samples from one distribution differ as much at any of the scales.
    upper_bound : float
        With the given confidence the MMD^2 of the distributions is no larger; nan for fewer than 10 rows in a sample.
    confidence : float
        Of the bound.
    bandwidth : float
        sigma.
    scales : list of dict
        One for each scale: its `factor`, `bandwidth`, `mmd2`, `chance_level` and `p_value`. Beyond 5,000 rows both
        levels come from random features and are known to some percent.
    method : {"permutations", "limit law"}
        Where p-values come from. "permutations" are exact for any number of rows. "limit law" is that of many rows:
        permuted statistics of a random part of them, in the unit of all.
    n_permutations : int
        How many.
    n_rows : tuple of two int
        Rows of the samples.
    """

    mmd2: float
    mmd2_error: float
    chance_level: float
    unbiased: float
    p_value: float
    upper_bound: float
    confidence: float
    bandwidth: float
    scales: list[dict[str, float]]
    method: str
    n_permutations: int
    n_rows: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain types."""
        return asdict(self)

    def __str__(self) -> str:
        least = self.p_value * (1 + self.n_permutations) < 1.5
        differ = "differ" if self.p_value < 1.0 - self.confidence else "show no difference beyond chance"
        factors = ", ".join(f"{each['factor']:g}" for each in self.scales)
        way = "permutations" if self.method == "permutations" else "permutations of a part, by the limit law"
        lines = [
            f"The samples of {self.n_rows[0]:,} and {self.n_rows[1]:,} rows {differ} "
            f"(p {'<=' if least else '='} {self.p_value:.3g} by {self.n_permutations} {way}, over the bandwidths "
            f"{self.bandwidth:.4g} times {factors}).",
            f"MMD^2 is {self.mmd2:.2g}; samples of one distribution would show about {self.chance_level:.2g}.",
        ]
        if not math.isnan(self.upper_bound):
            lines.append(
                f"With {100 * self.confidence:g} % confidence the MMD^2 of the distributions is at most "
                f"{self.upper_bound:.2g}."
            )
        return "\n".join(lines)


def two_sample(
    X: Any,
    Y: Any,
    *,
    bandwidth: str | float = "median",
    scales: Sequence[float] = FOUR_SCALES,
    n_permutations: int = 999,
    confidence: float = 0.95,
    random_state: Any = None,
) -> TwoSampleResult:
    r"""Test whether two samples come from one distribution, and bound how much their distributions differ.

    The statistic is the squared maximum mean discrepancy with Gaussian kernels of several bandwidths,

    .. math:: \frac{1}{m^2} \sum_{ij} k(x_i, x_j) + \frac{1}{n^2} \sum_{ij} k(y_i, y_j)
              - \frac{2}{mn} \sum_{ij} k(x_i, y_j),

    of which the largest counts after each was centred and scaled by its permutations, so that the p-value holds for
    all of them together (Westfall and Young). Up to 5,000 rows all pairs are compared, beyond random features are: time
    and memory are linear in the rows. Beyond 32,768 rows the law of the statistic comes from a random part of them.

    Parameters
    ----------
    X, Y : array-like, or Dask array or frame, of shapes (m, d) and (n, d)
        The samples; one column may be a vector. Columns count as they are: bring them to like units first. A
        `numpy.memmap` and the blocks of Dask are read a part at a time.
    bandwidth : "median" or float, default="median"
        sigma; by default sqrt(median squared distance / 2) of the rows of both samples.
    scales : sequence of float, default=(2, 1, 0.5, 0.25)
        Factors of the bandwidths that are looked at.
    n_permutations : int, default=999
        How many.
    confidence : float, default=0.95
        Of the upper bound.
    random_state : int, RandomState instance or None, default=None
        Draws permutations, features and parts.

    Returns
    -------
    result : TwoSampleResult
        The p-value and how large the difference is; `print` it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import two_sample
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.normal(size=(300, 3))
    >>> two_sample(X, Y, random_state=0).p_value > 0.05, two_sample(X, Y + 0.5, random_state=0).p_value
    (True, 0.001)
    """
    check_integer("n_permutations", n_permutations, least=19)
    check_confidence(confidence)
    asked = Scales(tuple(scales), bandwidth)
    generator = np.random.default_rng(check_random_state(random_state).randint(2**31))
    rows, compared = _in_dask(X, Y) if is_dask(X) or is_dask(Y) else _in_memory(X, Y)
    assert compared.comparison is not None
    sigma = asked.bandwidth
    if isinstance(sigma, str):
        sigma = median_bandwidth(_float64(rows.sample(bandwidth_rows(rows.n_rows))[0]))
    if rows.n_rows <= BLOCK_ROWS:
        Z = _float64(rows.sample(np.arange(rows.n_rows))[0])
        attached = rows.attached_column(0)[:, None]
        seen = ComparedRows.of(Z - np.median(Z, axis=0), replace(compared, attached=attached))
        method, unit = "permutations", 1.0
        test = PermutationTest.of(seen, sigma, n_permutations, generator, asked.factors)
        measured = Evidence.of(seen, sigma, generator)
    else:
        drawn = ComparedRows.drawn(rows, compared, SAMPLE_ROWS, generator)
        seen = replace(drawn, attached=drawn.attached[:, :MASS], stands_for=None)
        seen = replace(seen, comparison=compared.comparison.sampled(seen.attached))
        method, unit = "limit law", float(np.sum(1.0 / compared.comparison.sizes) / np.sum(1.0 / seen.comparison.sizes))
        test = PermutationTest.of_two_samples(rows, seen, sigma, n_permutations, generator, asked.factors)
        measured = Evidence.of_many(rows, compared.comparison, drawn, sigma, generator)
    values, p_values = unit * test.values[:, 0], test.by_scale()[:, 0]
    by_scale = zip(asked.factors, values[:, 0], values[:, 1:].mean(axis=1), p_values, strict=True)
    return TwoSampleResult(
        mmd2=float(measured.values[0]),
        mmd2_error=float(measured.errors[0]),
        chance_level=float(measured.levels[0]),
        unbiased=float(measured.unbiased[0]),
        p_value=float(test.over_scales()[0]),
        upper_bound=measured.upper_bound(0, compared.measures[0], confidence),
        confidence=confidence,
        bandwidth=float(sigma),
        scales=[
            {"factor": f, "bandwidth": f * sigma, "mmd2": float(h), "chance_level": float(b), "p_value": float(p)}
            for f, h, b, p in by_scale
        ],
        method=method,
        n_permutations=n_permutations,
        n_rows=(int(compared.comparison.sizes[0]), int(compared.comparison.sizes[1])),
    )


class _Stacked:
    """The rows of two arrays, one after the other, of which only what is asked for is read."""

    def __init__(self, first: AnyArray, second: AnyArray) -> None:
        self.parts = first, second
        self.shape = len(first) + len(second), first.shape[1]

    def __getitem__(self, rows: Any) -> AnyArray:
        """Return some of the rows, by a slice or by increasing numbers."""
        first, second = self.parts
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.shape[0])
            rows = slice(start, stop), slice(max(0, start - len(first)), max(0, stop - len(first)))
        else:
            rows = rows[rows < len(first)], rows[rows >= len(first)] - len(first)
        return np.concatenate([first[rows[0]], second[rows[1]]])


def _in_memory(X: Any, Y: Any) -> tuple[Rows, Compared]:
    """Return the rows of both samples and who is compared, without a copy of either."""
    first, second = _alike(X, Y, _table)
    codes = np.repeat(np.array([0, 1], dtype=np.int8), [len(first), len(second)])
    compared = compare(People(codes), len(codes), GROUPS, LARGEST_MMD2)
    return ArrayRows(cast("AnyArray", _Stacked(first, second)), compared.attached), compared


def _table(table: Any, argument: str) -> AnyArray:
    column = np.asarray(table)[:, None] if np.ndim(table) == 1 else table
    checked: AnyArray = check_array(column, dtype=[np.float64, np.float32], ensure_min_samples=2, input_name=argument)
    return checked


def _in_dask(X: Any, Y: Any) -> tuple[Rows, Compared]:
    """Return the same of samples of which one or both are Dask's."""
    array = require("dask.array", "dask")
    first, second = _alike(
        X, Y, lambda each, name: number_blocks(each) if is_dask(each) else array.from_array(_table(each, name))
    )
    blocks = number_blocks(array.concatenate([first, second]))
    codes = [array.full(len(each), k, chunks=each.chunks[:1], dtype=np.int8) for k, each in enumerate((first, second))]
    compared = compare(People(array.concatenate(codes)), blocks.chunks[0], GROUPS, LARGEST_MMD2)
    rows = DaskRows(blocks, compared.attached)
    if not np.isfinite(rows.total(sum_of_block)).all():
        rows.check_finite()
    return rows, compared


def _alike(X: Any, Y: Any, read: Callable[[Any, str], Any]) -> tuple[Any, Any]:
    """Return both samples as they are read, if they have the same columns."""
    names = [list(map(str, each.columns)) if hasattr(each, "columns") else None for each in (X, Y)]
    if None not in names and names[0] != names[1]:
        raise ValueError(f"X has the columns {names[0]} and Y has {names[1]}; both need the same in the same order.")
    first, second = read(X, "X"), read(Y, "Y")
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"X has {first.shape[1]} columns and Y has {second.shape[1]}; both need the same.")
    return first, second


def _float64(Z: AnyArray) -> FloatArray:
    return Z.astype(np.float64, copy=False)
