"""FairPCACV: FairPCA at a tolerance that held-out rows have chosen."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, check_random_state

from fairpca._utils.progress import say_with
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import Note, warn_user
from fairpca.comparison import LARGEST_MMD2, People, Terms
from fairpca.estimator import FairPCA
from fairpca.exceptions import NotCertifiedWarning
from fairpca.fitting import Fitter, unfitted_copy
from fairpca.inference import LEAST_ROWS
from fairpca.path import FairPCAPath
from fairpca.rows import is_sparse
from fairpca.selection._checks import check_choice
from fairpca.selection._grid import default_tolerances
from fairpca.selection._people_in_parts import PeopleInParts
from fairpca.selection._scores import Scores, score_fold
from fairpca.selection._sequence import certificate_of, fixed_sequence, table_of, why_not
from fairpca.selection._splits import check_parts, folds, one_split
from fairpca.selection._tables import by_position
from fairpca.solvers import solver_from

_OWN = ("tolerances", "cv", "target", "confidence", "test_size", "n_jobs", "callback", "random_state")
"""Parameters that are not those of `FairPCA`."""


class FairPCACV(TransformerMixin, BaseEstimator):
    r"""FairPCA at a tolerance chosen by people that it was not fitted to.

    Without a `target` by cross-validation: for each fold models are fitted along decreasing tolerances to the other
    folds, and on the fold itself MMD^2 is compared with what chance shows, e = h - b. The loosest tolerance whose mean
    excess is within one deviation s of the smallest is taken,

    .. math:: \bar e_\tau \le \min_{\tau'} \bar e_{\tau'} + s,

    with s the deviation of the mean for groups drawn by lot; of several measures the largest excess in units of its
    deviation counts. `best_estimator_` is then fitted to all rows.

    With a `target` \epsilon by certificates: rows are split once, models are fitted to one part, and on the other they
    are judged from the strictest to the loosest until for one of them

    .. math:: U = e + 2 z^2 l + z \sqrt{s^2 + 4 l e + 4 z^2 l^2} > \epsilon.

    The last before it is `best_estimator_`: with probability `confidence` the MMD^2 of the population is at most
    \epsilon after its projection, however many tolerances were tried. It is not fitted again, which would void that.

    Parameters
    ----------
    n_components : int or float, default=2
        d, or a share of the variance, as in `FairPCA`.
    tolerances : sequence of float, default=None
        Decreasing tolerances. None takes 10 of them, from 2, where plain PCA is the answer, to a sixteenth of what
        chance shows.
    cv : int, splitter of scikit-learn or iterable of pairs, default=5
        Number of folds, with the same share of every group in each, or how rows are split. With a target it is not
        used.
    target : float, default=None
        epsilon, what the MMD^2 of the population must not exceed.
    confidence : float, default=0.95
        The probability with which it does not, where a model is certified.
    test_size : float, default=0.5
        Share of the rows of each group that certify.
    fairness, favourable, sensitive, sensitive_kind, min_group_size, small_groups, missing
        As in `FairPCA`. Rows that a group needs are counted on all rows and on those that are fitted to.
    solver, mmd, bandwidth, standardize
        As in `FairPCA`. Where a model has several bandwidths at once, held-out rows are judged at that of the factor 1,
        as by `fairpca.audit`.
    n_jobs : int, default=None
        Folds that are worked on at a time, in processes of their own; -1 takes all processors.
    callback : callable, default=None
        Called with a few words on what has been done; `print` shows them.
    random_state : int, RandomState instance or None, default=None
        Deals rows out, and draws what fits and bounds draw.

    Attributes
    ----------
    best_estimator_ : FairPCA
        The model.
    best_tolerance_ : float
        Its tolerance.
    best_index_ : int
        Where that is in `tolerances_`.
    best_score_ : float
        Share of the variance that models of this tolerance keep of held-out rows.
    tolerances_ : ndarray of shape (n_tolerances,)
        The tolerances that were tried.
    cv_results_ : dict of ndarrays of shape (n_tolerances,)
        For `pandas.DataFrame(model.cv_results_)`: `tolerance`, the `measure` of the largest excess, `mean_test_mmd2`,
        `std_test_mmd2`, `mean_test_chance_level`, `mean_test_excess`, the `null_deviation` of that,
        `mean_test_variance`, `std_test_variance`, and `split0_test_mmd2`, `split0_test_excess`,
        `split0_test_variance`, ... of each fold; of several measures the mean excess of each. With a target:
        `tolerance`, `test_mmd2`, `test_chance_level`, `test_excess`, `upper_bound` and `test_variance`, nan for
        tolerances that were not looked at.
    n_splits_ : int
        Number of splits.
    certified_ : bool
        With a target: whether a model was certified. If not, `best_estimator_` is the strictest.
    certificate_ : HeldOutCertificate or None
        With a target: what was shown of it.
    fitted_rows_, certified_rows_ : ndarray of int
        With a target: positions of the rows that models were fitted to, and of those that judged them.
    bandwidth_ : float
        sigma of the model.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when `X` had them.

    See Also
    --------
    FairPCA : With ``tolerance="auto"`` it asks for half of what chance shows, which does as well without folds.
    fairpca.audit : What new people show.

    Notes
    -----
    Cross-validation chooses; it shows nothing of the chosen model. There is no p-value of rows that took part in the
    choice: hold out others and `fairpca.audit` them, or ask for a certificate by `target`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCACV
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 400)
    >>> X = rng.normal(size=(800, 4)) * [2.0, 1.5, 1.0, 1.0]
    >>> X[group == "b", 1] += 2
    >>> model = FairPCACV(2, tolerances=[0.1, 1e-2, 1e-3], target=0.02, standardize=False, random_state=0)
    >>> model.fit(X, sensitive_features=group).certified_
    True
    >>> bool(model.certificate_.upper_bound <= 0.02)
    True
    """

    def __init__(
        self,
        n_components: int | float = 2,
        *,
        tolerances: Sequence[float] | None = None,
        cv: Any = 5,
        target: float | None = None,
        confidence: float = 0.95,
        test_size: float = 0.5,
        fairness: Any = "demographic_parity",
        favourable: Any = None,
        sensitive: str = "each",
        sensitive_kind: Any = "auto",
        min_group_size: int = 5,
        small_groups: str = "refuse",
        missing: str = "refuse",
        solver: Any = "budget",
        mmd: str = "auto",
        bandwidth: Any = "median",
        standardize: bool = True,
        n_jobs: int | None = None,
        callback: Callable[[str], None] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.tolerances = tolerances
        self.cv = cv
        self.target = target
        self.confidence = confidence
        self.test_size = test_size
        self.fairness = fairness
        self.favourable = favourable
        self.sensitive = sensitive
        self.sensitive_kind = sensitive_kind
        self.min_group_size = min_group_size
        self.small_groups = small_groups
        self.missing = missing
        self.solver = solver
        self.mmd = mmd
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.callback = callback
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Choose a tolerance and fit.

        Parameters
        ----------
        X, y, sensitive_features, control_features, sample_weight
            See `FairPCA.fit`; here the sensitive features are needed, and rows must be in memory.

        Returns
        -------
        self : FairPCACV
            The fitted estimator. A fit that fails or is interrupted leaves it as it was.
        """
        people = People(sensitive_features, y, control_features, sample_weight)
        asked = check_choice(self, X, people)
        fitted = unfitted_copy(self)
        notes = fitted._fit(X, people, asked)
        self.__dict__ = fitted.__dict__
        for note in notes:
            warn_user(*note)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any,
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

    def transform(self, X: Any) -> AnyArray:
        """Project rows by the chosen model.

        Parameters
        ----------
        X : array-like, or sparse array or matrix, of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Their coordinates in the subspace.
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    def inverse_transform(self, Z: Any) -> AnyArray:
        """Return the rows of the feature space that projections stand for.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Projections.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The closest rows of the feature space, in its original units.
        """
        check_is_fitted(self)
        return self.best_estimator_.inverse_transform(Z)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of these rows that the chosen model keeps.

        Parameters
        ----------
        X : array-like, or sparse array or matrix, of shape (n_samples, n_features)
            Rows; at least two.
        y : ignored
            Present for API consistency.

        Returns
        -------
        score : float
            tr(V'SV) / tr(S).
        """
        check_is_fitted(self)
        return self.best_estimator_.score(X)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the components.

        Parameters
        ----------
        input_features : ignored
            Present for API consistency.

        Returns
        -------
        names : ndarray of str of shape (n_components,)
            fairpca0, fairpca1, ...
        """
        check_is_fitted(self)
        names: AnyArray = self.best_estimator_.get_feature_names_out(input_features)
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Any, people: People, asked: FloatArray | None) -> list[Note]:
        seed = int(check_random_state(self.random_state).randint(2**31))
        model = FairPCA(**self._parameters(), tolerance=LARGEST_MMD2, random_state=seed)
        fitter = Fitter.of(model, X, people, LARGEST_MMD2)
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, attribute):
                setattr(self, attribute, getattr(model, attribute))
        keeps = is_sparse(X) or hasattr(model, "feature_names_in_")
        rows = by_position(X) if keeps else np.asarray(X)
        labels = people.y if Terms.of(self).notion.needs_labels else None
        known = people.sensitive_features, labels, people.control_features, people.sample_weight
        table = PeopleInParts(rows, People(*map(by_position, known)), fitter.compared, seed)
        choose = self._cross_validate if self.target is None else self._certify
        notes = choose(table, fitter, asked)
        self.best_tolerance_ = float(self.tolerances_[self.best_index_])
        self.bandwidth_ = self.best_estimator_.bandwidth_
        return notes

    def _cross_validate(self, table: PeopleInParts, fitter: Fitter, asked: FloatArray | None) -> list[Note]:
        """Choose by folds, and fit to all rows."""
        splits = folds(self.cv, table.compared, np.random.default_rng(table.seed))
        for parts in splits:
            check_parts(parts, table.compared, self.min_group_size, 1, f"cv={self.cv!r}")
        self.tolerances_ = default_tolerances(fitter, solver_from(self.solver)) if asked is None else asked
        path = self._path(table, fitter)
        tasks = (
            delayed(score_fold)(
                unfitted_copy(path), *table.to_fit(parts.fitted), self.tolerances_, table.to_judge(parts.held_out)
            )
            for parts in splits
        )
        names = tuple(measure.measured.name for measure in table.compared.measures)
        judged = []
        for fold in Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks):
            judged.append(fold)
            say_with(self.callback)(f"fold {len(judged)} of {len(splits)}")
        scores = Scores.of(self.tolerances_, names, judged)
        self.n_splits_, self.cv_results_, self.best_index_ = len(splits), scores.table(), scores.best()
        self.best_score_ = float(self.cv_results_["mean_test_variance"][self.best_index_])
        tolerance = float(self.tolerances_[self.best_index_])
        self.best_estimator_ = FairPCA(**self._parameters(), tolerance=tolerance, random_state=table.seed)
        return self.best_estimator_._fit(table.X, table.people)

    def _certify(self, table: PeopleInParts, fitter: Fitter, asked: FloatArray | None) -> list[Note]:
        """Fit to one part, and take the loosest model that the other certifies."""
        assert self.target is not None
        parts = one_split(self.test_size, table.compared, np.random.default_rng(table.seed))
        check_parts(parts, table.compared, self.min_group_size, LEAST_ROWS, f"test_size={self.test_size!r}")
        path = self._path(table, fitter)
        X, people = table.to_fit(parts.fitted)
        if asked is None:
            # From the rows that are fitted to: the order of models must not depend on those that judge.
            of_part = Fitter.of(unfitted_copy(path), X, people, LARGEST_MMD2)
            asked = default_tolerances(of_part, solver_from(self.solver))
        notes = path._fit(X, people, asked)
        say_with(self.callback)(f"{len(path.models_)} models fitted to {len(parts.fitted)} rows")
        models, held = path.models_, table.to_judge(parts.held_out)
        judgements = fixed_sequence(models, held, self.target, self.confidence)
        certified = [index for index, judgement in judgements.items() if judgement.bound <= self.target]
        best = certified[-1] if certified else len(models) - 1
        self.tolerances_, self.n_splits_, self.best_index_ = asked, 1, best
        self.fitted_rows_, self.certified_rows_ = parts.fitted, parts.held_out
        self.cv_results_ = table_of(asked, models, judgements, held)
        self.best_estimator_ = models[best]
        self.best_score_ = float(self.cv_results_["test_variance"][best])
        self.certified_, self.certificate_ = bool(certified), None
        if certified:
            self.certificate_ = certificate_of(models[best], judgements[best], held, self.target, self.confidence)
            return notes
        return [*notes, (why_not(judgements[best], held, self.target, self.confidence), NotCertifiedWarning)]

    def _parameters(self) -> dict[str, Any]:
        """Return those that `FairPCA` has as well, but for tolerance and seed."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}

    def _path(self, table: PeopleInParts, fitter: Fitter) -> FairPCAPath:
        """Return a path with what was settled on all rows: the number of components and the kinds of attributes."""
        settled = {"n_components": fitter.data.n_components, "sensitive_kind": table.kinds}
        return FairPCAPath(**(self._parameters() | settled), random_state=table.seed)
