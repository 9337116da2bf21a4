"""fairpca monitor: people who come after the audit, from files or line by line, watched across runs and kills."""
# SPDX-License-Identifier: MIT

import csv
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from fairpca import Monitor, load_certificate
from fairpca._utils.schema import plain_data
from fairpca.cli._guard import NOT_MET, in_options
from fairpca.cli._model import roles_for, table_model
from fairpca.cli._options import Watch
from fairpca.cli._output import check_file, json_text, out, plain
from fairpca.exceptions import TableError
from fairpca.table_model import TableModel
from fairpca.tables import DELIMITERS, Roles, TableFile, TableOptions, arrow, tell_of_unknown, texts_of

INPUT = Path("-")

AT_ONCE = 2**16
"""Bytes of standard input that are taken at a time; less where no more is there."""


def run_monitor(given: Watch) -> int:
    """Take people, and say whether what was certified still holds.

    Parameters
    ----------
    given : Watch
        What was asked for.

    Returns
    -------
    code : int
        0, or 1 after an alarm.
    """
    state = given.state or given.certificate.with_name(f"{given.certificate.name}.monitor")
    inputs = [given.certificate, given.model, given.table]
    check_file("--state", state, inputs)
    check_file("--plot", given.plot, [*inputs, state])
    certificate, model = load_certificate(given.certificate), table_model(given.model)
    certified, names = (certificate, model.reduction_), model.encoder.feature_names
    monitor = (
        Monitor.load(state, *certified, feature_names=names)
        if state.exists()
        else Monitor(*certified, feature_names=names)
    )
    feed = _Feed(monitor, model, roles_for(model, given.roles), state)
    if given.table == INPUT:
        for taken in feed.lines(given):
            typer.echo(
                json.dumps(plain_data({"taken": taken} | monitor.to_dict())) if given.as_json else f"taken {taken}"
            )
            sys.stdout.flush()
    else:
        feed.file(given.file)
    tell_of_unknown(feed.unknown, "warn", str(given.table))
    if given.plot is not None:
        monitor.plot().figure_.savefig(given.plot)
    if not given.as_json:
        out().print(plain(in_options(str(monitor))))
    elif given.table != INPUT:
        typer.echo(json_text(monitor.to_dict()))
    return 0 if monitor.alarm_ is None else NOT_MET


class _Feed:
    """Gives batches to a monitor, and writes its state after each, with how much of which input is in it."""

    def __init__(self, monitor: Monitor, model: TableModel, roles: Roles, state: Path) -> None:
        needs_label = monitor.certificate.terms["fairness"] != "demographic_parity"
        self._roles = replace(roles, drop=(), weight=None, label=roles.label if needs_label else None)
        self._monitor, self._model, self._state = monitor, model, state
        self.unknown: Counter[tuple[str, str]] = Counter()
        self._missing_values = (model.options or TableOptions()).missing_values

    def file(self, table: TableFile) -> None:
        """Take the rows of a file that were not taken before."""
        self._check(table.names, table.label)
        # Two tables of one name are told apart by how they begin.
        where, begin, seen = str(Path(table.label).resolve()), "", 0
        known = self._monitor.inputs.get(where, {"rows": 0, "begin": None})
        changed = TableError(
            f"{table.label} is another file than that of which {known['rows']} rows were taken: its rows were changed "
            "or removed. Give new rows a file of their own."
        )
        for batch in table.batches():
            if not seen:
                begin = hashlib.sha256(repr((table.names, batch.slice(0, 1).to_pylist())).encode()).hexdigest()
                if known["begin"] not in (None, begin):
                    raise changed
            first, seen = seen, seen + batch.num_rows
            if seen > known["rows"]:
                new = max(0, known["rows"] - first)
                self._take(batch.slice(new), first + new, table.decimal)
                self._keep(where, {"rows": seen, "begin": begin})
        if seen < known["rows"]:
            raise changed

    def lines(self, given: Watch) -> Iterator[int]:
        """Take lines of standard input as they come; yield how many rows are in the state, at first and after each."""
        taken = int(self._monitor.inputs.get("-", {"rows": 0})["rows"])
        yield taken
        names: list[str] = []
        delimiter = given.delimiter or ""
        for lines in _lines(given.encoding or "utf-8-sig"):
            if not names:
                header, *lines = lines
                delimiter = delimiter or max(DELIMITERS, key=header.count)
                names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
                self._check(tuple(names), "standard input")
            rows = list(csv.reader(filter(None, lines), delimiter=delimiter))
            for number, row in enumerate(rows, start=taken + 1):
                if len(row) != len(names):
                    raise TableError(f"standard input has {len(row)} fields in row {number}, and {len(names)} columns.")
            if rows:
                columns = [arrow().array(column, arrow().string()) for column in zip(*rows, strict=True)]
                self._take(arrow().record_batch(columns, names), taken, given.decimal)
                taken += len(rows)
                self._keep("-", {"rows": taken})
                yield taken

    def _check(self, names: tuple[str, ...], label: str) -> None:
        self._roles.check(names, label)
        lacking = [column.name for column in self._model.encoder.columns if column.name not in names]
        if lacking:
            raise TableError(f"{label} lacks the column {lacking[0]!r}, which the model needs.")

    def _take(self, batch: Any, first_row: int, decimal: str | None) -> None:
        rows = self._model.encoder.encoded(batch, first_row, decimal)
        if self._model.encoder.missing != "drop-rows":
            rows.check_complete()
        self.unknown.update(rows.unknown)
        kept = rows.complete
        if kept.any():
            roles = self._roles
            people = {
                name: texts_of(batch.column(name), self._missing_values)[kept]
                for name in (*roles.sensitive, *roles.control, *([roles.label] if roles.label else []))
            }
            self._monitor.update(
                rows.X[kept],
                people.get(roles.label or ""),
                sensitive_features={name: people[name] for name in roles.sensitive},
                control_features={name: people[name] for name in roles.control} or None,
            )

    def _keep(self, where: str, position: dict[str, Any]) -> None:
        self._monitor.inputs[where] = position
        self._monitor.save(self._state)


def _lines(encoding: str) -> Iterator[list[str]]:
    """Yield the whole lines of standard input that are there, as soon as there are any."""
    rest = b""
    while chunk := sys.stdin.buffer.read1(AT_ONCE):  # type: ignore[union-attr]
        *whole, rest = (rest + chunk).split(b"\n")
        if whole:
            yield [_decoded(line, encoding) for line in whole]
    if rest:
        yield [_decoded(rest, encoding)]


def _decoded(line: bytes, encoding: str) -> str:
    try:
        return line.decode(encoding).rstrip("\r")
    except UnicodeDecodeError:
        raise TableError(f"standard input is not {encoding} in {line[:40]!r}; name its encoding.") from None
    except LookupError:
        raise ValueError(f"encoding={encoding!r} is unknown; name one that Python knows, such as 'utf-8'.") from None
