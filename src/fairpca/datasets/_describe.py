"""What a user should know of a data set, and the page that says so."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca.datasets._labels import Labels
from fairpca.datasets._tables import Design


@dataclass(frozen=True)
class About:
    """What a user should know of a data set.

    Attributes
    ----------
    title, source, license : str
        Its name, where it comes from, and on which terms.
    target_name, sensitive_name : str
        What is predicted, and the protected attribute.
    target_names, sensitive_values : tuple of str
        What 0 and 1 mean.
    weight_name : str or None
        The column of the raw table that holds the survey weights.
    """

    title: str
    source: str
    license: str
    target_name: str
    target_names: tuple[str, str]
    sensitive_name: str
    sensitive_values: tuple[str, str]
    weight_name: str | None = None

    @property
    def target_meanings(self) -> dict[str, str]:
        """What the codes "0" and "1" of the target mean."""
        return dict(zip("01", self.target_names, strict=True))

    def protecting(self, name: str, values: tuple[str, str]) -> "About":
        """Return the same with another protected attribute, whose values 0 and 1 mean these."""
        return replace(self, sensitive_name=name, sensitive_values=values)


def describe(about: About, design: Design, labels: Labels) -> str:
    """Return the page, a line for each fact."""
    lines = [
        about.title,
        f"Source: {about.source}",
        f"Licence: {about.license}",
        _size(about, design),
        f"Target: {about.target_name}; 0 = {about.target_names[0]}, 1 = {about.target_names[1]}.",
        f"Protected attribute: {about.sensitive_name}; "
        f"0 = {about.sensitive_values[0]}, 1 = {about.sensitive_values[1]}.",
        f"Attributes as in the raw table: {', '.join(_kinds(labels))}.",
        f"Survey weights: {'none' if about.weight_name is None else about.weight_name}.",
    ]
    return "\n".join(lines) + "\n"


def _size(about: About, design: Design) -> str:
    n_rows, n_columns = design.matrix.shape
    among = "among" if about.sensitive_name in design.names else "not among"
    return f"Rows: {n_rows}; columns: {n_columns}, {among} them the protected attribute as 0/1."


def _kinds(labels: Labels) -> list[str]:
    return [
        f"{name} ({'numbers' if np.issubdtype(values.dtype, np.number) else 'words'})"
        for name, values in labels.attributes.items()
    ]
