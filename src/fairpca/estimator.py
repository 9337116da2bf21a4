"""FairPCA: the front door."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import AnyArray
from fairpca._utils.warn import Note
from fairpca.comparison import LARGEST_MMD2, People, check_auto, check_tolerances
from fairpca.exceptions import (
    AccuracyWarning,
    AttributeInTableWarning,
    ConvergenceWarning,
    LeftOutWarning,
    NullComponentsWarning,
    StrictToleranceWarning,
)
from fairpca.fitting import FLOOR, STRICT, Fit, Fitter, LinearProjection, fit_or_leave, fit_to_chance
from fairpca.mmd import MEASURED_TO
from fairpca.saving import Portable
from fairpca.solvers import FitResult, OuterStep, Status, solver_from

_WHAT_PROXIES_MEAN = (
    "Fair components may still depend on such columns, and differences that one bandwidth does not see another may: "
    "the attribute can be predicted from projections that meet the tolerance. Leave them out of X unless you want them "
    "there."
)

VISIBLY_SHRUNK = 0.999
"""Share of a component outside the null axes below which the user is warned."""


class FairPCA(Portable, LinearProjection):
    r"""Principal component analysis whose projections look alike for groups of people.

    Finds an orthonormal V (p x d) that

    .. math::
        \max_V \; \frac{\operatorname{tr}(V' S V)}{\operatorname{tr}(S)}
        \quad \text{subject to} \quad h(V) = \mathrm{MMD}^2(\text{groups after projection}) \le \tau,

    where S is the covariance of all rows and MMD the maximum mean discrepancy with the kernel
    k(z, z') = exp(-\|z - z'\|^2 / (2 sigma^2)): it is small only if the projected groups agree as distributions.

    Parameters
    ----------
    n_components : int or float, default=2
        d, the dimension of the projection, at most the number of features. A number in (0, 1) takes as many components
        as plain PCA needs to keep that share of the variance.
    tolerance : "auto", float, array-like of shape (n_measures,) or mapping of names to float, default="auto"
        tau, the largest MMD^2 between the projected groups of the training rows: one number for every measure, one for
        each in the order of `measures_`, or one for each attribute by its name. "auto" keeps plain PCA where random
        groups would differ as much with a probability above 5 %, and otherwise asks each measure for half of
        `chance_level_`, what such groups show on average: below that variance falls fast, and what new people show
        hardly changes. It never asks for less than 1e-4, where no smooth score, with values between -1 and 1, has
        group means more than 0.01 apart: one point. A number is taken as it is; below a twentieth of the chance level
        it fits single rows, with a warning.
    fairness : {"demographic_parity", "equal_opportunity", "equalized_odds"} or Notion, default="demographic_parity"
        Among whom groups must look alike: all rows; those with the favourable label; or those of each label by
        itself. The labels are `y`. Of two groups one is compared with the other, in one measure; of more, each with all
        others together, in a measure of its own. A `fairpca.comparison.Notion` of your own can compare others.
    favourable : label, default=None
        The favourable label, for "equal_opportunity". May be left out where labels are 0 and 1, -1 and 1 or booleans.
    sensitive : {"each", "intersections"}, default="each"
        Whether several attributes are compared each by itself, or their combinations with each other.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping of names to these, default="auto"
        Whether attributes are groups, or numbers on which the projections must not depend: then the measure is the
        Hilbert-Schmidt independence criterion, see Notes. "auto" takes numbers of more than 20 distinct values for
        continuous; `sensitive_kinds_` says what it took.
    min_group_size : int, default=5
        Rows that a group needs, wherever it is compared; at least 2.
    small_groups : {"refuse", "merge", "leave"}, default="refuse"
        What becomes of smaller groups: an error names them; they are merged into one; or their rows count for the
        variance but are compared with nobody, with a warning that names them.
    missing : {"refuse", "group", "leave"}, default="refuse"
        What becomes of rows without an attribute: an error counts them; they are a group; or they count for the
        variance but not in the comparison by that attribute.
    attribute_error : mapping or None, default=None
        How often people of two groups are recorded as the other, by attribute: ``{"sex": {"recorded": {"F": 0.02,
        "M": 0.05}}}`` where of those recorded as F 2 % are of the other group, ``{"sex": {"true": {"F": 0.02, "M":
        0.05}}}`` where of those who are F 2 % are recorded as the other, or ``{"sex": {"epsilon": 1.0}}`` for
        randomised response. A share may be an interval; `fairpca.comparison.estimate_error_rates` has one from people
        of whom both are known. Errors must not depend on `X`, given the true group. Then MMD^2 of the recorded groups
        is (1 - a - b)^2 times that of the true ones, and all that is said and asked speaks of the true ones.
    solver : {"budget", "repms"} or solver object, default="budget"
        "budget" keeps as much variance as the tolerance allows, by a second-order method; "repms" is Algorithm 1 of
        the paper. `fairpca.solvers.Budget` and `fairpca.solvers.REPMS` have their settings.
    mmd : {"auto", "exact", "hermite"}, default="auto"
        How MMD^2 is computed while the subspace is searched. "exact" compares all pairs of rows; "hermite",
        by features of the kernel, takes time and memory linear in the rows, begins on a sample of 4096 of them, and
        needs no copy of `X`, which may be a float32 `numpy.memmap`. "auto" is exact up to 5000 distinct rows. Whatever
        was used, `mmd2_` is measured exactly, or comes with its error.
    bandwidth : "median", "scales", float or Scales, default="median"
        sigma. "median" is sqrt(median squared distance / 2) of the rows after plain PCA to d dimensions. "scales" takes
        the mean of the kernels of bandwidths 2, 1, 1/2 and 1/4 times that, which sees finer differences too;
        `fairpca.mmd.Scales` has other factors.
    standardize : bool, default=True
        Scale every column to unit variance. Columns are always centred; constant columns stay at zero.
    init : {"mean-matched", "pca", "auxiliary"} or array of shape (n_components, n_features), default="mean-matched"
        Start: the subspace of most variance in which the group means agree, plain PCA, the least MMD^2 reached from
        a random frame (as in the published code), or rows like those of `components_`.
    callback : callable, default=None
        Called with an `fairpca.solvers.OuterStep` after each outer step, for example to show progress.
    verbose : bool, default=False
        Whether a line on the standard error channel says how far a fit has come.
    random_state : int, RandomState instance or None, default=None
        Draws the frames of `init="auxiliary"`, and the samples on which a fit to many rows begins. The bandwidth does
        not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows V', the principal axes inside the fair subspace, by decreasing variance. Signs are such that
        the entry of largest magnitude is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) along each component, in the scaled units.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same relative to the total.
    singular_values_ : ndarray of shape (n_components,)
        Root of the sum of squares of each component over the training rows.
    noise_variance_ : float
        Mean variance of the directions that are left out, see `get_covariance`.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    constant_features_ : ndarray of bool of shape (n_features,)
        Columns that do not vary beyond the rounding of their numbers; `transform` takes them for 0.
    mmd2_ : float
        Plug-in MMD^2 of the projected training rows; of several measures the one with the largest ratio h / tau.
        nan without sensitive features.
    mmd2_by_measure_ : dict of str to float
        The MMD^2 of each measure, by what it compares.
    tolerance_ : float
        The tolerance of the same measure: what was asked for, or what "auto" has chosen.
    chance_level_ : float
        What the same measure shows on average if attributes are permuted among the projected training rows, for two
        groups (1/m + 1/n)(1 - mean k). Beyond 5,000 rows it comes from a sample and is known to about a percent.
    expected_mmd2_new_ : float
        About what the same measure shows on as many new people: `mmd2_ + chance_level_`, for the subspace was fitted to
        these rows; where plain PCA is the answer, which was not, the larger of both.
    measures_ : list of dict
        One for each measure: what it compares (`name`, `attribute`, `among`, `kind`), its rows (`n_rows`, `sides`,
        `weight`),
        its `tolerance`, `mmd2`, `multiplier` (what a unit of tolerance would buy, nan from REPMS), `budget_used`,
        `chance_level` and `expected_mmd2_new`.
        `pandas.DataFrame(model.measures_)` is a table.
    sensitive_kinds_ : dict of str to str
        Whether each attribute was taken for "groups" or for "continuous".
    mmd2_error_ : float
        Error of `mmd2_`: 0 where it was measured exactly, as it is up to 100,000 rows. Beyond, a bound that holds with
        a probability of 99.9 %.
    mmd_method_ : str
        How MMD^2 was computed during the search: "exact" or "hermite".
    bandwidth_ : float
        sigma.
    bandwidth_factors_ : tuple of float
        The kernel is the mean of the Gaussian kernels of bandwidths sigma times these; (1.0,) for one.
    converged_ : bool
        Whether the solver stopped at a stationary point and the finished components, measured once more, meet the
        tolerance.
    n_iter_ : int
        Outer iterations.
    n_live_components_ : int
        How many components carry variance. With a strict tolerance the best answer may have fewer than n_components;
        the others come last, and `transform` returns exact zeros for them.
    result_ : fairpca.solvers.FitResult
        The record of the run: per step penalty, MMD^2, variance kept, gradient norm, evaluations, seconds; and why it
        stopped. From the budget solver also a certificate of optimality.
    n_components_, n_samples_, n_features_in_ : int
        Sizes.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, when `X` had them.

    See Also
    --------
    sklearn.decomposition.PCA : The same without fairness.

    Notes
    -----
    The tolerance speaks of the training rows. On new people MMD^2 is about tolerance + `chance_level_`, which no
    tolerance removes: check it there, with `fairpca.audit`. Only the projection is made fair; labels, and features used
    beside the projection, are not.

    A continuous attribute is seen by where each row stands in it, u in [0, 1], the share of the rows below it: units
    and outliers do not matter. Its measure is

    .. math:: \mathrm{HSIC} = \frac{1}{n^2} \operatorname{tr}(K H L H), \qquad
              L_{ij} = e^{-(u_i - u_j)^2 / (2 s^2)}, \quad H = I - \frac{1}{n} 1 1',

    with s = 0.207, the median heuristic for such u; L is made of 11 features, which can lower HSIC by 3e-6 at most.
    HSIC is smaller than MMD^2: of two groups of equal size, separated as sharply, it would be an eighth. Choose the
    tolerance accordingly, for example by attribute.

    References
    ----------
    J. Lee, G. Kim, M. Olfat, M. Hasegawa-Johnson, C. D. Yoo, "Fast and Efficient MMD-based Fair PCA via
    Optimization over Stiefel Manifold", AAAI 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5))
    >>> X[group == "b", 0] += 2
    >>> model = FairPCA(n_components=2, tolerance=1e-3).fit(X, sensitive_features=group)
    >>> model.converged_, bool(model.mmd2_ <= 1e-3)
    (True, True)
    >>> model.transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        n_components: int | float = 2,
        *,
        tolerance: Any = "auto",
        fairness: Any = "demographic_parity",
        favourable: Any = None,
        sensitive: str = "each",
        sensitive_kind: Any = "auto",
        min_group_size: int = 5,
        small_groups: str = "refuse",
        missing: str = "refuse",
        attribute_error: Any = None,
        solver: Any = "budget",
        mmd: str = "auto",
        bandwidth: Any = "median",
        standardize: bool = True,
        init: Any = "mean-matched",
        callback: Callable[[OuterStep], None] | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.tolerance = tolerance
        self.fairness = fairness
        self.favourable = favourable
        self.sensitive = sensitive
        self.sensitive_kind = sensitive_kind
        self.min_group_size = min_group_size
        self.small_groups = small_groups
        self.missing = missing
        self.attribute_error = attribute_error
        self.solver = solver
        self.mmd = mmd
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.init = init
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Find the subspace.

        Parameters
        ----------
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
            Rows.
        y : array-like, or Dask series or array, of shape (n_samples,), default=None
            Labels, for notions of fairness that speak of them; others ignore it.
        sensitive_features : array-like, frame or Dask collection of shape (n_samples,) or (n_samples, k), default=None
            Protected attributes: labels of any kind, or numbers; a mapping of names to columns will do. Without it
            this is plain PCA, with a warning.
        control_features : array-like, frame or Dask collection of shape (n_samples,) or (n_samples, k), default=None
            Segments: groups are compared within each combination of values by itself.
        sample_weight : array-like, or Dask series or array, of shape (n_samples,), default=None
            How much each row counts. Whole numbers are counts: a weight of 2 is the same as the row twice. Other
            weights count in proportion. Rows of weight 0 count as absent.

        Returns
        -------
        self : FairPCA
            The fitted estimator. A fit that fails or is interrupted leaves it as it was.
        """
        fit_or_leave(self, X, People(sensitive_features, y, control_features, sample_weight))
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> AnyArray:
        """Fit, then project the same rows.

        Parameters
        ----------
        X, y, sensitive_features, control_features, sample_weight
            See `fit`.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The projections.
        """
        known = {"sensitive_features": sensitive_features, "control_features": control_features}
        return self.fit(X, y, **known, sample_weight=sample_weight).transform(X)

    def summary(self) -> str:
        """Return what was learned, in a few plain sentences."""
        check_is_fitted(self)
        kept = self.explained_variance_ratio_.sum()
        n_live = self.n_live_components_
        lines = [
            f"{n_live} {'component keeps' if n_live == 1 else 'components keep'} {100 * kept:.1f} % of the variance."
        ]
        for measure in self.measures_:
            rows = " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))
            lines.append(
                f"{measure['name']}: training MMD^2 is {measure['mmd2']:.2g} (tolerance {measure['tolerance']:.2g}); "
                f"on as many new people expect about {measure['expected_mmd2_new']:.2g}; random groups of this size "
                f"({rows} rows) would differ by about {measure['chance_level']:.2g}."
            )
        if self.attribute_error is not None:
            lines.append("All of this speaks of the true groups, at the rates of errors in attribute_error.")
        is_auto = isinstance(self.tolerance, str)
        if self.measures_ and self.result_.status is Status.PCA_IS_FAIR:
            little = "its groups differ by no more than random groups would, or by less than one point"
            reason = little if is_auto else "it meets the tolerance"
            lines.append(f"This is plain PCA: {reason}.")
        elif is_auto and any(measure["tolerance"] == FLOOR for measure in self.measures_):
            lines.append(
                f"Tolerances go no lower than {FLOOR:g}: there no smooth score, with values between -1 and 1, has "
                "group means more than 0.01 apart, one point."
            )
        if not self.converged_:
            lines.append(f"Not what was asked for: {self.result_.message}.")
        if hasattr(self, "projected_covariance_"):
            lines += _loading_columns(self)
        return "\n".join(lines)

    def report(self, X: Any, y: Any = None, *, sensitive_features: Any, **options: Any) -> Any:
        """Return a page on what new people, reduced, still reveal: `fairpca.report.make_report` has the options."""
        from fairpca.report import make_report

        return make_report(self, X, y, sensitive_features=sensitive_features, **options)

    def _fit(self, X: Any, people: People) -> list[Note]:
        solver = solver_from(self.solver)
        if isinstance(self.tolerance, str):
            check_auto(self.tolerance)
            fitter = Fitter.of(self, X, people, LARGEST_MMD2)
        else:
            solver.check_tolerances(check_tolerances(self.tolerance))
            fitter = Fitter.of(self, X, people, self.tolerance)
        comparison = fitter.compared.comparison
        if comparison is None:
            found = fitter.fit(math.inf, solver)
        elif isinstance(self.tolerance, str):
            found = fit_to_chance(fitter, solver)
        else:
            found = fitter.fit(comparison.tolerances, solver)
        learn(self, fitter, found)
        return self._notes(fitter, found)

    def _notes(self, fitter: Fitter, found: Fit) -> list[Note]:
        """Return what the user is to be warned of after a fit."""
        result, d, n_live = found.result, self.n_components_, self.n_live_components_
        tau = f"tolerance={result.tolerance:g}"
        notes: list[Note] = self._above_rank(d, fitter.data.axes.rank)
        notes += notes_on_people(fitter)
        if result.status is Status.NO_SENSITIVE_FEATURES:
            return [self._without_groups(), *notes]
        if result.status is not Status.PCA_IS_FAIR and result.tolerance < STRICT * self.chance_level_:
            message = (
                f"{tau} is less than a twentieth of {self.chance_level_:.2g}, by which random groups of these sizes "
                "would differ. So strict a tolerance fits single rows: it promises nothing more of new people, and the "
                'answer is one local optimum of many. tolerance="auto" asks for half of that level.'
            )
            notes.append((message, StrictToleranceWarning))
        if not result.success:
            measure = self.measures_[fitter.tightest(result)]["name"] if len(self.measures_) > 1 else None
            notes.append((_why_not(result, d, measure), ConvergenceWarning))
        if result.mmd2_error > MEASURED_TO * result.tolerance > 0.0:
            message = (
                f"MMD^2 is {result.mmd2:.3g}, known to within {result.mmd2_error:.1g} only, more than a hundredth of "
                f"{tau}: {self.n_samples_} rows are too many to compare all pairs of them, and neither features nor a "
                'sample say more. A larger tolerance needs less accuracy; mmd="exact" compares all pairs, which takes '
                "long."
            )
            notes.append((message, AccuracyWarning))
        if result.meets and n_live == 0:
            message = (
                f"no component carries variance: the projection is 0 on every row, which meets {tau} and keeps "
                'nothing. Raise it, or use solver="budget", which keeps one at least.'
            )
            notes.append((message, NullComponentsWarning))
        elif result.meets and n_live < min(d, fitter.data.axes.rank):
            message = (
                f"{n_live} of {d} components {'carries' if n_live == 1 else 'carry'} variance: at {tau} more of them "
                "would keep less. Use solver=Budget(allow_null=False) for components that all do."
            )
            notes.append((message, NullComponentsWarning))
        if found.components.shrinking < VISIBLY_SHRUNK:
            message = (
                f"only {100 * found.components.shrinking:.0f} % of a component lies in directions in which rows "
                "differ: its projections are shrunk, which lowers MMD^2 at this bandwidth. Whoever scales them up "
                "again sees more of the groups; a larger tolerance or fewer components need no shrinking."
            )
            notes.append((message, NullComponentsWarning))
        return notes


def learn(model: FairPCA, fitter: Fitter, found: Fit) -> None:
    """Let a model learn everything that a fit has found.

    Parameters
    ----------
    model : FairPCA
        A model that knows its number of features.
    fitter : Fitter
        The problem that was solved.
    found : Fit
        The answer.
    """
    data, result = fitter.data, found.result
    model._learn_components(found.components, data.axes, data.scaling, data.n_rows, data.mass)
    model.bandwidth_, model.bandwidth_factors_, model.mmd_method_ = data.bandwidth, data.factors, data.method
    model.mmd2_, model.mmd2_error_ = result.mmd2, result.mmd2_error
    model.measures_, model.sensitive_kinds_ = fitter.records(found), dict(fitter.compared.kinds)
    model.mmd2_by_measure_ = {record["name"]: record["mmd2"] for record in model.measures_}
    record = model.measures_[fitter.tightest(result)] if model.measures_ else {}
    model.tolerance_ = result.tolerance
    model.chance_level_ = record.get("chance_level", math.nan)
    model.expected_mmd2_new_ = record.get("expected_mmd2_new", math.nan)
    model.converged_, model.n_iter_ = result.success, len(result.steps)
    model.result_, model._seen_rows = result, fitter.seen


def notes_on_people(fitter: Fitter) -> list[Note]:
    """Return what is to be said of who is left out of a comparison, and of columns that reveal an attribute.

    Parameters
    ----------
    fitter : Fitter
        The problem.
    """
    notes: list[Note] = []
    left_out = fitter.compared.left_out
    if left_out:
        message = f"left out of the comparison, though not of the variance: {'; '.join(left_out)}."
        notes.append((message, LeftOutWarning))
    if fitter.proxies:
        listed = "; ".join(f"{', '.join(columns)} reveals {name}" for name, columns in fitter.proxies.items())
        notes.append((f"X holds protected attributes: {listed}. {_WHAT_PROXIES_MEAN}", AttributeInTableWarning))
    return notes


def _why_not(result: FitResult, n_components: int, measure: str | None) -> str:
    """Return why a fit is not what was asked for, and the way out; `measure` is named where there are several."""
    if result.meets:
        return (
            f"FairPCA met tolerance={result.tolerance:g} but stopped before the answer was stationary "
            f"({result.message})."
        )
    advice = "raise tolerance above it"
    if n_components > 1:
        advice += " or ask for fewer components"
    if result.largest_feasible_components:
        advice += f"; {result.largest_feasible_components} met the tolerance in a trial with this bandwidth"
    of_measure = f" of {measure}" if measure else ""
    return (
        f"FairPCA did not meet tolerance={result.tolerance:g}: MMD^2{of_measure} is {result.mmd2:.3g} after "
        f"{len(result.steps)} steps ({result.message}). The smallest MMD^2 found at this number of components is "
        f"{result.smallest_mmd2:.3g}: {advice}."
    )


def _loading_columns(model: FairPCA, most: int = 4, least: float = 0.3) -> list[str]:
    """Return a line for each component that carries variance, with the columns that load most.

    Parameters
    ----------
    model : LinearProjection
        A fitted model.
    most : int, default=4
        Columns at most.
    least : float, default=0.3
        Loading that a column needs beside the largest one.
    """
    names = getattr(model, "feature_names_in_", [f"column {j}" for j in range(model.n_features_in_)])
    lines = []
    for number in range(model.n_live_components_):
        loadings = model.components_[number]
        order = np.argsort(-np.abs(loadings), kind="stable")[:most]
        named = [f"{loadings[j]:+.2f} {names[j]}" for j in order if j == order[0] or abs(loadings[j]) >= least]
        share = 100 * model.explained_variance_ratio_[number]
        lines.append(f"{model.get_feature_names_out()[number]} ({share:.1f} % of the variance): {', '.join(named)}.")
    return lines
