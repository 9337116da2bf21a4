"""The maximum mean discrepancy of groups of rows, and the dependence of rows on numbers."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca.comparison import LARGEST_MMD2, People, Terms
from fairpca.metrics._projected import Projected
from fairpca.mmd import Scales


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
        `mmd2_by_measure`. "auto" is exact up to 60,000 rows.
    **terms : dict
        How people are compared: `fairness`, `favourable`, `sensitive`, `sensitive_kind`, `small_groups`, `missing` as
        in `FairPCA`, and `min_group_size`, here 2 by default.

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
