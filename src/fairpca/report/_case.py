"""From what was asked for to a case: rows projected, compared and audited, beside another reduction of them."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import FloatArray
from fairpca.auditing import AuditResult, audit, projections, with_remedies
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, check_same_rows, compare, masses_of
from fairpca.estimator import FairPCA
from fairpca.inference import ComparedRows
from fairpca.path import FairPCAPath
from fairpca.release import Release
from fairpca.report._colouring import Colouring, colourings
from fairpca.report._words import plain, quoted
from fairpca.rows import compressed, compute, dense, is_dask, is_sparse
from fairpca.solvers import Status

PLAIN = "Plain PCA"


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
    if isinstance(about, Mapping):
        allowed = [each.name for each in fields(About)]
        if unknown := [repr(name) for name in about if name not in allowed]:
            raise ValueError(f"about has {', '.join(unknown)}, which is unknown; choose among {allowed}.")
        about = About(**about)
    about = About() if about is None else about
    if not isinstance(about, About):
        allowed = [each.name for each in fields(About)]
        raise TypeError(f"about must be an About or a mapping of some of {allowed}; got {type(about).__name__}.")
    if not isinstance(about.left_out, Mapping) or not all(isinstance(column, Mapping) for column in about.columns):
        raise TypeError(
            "about.left_out must be a mapping of names to reasons, and about.columns a sequence of mappings with name, "
            "kind and note."
        )
    return about


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
    name : str
        What it is, for a heading.
    origin : str, default=""
        Where it comes from, in a sentence.
    """

    Z: FloatArray
    audit: AuditResult
    variance: float
    name: str
    origin: str = ""


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
    spread : float
        Their variance, as the model scales them.
    masses : ndarray of shape (n,) or None
        How much each counts.
    compared : Compared
        Who is compared with whom.
    colours : list of Colouring
        By which attributes pictures are coloured.
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

    model: FairPCA
    path: FairPCAPath | None
    release: Release | None
    X: Any
    people: People
    spread: float
    masses: FloatArray | None
    compared: Compared
    colours: Sequence[Colouring]
    before: Side
    after: Side
    about: About
    title: str
    n_points: int
    random_state: int


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
    mean, spread = _mean_and_spread(model, X, masses)
    colours = colourings(compared, ComparedRows.of(Z, compared), terms.sensitive == "intersections")
    for name, ready in zip(("audit_before", "audit"), audits, strict=True):
        _check_audit(name, ready, compared, len(Z))
    Z_before, name, origin = _before_of(before, model, path, X, mean, spread, masses)
    found = audits[1] or _audit_after(model, X, people, about.features, settings)
    found_before = audits[0] or _audit_before(Z_before, people, terms, found, settings)
    return Case(
        model=model,
        path=path,
        release=release,
        X=X,
        people=people,
        spread=spread,
        masses=masses,
        compared=compared,
        colours=colours,
        before=Side(Z_before, found_before, share_kept(Z_before, spread, masses), name, origin),
        after=Side(Z, found, share_kept(Z, spread, masses), "Fair reduction"),
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


def share_kept(Z: FloatArray, spread: float, masses: FloatArray | None) -> float:
    """Return the share of the variance that projections keep; nan where rows do not vary.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    spread : float
        The variance of the rows that were projected.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    return _total_variance(Z, masses) / spread if spread else math.nan


def _total_variance(rows: FloatArray, masses: FloatArray | None) -> float:
    centred = rows - np.average(rows, axis=0, weights=masses)
    return float(np.average(np.einsum("ij,ij->i", centred, centred), weights=masses))


def _mean_and_spread(model: FairPCA, X: Any, masses: FloatArray | None) -> tuple[FloatArray, float]:
    """Return mean and total variance of the rows as a model scales them; 0.0 where rows do not vary."""
    total = float(X.shape[0] if masses is None else masses.sum())
    mean = np.asarray(sum(weights @ rows for rows, weights in _scaled_blocks(model, X, masses)) / total)
    first, squares, varies = None, 0.0, False
    for rows, weights in _scaled_blocks(model, X, masses):
        if first is None and weights.any():
            first = rows[np.flatnonzero(weights)[:1]]
        squares += float(weights @ np.sum((rows - mean) ** 2, axis=1))
        varies = varies or bool((rows[weights > 0] != first).any())
    # What rounding leaves of rows that are all the same is no variance.
    return mean, squares / total if varies else 0.0


def _scaled_blocks(
    model: FairPCA, X: Any, masses: FloatArray | None, numbers: int = 2**20
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield some rows at a time as a model scales them, and how much each counts.

    At a time they are 8 MB: the table may be mapped from a file or sparse.
    """
    table = X if is_sparse(X) else np.asarray(X)
    counts = np.ones(table.shape[0]) if masses is None else masses
    for block in gen_batches(table.shape[0], max(1, numbers // table.shape[1])):
        rows = dense(table, block).astype(np.float64)
        yield np.where(model.constant_features_, 0.0, (rows - model.mean_) / model.scale_), counts[block]


def _before_of(
    before: Any, model: FairPCA, path: Any, X: Any, mean: FloatArray, spread: float, masses: FloatArray | None
) -> tuple[FloatArray, str, str]:
    """Return the rows after what the model is compared with, what it is, and where it comes from.

    Where nothing was given, it is the loosest model of the path, or the model itself, where that is plain PCA, else
    plain PCA of the rows at hand.
    """
    if before is not None:
        return _given(before, X, spread, masses)
    if _is_plain(model):
        return projections(model, X), PLAIN, "The model is plain PCA itself, so both are the same."
    loosest = None if path is None else path.models_[0]
    if _is_plain(loosest):
        words = "Plain PCA was fitted to the same training rows, with the same number of components."
        return projections(loosest, X), PLAIN, words
    words = (
        "Plain PCA was fitted to the new rows themselves, scaled as the model scales them, because none that was "
        "fitted to the training rows was given (before=): that flatters it a little."
    )
    return _plain_pca(model, X, mean, masses), PLAIN, words


def _given(before: Any, X: Any, all_of_it: float, masses: FloatArray | None) -> tuple[FloatArray, str, str]:
    Z = projections(before, X)
    own = _total_variance(Z, masses)
    if own > all_of_it * (1 + 1e-6):
        raise ValueError(
            f"before works in other units than the model: the rows after it have the variance {own:.3g}, and as the "
            f"model scales them they have {all_of_it:.3g} in all. Fit it to rows that are scaled alike, for example "
            "FairPCA without sensitive features or make_pipeline(StandardScaler(), PCA(2))."
        )
    last = before[-1] if hasattr(before, "named_steps") else before
    is_plain = isinstance(last, PCA) or _is_plain(last)
    kind = "An array of components" if not hasattr(before, "transform") else type(last).__name__
    words = f"{PLAIN if is_plain else kind} was given as the reduction to compare with; it was fitted beforehand."
    return Z, PLAIN if is_plain else "Before", words


def _is_plain(reduction: Any) -> bool:
    status = getattr(getattr(reduction, "result_", None), "status", None)
    return status in (Status.PCA_IS_FAIR, Status.NO_SENSITIVE_FEATURES)


def _plain_pca(model: FairPCA, X: Any, mean: FloatArray, masses: FloatArray | None) -> FloatArray:
    centred = (np.sqrt(weights)[:, None] * (rows - mean) for rows, weights in _scaled_blocks(model, X, masses))
    # A covariance where it is smaller than the rows.
    if X.shape[0] > X.shape[1]:
        axes = np.linalg.eigh(sum(block.T @ block for block in centred))[1][:, ::-1]
    else:
        axes = np.linalg.svd(np.concatenate(list(centred)), full_matrices=False)[2].T
    axes = axes[:, : model.n_components_]
    # The sign that FairPCA gives its components.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    # Around the mean of the training rows, as the model has it.
    return np.concatenate([rows @ axes for rows, _ in _scaled_blocks(model, X, masses)])
