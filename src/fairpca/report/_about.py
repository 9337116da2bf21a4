"""What a report may say of the data beyond what rows and model tell."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any


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
        The command line that makes the report again.
    features : sequence of str, default=()
        Names of the features, where the model was fitted to rows without names.
    """

    data: str = ""
    held_out: float | None = None
    columns: Sequence[Mapping[str, Any]] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    command: str = ""
    features: Sequence[str] = ()


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
        raise ValueError(f"about has {', '.join(unknown)}, which nobody knows; choose among {allowed}.")
    return About(**about)
