"""What a comparison of methods has found, as numbers, as a table of texts and in words."""
# SPDX-License-Identifier: MIT

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca.methods._case import Case, Judged
from fairpca.methods._known import PLAIN
from fairpca.release import Release


@dataclass(frozen=True, eq=False)
class Tried:
    """A method that could do what was asked.

    Attributes
    ----------
    model : estimator
        The fitted method.
    seconds : float
        CPU seconds of the fit.
    judged : Judged
        What it shows.
    """

    model: Any
    seconds: float
    judged: Judged


@dataclass(frozen=True)
class MethodComparison:
    """What fair reductions keep and reveal, on the same rows.

    Attributes
    ----------
    methods : list of dict
        One for each method, of the rows held out: `variance_kept`, the share of the variance of the scaled columns that
        a linear regression on the projections predicts, learned on the rows that fit; `mmd2` of the worst measure with
        its `chance_level` and `upper_bound`; `gap`, what that allows of means of smooth scores between -1 and 1 beyond
        chance; the best `adversary` and its `adversary_score`, an AUC, of amounts R^2; the AUC of a label of two values
        (`task_auc`); what a release that promises the target for every classifier keeps: `promise_cells`,
        `promise_variance`, `promise_auc`; CPU `seconds` of the fit, and whether it `converged`.
    choosing : list of dict
        The same of the rows that choose, without adversaries.
    left_out : dict of str to str
        Methods that cannot do what was asked, and why.
    choices : dict of str to str or None
        Chosen on other rows than those that are reported of. "variance": what keeps most of it, and "task": what
        predicts the label best, among methods with a gap of at most the target; "promise": what keeps most when every
        classifier is to be held below the target. None where no method does.
    no_promise : str
        Why the rows held out do not certify the method that is chosen for a promise; empty where they do.
    score : str
        What adversaries are scored by.
    score_error : float
        How well that is known: two standard errors of an AUC near 0.5; nan of R^2.
    target : float
        The largest gap that was asked for.
    n_components : int
        Of every method.
    n_rows : dict of str to int
        Rows that `fit`, that are `choosing`, and that were `held_out`.
    models : dict of str to estimator
        The fitted methods.
    release : Release or None
        Of the method that is chosen for a promise, certified.
    """

    methods: list[dict[str, Any]]
    choosing: list[dict[str, Any]]
    left_out: dict[str, str]
    choices: dict[str, str | None]
    no_promise: str
    score: str
    score_error: float
    target: float
    n_components: int
    n_rows: dict[str, int]
    models: dict[str, Any] = field(repr=False, compare=False)
    release: Release | None = field(repr=False, compare=False)

    @classmethod
    def of(cls, case: Case, tried: Mapping[str, Tried], left_out: dict[str, str]) -> "MethodComparison":
        """Choose, certify what is chosen, and put it all together."""
        (target,) = case.targets
        choosing = [{"method": name} | _flat(each.judged.choosing) for name, each in tried.items()]
        methods = [
            {"method": name}
            | _flat(each.judged.new)
            | {"seconds": each.seconds, "converged": bool(getattr(each.model, "converged_", True))}
            for name, each in tried.items()
        ]
        choices = _choices(choosing, target)
        chosen = choices["promise"]
        release = None if chosen is None else tried[chosen].judged.release
        failed = case.why_not_certified(None if chosen is None else tried[chosen].model, release)
        parts = {"fit": case.fitted, "choosing": case.choosing, "held_out": case.new}
        return cls(
            methods=methods,
            choosing=choosing,
            left_out=left_out,
            choices=choices,
            no_promise=failed,
            score=methods[0]["score"],
            score_error=methods[0]["score_error"],
            target=target,
            n_components=int(tried[PLAIN].model.n_components_),
            n_rows={name: len(part) for name, part in parts.items()},
            models={name: each.model for name, each in tried.items()},
            release=None if failed else release,
        )

    @property
    def recommendation(self) -> list[str]:
        """Which method for what, with the figures of the rows held out, in sentences."""
        return list(_sentences(self))

    def row(self, method: str) -> dict[str, Any]:
        """Return the figures of a method on the rows held out.

        Parameters
        ----------
        method : str
            Its name.
        """
        return next(each for each in self.methods if each["method"] == method)

    def to_frame(self) -> Any:
        """Return the figures of the rows held out as a table of pandas."""
        return require("pandas", "frame").DataFrame(self.methods).set_index("method")

    def to_dict(self) -> dict[str, Any]:
        """Return all findings as plain numbers, texts, lists and dicts."""
        own = {name: value for name, value in vars(self).items() if name not in ("models", "release")}
        return own | {"recommendation": self.recommendation}

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write a page: what is recommended, one picture, and the table.

        Parameters
        ----------
        file : path
            Where to, for example "methods.html".
        """
        from fairpca.report import render_methods

        path, page = Path(file), render_methods(self.to_dict() | {"table": table_of(self), "notes": notes_of(self)})
        with writing(path) as temporary:
            temporary.write_text(page, encoding="utf-8", newline="\n")
        return path

    def __str__(self) -> str:
        headings, rows = table_of(self)
        lines = [[heading.replace("\n", " ") for heading in headings], *rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(
                cell.rjust(w) if k else cell.ljust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        return "\n".join([*self.recommendation, "", *shown, "", *notes_of(self)])


def _flat(figures: dict[str, Any]) -> dict[str, Any]:
    """Return figures with what is kept behind the promise beside the others."""
    (kept,) = figures["promises"] or ({"n_cells": None, "variance": None, "label_auc": None},)
    variance = None if kept["variance"] is None else kept["variance"] * figures["variance_kept"]
    own = {name: value for name, value in figures.items() if name != "promises"}
    return own | {
        "promise_cells": kept["n_cells"],
        "promise_variance": variance,
        "promise_auc": kept["label_auc"],
    }


def _choices(rows: list[dict[str, Any]], target: float) -> dict[str, str | None]:
    """Return which method is best for what."""
    alike = [row for row in rows if row["gap"] <= target]
    promised = [row for row in rows if row["promise_cells"] is not None]
    what = "promise_variance" if any(row["promise_auc"] is None for row in promised) else "promise_auc"
    found = {"variance": _best(alike, "variance_kept")}
    if not any(math.isnan(row["task_auc"]) for row in rows):
        found["task"] = _best(alike, "task_auc")
    return found | {"promise": _best(promised, what)}


def _best(rows: list[dict[str, Any]], what: str, level: float = 0.99) -> str | None:
    """Return the method with the largest figure; of those that are about as good, the one that reveals least."""
    most = max((row[what] for row in rows if not math.isnan(row[what])), default=None)
    good = [row for row in rows if most is not None and row[what] >= level * most]
    return str(min(good, key=lambda row: float(row["gap"]))["method"]) if good else None


def _sentences(found: MethodComparison) -> Iterator[str]:
    points, plain = f"{100 * found.target:g} points", found.row(PLAIN)
    name = found.choices["variance"]
    if name is None:
        nearest = min(found.methods, key=lambda row: float(row["gap"]))
        yield (
            f"Groups alike: on the rows to choose with no method brings smooth scores of the groups within {points} of "
            f"each other. Of the rows reported {nearest['method']} comes nearest, {100 * nearest['gap']:.0f} points."
        )
    else:
        row = found.row(name)
        yield (
            f"Groups alike, most variance: {name} keeps {_percent(row['variance_kept'])}"
            f"{_beside(name, plain, 'variance_kept', _percent)} with MMD² {row['mmd2']:.2g} (by chance "
            f"{row['chance_level']:.2g}), so that smooth scores of the groups differ by {100 * row['gap']:.1f} points "
            f"beyond chance; {points} were allowed."
        )
    if (name := found.choices.get("task")) is not None:
        row = found.row(name)
        yield (
            f"Groups alike, the label: it is predicted with AUC {row['task_auc']:.3f} from {name}"
            f"{_beside(name, plain, 'task_auc', '{:.3f}'.format)}."
        )
    yield _promised(found, points)
    scored = [row for row in found.methods if not math.isnan(row["adversary_score"])]
    if scored:
        most, least = (end(scored, key=lambda row: float(row["adversary_score"])) for end in (max, min))
        known = "" if math.isnan(found.score_error) else f" (such a figure is known to ± {found.score_error:.2f})"
        yield (
            f"What can still be predicted: the attribute is, best from {most['method']} with {found.score} "
            f"{most['adversary_score']:.2f} and least from {least['method']} with "
            f"{least['adversary_score']:.2f}{known}. Against every model, however it is built, only the promise helps."
        )


def _promised(found: MethodComparison, points: str) -> str:
    begin, name = f"A promise for every classifier, no gap above {points}", found.choices["promise"]
    if name is None:
        return f"{begin}: {found.no_promise}"
    if found.release is None:
        return f"{begin}: {name} was chosen, but {found.no_promise}"
    row = found.row(name)
    kept = f"{_percent(row['promise_variance'])} of the variance"
    if row["promise_auc"] is not None:
        kept += f", and the label with AUC {row['promise_auc']:.3f}"
    return (
        f"{begin}: {name}, rounded to {row['promise_cells']} cells, keeps {kept}; certified with "
        f"{100 * found.release.confidence:g} % confidence."
    )


def _beside(name: str, plain: dict[str, Any], what: str, words: Any) -> str:
    return "" if name == PLAIN else f" (plain PCA {words(plain[what])})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def table_of(found: MethodComparison) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of the table, as texts.

    Parameters
    ----------
    found : MethodComparison
        The findings.
    """
    has_task = any(not math.isnan(row["task_auc"]) for row in found.methods)
    has_promise = any(row["promise_cells"] is not None for row in found.methods)
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "method": lambda row: row["method"] + ("" if row["converged"] else " *"),
        "kept": lambda row: _or_dash(row["variance_kept"], _percent),
        "MMD²": lambda row: f"{row['mmd2']:.2g}",
        "by\nchance": lambda row: f"{row['chance_level']:.2g}",
        f"{'group' if found.score == 'AUC' else 'amount'}\n{found.score}": lambda row: _or_dash(
            row["adversary_score"], "{:.2f}".format
        ),
    }
    if has_task:
        columns["label\nAUC"] = lambda row: _or_dash(row["task_auc"], "{:.3f}".format)
    if has_promise:
        columns["kept,\npromise"] = lambda row: _or_dash(row["promise_variance"], _percent)
    if has_promise and has_task:
        columns["label,\npromise"] = lambda row: _or_dash(row["promise_auc"], "{:.3f}".format)
    columns["CPU\ns"] = lambda row: f"{row['seconds']:.2f}"
    return list(columns), [[cell(row) for cell in columns.values()] for row in found.methods]


