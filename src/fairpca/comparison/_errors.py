"""Groups that are recorded wrongly: how much smaller a difference of recorded groups is than that of the true ones."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import beta

from fairpca._utils.checks import check_confidence, check_name, check_number
from fairpca._utils.typing import AnyArray

ERROR_KINDS = ("recorded", "true", "epsilon")

DOUBT = 1e-3
"""Probability, part of that of a bound, that the share of a group among the people is outside of its interval."""

_FORM = (
    'it must say whose errors are known, {"sex": {"recorded": {"F": 0.02, "M": 0.05}}} of those recorded as F or M, '
    '{"sex": {"true": {...}}} of those who are, or {"sex": {"epsilon": 1.0}} of randomised response'
)


@dataclass(frozen=True)
class Correction:
    """What follows from wrong labels for a comparison of two groups.

    Attributes
    ----------
    scale : float, default=1.0
        1 / (1 - a - b): the difference of the true groups is at most so many times that of the recorded ones.
    doubt : float, default=0.0
        The probability that it is larger.
    shares : tuple of two floats, default=()
        Between which the share of people who are in the first group lies; empty where labels are right.
    """

    scale: float = 1.0
    doubt: float = 0.0
    shares: tuple[float, ...] = ()


RIGHT = Correction()
"""What follows from labels that are right."""


@dataclass(frozen=True)
class ErrorRates:
    r"""How often people of two groups are recorded as the other.

    Among those *recorded* as the first group let a share a be of the second, and among those recorded as the second a
    share b of the first. Where errors do not depend on the rows, given the true group, recorded groups are mixtures,
    P_1' = (1 - a) P_1 + a P_2 and P_2' = (1 - b) P_2 + b P_1, so that

    .. math:: P_1' - P_2' = (1 - a - b)(P_1 - P_2).

    Where shares A and B of those who *are* in the first and in the second group are recorded as the other, and a share
    q of all is recorded as the first, Bayes gives

    .. math:: 1 - a - b = \frac{(q - B)(1 - q - A)}{(1 - A - B) \, q (1 - q)}.

    Attributes
    ----------
    kind : {"recorded", "true", "epsilon"}
        Of whom the shares are; of randomised response those who are in a group.
    rates : mapping of str to tuple of two floats
        By group, the interval that its share lies in; of randomised response one for both, by the name "".
    confidence : float
        That both lie in their intervals.
    """

    kind: str
    rates: Mapping[str, tuple[float, float]]
    confidence: float = 1.0

    @classmethod
    def of(cls, asked: Any) -> "ErrorRates":
        """Read what a user says of one attribute."""
        named = set(asked) & set(ERROR_KINDS) if isinstance(asked, Mapping) else set()
        if len(named) != 1 or set(asked) - named - {"confidence"}:
            raise ValueError(f"attribute_error has {asked!r}, and {_FORM}.")
        kind = named.pop()
        if kind == "epsilon":
            check_number("epsilon of attribute_error", asked[kind], above=0.0, below=500.0)
            rate = 1.0 / (1.0 + math.exp(asked[kind]))
            return cls(kind, {"": (rate, rate)})
        shares = asked[kind]
        if not isinstance(shares, Mapping) or len(shares) != 2:
            raise ValueError(
                f"attribute_error has {kind}={shares!r}; it must be a share for each of two groups by their names. For "
                "more than two there is no exact correction: merge groups until there are two."
            )
        rates = {str(group): _interval(str(group), share) for group, share in shares.items()}
        if sum(high for _, high in rates.values()) >= 1.0:
            raise ValueError(
                f"attribute_error has the shares {shares!r} of wrong labels, which must sum to less than 1: such "
                "labels say nothing of the groups."
            )
        if "confidence" not in asked:
            return cls(kind, rates)
        check_confidence(asked["confidence"])
        return cls(kind, rates, float(asked["confidence"]))

    @property
    def doubt(self) -> float:
        """The probability that the rates, or the shares of the groups that they are used with, are others."""
        return 1.0 - self.confidence + (0.0 if self.kind == "recorded" else DOUBT)

    def plain(self) -> dict[str, Any]:
        """Return the same as plain types, which `of` reads."""
        if self.kind == "epsilon":
            return {"epsilon": math.log(1.0 / self.rates[""][0] - 1.0)}
        sure = {} if self.confidence == 1.0 else {"confidence": self.confidence}
        return {self.kind: {group: list(interval) for group, interval in self.rates.items()}} | sure

    def check_groups(self, where: str, labels: Sequence[str]) -> None:
        """Refuse an attribute of other groups than those whose rates are known.

        Parameters
        ----------
        where : str
            The attribute.
        labels : sequence of str
            Its groups.
        """
        groups = ", ".join(map(repr, labels))
        if len(labels) != 2:
            has = f"{len(labels)}: {groups}" if labels else "numbers"
            raise ValueError(
                f"attribute_error is for attributes of two groups, and {where} has {has}. For others there is no exact "
                "correction: merge values until there are two groups, or say nothing of this attribute."
            )
        if self.kind != "epsilon" and set(self.rates) != set(labels):
            raise ValueError(
                f"attribute_error of {where} names the groups {', '.join(map(repr, self.rates))}; it has {groups}."
            )

    def correction(self, labels: Sequence[str], sizes: Sequence[float] | AnyArray, n_rows: float) -> Correction:
        """Return what follows for people among whom groups have certain sizes.

        Parameters
        ----------
        labels : sequence of two str
            The groups.
        sizes : sequence of two floats
            The masses of those recorded as each.
        n_rows : float
            Of how many rows of equal mass their shares are about as certain.
        """
        (a_low, a), (b_low, b) = (self.rates[label if self.kind != "epsilon" else ""] for label in labels)
        q = float(sizes[0] / (sizes[0] + sizes[1]))
        if self.kind == "recorded":
            shares = q * (1.0 - a) + (1.0 - q) * b_low, q * (1.0 - a_low) + (1.0 - q) * b
            return Correction(1.0 / (1.0 - a - b), self.doubt, shares)
        # Decreasing in both rates, and its logarithm is concave in q.
        remaining = min(_remaining(a, b, end) for end in share_interval(q * n_rows, n_rows, DOUBT))
        if remaining <= 0.0:
            raise ValueError(
                f"attribute_error cannot be right, or rows are too few: {100 * q:.3g} % of {n_rows:.0f} rows are "
                f"recorded as {labels[0]!r}, and errors alone would make up to {100 * b:.3g} % of {labels[0]!r} and "
                f"{100 * a:.3g} % of {labels[1]!r}."
            )
        shares = (q - b) / (1.0 - a_low - b), (q - b_low) / (1.0 - a - b_low)
        return Correction(1.0 / remaining, self.doubt, shares)


def _remaining(a: float, b: float, q: float) -> float:
    """Return the share of a difference that is left of it; 0 where errors alone explain the recorded groups."""
    if not (q > b and 1.0 - q > a):
        return 0.0
    return (q - b) * (1.0 - q - a) / ((1.0 - a - b) * q * (1.0 - q))


def share_interval(count: float, n: float, alpha: float) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a probability, which it misses with at most that of alpha.

    Parameters
    ----------
    count : float
        How often something was seen.
    n : float
        Of how many times.
    alpha : float
        1 - confidence.
    """
    low = float(beta.ppf(alpha / 2.0, count, n - count + 1.0)) if count > 0 else 0.0
    return low, float(beta.isf(alpha / 2.0, count + 1.0, n - count)) if count < n else 1.0


