"""fairpca compare: plain PCA, other methods and FairPCA on the same held-out rows."""
# SPDX-License-Identifier: MIT

import math
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from fairpca import FairPCA
from fairpca._utils.typing import AnyArray
from fairpca._utils.warn import warn_user
from fairpca.auditing import AuditResult
from fairpca.baselines import FPCA, ReconstructionFairPCA
from fairpca.cli._options import FitTerms, Table
from fairpca.cli._output import Stages, best_readers, numbers_table, out, plain, print_json, reading
from fairpca.cli._study import audited, fitted, plain_pca, read
from fairpca.comparison import Terms
from fairpca.exceptions import TableWarning
from fairpca.tables import PreparedTable, Roles

BASELINE_FEATURES = 200
"""Features up to which the semidefinite program of FPCA is solved without asking for patience."""


def run_compare(choice: Table, roles: Roles, asked: FitTerms, share: float, seed: int, as_json: bool) -> int:
    """Fit several methods to the same rows and audit all on the rows held out.

    Parameters
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
    asked : FitTerms
        What is asked of FairPCA.
    share : float
        Share of the rows that is held out.
    seed : int
        Of everything that is drawn.
    as_json : bool
        Whether to print JSON.

    Returns
    -------
    code : int
        0, or 1 where FairPCA does not meet its tolerance.
    """
    asked.check_people(roles)
    with Stages() as stages:
        prepared, _, notes = read(choice, roles, share, seed, stages)
        for note in (*prepared.notes, *notes):
            warn_user(note, TableWarning)
        with prepared:
            fair, seconds = _timed(lambda: fitted(asked.model(prepared.people_train.y, seed), prepared, stages))
            terms = dict(vars(Terms.of(fair))) | {"bandwidth": fair.bandwidth_}
            rows = []
            for name, model, taken in [*others(fair, prepared, stages), ("FairPCA", fair, seconds)]:
                found = audited(model, prepared, seed, stages, **terms)
                rows.append({"method": name} | judged(model, found, prepared) | {"seconds": taken})
    if as_json:
        print_json({"rows_held_out": len(prepared.rows_new), "left_out": left_out(prepared), "methods": rows})
    else:
        show(rows, prepared)
    return 0 if fair.converged_ else 1


def judged(model: Any, found: AuditResult, prepared: PreparedTable) -> dict[str, float]:
    """Return what a method keeps, and what the rows held out show of it.

    Parameters
    ----------
    model : LinearProjection
        The fitted method.
    found : AuditResult
        Its audit.
    prepared : PreparedTable
        The rows.
    """
    return {
        "variance_kept": variance_kept(model, prepared.X_new),
        "mmd2": found.mmd2,
        "chance_level": found.chance_level,
        "p_value": found.p_value,
        "upper_bound": found.upper_bound,
        "best_reader": max(map(reading, best_readers(found.adversaries).values()), default=math.nan),
    }


def others(fair: FairPCA, prepared: PreparedTable, stages: Stages) -> Iterator[tuple[str, Any, float]]:
    """Yield names, fitted models and the seconds that the fits took.

    Parameters
    ----------
    fair : FairPCA
        The fitted model.
    prepared : PreparedTable
        The rows.
    stages : Stages
        Told how far it is.
    """
    yield "PCA", *_timed(lambda: plain_pca(fair, prepared, stages))
    if left_out(prepared):
        return
    (groups,) = prepared.people_train.sensitive_features.values()
    d = fair.n_components_
    for name, model in {"FPCA": FPCA(d), "equal reconstruction": ReconstructionFairPCA(d)}.items():
        stages.say(f"fitting {name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ties of eigenvalues do not matter here
            yield name, *_timed(partial(model.fit, prepared.X_train, sensitive_features=groups))


def left_out(prepared: PreparedTable) -> str:
    """Return why other methods are not compared, or nothing."""
    attributes = prepared.people_train.sensitive_features
    if len(attributes) > 1 or len(np.unique(next(iter(attributes.values())).astype(str))) != 2:
        return "Other methods take one attribute of two groups."
    if prepared.people_train.sample_weight is not None or prepared.people_train.control_features is not None:
        return "Other methods know neither weights nor segments."
    if prepared.encoder.n_features > BASELINE_FEATURES:
        return f"Other methods are not tried beyond {BASELINE_FEATURES} features: they take too long."
    return ""


def variance_kept(model: Any, X: AnyArray) -> float:
    """Return the share of the variance of rows that a projection keeps, in the units of the model."""
    scaled = (np.asarray(X, dtype=np.float64) - model.mean_) / model.scale_
    scaled[:, model.constant_features_] = 0.0
    return float(np.var(model.transform(X), axis=0).sum() / np.var(scaled, axis=0).sum())


def show(rows: list[dict[str, Any]], prepared: PreparedTable) -> None:
    """Print the comparison."""
    headings = ("method", "variance\nkept", "MMD²", "by\nchance", "p", "at most\n(95 %)", "best\nreader", "seconds")
    shown = [
        (
            row["method"],
            f"{100 * row['variance_kept']:.1f} %",
            f"{row['mmd2']:.2g}",
            f"{row['chance_level']:.2g}",
            f"{row['p_value']:.2g}",
            f"{row['upper_bound']:.2g}",
            f"{row['best_reader']:.2f}",
            f"{row['seconds']:.1f}",
        )
        for row in rows
    ]
    console = out()
    console.print(numbers_table(f"On {len(prepared.rows_new):,} rows held out", headings, shown))
    console.print("best reader: AUC, or R², of the adversary that reads an attribute best; an AUC of 0.5 is chance.")
    if left_out(prepared):
        console.print(plain(left_out(prepared)))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    return work(), time.perf_counter() - began
