"""Every method on the same rows: fitted to one part, chosen on a second, reported of a third."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state

from fairpca._utils.checks import check_n_components, check_number
from fairpca._utils.progress import Say, say_with
from fairpca.comparison import People, Terms, check_same_rows
from fairpca.inference import LEAST_ROWS
from fairpca.methods._case import Case, Part
from fairpca.methods._known import PLAIN, method_of, names_of_methods, why_not
from fairpca.methods._result import MethodComparison, Tried
from fairpca.rows import is_dask, is_sparse
from fairpca.selection import by_position

CHOOSING = 0.3
"""Share of the rows that are not held out on which methods are chosen; the others fit them."""


@dataclass(frozen=True)
class Asked:
    """What is asked of every method.

    Attributes
    ----------
    n_components : int or float
        Of each; a share of the variance is that of plain PCA.
    tolerance : "auto", float, sequence or mapping
        Of `FairPCA`.
    target : float
        The largest gap.
    methods : as `compare` takes them
        Which.
    terms : Terms
        How people are compared.
    seed : int
        Of everything that is drawn.
    say : callable
        Called with what is being done.
    """

    n_components: int | float
    tolerance: Any
    target: float
    methods: Any
    terms: Terms
    seed: int
    say: Say


def compare(
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
    n_components: int | float = 2,
    methods: Any = None,
    tolerance: Any = "auto",
    target: float = 0.1,
    held_out: float = 0.3,
    callback: Callable[[str], None] | None = None,
    random_state: Any = None,
    **terms: Any,
) -> MethodComparison:
    """Compare every fair reduction that can do what is asked, on the same rows, and recommend some.

    A share `held_out` of the rows is reported of and certifies; of the others three tenths choose, and the rest fits.

    Parameters
    ----------
    X : array-like, frame, sparse array or matrix of shape (n_samples, n_features)
        Rows in memory.
    y : array-like of shape (n_samples,), default=None
        Labels, for notions of fairness that speak of them and for methods that keep what predicts them. Of labels of
        two values it is said how well they are predicted.
    sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k)
        Protected attributes.
    control_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
        Segments: groups are compared within each.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts.
    n_components : int or float, default=2
        Of every method; a share of the variance between 0 and 1 takes as many as plain PCA needs for it.
    methods : str, iterable of str, or mapping of str to estimator, default=None
        Which methods, or your own: estimators of scikit-learn, not fitted, by names. Plain PCA is always there. None
        takes all that there are but those that would take minutes.
    tolerance : "auto", float, sequence or mapping, default="auto"
        Of `FairPCA`.
    target : float, default=0.1
        The largest gap between groups that is fair enough: of means of smooth scores with values between -1 and 1, and
        for the promise of rates of any decision.
    held_out : float, default=0.3
        Share of the rows that is held out, the same of each group.
    callback : callable, default=None
        Called with a few words on what is being done; `print` shows them.
    random_state : int, RandomState instance or None, default=None
        Draws the parts, and what methods and audits draw.
    **terms : dict
        How people are compared: `fairness`, `favourable`, `sensitive`, `sensitive_kind`, `min_group_size`,
        `small_groups`, `missing`, see `FairPCA`.

    Returns
    -------
    found : MethodComparison
        Figures of each method, what is recommended for what, and the fitted models; `print` it, or `save` a page.

    Notes
    -----
    What is recommended was chosen on rows of which nothing is reported, so that the choice does not flatter figures.
    Columns are scaled as methods do it; MMD^2 has one bandwidth for all, the median distance of rows after plain PCA.

    Examples
    --------
    >>> import numpy as np
    >>> import fairpca
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 2000)
    >>> X = rng.normal(size=(4000, 5)) + 1.5 * (group == "b")[:, None] * [1, 0, 0, 0, 0]
    >>> found = fairpca.compare(X, sensitive_features=group, methods="FairPCA", random_state=0)
    >>> [row["method"] for row in found.methods]
    ['PCA', 'FairPCA']
    >>> found.choices["variance"]
    'FairPCA'
    """
    if is_dask(X):
        raise TypeError("X is a Dask collection, and methods are compared in memory; pass a sample of its rows.")
    if sensitive_features is None:
        raise ValueError("sensitive_features=None: methods are compared by what they reveal of attributes.")
    check_number("held_out", held_out, above=0.0, below=1.0)
    seed = int(check_random_state(random_state).randint(2**31))
    asked = Asked(n_components, tolerance, target, methods, Terms.named(**terms), seed, say_with(callback))
    people = People(sensitive_features, y, control_features, sample_weight)
    check_same_rows(X, people.tables)
    table = by_position(X) if is_sparse(X) or hasattr(X, "iloc") else np.asarray(X)
    whole = Part(table, People(*map(by_position, vars(people).values())))
    rest, new = whole.split(held_out, asked.terms, seed, LEAST_ROWS, f"held_out={held_out!r}")
    return compare_parts(rest, new, asked)


def compare_parts(rest: Part, new: Part, asked: Asked) -> MethodComparison:
    """Compare methods on rows of which some were held out already.

    Parameters
    ----------
    rest, new : Part
        Rows to fit and to choose with, and those held out.
    asked : Asked
        What is asked.
    """
    names = names_of_methods(asked.methods)
    check_number("target", asked.target, above=0.0, below=1.0)
    n_features = int(np.shape(rest.X)[1])
    d = check_n_components(asked.n_components, n_features)
    least, words = asked.terms.min_group_size, "the share of the other rows to choose with"
    fitted, choosing = rest.split(CHOOSING, asked.terms, asked.seed, least, words)
    case = Case(fitted, choosing, new, asked.terms, float("nan"), (asked.target,), asked.seed)
    tried: dict[str, Tried] = {}
    left_out: dict[str, str] = {}
    for name in names:
        model = method_of(name, d, asked.tolerance, asked.seed, asked.terms, asked.methods)
        reason = why_not(name, model, fitted.people, asked.terms, n_features, asked.methods is not None)
        asked.say(f"fitting {name}")
        try:
            seconds = 0.0 if reason else case.fit(model)
        except (TypeError, ValueError) as error:
            if name == PLAIN:
                raise
            reason = str(error)
        if reason:
            left_out[name] = reason
            continue
        if name == PLAIN:
            # A share of the variance becomes a number; the bandwidth is that of plain PCA for all.
            d, case = model.n_components_, replace(case, bandwidth=model.bandwidth_)
        asked.say(f"judging {name}")
        tried[name] = Tried(model, seconds, case.judged(model))
    return MethodComparison.of(case, tried, left_out)
