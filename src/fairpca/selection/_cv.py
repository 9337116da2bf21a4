"""FairPCACV: FairPCA at the loosest tolerance that held-out rows certify."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_random_state

from fairpca._utils.checks import check_confidence, check_number
from fairpca._utils.progress import say_with
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import Note
from fairpca.comparison import LARGEST_MMD2, People, Terms
from fairpca.estimator import FairPCA
from fairpca.exceptions import NotCertifiedWarning
from fairpca.fitting import Fitter, fit_or_leave, unfitted_copy
from fairpca.inference import LEAST_ROWS
from fairpca.path import FairPCAPath, check_decreasing, check_estimator
from fairpca.rows import is_dask, is_sparse
from fairpca.selection._held_out import HeldOut
from fairpca.selection._split import by_position, held_out_split, part_of, people_at
from fairpca.solvers import Solver, solver_from


class FairPCACV(TransformerMixin, BaseEstimator):
    r"""FairPCA at the loosest tolerance that held-out rows certify.

    Rows are split once, models along decreasing tolerances are fitted to one part, and on the other they are judged
    from the strictest to the loosest until for one of them the bound on the MMD^2 of the population,

    .. math:: U = e + 2 z^2 l + z \sqrt{s^2 + 4 l e + 4 z^2 l^2},

    exceeds the `target` \epsilon; e = h - b is the MMD^2 of the held-out rows minus its chance level. The last before
    it is `best_estimator_`: with probability `confidence` the MMD^2 of the population is at most \epsilon after its
    projection, however many tolerances were tried. It is not fitted again, which would void that.

    Parameters
    ----------
    estimator : FairPCA, default=None
        All that a model is but its tolerance; None is `FairPCA()`. Rows that a group needs are counted on all rows and
        on those that are fitted to. Where it has several bandwidths at once, held-out rows are judged at the one
        next to sigma, as by `fairpca.audit`.
    target : float
        epsilon, what the MMD^2 of the population must not exceed. ``FairPCA(tolerance="auto")`` chooses a tolerance
        without one.
    tolerances : sequence of float, default=None
        Decreasing tolerances. None takes 10 of them, from 2, where plain PCA is the answer, to a sixteenth of the
        chance level.
    confidence : float, default=0.95
        The probability with which the population does not exceed the target, where a model is certified.
    test_size : float, default=0.5
        Share of the rows of each group that certify.
    callback : callable, default=None
        Called with a few words on what has been done; `print` shows them.
    random_state : int, RandomState instance or None, default=None
        Splits the rows, and draws what bounds draw; fits as well, unless the estimator has a `random_state` of its own.

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
        For `pandas.DataFrame(model.cv_results_)`: `tolerance`, `test_mmd2`, `test_chance_level`, `test_excess`,
        `upper_bound` and `test_variance` of the measure with the largest bound, nan for tolerances that were not
        looked at.
    certified_ : bool
        Whether a model was certified. If not, `best_estimator_` is the strictest.
    certificate_ : HeldOutCertificate or None
        What was shown of it: `target`, `upper_bound`, `mmd2`, `chance_level`, `confidence`, `n_rows`, `tolerance`,
        `bandwidth` and `measures`; `print` it.
    fitted_rows_, certified_rows_ : ndarray of int
        Positions of the rows that models were fitted to, and of those that judged them.
    bandwidth_ : float
        sigma of the model.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when `X` had them.

    See Also
    --------
    FairPCA : With ``tolerance="auto"`` it asks for half of the chance level, without a target.
    fairpca.audit : What new people show.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA, FairPCACV
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 400)
    >>> X = rng.normal(size=(800, 4)) * [2.0, 1.5, 1.0, 1.0]
    >>> X[group == "b", 1] += 2
    >>> model = FairPCACV(FairPCA(2, standardize=False), target=0.02, tolerances=[0.1, 1e-2, 1e-3], random_state=0)
    >>> model.fit(X, sensitive_features=group).certified_
    True
    >>> bool(model.certificate_.upper_bound <= 0.02)
    True
    """

    def __init__(
        self,
        estimator: FairPCA | None = None,
        *,
        target: float | None = None,
        tolerances: Sequence[float] | None = None,
        confidence: float = 0.95,
        test_size: float = 0.5,
        callback: Callable[[str], None] | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.tolerances = tolerances
        self.confidence = confidence
        self.test_size = test_size
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
        fit_or_leave(self, X, people, self._checked(X, people))
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

    def _checked(self, X: Any, people: People) -> FloatArray | None:
        """Refuse what no work is needed to refuse; return the tolerances that were asked for."""
        if people.sensitive_features is None:
            raise ValueError("sensitive_features=None: a tolerance is chosen by how groups differ; pass them.")
        if self.target is None:
            raise ValueError(
                "target=None: FairPCACV needs the MMD^2 that the population must not exceed, for example target=0.05. "
                'Without a target use FairPCA(tolerance="auto"), which asks for half of the chance level.'
            )
        if any(map(is_dask, [X, *people.tables.values()])):
            raise TypeError(
                "FairPCACV splits rows at random and needs them in memory; got a Dask collection. Use compute(), or "
                'FairPCA with tolerance="auto", which holds out no rows.'
            )
        check_number("target", self.target, above=0.0)
        check_number("test_size", self.test_size, above=0.0, below=1.0)
        check_confidence(self.confidence)
        say_with(self.callback)
        estimator = check_estimator(self.estimator)
        solver_from(estimator.solver)
        Terms.of(estimator).check_confidence(self.confidence)
        return None if self.tolerances is None else check_decreasing(self.tolerances)

    def _fit(self, X: Any, people: People, asked: FloatArray | None) -> list[Note]:
        seed = int(check_random_state(self.random_state).randint(2**31))
        model = unfitted_copy(check_estimator(self.estimator))
        if model.random_state is None:
            model.set_params(random_state=seed)
        whole = Fitter.of(model, X, people, LARGEST_MMD2)
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, attribute):
                setattr(self, attribute, getattr(model, attribute))
        # Rows that chose the tolerance are no new people either.
        self._seen_rows, compared = whole.seen, whole.compared
        needed = model.min_group_size, LEAST_ROWS, f"test_size={self.test_size!r}"
        fitted, held_out = held_out_split(self.test_size, compared, np.random.default_rng(seed), *needed)
        # What was settled on all rows: a part may have fewer distinct values, and need fewer components.
        kinds = next(iter(compared.kinds.values())) if len(compared.kinds) == 1 else compared.kinds
        model.set_params(n_components=whole.data.n_components, sensitive_kind=kinds)
        rows = by_position(X) if is_sparse(X) or hasattr(model, "feature_names_in_") else np.asarray(X)
        labels = people.y if Terms.of(model).notion.needs_labels else None
        known = people.sensitive_features, labels, people.control_features, people.sample_weight
        of_part = people_at(People(*map(by_position, known)), fitted)
        notes, models = self._models(model, part_of(rows, fitted), of_part, asked)
        self.fitted_rows_, self.certified_rows_ = fitted, held_out
        assert self.target is not None
        held = HeldOut.of(rows, compared, held_out, self.target, self.confidence, seed)
        return notes + self._choose(models, held)

    def _models(
        self, model: FairPCA, X: Any, people: People, asked: FloatArray | None
    ) -> tuple[list[Note], list[FairPCA]]:
        """Fit to some of the rows along tolerances: the order of models must not depend on those that judge."""
        if asked is None:
            fitter = Fitter.of(unfitted_copy(model), X, people, LARGEST_MMD2)
            asked = default_tolerances(fitter, solver_from(model.solver))
        path = FairPCAPath(model)
        notes = path._fit(X, people, asked)
        self.tolerances_ = asked
        say_with(self.callback)(f"{len(asked)} models fitted to {path.models_[0].n_samples_} rows")
        return notes, path.models_

    def _choose(self, models: list[FairPCA], held: HeldOut) -> list[Note]:
        """Take the loosest model that the held-out rows certify, or the strictest of all."""
        judgements = held.judge_in_turn(models)
        certified = [index for index, judgement in judgements.items() if judgement.bound <= held.target]
        best = certified[-1] if certified else len(models) - 1
        self.cv_results_ = held.table(self.tolerances_, models, judgements)
        self.best_index_, self.best_estimator_ = best, models[best]
        self.best_score_ = float(self.cv_results_["test_variance"][best])
        self.best_tolerance_, self.bandwidth_ = float(self.tolerances_[best]), models[best].bandwidth_
        self.certified_ = bool(certified)
        self.certificate_ = held.certificate(models[best], judgements[best]) if certified else None
        return [] if certified else [(held.why_not(judgements[best]), NotCertifiedWarning)]


def default_tolerances(fitter: Fitter, solver: Solver, count: int = 10) -> FloatArray:
    """Return decreasing tolerances, from one that plain PCA meets on any rows to a sixteenth of the chance level.

    Parameters
    ----------
    fitter : Fitter
        The problem.
    solver : Solver
        Solves.
    count : int, default=10
        How many.
    """
    pca = fitter.fit(LARGEST_MMD2, solver, "pca")
    levels = fitter.chance.levels(pca.components.rows[: pca.components.n_live])
    # Far below half of the chance level variance falls, and new people differ no less.
    strictest = float(levels.min()) / 16.0
    loosest = max(float(pca.result.mmd2s.max()), 2.0 * float(levels.max()))
    tolerances = np.geomspace(loosest, strictest, count)
    # Plain PCA has a larger MMD^2 on some parts than on all rows.
    tolerances[0] = LARGEST_MMD2
    return tolerances
