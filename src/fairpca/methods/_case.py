"""Rows that fit, rows that choose and rows that are reported of; what a fitted method shows on them."""
# SPDX-License-Identifier: MIT

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.auditing import audit, projections
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, compare
from fairpca.release import Release
from fairpca.rows import compressed, dense, is_sparse
from fairpca.selection import held_out_split, part_of, people_at


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the rows.

    Attributes
    ----------
    X : table of shape (n, p)
        Features.
    people : People
        What is known of them.
    """

    X: Any
    people: People

    def __len__(self) -> int:
        return int(np.shape(self.X)[0])

    def compared(self, terms: Terms) -> Compared:
        """Return who of them is compared with whom."""
        return compare(self.people, len(self), terms, LARGEST_MMD2)

    def split(self, share: float, terms: Terms, seed: int, least: int, asked: str) -> tuple["Part", "Part"]:
        """Return two parts with the same share of each group.

        Parameters
        ----------
        share : float
            Share of the rows in the second.
        terms : Terms
            How people are compared.
        seed : int
            Draws the rows.
        least : int
            Rows of each side that the second needs.
        asked : str
            Who asked for it, for messages.
        """
        compared = self.compared(terms)
        parts = held_out_split(share, compared, np.random.default_rng(seed), terms.min_group_size, least, asked)
        first, second = (Part(part_of(self.X, rows), people_at(self.people, rows)) for rows in parts)
        return first, second


@dataclass(frozen=True, eq=False)
class Judged:
    """What a method shows.

    Attributes
    ----------
    choosing, new : dict
        Figures on the rows that choose, and on those that are reported of.
    release : Release or None
        Of its projections, not certified; None where there is none.
    """

    choosing: dict[str, Any]
    new: dict[str, Any]
    release: Release | None


@dataclass(frozen=True, eq=False)
class Case:
    """The rows of a comparison, and how methods are judged on them.

    Attributes
    ----------
    fitted, choosing, new : Part
        Rows that methods are fitted to, those that choose among them, and those that are reported of.
    terms : Terms
        How people are compared.
    bandwidth : float
        sigma of MMD^2, the same for all methods.
    targets : sequence of float
        Promises.
    seed : int
        Of what is drawn.
    """

    fitted: Part
    choosing: Part
    new: Part
    terms: Terms
    bandwidth: float
    targets: Sequence[float]
    seed: int

    @cached_property
    def why_no_promise(self) -> str:
        """Why nothing can be promised of every classifier here, or nothing."""
        amounts = [
            each.name or "the attribute" for each in self.fitted.compared(self.terms).known if each.is_continuous
        ]
        return f"{amounts[0]} is an amount, and promises speak of groups" if amounts else ""

    def fit(self, model: Any) -> float:
        """Fit a method and return the CPU seconds that it took.

        Parameters
        ----------
        model : estimator
            It; those that compare nobody are fitted to the rows alone.
        """
        known = self.fitted.people.tables
        knows = has_fit_parameter(model, "sensitive_features")
        own = {name: table for name, table in known.items() if name != "y" and knows and has_fit_parameter(model, name)}
        if own and "sensitive_kind" not in model.get_params():
            # Methods that know one way to compare people take columns without names.
            own["sensitive_features"] = _without_names(own["sensitive_features"])
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(self.fitted.X, known.get("y"), **own)
        return time.process_time() - began

    def judged(self, model: Any) -> "Judged":
        """Return what a fitted method shows on the rows that choose and on those that are reported of.

        Parameters
        ----------
        model : estimator
            It.
        """
        parts = (self.fitted, self.choosing, self.new)
        Z = [projections(model, part.X) for part in parts]
        release = self._release(Z[0])
        choosing, new = (
            {"variance_kept": kept}
            | self._shown(part, own, adversaries)
            | {"task_auc": task_auc, "promises": self._promises(release, part, own)}
            for part, own, kept, adversaries, task_auc in zip(
                parts[1:], Z[1:], self._variances_kept(Z), ((), None), self._task_aucs(Z), strict=True
            )
        )
        return Judged(choosing, new, release)

    def _shown(self, part: Part, Z: FloatArray, adversaries: Any) -> dict[str, Any]:
        settings = {} if adversaries is None else {"adversaries": adversaries}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = audit(
                None,
                Z,
                **vars(part.people),
                bandwidth=self.bandwidth,
                n_permutations=19,  # p-values are not looked at, and this is the least
                random_state=self.seed,
                **settings,
                **vars(self.terms),
            )
        # An attribute of groups is told by an AUC, an amount by R^2; of both, groups are reported of.
        records = [each for each in found.adversaries if "auc" in each] or found.adversaries
        scored = max(records, key=lambda each: float(each["auc"] if "auc" in each else each["r2"]), default={})
        # Two groups coded as -1 and 1 have twice the gap of their covariance.
        factor = 1.0 if found.worst["kind"] == "groups" else 2.0
        return {
            "mmd2": found.mmd2,
            "chance_level": found.chance_level,
            "upper_bound": found.upper_bound,
            "gap": factor * math.sqrt(max(found.excess, 0.0)),
            "adversary": scored.get("adversary"),
            "adversary_score": scored.get("auc", scored.get("r2", math.nan)),
            "score": "R²" if "r2" in scored else "AUC",
            "score_error": _error_of_auc(scored["n_rows"], found.worst["sides"]) if "auc" in scored else math.nan,
        }

    def _variances_kept(self, Z: Sequence[FloatArray]) -> list[float]:
        """Return R^2 of the scaled columns, on the rows that choose and on the others, by linear regression on Z.

        What a map makes rows again with is left aside: maps are compared by what can be had of their coordinates.
        """
        parts = (self.fitted, self.choosing, self.new)
        X = [dense(compressed(each.X)) if is_sparse(each.X) else np.asarray(each.X, dtype=float) for each in parts]
        deviations = X[0].std(axis=0)
        scaled = [rows[:, deviations > 0] / deviations[deviations > 0] for rows in X]
        weights = [each.people.sample_weight for each in parts]
        back = LinearRegression().fit(Z[0], scaled[0], weights[0])
        return [
            float(r2_score(rows, back.predict(own), sample_weight=masses, multioutput="variance_weighted"))
            for rows, own, masses in zip(scaled[1:], Z[1:], weights[1:], strict=True)
        ]

    def _task_aucs(self, Z: Sequence[FloatArray]) -> list[float]:
        """Return the AUC, on the rows that choose and on the others, of boosting that has learned two labels."""
        sides = [_two_labels(self.fitted.people.y, part.people.y) for part in (self.choosing, self.new)]
        known = [labels for labels in sides if labels is not None]
        if not known:
            return [math.nan, math.nan]
        with threadpool_limits(1, user_api="openmp"):
            model = HistGradientBoostingClassifier(max_iter=50, random_state=self.seed).fit(Z[0], known[0][0])
            return [
                math.nan if labels is None else float(roc_auc_score(labels[1], model.predict_proba(rows)[:, 1]))
                for labels, rows in zip(sides, Z[1:], strict=True)
            ]

    def _release(self, Z: FloatArray) -> Release | None:
        """Return a release, not certified; None where nothing can be promised, as of amounts."""
        if self.why_no_promise:
            return None
        known = {name: value for name, value in vars(self.terms).items() if name != "sensitive_kind"}
        return Release(random_state=self.seed, **known).fit(Z, **vars(self.fitted.people))

    def _promises(self, release: Release | None, part: Part, Z: FloatArray) -> list[dict[str, Any]]:
        return [] if release is None else release.trade_off(Z, **vars(part.people), targets=self.targets)

    def why_not_certified(self, model: Any, release: Release | None) -> str:
        """Certify a release on the rows that are reported of; return why that fails, or nothing.

        Parameters
        ----------
        model : estimator
            The method that was chosen for a promise, if there is one.
        release : Release or None
            Of its projections.
        """
        (target,) = self.targets
        if self.why_no_promise:
            return f"{self.why_no_promise}."
        if release is None:
            return "no method reaches it on the rows to choose with; ask for a larger target, or take more rows."
        try:
            release.certify(projections(model, self.new.X), **vars(self.new.people), target=target)
        except ValueError as error:
            return str(error)
        return ""


def _without_names(table: Any) -> Any:
    if not isinstance(table, Mapping):
        return table
    columns = [np.asarray(column, dtype=object) for column in table.values()]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _error_of_auc(n_rows: int, sides: Sequence[int]) -> float:
    """Return two standard errors of an AUC near 0.5 of so many rows with such shares of groups."""
    shares = [side / sum(sides) for side in sides]
    return 2.0 * math.sqrt(sum(1.0 / (share * n_rows) for share in shares) / 12.0)


def _two_labels(y: Any, y_new: Any) -> tuple[IntArray, IntArray] | None:
    """Return labels of two values that both occur on either side as 0 and 1, or None."""
    if y is None or y_new is None:
        return None
    sides = [np.asarray(each).astype(str) for each in (y, y_new)]
    values = np.unique(np.concatenate(sides))
    if len(values) != 2 or any(len(np.unique(side)) < 2 for side in sides):
        return None
    first, second = (np.searchsorted(values, side) for side in sides)
    return first, second
