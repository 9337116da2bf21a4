"""A transformer that releases less than it knows, so that no classifier can tell groups from it."""
# SPDX-License-Identifier: MIT

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_is_fitted, check_random_state, column_or_1d, validate_data

from fairpca._utils.checks import check_confidence, check_integer, check_name, check_number
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import warn_user
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, check_same_rows, compare, masses_of
from fairpca.exceptions import NotCertifiedWarning, OutOfReachError
from fairpca.release import _noise as noise
from fairpca.release._bound import bound_of, check_attribute_error, check_largest_weight
from fairpca.release._places import N_FOLDS, Places, TaskScores
from fairpca.release._sides import AGAINST, EQUAL_GROUPS, Sides, sides_of
from fairpca.rows import SeenRows, key_of, table_rows

KINDS = ("cells", "task", "noise")

OUTPUTS = ("centres", "codes")

TARGETS = (0.05, 0.10, 0.15, 0.20)
"""Promises whose costs are worth a look: nobody tells the groups with more than 52.5 to 60 % balanced accuracy."""

LEVELS = 2.0 ** (2.0 - np.arange(37) / 4.0)
"""Deviations of noise, of the largest deviation of a column: from 4, behind which little is left, to 1/128."""


class Release(TransformerMixin, BaseEstimator):
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
        groups cancel at the least loss of variance. "task" puts rows side by side that boosting gives
        the same chance of a label `y`, and the same standing by it within their groups, which a merge then keeps: it
        is best fitted to all features. "noise" adds N(0, s^2), one draw for each person, and rounds to multiples of
        s / 8.
    n_cells : int, default=64
        Places before any are merged.
    output : {"centres", "codes"}, default="centres"
        What is released of a place: its centre, of "task" its fair scores, or its number.
    fairness, favourable, sensitive, min_group_size, small_groups, missing
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
        The places and the path of their merges, of "cells" and "task".
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
        n_cells: int = 64,
        output: str = "centres",
        fairness: Any = "demographic_parity",
        favourable: Any = None,
        sensitive: str = "each",
        min_group_size: int = 5,
        small_groups: str = "refuse",
        missing: str = "refuse",
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
        Z = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        # Who was released with noise stays known: another fit makes a second release of them none the better.
        for name in ("certificate_", "level_"):
            if hasattr(self, name):
                delattr(self, name)
        seed = int(check_random_state(self.random_state).randint(2**31))
        self._seen_rows: SeenRows | None = SeenRows.of(table_rows(Z), key_of(Z.mean(axis=0)))
        self._release_id = hashlib.blake2b(np.ascontiguousarray(Z).tobytes()).digest()
        self._seed = seed
        if self.kind == "noise":
            self._sides_of_fit(people, len(Z), terms)
            self.levels_ = float(Z.std(axis=0).max() or 1.0) * LEVELS
        else:
            self._fit_places(Z, people, terms, seed)
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
        attribute_error: Any = None,
        largest_weight: float | None = None,
    ) -> Self:
        """Find the finest level whose bound, and those of all coarser ones, are at most a target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that were used neither to fit nor to choose anything.
        y, sensitive_features, control_features, sample_weight, attribute_error, largest_weight
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
        terms, people = self._checked_terms(), People(sensitive_features, y, control_features, sample_weight)
        check_same_rows(X, people.tables)
        Z = validate_data(self, X, dtype=np.float64, reset=False)
        if self._seen_rows is None:
            raise ValueError("a release from a file does not know the rows of its fit: certify before saving.")
        overlap = self._seen_rows.overlap(Z)
        if overlap.too_many:
            raise ValueError(
                f"{overlap}, and what they show says nothing of new people: certify rows that were used neither to fit "
                "nor to choose."
            )
        sides, _ = sides_of(people, len(Z), terms, self.against)
        self._check_names(sides)
        errors = check_attribute_error(attribute_error, sides)
        if largest_weight is not None:
            check_largest_weight(largest_weight, sample_weight)
        is_drawn = self.kind == "noise" and Z.shape[1] > noise.MOST_GRID
        alpha = (1.0 - self.confidence) * (1.0 - noise.DRAWN_SHARE if is_drawn else 1.0)
        allowed = target * (1.0 - sum(errors))
        slacks = _slacks(sides, alpha, target, 1.0 - sum(errors), largest_weight)
        passed, found, n_levels = -1, np.zeros(len(sides)), 0
        coarsest = found
        for level, distances in enumerate(self._distances(Z, sides)):
            n_levels += 1
            coarsest = distances if level == 0 else coarsest
            if np.max(distances + slacks) > allowed:
                break
            passed, found = level, distances
        if n_levels == 0:
            raise ValueError(
                f"these rows lie further apart than {noise.MOST_POINTS:,} points of a grid reach, even with the most "
                'noise of this release: leave far rows out, or use kind="cells".'
            )
        if passed < 0:
            j = int(np.argmax(coarsest + slacks))
            raise OutOfReachError(_too_different(sides[j], target, coarsest[j], slacks[j], 1.0 - sum(errors)))
        shown = bound_of(sides, found.tolist(), self.confidence, terms, errors, largest_weight)
        self.level_ = float(self.levels_[passed])
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
        _slacks(sides, 1.0 - self.confidence, target)

    def trade_off(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any,
        targets: Sequence[float] | None = None,
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
        targets : sequence of float, default=None
            Promises; by default .05, .1, .15, .2 and the one that was certified.

        Returns
        -------
        costs : list of dict
            One for each: `target`, `balanced_accuracy`, and the `n_cells` of the finest level that keeps it on these
            rows with the `variance` of what is released there, a share of that of the rows; None if there is none.
        """
        check_is_fitted(self, "levels_")
        if self.kind != "cells":
            raise ValueError(f'trade_off speaks of the variance of cells; this release has kind="{self.kind}".')
        if targets is None:
            own = [self.certificate_.upper_bound] if hasattr(self, "certificate_") else []
            targets = sorted({*TARGETS, *own})
        for target in targets:
            check_number("targets", target, above=0.0, below=1.0)
        terms, people = self._checked_terms(), People(sensitive_features, y, control_features, sample_weight)
        check_same_rows(X, people.tables)
        Z = validate_data(self, X, dtype=np.float64, reset=False)
        sides, _ = sides_of(people, len(Z), terms, self.against)
        slacks = np.array([each.slack(1.0 - self.confidence) for each in sides])
        bounds = np.array([(distances + slacks).max() for distances in self._distances(Z, sides)])
        codes, masses = self.places_.codes(Z), _masses(people, len(Z))
        whole, costs = _variance(Z, masses), []
        for target in targets:
            above = np.flatnonzero(bounds > target)
            level = (int(above[0]) if len(above) else len(bounds)) - 1
            found: dict[str, Any] = {"n_cells": None, "variance": None}
            if level >= 0:
                released = self.places_.values_of(level)[self.places_.levels[level][codes]]
                found = {"n_cells": int(self.levels_[level]), "variance": _variance(released, masses) / (whole or 1.0)}
            costs.append({"target": float(target), "balanced_accuracy": (1.0 + float(target)) / 2.0} | found)
        return costs

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
        Z = validate_data(self, X, dtype=np.float64, reset=False)
        if self.kind == "noise":
            return self._with_noise(Z, ids, key)
        if not hasattr(self, "certificate_"):
            warn_user(
                "this release has no certificate: all its places are told apart, and nothing is promised. Call "
                "certify() on held-out rows first.",
                NotCertifiedWarning,
            )
        level = self.level_ if hasattr(self, "certificate_") else self.levels_[-1]
        index = int(np.flatnonzero(self.levels_ == level)[0])
        cells = self.places_.levels[index][self.places_.codes(self._points(Z))]
        return cells[:, None] if self.output == "codes" else self.places_.values_of(index)[cells]

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the released columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where the fit has not seen any.
        """
        check_is_fitted(self, "levels_")
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None and known is not None and not np.array_equal(input_features, known):
            raise ValueError("input_features is not equal to feature_names_in_")
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to number of features ({self.n_features_in_}).")
        if self.output == "codes":
            return np.array(["cell"], dtype=object)
        if self.kind == "task":
            return np.array([f"fair score of {label}" for label in self.classes_[1:]], dtype=object)
        names = known if input_features is None else input_features
        return np.array([f"x{k}" for k in range(self.n_features_in_)] if names is None else names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.output == "codes":
            tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.get_feature_names_out())

    def save(self, path: Any) -> None:
        """Write a certified release of the kind "cells" to a file that `fairpca.load` reads, see `FairPCA.save`.

        Parameters
        ----------
        path : path
            Where to.
        """
        from fairpca.saving import release_to_archive, write_archive

        write_archive(path, *release_to_archive(self))

    def _checked_terms(self) -> Terms:
        check_name("kind", self.kind, KINDS)
        check_name("output", self.output, OUTPUTS)
        check_name("against", self.against, AGAINST)
        check_integer("n_cells", self.n_cells, least=2)
        if self.kind == "noise" and self.output == "codes":
            raise ValueError('output="codes" numbers places, which noise does not have; use output="centres".')
        names = [name for name in Terms.__dataclass_fields__ if name != "sensitive_kind"]
        return Terms.named(**{name: getattr(self, name) for name in names})

    def _sides_of_fit(self, people: People, n_rows: int, terms: Terms) -> tuple[list[Sides], Compared | None]:
        if people.sensitive_features is None:
            self._names: tuple[str, ...] | None = None
            return [], None
        sides, compared = sides_of(people, n_rows, terms, self.against)
        self._names = tuple(each.record["name"] for each in sides)
        return sides, compared

    def _check_names(self, sides: list[Sides]) -> None:
        names = [each.record["name"] for each in sides]
        if self._names is not None and set(names) != set(self._names):
            new, gone = sorted(set(names) - set(self._names)), sorted(set(self._names) - set(names))
            raise ValueError(
                "these rows have other groups than those of the fit: "
                + "; ".join([f"{name} is new" for name in new] + [f"{name} is missing" for name in gone])
                + ". Bring the same groups, or merge them before the fit."
            )

    def _fit_places(self, Z: FloatArray, people: People, terms: Terms, seed: int) -> None:
        sides, compared = self._sides_of_fit(people, len(Z), terms)
        masses = _masses(people, len(Z))
        used = masses > 0
        weights = np.column_stack([each.weights for each in sides]) if sides else np.zeros((len(Z), 0))
        points, values = Z, Z
        if self.kind == "task":
            labels = self._task_labels(people.y)
            attributes = [np.ravel(known.values).astype(np.int64) for known in compared.known] if compared else []
            if not attributes:
                raise ValueError('kind="task" learns to tell the groups: pass sensitive_features.')
            targets = [_learnable(target, used) for target in (labels, *attributes)]
            self._scores, points = TaskScores.fit(Z, targets, seed)
            # Fair scores come first.
            values = points[:, : len(self.classes_) - 1]
        n_places = min(int(self.n_cells), len(np.unique(points[used], axis=0)))
        self.places_ = Places.fit(points[used], values[used], weights[used], masses[used], n_places, seed)
        self.levels_ = self.places_.levels.max(axis=1) + 1.0

    def _task_labels(self, y: Any) -> AnyArray:
        if y is None:
            raise ValueError('kind="task" keeps what tells a label: pass y, or use kind="cells".')
        labels = column_or_1d(np.asarray(y))
        if type_of_target(labels) not in ("binary", "multiclass"):
            raise ValueError('kind="task" takes labels with few values as y; cut numbers into ranges.')
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2 or np.bincount(codes).min() < N_FOLDS:
            raise ValueError(f'kind="task" needs two labels or more in y, each of them in {N_FOLDS} rows at least.')
        return codes

    def _points(self, Z: FloatArray) -> FloatArray:
        return self._scores.of(Z) if self.kind == "task" else Z

    def _distances(self, Z: FloatArray, sides: list[Sides]) -> Iterator[FloatArray]:
        """Yield T of each comparison, on one level after the other, until a level cannot be computed."""
        if self.kind != "noise":
            codes, n_places = self.places_.codes(self._points(Z)), len(self.places_.centres)
            differences = np.column_stack([each.distances(codes, n_places) for each in sides])
            for level in range(len(self.levels_)):
                yield self.places_.distances(differences, level)
            return
        distance = self._noise_distance(Z)
        for level in self.levels_:
            found = [distance(each, float(level)) for each in sides]
            if any(each is None for each in found):
                return
            yield np.array(found)

    def _noise_distance(self, Z: FloatArray) -> Callable[[Sides, float], float | None]:
        if Z.shape[1] <= noise.MOST_GRID:
            error = noise.grid_error(Z.shape[1])

            def by_grid(sides: Sides, level: float) -> float | None:
                used = sides.weights != 0
                found = noise.grid_distance(Z[used], sides.weights[used], level)
                return None if found is None else found + error

            return by_grid
        generator, beta = np.random.default_rng(self._seed), noise.DRAWN_SHARE * (1.0 - self.confidence)
        return lambda sides, level: noise.drawn_distance(Z, sides.weights, level, beta, generator)

    def _with_noise(self, Z: FloatArray, ids: Any, key: bytes | None) -> AnyArray:
        if not hasattr(self, "certificate_"):
            raise ValueError(
                "this release has no certificate, and noise is drawn once for each person: call certify() on held-out "
                "rows first."
            )
        people, secret = noise.bytes_of_ids(ids, len(Z)), noise.check_key(key)
        check = noise.keyed(secret, b"check")
        if getattr(self, "_key_check", check) != check:
            raise ValueError(
                "this is not the key of the first release, and noise from another key would be a second release, which "
                "has less noise: find the key, or fit and certify a new release for other people."
            )
        release = self._release_id + np.float64(self.level_).tobytes()
        released: dict[bytes, bytes] = dict(getattr(self, "_released", {}))
        for person, row in zip(people, np.ascontiguousarray(Z + 0.0), strict=True):
            own = noise.keyed(secret, b"row", release, row.tobytes())[:16]
            if released.setdefault(noise.keyed(secret, b"person", person)[:16], own) != own:
                raise ValueError(
                    f"the person {person.decode()!r} would be released a second time, with other numbers or another "
                    "noise level, and two releases have less noise than one: leave such rows out."
                )
        draws = noise.normal_draws(secret, release, people, Z.shape[1])
        self._key_check, self._released = check, released
        return noise.rounded(Z + self.level_ * draws, self.level_)


def _slacks(
    sides: list[Sides], alpha: float, target: float, factor: float = 1.0, largest_weight: float | None = None
) -> FloatArray:
    """Return what is added to each T, if the target leaves room for that."""
    slacks = np.array([each.slack(alpha, largest_weight) for each in sides])
    if slacks.max() >= factor * target:
        worst = sides[int(np.argmax(slacks))]
        needed = worst.rows_needed(alpha, factor * target, largest_weight)
        raise OutOfReachError(_too_few_rows(worst.record, target, slacks.max() / factor, needed))
    return slacks


def _variance(Z: FloatArray, masses: FloatArray) -> float:
    return float(np.average((Z - np.average(Z, axis=0, weights=masses)) ** 2, axis=0, weights=masses).sum())


def _masses(people: People, n_rows: int) -> FloatArray:
    alone = compare(People(sample_weight=people.sample_weight), n_rows, Terms(), LARGEST_MMD2)
    found = masses_of(alone.attached)
    return np.ones(n_rows) if found is None else found


def _learnable(target: AnyArray, used: AnyArray) -> AnyArray:
    """Return codes without those of which there are too few rows to be learned and scored."""
    counts = np.bincount(target[used & (target >= 0)], minlength=int(target.max()) + 1)
    return np.where(used & (target >= 0) & (counts[target] >= N_FOLDS), target, -1)


def _too_different(sides: Sides, target: float, distance: float, slack: float, factor: float) -> str:
    q = math.sqrt(sides.squares)
    # What chance adds to T of two cells is left to shrink with the rows.
    own = max(0.0, distance - EQUAL_GROUPS * q)
    room = factor * target - own
    more = "more rows do not help, for its groups differ by about as much"
    if room > 0.1 * factor * target:
        needed = math.ceil(sides.record["n_rows"] * ((distance + slack - own) / room) ** 2)
        more = f"about {needed:,} rows may reach it"
    rows = " and ".join(map(str, sides.record["sides"]))
    return (
        f"target={target:g} is out of reach: with {rows} rows ({sides.record['name']}) the coarsest level of the "
        f"release shows no less than {(distance + slack) / factor:.3f}; {more}. Ask for a larger target, on other rows."
    )


def _too_few_rows(record: dict[str, Any], target: float, smallest: float, needed: int) -> str:
    rows = " and ".join(map(str, record["sides"]))
    return (
        f"target={target:g} is out of reach: with {rows} rows ({record['name']}) nothing below {smallest:.3f} can be "
        f"shown, even of groups that do not differ. It takes at least {needed:,} rows in these shares, and more where "
        "groups differ."
    )
