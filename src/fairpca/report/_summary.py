"""From a case to the facts of a report: plain numbers, texts, lists and dicts, and nothing drawn."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca.report._case import Case
from fairpca.report._colouring import Colouring
from fairpca.report._densities import QUANTILES, densities
from fairpca.report._findings import findings
from fairpca.report._loadings import loadings
from fairpca.report._origin import origin
from fairpca.report._points import drawn_rows, scatter
from fairpca.report._text import MOST_CHARACTERS, as_plain_data, plain
from fairpca.report._trade_off import trade_off
from fairpca.report._words import alerts, best_adversary, limits, notion_words, tolerance_words, verdicts

MOST_COLUMNS = 100
"""Columns of a table that are listed."""

MOST_OF_A_CELL = 60
"""Characters of what is said of each."""


def summarise(case: Case) -> dict[str, Any]:
    """Return everything that a report says.

    Parameters
    ----------
    case : Case
        What it is of.
    """
    rows = drawn_rows(case)
    facts = {
        "title": plain(case.title),
        "asked": _asked(case),
        "kept": _kept(case),
        "audit": findings(case),
        "attributes": [_attribute(colouring, rows) for colouring in case.colours],
        "n_attributes": len(case.compared.known),
        "n_points": len(rows),
        "densities": densities(case),
        "quantiles": list(QUANTILES),
        "scatter": scatter(case, rows),
        "trade_off": trade_off(case, rows),
        "loadings": loadings(case.model, case.about.features),
        "origin": origin(case),
        "about": _about(case),
    }
    summary: dict[str, Any] = as_plain_data(facts)
    return summary | {
        "best_adversary": best_adversary(summary["audit"]),
        "alerts": alerts(case.model, summary),
        "verdicts": verdicts(summary),
        "limits": limits(summary),
    }


def _asked(case: Case) -> dict[str, Any]:
    model = case.model
    return {
        "data": plain(case.about.data),
        "n_rows": case.n_rows,
        "n_rows_fitted": model.n_samples_,
        "held_out": case.about.held_out,
        "n_columns": model.n_features_in_,
        "n_components": model.n_components_,
        "n_live_components": model.n_live_components_,
        "weighted": case.masses is not None,
        "notion": notion_words(model.fairness),
        "tolerance": tolerance_words(model),
        "left_out": [plain(words) for words in case.compared.left_out],
    }


def _kept(case: Case) -> dict[str, Any]:
    return {
        "name": case.origin.name,
        "name_in_a_sentence": case.origin.in_a_sentence,
        "origin": case.origin.origin,
        "before": case.before.variance,
        "after": case.after.variance,
        "fitted": float(case.model.explained_variance_ratio_.sum()),
    }


def _attribute(colouring: Colouring, rows: Any) -> dict[str, Any]:
    return {
        "name": colouring.name,
        "kind": colouring.kind,
        "n_merged": colouring.n_merged,
        "groups": [
            {"label": label, "n_rows": int(count)}
            for label, count in zip(colouring.labels, colouring.counts, strict=True)
        ],
        "codes": colouring.codes[rows].tolist(),
    }


def _about(case: Case) -> dict[str, Any]:
    about = case.about
    return {
        "notes": [plain(note[:1].upper() + note[1:], 5 * MOST_CHARACTERS) for note in about.notes],
        "left_out": {plain(name): plain(reason) for name, reason in about.left_out.items()},
        "columns": [
            {key: plain(column.get(key, ""), MOST_OF_A_CELL) for key in ("name", "kind", "note")}
            for column in list(about.columns)[:MOST_COLUMNS]
        ],
        "n_columns": len(about.columns),
    }
