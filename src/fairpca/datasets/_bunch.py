"""What the loaders return."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sklearn.utils import Bunch

from fairpca._utils.checks import check_flag
from fairpca._utils.extras import require
from fairpca._utils.typing import IntArray
from fairpca.datasets._tables import Design


@dataclass(frozen=True)
class About:
    """What a user should know of a data set.

    Attributes
    ----------
    title, source, license : str
        Its name, where it comes from, and on which terms.
    target_name, sensitive_name : str
        What is predicted, and the protected attribute, which is a column of the features as well.
    target_names, sensitive_values : tuple of str
        What 0 and 1 mean.
    """

    title: str
    source: str
    license: str
    target_name: str
    target_names: tuple[str, str]
    sensitive_name: str
    sensitive_values: tuple[str, str]


def pandas_if(as_frame: bool, return_X_y: bool) -> ModuleType | None:
    """Check both flags and return pandas where frames are wanted, before any file is read."""
    check_flag("return_X_y", return_X_y)
    return require("pandas", "frame") if check_flag("as_frame", as_frame) else None


def bunch(
    about: About,
    design: Design,
    target: IntArray,
    sensitive: IntArray,
    pandas: ModuleType | None,
    *,
    return_X_y: bool = False,
) -> Any:
    """Put a data set together.

    Parameters
    ----------
    about : About
        Its description.
    design : Design
        The features.
    target, sensitive : ndarray of shape (n_rows,)
        Zeros and ones.
    pandas : module or None
        Given, data, target and sensitive features are its frames and series.
    return_X_y : bool, default=False
        Whether data and target are all that is wanted.

    Returns
    -------
    bunch : Bunch, or (data, target)
        The data set.
    """
    data: Any = design.matrix
    target_column: Any = target
    sensitive_column: Any = sensitive
    frame = None
    if pandas is not None:
        data = pandas.DataFrame(design.matrix, columns=design.names)
        target_column = pandas.Series(target, name=about.target_name)
        sensitive_column = pandas.Series(sensitive, name=about.sensitive_name)
        frame = pandas.concat([data, target_column], axis=1)
    if return_X_y:
        return data, target_column
    return Bunch(
        data=data,
        target=target_column,
        sensitive_features=sensitive_column,
        frame=frame,
        feature_names=design.names,
        target_name=about.target_name,
        target_names=list(about.target_names),
        sensitive_name=about.sensitive_name,
        sensitive_values=list(about.sensitive_values),
        DESCR=_describe(about, design),
        license=about.license,
    )


def _describe(about: About, design: Design) -> str:
    n_rows, n_columns = design.matrix.shape
    lines = [
        about.title,
        f"Source: {about.source}",
        f"Licence: {about.license}",
        f"Rows: {n_rows}; columns: {n_columns}, among them the protected attribute as 0/1.",
        f"Target: {about.target_name}; 0 = {about.target_names[0]}, 1 = {about.target_names[1]}.",
        f"Protected attribute: {about.sensitive_name}; "
        f"0 = {about.sensitive_values[0]}, 1 = {about.sensitive_values[1]}.",
    ]
    return "\n".join(lines) + "\n"
