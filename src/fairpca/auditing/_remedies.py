"""What would help where a projection reveals an attribute, tried on the audited rows."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.auditing._adversaries import attempts
from fairpca.auditing._verdict import ADVERSARY_NAMES, gap_of, listed, points, revealed
from fairpca.comparison import LARGEST_MMD2, People, Terms, compare
from fairpca.rows import dense, is_sparse

Step = tuple[str, ...] | int
"""Columns that are dropped, or the number of components that are kept."""


def with_remedies(
    audit: Any,
    model: Any,
    X: Any,
    people: People,
    columns: Mapping[str, slice],
    revealing: Sequence[str] = (),
    most_rows: int = 4000,
) -> Any:
    """Return an audit with what dropping columns, or components, would give, where groups differ too much.

    What is tried are the same components on the same rows without them, and the adversary that predicted best.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    model : FairPCA
        What was audited.
    X : array-like or compressed sparse rows, of shape (n, p)
        The audited rows.
    people : People
        What is known of them.
    columns : mapping of str to slice
        Features of each column of the table.
    revealing : sequence of str, default=()
        Columns that are known to reveal an attribute; they are tried first, and together.
    most_rows : int, default=4000
        Rows that are looked at: enough to know a gap to two points.
    """
    attributes = revealed(audit)
    records = [each for each in audit.adversaries if each["attribute"] in attributes]
    if audit.origin.training_rows or not records or model.n_live_components_ < 1:
        return audit
    trial = _Trial(max(records, key=gap_of), audit, model, X, people, most_rows)
    return replace(audit, remedies=trial.remedies(columns, revealing))


class _Trial:
    """An adversary that tries again on changed projections of some rows that have the attribute."""

    def __init__(self, record: Any, audit: Any, model: Any, X: Any, people: People, most_rows: int) -> None:
        compared = compare(people, audit.n_rows, Terms(**audit.origin.terms), LARGEST_MMD2)
        known = next(each for each in compared.known if each.name == record["attribute"])
        values = known.values.astype(np.float64)
        rows = np.flatnonzero(~np.isnan(values) & (known.is_continuous | (values >= 0)))
        self.some = ""
        if len(rows) > most_rows:
            rows = np.sort(np.random.default_rng(audit.origin.seed).choice(rows, most_rows, replace=False))
            self.some = f" on {most_rows:,} of the rows"
        table = X if hasattr(X, "shape") else np.asarray(X)
        some = dense(table, rows) if is_sparse(table) else np.asarray(table)[rows]
        self.record, self.model, self.seed = record, model, audit.origin.seed
        self.known = replace(known, values=known.values[rows])
        self.X = np.where(model.constant_features_, 0.0, (some.astype(np.float64) - model.mean_) / model.scale_)
        self.Z = self.X @ model.components_.T
        (self.start,), self.variance = self.gaps([self.Z]), float(self.Z.var(axis=0).sum())

    def gaps(self, projections: Sequence[FloatArray]) -> list[float]:
        """Return the gaps that the adversary shows in some projections."""
        found = attempts([(self.record["adversary"], Z, self.known) for Z in projections], self.seed)
        return [0.0 if record is None else gap_of(record) for record in found]

    def remedies(self, columns: Mapping[str, slice], revealing: Sequence[str], enough: float = 0.8) -> list[str]:
        """Return what is left without columns, and with fewer components: the step that leaves least first.

        Of single columns the one that leaves least is named, and of numbers of components the largest that leaves
        `enough` of the gap, where that is enough; columns that are known to reveal the attribute are named in any case.
        """
        named = tuple(name for name in dict.fromkeys(revealing) if name in columns)
        together = [named] if named else []
        sets = dict.fromkeys([*together, *((name,) for name in self._suspects(columns))])
        n = self.model.n_live_components_
        sizes = [k for k in dict.fromkeys([n - 1, n // 2]) if k > 0]
        tried = [self._without([columns[name] for name in names]) for names in sets] + [self.Z[:, :k] for k in sizes]
        after: dict[Step, FloatArray] = dict(zip([*sets, *sizes], tried, strict=True))
        left = dict(zip(after, self.gaps(tried), strict=True))
        helpful = [step for step, gap in left.items() if gap <= enough * self.start]
        single = sorted((step for step in helpful if isinstance(step, tuple) and step != named), key=left.__getitem__)
        fewer = [step for step in helpful if isinstance(step, int)]
        shown: list[Step] = [*together, *single[:1], *fewer[:1]]
        shown.sort(key=left.__getitem__)
        return [self._said(step, left[step], after[step], step in helpful) for step in shown]

    def _said(self, step: Step, gap: float, Z: FloatArray, helps: bool) -> str:
        """Return what a step leaves, in words."""
        if isinstance(step, int):
            n = self.model.n_live_components_
            what = f"Keep {step} component{'s' if step > 1 else ''} in place of {n}"
        else:
            names = listed([repr(name) for name in step])
            what = f"Drop {names} and fit again" if helps else f"Dropping {names} helps little"
        kept = min(100.0, 100 * float(Z.var(axis=0).sum()) / self.variance)
        return (
            f"{what}: {ADVERSARY_NAMES[self.record['adversary']]} then predict{self._s} "
            f"{self.known.name or 'the attribute'} with a gap of {points(gap)} points in place of "
            f"{points(self.start)}, and {kept:.0f} % of the variance is left (the same components{self.some}, not "
            "fitted again)."
        )

    @property
    def _s(self) -> str:
        return "" if self.record["adversary"] in ("boosting", "neighbours") else "s"

    def _without(self, features: Sequence[slice]) -> FloatArray:
        """Return projections with some features at their mean."""
        return self.Z - sum(self.X[:, each] @ self.model.components_[:, each].T for each in features)

    def _suspects(self, columns: Mapping[str, slice], most: int = 4) -> list[str]:
        """Return the columns whose part of the projections varies most with the attribute."""
        values = self.known.values.astype(np.float64)
        sides = values if self.known.is_continuous else np.eye(int(values.max()) + 1)[values.astype(int)]
        centred = sides - sides.mean(axis=0)
        differences = np.abs(centred.T @ self.X).reshape(-1, self.X.shape[1]).max(axis=0) / len(values)
        weights = differences * np.linalg.norm(self.model.components_, axis=0)
        order = sorted(columns, key=lambda name: -float(weights[columns[name]].sum()))
        return order[:most]
