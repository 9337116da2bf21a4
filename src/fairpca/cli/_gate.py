"""Figures of an audit held against limits, for builds that are to fail: lines, JUnit XML and annotations."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import typer

from fairpca._utils.files import writing
from fairpca.auditing import Breach, Figure, breaches
from fairpca.cli._guard import NOT_MET, error_console
from fairpca.cli._options import Gate
from fairpca.cli._output import check_file, plain


def check_gate(gate: Gate, inputs: Iterable[Path]) -> None:
    """Refuse limits that cannot be held, before any work.

    Parameters
    ----------
    gate : Gate
        The limits, and where they are reported.
    inputs : iterable of Path
        Files that are read, none of which may be written over.
    """
    check_file("--junit", gate.junit if gate.limits else None, inputs)


def held(figures: Iterable[Figure], gate: Gate) -> int:
    """Say which figures are above their limits.

    Parameters
    ----------
    figures : iterable of Figure
        Of an audit.
    gate : Gate
        The limits, and where they are reported.

    Returns
    -------
    code : int
        0, or 1 where a figure is above its limit.
    """
    if not gate.limits:
        return 0
    found = breaches(figures, gate.limits)
    for breach in found:
        if gate.github:
            typer.echo(f"::error title=fairpca::{_escaped(str(breach))}", err=True)
        else:
            error_console().print(f"[red]fail:[/red] {plain(str(breach))}")
    if gate.junit is not None:
        write_junit(gate.junit, gate.limits, found)
    return NOT_MET if found else 0


def write_junit(file: Path, limits: dict[str, float], found: Sequence[Breach]) -> None:
    """Write a test for each limit, which has failed where a figure is above it.

    Parameters
    ----------
    file : Path
        Where to.
    limits : dict of str to float
        By the names of figures.
    found : sequence of Breach
        What is above them.
    """
    failed = {name: [_printable(str(breach)) for breach in found if breach.figure.name == name] for name in limits}
    counts = {"tests": str(len(limits)), "failures": str(sum(map(bool, failed.values())))}
    suite = ElementTree.Element("testsuite", {"name": "fairpca"} | counts)
    for name, limit in limits.items():
        case = ElementTree.SubElement(suite, "testcase", {"classname": "fairpca", "name": f"{name} at most {limit:g}"})
        if lines := failed[name]:
            ElementTree.SubElement(case, "failure", {"message": lines[0]}).text = "\n".join(lines)
    with writing(file) as temporary:
        ElementTree.ElementTree(suite).write(temporary, encoding="utf-8", xml_declaration=True)


def _printable(message: str) -> str:
    """Return a message without what XML cannot hold."""
    return "".join(letter if letter.isprintable() else "?" for letter in message)


def _escaped(message: str) -> str:
    """Return a message as commands of GitHub Actions take it."""
    return message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
