"""From what was asked for to a case: rows projected, compared and audited."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import FloatArray
from fairpca.auditing import AuditResult, audit, projections, with_remedies
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, check_same_rows, compare, masses_of
from fairpca.estimator import FairPCA
from fairpca.inference import ComparedRows
from fairpca.path import FairPCAPath
from fairpca.release import Release
from fairpca.report._before import Before, before_of, share_kept, spread_of
from fairpca.report._colouring import Colouring, colourings
from fairpca.report._words import plain, quoted
from fairpca.rows import compressed, compute, is_dask, is_sparse


@dataclass(frozen=True)
class About:
    """Facts that only whoever prepared the data knows.

    Attributes
    ----------
    data : str, default=""
        What the data are called, such as the name of a file.
    held_out : float or None, default=None
        Share of all rows that were held out for the report.
    columns : sequence of mappings, default=()
        One for each column: `name`, `kind` and `note`, whatever was made of it.
    left_out : mapping of str to str, default={}
        Columns that are not in the table, and why.
    notes : sequence of str, default=()
        Sentences that a reader must know.
    command : str, default=""
        The command line that reproduces the report.
    features : sequence of str, default=()
        Names of the features, where the model was fitted to rows without names.
    date : str, default=""
        Of the report; today by default.
    """

    data: str = ""
    held_out: float | None = None
    columns: Sequence[Mapping[str, Any]] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    command: str = ""
    features: Sequence[str] = ()
    date: str = ""


def about_from(about: Any) -> About:
    """Return the facts, given as such or as a mapping.

    Parameters
    ----------
    about : About, mapping or None
        What the user passed.
    """
    if about is None:
        return About()
    facts = about if isinstance(about, About) else _from_mapping(about)
    if not isinstance(facts.left_out, Mapping) or not all(isinstance(column, Mapping) for column in facts.columns):
        raise TypeError(
            "about.left_out must be a mapping of names to reasons, and about.columns a sequence of mappings with name, "
            "kind and note."
        )
    return facts


def _from_mapping(about: Any) -> About:
    allowed = [each.name for each in fields(About)]
    if not isinstance(about, Mapping):
        raise TypeError(f"about must be an About or a mapping of some of {allowed}; got {type(about).__name__}.")
    unknown = [repr(name) for name in about if name not in allowed]
    if unknown:
        raise ValueError(f"about has {', '.join(unknown)}, which is unknown; choose among {allowed}.")
    return About(**about)


@dataclass(frozen=True, eq=False)
class Side:
    """One reduction of the new rows.

    Attributes
    ----------
    Z : ndarray of shape (n, k)
        The rows after it.
    audit : AuditResult
        What they reveal.
    variance : float
        The share of the variance that they keep.
    """

    Z: FloatArray
    audit: AuditResult
    variance: float


@dataclass(frozen=True, eq=False)
class Case:
    """Everything that a report says something of.

    Attributes
    ----------
    model : FairPCA
        The model.
    path : FairPCAPath or None
        Models along tolerances.
    release : Release or None
        What is released of the projections.
    X : array-like of shape (n, p)
        New rows.
    people : People
        What is known of them.
    n_rows : int
        Their number.
    spread : float
        Their variance, as the model scales them.
    masses : ndarray of shape (n,) or None
        How much each counts.
    compared : Compared
        Who is compared with whom.
    colours : list of Colouring
        By which attributes pictures are coloured.
    origin : Before
        What the model is compared with.
    before, after : Side
        Both reductions of the new rows.
    about : About
        What else is known of the data.
    title : str
        Of the report.
    n_points : int
        Rows that are drawn as points.
    random_state : int
        With which samples are drawn.
    """

    model: Any
    path: Any
    release: Release | None
    X: Any
    people: People
    n_rows: int
    spread: float
    masses: FloatArray | None
    compared: Compared
    colours: Sequence[Colouring]
    origin: Before
    before: Side
    after: Side
    about: About
    title: str
    n_points: int
    random_state: int

    def rows_of(self, Z: FloatArray) -> ComparedRows:
        """Return projections of the new rows as they are compared."""
        return ComparedRows.of(Z, self.compared)


def check_model(model: Any) -> Any:
    """Return the fitted model that is reported.

    Parameters
    ----------
    model : FairPCA or FairPCACV
        What the user passed.
    """
    if not isinstance(model, FairPCA) and hasattr(model, "fit"):
        check_is_fitted(model)
    chosen = getattr(model, "best_estimator_", model)
    if not isinstance(chosen, FairPCA):
        raise TypeError(f"model must be a fitted FairPCA or FairPCACV; got {type(model).__name__}.")
    check_is_fitted(chosen)
    return chosen


def check_path(path: Any, model: Any) -> None:
    """Refuse what is no path of models like the reported one.

    Parameters
    ----------
    path : FairPCAPath or None
        What the user passed.
    model : FairPCA
        The reported model.
    """
    if path is None:
        return
    if not isinstance(path, FairPCAPath):
        raise TypeError(f"path must be a fitted FairPCAPath, as fair_pca_path returns it; got {type(path).__name__}.")
    check_is_fitted(path)
    found, wanted = path.models_[0].n_components_, model.n_components_
    if found != wanted:
        raise ValueError(
            f"path has models of {found} components, but the model has {wanted}: fit it with n_components={wanted}."
        )


def check_release(release: Any, model: Any) -> None:
    """Refuse what is no certified release of the projections of the model.

    Parameters
    ----------
    release : Release or None
        What the user passed.
    model : FairPCA
        The reported model.
    """
    if release is None:
        return
    if not isinstance(release, Release) or release.kind != "cells" or not hasattr(release, "certificate_"):
        raise TypeError('release must be a certified Release with kind="cells".')
    if release.n_features_in_ != model.n_components_:
        raise ValueError(
            f"release takes {release.n_features_in_} columns, but the model has {model.n_components_} components."
        )


def prepare(
    model: FairPCA,
    X: Any,
    people: People,
    path: Any,
    before: Any,
    release: Release | None,
    audits: tuple[AuditResult | None, AuditResult | None],
    about: About,
    title: str | None,
    n_points: int,
    settings: dict[str, Any],
) -> Case:
    """Project, compare and audit the new rows.

    Parameters
    ----------
    model, path, before, release, about, title, n_points
        What was asked for, checked; see `make_report`.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
        New rows.
    people : People
        What is known of them.
    audits : tuple of AuditResult or None
        Of what the model is compared with and of the model, where there are such.
    settings : dict
        Of the audits.
    """
    if people.sensitive_features is None:
        raise ValueError("sensitive_features=None: a report needs the attributes that must not show.")
    X, people = _in_memory(X, people)
    terms, Z = Terms.of(model), projections(model, X)
    compared = compare(people, len(Z), terms, LARGEST_MMD2)
    masses = masses_of(compared.attached)
    spread = spread_of(model, X, masses)
    colours = colourings(compared, ComparedRows.of(Z, compared), terms.sensitive == "intersections")
    for name, ready in zip(("audit_before", "audit"), audits, strict=True):
        _check_audit(name, ready, compared, len(Z))
    origin = before_of(before, model, path, X, spread, masses)
    found = audits[1] or _audit_after(model, X, people, about.features, settings)
    found_before = audits[0] or _audit_before(origin.Z, people, terms, found, settings)
    return Case(
        model=model,
        path=path,
        release=release,
        X=X,
        people=people,
        n_rows=len(Z),
        spread=spread,
        masses=masses,
        compared=compared,
        colours=colours,
        origin=origin,
        before=Side(origin.Z, found_before, share_kept(origin.Z, spread, masses)),
        after=Side(Z, found, share_kept(Z, spread, masses)),
        about=about,
        title=_title(colours) if title is None else plain(title),
        n_points=n_points,
        random_state=settings["random_state"],
    )


def _in_memory(X: Any, people: People) -> tuple[Any, People]:
    check_same_rows(X, people.tables)
    tables = {"X": X} | people.tables
    found = {name: compute(table)[0] if is_dask(table) else table for name, table in tables.items()}
    rows = found.pop("X")
    if is_sparse(rows):
        return compressed(rows), People(**found)
    return rows if hasattr(rows, "shape") else np.asarray(rows), People(**found)


def _check_audit(name: str, ready: AuditResult | None, compared: Compared, n_rows: int) -> None:
    """Refuse an audit of other rows or other comparisons."""
    if ready is None:
        return
    if not isinstance(ready, AuditResult):
        raise TypeError(f"{name} must be an AuditResult, as fairpca.audit returns it; got {type(ready).__name__}.")
    measures = [known.measured.name for known in compared.measures]
    if ready.n_rows != n_rows or [record["name"] for record in ready.measures] != measures:
        raise ValueError(
            f"{name} is of {ready.n_rows} rows and {len(ready.measures)} comparisons, the report of {n_rows} rows and "
            f"{len(measures)}, or they have other names: audit the same rows with the same sensitive_features."
        )


def _audit_after(
    model: FairPCA, X: Any, people: People, features: Sequence[str], settings: dict[str, Any]
) -> AuditResult:
    names = getattr(model, "feature_names_in_", features)
    if len(names) != model.n_features_in_:
        names = [f"column {j}" for j in range(model.n_features_in_)]
    found = audit(model, X, **vars(people), **settings)
    columns = {str(name): slice(j, j + 1) for j, name in enumerate(names)}
    tried: AuditResult = with_remedies(found, model, X, people, columns)
    return tried


def _audit_before(
    Z: FloatArray, people: People, terms: Terms, after: AuditResult, settings: dict[str, Any]
) -> AuditResult:
    """Audit what the model is compared with in the same way, with the same kernel."""
    alike = {
        "bandwidth": after.bandwidth,
        "confidence": after.confidence,
        "n_permutations": after.n_permutations,
        "adversaries": list(dict.fromkeys(record["adversary"] for record in after.adversaries)),
    }
    return audit(None, Z, **vars(people), **(settings | alike), **vars(terms))


def _title(colours: Sequence[Colouring]) -> str:
    names = [quoted(colouring.name) for colouring in colours]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"Fairness of reduced data: {listed}"
