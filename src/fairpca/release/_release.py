"""A transformer that releases less than it knows, so that no classifier can tell groups from it."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted, check_random_state, validate_data

from fairpca._utils.checks import check_confidence, check_integer, check_name, check_number, why_no_numbers
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import warn_user
from fairpca.comparison import Compared, People, Terms, check_same_rows
from fairpca.exceptions import NotCertifiedWarning
from fairpca.release._bound import bound_of, check_largest_weight
from fairpca.release._noise import DRAWN_SHARE, LEVELS, PeopleNoise, distances_behind, uses_grid
from fairpca.release._places import Places
from fairpca.release._sides import (
    AGAINST,
    Sides,
    check_names,
    finest_level,
    masses_of_rows,
    sides_of,
    slacks_below,
)
from fairpca.rows import SeenRows, key_of, table_rows

KINDS = ("cells", "task", "noise")

OUTPUTS = ("centres", "codes")


class Release(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Release a coarser version of a reduction, with a promise about every classifier.

    Rows are rounded to places, or get noise that belongs to their person. How coarse the release has to be is found on
    held-out rows by `certify`, from the coarsest of a nested family of levels to finer ones, as long as

    .. math:: U = T + c \sqrt{1/m + 1/n} \le \text{target},

    with T the total variation distance between what is released of the m and n rows of two groups. Then, with
    probability 1 - alpha, no decision made from the release has a parity gap above the target, and no classifier tells
    the groups with a balanced accuracy above (1 + target) / 2, however it is built.

    Parameters
    ----------
    kind : {"cells", "task", "noise"}, default="cells"
        "cells" rounds rows to `n_cells` places (k-means) of training rows, which are merged so that differences of
        groups cancel at the least loss of variance. "task" makes places of rows to which boosting gives the same
        chances of a label `y` and of each group, and linear programs put them together so that groups are alike and
        labels are known best: it is best fitted to all features. "noise" adds N(0, s^2), one draw for each person, and
        rounds to multiples of s / 8.
    n_cells : int, default=None
        Places before any are merged: 64 by default; of "task" 256, if there are 32 training rows for each.
    output : {"centres", "codes"}, default="centres"
        What is released of a cell: its centre, of "task" its chances of labels, or its number.
    fairness, favourable, sensitive, min_group_size, small_groups, missing, attribute_error
        How people are compared, see `FairPCA`.
    against : {"each other", "all others"}, default="each other"
        Of more than two groups, compare every two, or each with all others together.
    confidence : float, default=0.95
        1 - alpha.
    random_state : int, RandomState instance or None, default=None
        Draws first centres, folds, and rows for distances behind noise in more than two columns.

    Attributes
    ----------
    certificate_ : AnyClassifierBound
        What `certify` has shown. Its `upper_bound` is the target.
    level_ : float
        The level that was certified: a number of cells, or s.
    places_ : Places
        The places and their levels, of "cells" and "task".
    levels_ : ndarray of shape (n_levels,)
        Levels from the coarsest to the finest: numbers of cells, or s.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are texts.

    Notes
    -----
    The promise is about people of the population that the rows of `certify` are a sample of, about the released columns
    alone, and about averages over groups: it says nothing of what is known of one person. Whoever adds other columns
    has no promise. Noise is for one release of each person: the mean of several has less of it. Rows of `certify` must
    not have been used to fit or to choose anything: the reduction, the kind, `n_cells`, the target.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import Release
    >>> rng = np.random.default_rng(0)
    >>> group = rng.choice(["a", "b"], 12_000)
    >>> Z = rng.normal(size=(12_000, 2)) + 0.2 * (group == "b")[:, None]
    >>> release = Release(random_state=0).fit(Z[:6000], sensitive_features=group[:6000])
    >>> release = release.certify(Z[6000:], sensitive_features=group[6000:], target=0.1)
    >>> release.certificate_.upper_bound, round(release.certificate_.balanced_accuracy, 3)
    (0.1, 0.55)
    >>> release.transform(Z[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        kind: str = "cells",
        *,
        n_cells: int | None = None,
        output: str = "centres",
        fairness: Any = "demographic_parity",
        favourable: Any = None,
        sensitive: str = "each",
        min_group_size: int = 5,
        small_groups: str = "refuse",
        missing: str = "refuse",
        attribute_error: Any = None,
        against: str = "each other",
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.kind = kind
        self.n_cells = n_cells
        self.output = output
        self.fairness = fairness
        self.favourable = favourable
        self.sensitive = sensitive
        self.min_group_size = min_group_size
        self.small_groups = small_groups
        self.missing = missing
        self.attribute_error = attribute_error
        self.against = against
        self.confidence = confidence
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Find the levels of the release on training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, such as projections.
        y : array-like of shape (n_samples,), default=None
            Labels, for "task" and for notions of fairness that speak of them.
        sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
            Protected attributes. Without, places are merged by variance alone.
        control_features, sample_weight
            See `FairPCA.fit`.

        Returns
        -------
        self : Release
            The fitted release, which has no certificate yet.
        """
        terms = self._checked_terms()
        people = People(sensitive_features, y, control_features, sample_weight)
        check_same_rows(X, people.tables)
        Z = self._rows(X, reset=True, ensure_min_samples=2)
        # Who was released with noise stays known: another fit makes a second release of them none the better.
        for name in ("certificate_", "level_"):
            if hasattr(self, name):
                delattr(self, name)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        self._seen_rows: SeenRows | None = SeenRows.of(table_rows(Z), key_of(Z.mean(axis=0)))
        sides, compared = self._sides_of_fit(people, len(Z), terms)
        if self.kind == "noise":
            self._people = PeopleNoise.of_fit(Z, getattr(self, "_people", None))
            self.levels_ = float(Z.std(axis=0).max() or 1.0) * LEVELS
        else:
            training = Z, masses_of_rows(people, len(Z)), sides, self.n_cells, self._seed
            is_task = self.kind == "task"
            self.places_ = Places.for_task(*training, y, compared) if is_task else Places.of_rows(*training)
            self.levels_ = self.places_.levels.max(axis=1) + 1.0
        return self

    def certify(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any,
        target: float = 0.10,
        control_features: Any = None,
        sample_weight: Any = None,
        largest_weight: float | None = None,
    ) -> Self:
        """Find the finest level whose bound, and those of all coarser ones, are at most a target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that were used neither to fit nor to choose anything.
        y, sensitive_features, control_features, sample_weight, largest_weight
            See `fairpca.any_classifier_bound`.
        target : float, default=0.10
            The largest total variation distance that is allowed, chosen beforehand.

        Returns
        -------
        self : Release
            The release at that level, with its `certificate_`.
        """
        check_is_fitted(self, "levels_")
        check_number("target", target, above=0.0, below=1.0)
        check_confidence(self.confidence)
        if self._seen_rows is None:
            raise ValueError("a release from a file does not know the rows of its fit: certify before saving.")
        terms = self._checked_terms()
        terms.check_confidence(self.confidence)
        Z, _, sides = self._compared(X, y, sensitive_features, control_features, sample_weight)
        overlap = self._seen_rows.overlap(Z)
        if overlap.too_many:
            raise ValueError(
                f"{overlap}, and what they show says nothing of new people: certify rows that were used neither to fit "
                "nor to choose."
            )
        check_names(sides, self._names)
        if largest_weight is not None:
            check_largest_weight(largest_weight, sample_weight)
        is_drawn = self.kind == "noise" and not uses_grid(Z.shape[1])
        alpha = (1.0 - self.confidence) * (1.0 - DRAWN_SHARE if is_drawn else 1.0)
        level, distances, n_levels = finest_level(self._distances(Z, sides), target, sides, alpha, largest_weight)
        shown = bound_of(sides, distances.tolist(), self.confidence, terms, largest_weight)
        self.level_ = float(self.levels_[level])
        self.certificate_ = shown.after_search(target, n_levels)
        return self

    def check_target(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any,
        target: float = 0.10,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> None:
        """Refuse a target for which rows are too few whatever is released of them, before any fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows that `certify` will get, whose numbers are not looked at.
        y, sensitive_features, control_features, sample_weight
            What is known of them.
        target : float, default=0.10
            The promise.
        """
        check_number("target", target, above=0.0, below=1.0)
        people = People(sensitive_features, y, control_features, sample_weight)
        check_same_rows(X, people.tables)
        sides, _ = sides_of(people, _num_samples(X), self._checked_terms(), self.against)
        slacks_below(target, sides, 1.0 - self.confidence)

    def trade_off(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any,
        targets: Sequence[float] = (0.05, 0.10, 0.15, 0.20),
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> list[dict[str, Any]]:
        """Say what promises would cost on rows with which one wants to choose, for releases of the kind "cells".

        These are no promises: whoever chooses a target by these rows certifies it on others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that were not used to fit.
        y, sensitive_features, control_features, sample_weight
            See `fairpca.any_classifier_bound`.
        targets : sequence of float, default=(0.05, 0.1, 0.15, 0.2)
            Promises, of which nobody tells the groups with more than 52.5 to 60 % balanced accuracy. The one that was
            certified is added.

        Returns
        -------
        costs : list of dict
            One for each: `target`, `balanced_accuracy`, and the `n_cells` of the finest level that keeps it on these
            rows, with the `variance` of what is released there, a share of that of the rows, and `label_auc`, how well
            cells tell a label `y` of two values; None if there is none.
        """
        check_is_fitted(self, "levels_")
        if self.kind != "cells":
            raise ValueError(f'trade_off speaks of the variance of cells; this release has kind="{self.kind}".')
        own = [self.certificate_.upper_bound] if hasattr(self, "certificate_") else []
        targets = sorted({*targets, *own})
        for target in targets:
            check_number("targets", target, above=0.0, below=1.0)
        Z, people, sides = self._compared(X, y, sensitive_features, control_features, sample_weight)
        slacks = np.array([each.slack(1.0 - self.confidence) for each in sides])
        bounds = np.array([(distances + slacks).max() for distances in self._distances(Z, sides)])
        return self.places_.costs(Z, y, masses_of_rows(people, len(Z)), bounds, targets)

    def transform(self, X: Any, *, ids: Any = None, key: bytes | None = None) -> AnyArray:
        """Release rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        ids : array-like of shape (n_samples,), default=None
            For noise: who each row is, as whole numbers or texts.
        key : bytes, default=None
            For noise: at least 16 secret bytes, the same for all of a release.

        Returns
        -------
        released : ndarray of shape (n_samples, n_features_out)
            What may be handed on, if the release is certified.
        """
        check_is_fitted(self, "levels_")
        Z = self._rows(X, reset=False)
        if self.kind == "noise":
            if not hasattr(self, "certificate_"):
                raise ValueError(
                    "this release has no certificate, and noise is drawn once for each person: call certify() on "
                    "held-out rows first."
                )
            return self._people.released(Z, self.level_, ids, key)
        if not hasattr(self, "certificate_"):
            warn_user(
                "this release has no certificate: all its places are told apart, and nothing is promised. Call "
                "certify() on held-out rows first.",
                NotCertifiedWarning,
            )
        level = self.level_ if hasattr(self, "certificate_") else self.levels_[-1]
        return self.places_.released(Z, int(np.flatnonzero(self.levels_ == level)[0]), self.output)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the released columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where the fit has not seen any.
        """
        check_is_fitted(self, "levels_")
        names: AnyArray = super().get_feature_names_out(input_features)
        if self.output == "codes":
            return np.array(["cell"], dtype=object)
        if self.kind == "task":
            return np.array([f"chance of {label}" for label in self.places_.labels[1:]], dtype=object)
        return names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.output == "codes":
            tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.get_feature_names_out())

    def save(self, path: Any, *, key: bytes | None = None) -> None:
        """Write a certified release to a file that `fairpca.load` reads, see `FairPCA.save`.

        Parameters
        ----------
        path : path
            Where to.
        key : bytes, default=None
            For noise: the key, of which the file gets a digest, and nothing else.
        """
        from fairpca.saving import release_to_archive, write_archive

        check_is_fitted(self, "levels_")
        if self.kind == "noise":
            self._people.take_key(key)
        write_archive(path, *release_to_archive(self))

    def _checked_terms(self) -> Terms:
        check_name("kind", self.kind, KINDS)
        check_name("output", self.output, OUTPUTS)
        check_name("against", self.against, AGAINST)
        if self.n_cells is not None:
            check_integer("n_cells", self.n_cells, least=2)
        if self.kind == "noise" and self.output == "codes":
            raise ValueError('output="codes" numbers places, which noise does not have; use output="centres".')
        names = [name for name in Terms.__dataclass_fields__ if name != "sensitive_kind"]
        return Terms.named(**{name: getattr(self, name) for name in names})

    def _rows(self, X: Any, **checks: Any) -> FloatArray:
        try:
            rows: FloatArray = validate_data(self, X, dtype=np.float64, **checks)
        except (ValueError, TypeError) as error:
            raise why_no_numbers(X, error) from None
        return rows

    def _compared(self, X: Any, *known: Any) -> tuple[FloatArray, People, list[Sides]]:
        """Return new rows, what is known of them, and what is compared among them."""
        y, sensitive_features, control_features, sample_weight = known
        people = People(sensitive_features, y, control_features, sample_weight)
        check_same_rows(X, people.tables)
        Z = self._rows(X, reset=False)
        return Z, people, sides_of(people, len(Z), self._checked_terms(), self.against)[0]

    def _sides_of_fit(self, people: People, n_rows: int, terms: Terms) -> tuple[list[Sides], Compared | None]:
        self._names: tuple[str, ...] | None = None
        if people.sensitive_features is None:
            return [], None
        sides, compared = sides_of(people, n_rows, terms, self.against)
        self._names = tuple(each.record["name"] for each in sides)
        return sides, compared

    def _distances(self, Z: FloatArray, sides: list[Sides]) -> Iterator[FloatArray]:
        """Yield T of each comparison, on one level after the other, until a level cannot be computed."""
        if self.kind != "noise":
            return self.places_.distances(Z, sides)
        weights, scales = [each.weights for each in sides], np.array([each.correction.scale for each in sides])
        found = distances_behind(Z, weights, self.levels_, 1.0 - self.confidence, self._seed)
        return (scales * distances for distances in found)