def _or_dash(value: float | None, words: Any) -> str:
    return "-" if value is None or math.isnan(value) else str(words(value))


def notes_of(found: MethodComparison) -> list[str]:
    """Return what the table means, and which methods are not in it.

    Parameters
    ----------
    found : MethodComparison
        The findings.
    """
    rows, has_task = found.n_rows, any(not math.isnan(row["task_auc"]) for row in found.methods)
    told, chance = ("group", "0.5") if found.score == "AUC" else ("amount", "0")
    label = "; label: by boosted trees" if has_task and found.score == "AUC" else ""
    lines = [
        f"{found.n_components} components each, fitted to {rows['fit']:,} rows; recommended by {rows['choosing']:,} "
        f"others, and figures from {rows['held_out']:,} that were held out from both.",
        "kept: of the variance of the columns, what linear regression predicts from the components. "
        f"{told}: by the best of four models of the attribute{label}; {chance} is guessing.",
    ]
    if any(row["promise_cells"] is not None for row in found.methods):
        lines.append(
            f"promise: what a release keeps that holds every decision within {100 * found.target:g} points; a dash "
            "where none does."
        )
    if not all(row["converged"] for row in found.methods):
        lines.append("* did not converge, or does not meet its tolerance.")
    return [*lines, *(f"Not compared: {name}: {reason}" for name, reason in found.left_out.items())]