def _interval(group: str, share: Any) -> tuple[float, float]:
    ends = (share, share) if isinstance(share, Real) else share
    fits = isinstance(ends, Sequence) and len(ends) == 2 and all(isinstance(end, Real) for end in ends)
    if not fits or not 0.0 <= float(ends[0]) <= float(ends[1]) <= 1.0:
        raise ValueError(
            f"attribute_error of group {group!r} is {share!r}; it must be a share from 0 to 1, or the interval that it "
            "lies in, (0.01, 0.03)."
        )
    return float(ends[0]), float(ends[1])


def read_errors(asked: Any) -> dict[str, ErrorRates]:
    """Return what is known of errors by attribute; by the name "" where it is said of the only one.

    Parameters
    ----------
    asked : mapping or None
        What the user passed.
    """
    if asked is None:
        return {}
    if not isinstance(asked, Mapping) or not asked:
        raise ValueError(f"attribute_error={asked!r} is not understood: {_FORM}.")
    if set(asked) & set(ERROR_KINDS):
        return {"": ErrorRates.of(asked)}
    return {str(name): ErrorRates.of(each) for name, each in asked.items()}


def plain_errors(asked: Any) -> dict[str, Any]:
    """Return what a user says of errors as plain types; nothing where nothing is said."""
    errors = read_errors(asked)
    return errors[""].plain() if "" in errors else {name: rates.plain() for name, rates in errors.items()}


def estimate_error_rates(recorded: Any, true: Any, *, of: str = "recorded", confidence: float = 0.99) -> dict[str, Any]:
    """Estimate how often groups are recorded wrongly, from people of whom both labels are known.

    Parameters
    ----------
    recorded : array-like of shape (n_samples,)
        The groups of some people as data have them, or as a proxy guesses them: two.
    true : array-like of shape (n_samples,)
        Their true groups.
    of : {"recorded", "true"}, default="recorded"
        Whose errors to count. "recorded" where these people are a random part of each recorded group; "true" where they
        come from elsewhere and only the probabilities of errors, given the true group, are the same.
    confidence : float, default=0.99
        That both rates lie in their intervals, those of Clopper and Pearson. What remains to 1 is taken off the
        confidence of the bounds for which the rates are used.

    Returns
    -------
    rates : dict
        For `attribute_error`.

    Examples
    --------
    >>> import numpy as np
    >>> true = np.repeat(["F", "M"], 500)
    >>> recorded = np.where(np.arange(1000) % 50 == 0, "F", true)
    >>> estimate_error_rates(recorded, true)["recorded"]
    {'F': (0.0066, 0.0438), 'M': (0.0, 0.0122)}
    """
    check_name("of", of, ("recorded", "true"))
    check_confidence(confidence)
    labels, given = (np.asarray(column).astype(str) for column in (recorded, true))
    if labels.shape != given.shape or labels.ndim != 1:
        raise ValueError(f"recorded and true have shapes {labels.shape} and {given.shape}; both must be one column.")
    groups = np.unique(np.concatenate([labels, given])).tolist()
    if len(groups) != 2:
        raise ValueError(
            f"recorded and true have {len(groups)} groups, and two are needed: {', '.join(map(repr, groups))}."
        )
    rates = {}
    for group in groups:
        inside = (labels if of == "recorded" else given) == group
        wrong = int(np.sum(labels[inside] != given[inside]))
        low, high = share_interval(wrong, int(inside.sum()), (1.0 - confidence) / 2.0)
        # Outwards, so that rounding never narrows an interval.
        rates[group] = math.floor(low * 1e4) / 1e4, math.ceil(high * 1e4) / 1e4
    return {of: rates, "confidence": confidence}
