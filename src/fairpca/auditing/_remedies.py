"""What would help where a projection reveals an attribute, tried on the audited rows."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.auditing._adversaries import try_classifier, try_regressor
from fairpca.auditing._verdict import ADVERSARY_NAMES, gap_of, judge, points
from fairpca.comparison import LARGEST_MMD2, Compared, KnownAttribute, People, Terms, compare
from fairpca.rows import dense, is_sparse


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
    if judge(audit).fair is not False or not audit.adversaries or model.n_live_components_ < 1:
        return audit
    compared = compare(people, audit.n_rows, Terms(**audit.origin.terms), LARGEST_MMD2)
    trial = _Trial.of(max(audit.adversaries, key=gap_of), audit, model, X, compared, most_rows)
    if trial is None:
        return audit
    found = sorted([*trial.without_columns(columns, revealing), *trial.fewer_components()])
    return replace(audit, remedies=[words for _, words in found])


class _Trial:
    """An adversary that tries again on changed projections."""

    def __init__(self, record: Any, model: Any, X: FloatArray, known: KnownAttribute, seed: int, n_rows: int) -> None:
        Z = X @ model.components_.T
        self.record, self.model, self.X, self.Z, self.known, self.seed = record, model, X, Z, known, seed
        self.start, self.variance = self.gap(Z), float(Z.var(axis=0).sum())
        self.some = f" on {len(Z):,} of the rows" if len(Z) < n_rows else ""

    @classmethod
    def of(cls, record: Any, audit: Any, model: Any, X: Any, compared: Compared, most_rows: int) -> "_Trial | None":
        """Take some rows that have the attribute."""
        known = next((each for each in compared.known if each.name == record["attribute"]), None)
        if known is None:
            return None
        values = known.values.astype(np.float64)
        rows = np.flatnonzero(~np.isnan(values) & (known.is_continuous | (values >= 0)))
        n_rows = len(rows)
        if n_rows > most_rows:
            rows = np.sort(np.random.default_rng(audit.origin.seed).choice(rows, most_rows, replace=False))
        table = X if hasattr(X, "shape") else np.asarray(X)
        some = dense(table, rows) if is_sparse(table) else np.asarray(table)[rows]
        scaled = np.where(model.constant_features_, 0.0, (some.astype(np.float64) - model.mean_) / model.scale_)
        chosen = KnownAttribute(known.name, known.values[rows], known.is_continuous, known.labels)
        return cls(record, model, scaled, chosen, audit.origin.seed, n_rows)

    def gap(self, Z: FloatArray) -> float:
        """Return the gap that the adversary shows in projections."""
        attempt = try_regressor if self.known.is_continuous else try_classifier
        found = attempt(self.record["adversary"], Z, self.known.values, self.seed)
        return 0.0 if found is None else gap_of(found)

    def without_columns(self, columns: Mapping[str, slice], revealing: Sequence[str]) -> Iterator[tuple[float, str]]:
        """Yield what is left without the columns that reveal most."""
        named = [name for name in dict.fromkeys(revealing) if name in columns]
        single = {name: self._without([columns[name]]) for name in self._suspects(columns)}
        best = min(single, key=lambda name: self.gap(single[name]), default=None)
        sets = [named] if named else []
        sets += [[best]] if best is not None and [best] != named else []
        for names in sets:
            Z = self._without([columns[name] for name in names])
            yield from self._said(f"Drop {_listed(names)} and fit again", Z, names is named)

    def fewer_components(self) -> Iterator[tuple[float, str]]:
        """Yield what is left with half of the components, or one fewer where that is enough."""
        n = self.model.n_live_components_
        for k in dict.fromkeys([n - 1, n // 2]):
            said = list(self._said(f"Keep {k} component{'s' if k > 1 else ''} in place of {n}", self.Z[:, :k]))
            if k > 0 and said:
                yield from said
                return

    def _said(self, what: str, Z: FloatArray, is_named: bool = False) -> Iterator[tuple[float, str]]:
        """Yield the gap that is left, in words; unless columns were named, only where it is a fifth smaller."""
        left = self.gap(Z) if Z.shape[1] else self.start
        if is_named or left <= 0.8 * self.start:
            kept = 100 * float(Z.var(axis=0).sum()) / self.variance
            words = (
                f"{what}: {ADVERSARY_NAMES[self.record['adversary']]} then predict{self._s} "
                f"{self.known.name or 'the attribute'} with a gap of {points(left)} points in place of "
                f"{points(self.start)}, and {kept:.0f} % of the variance is left (the same components"
                f"{self.some}, not fitted again)."
            )
            yield left, words

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


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
