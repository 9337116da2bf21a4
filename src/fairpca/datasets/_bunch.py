"""What the loaders return."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sklearn.utils import Bunch

from fairpca._utils.checks import check_flag
from fairpca._utils.extras import require
from fairpca.datasets._describe import About, describe
from fairpca.datasets._labels import Labels
from fairpca.datasets._tables import Design


@dataclass(frozen=True)
class _Parts:
    """What holds rows, as arrays or as pandas objects."""

    data: Any
    target: Any
    sensitive_features: Any
    attributes: Any
    sample_weight: Any
    frame: Any


def pandas_if(as_frame: bool, return_X_y: bool) -> ModuleType | None:
    """Check both flags and return pandas where frames are wanted, before any file is read."""
    check_flag("return_X_y", return_X_y)
    return require("pandas", "frame") if check_flag("as_frame", as_frame) else None


def bunch(about: About, design: Design, labels: Labels, pandas: ModuleType | None, *, return_X_y: bool = False) -> Any:
    """Put a data set together.

    Parameters
    ----------
    about : About
        Its description.
    design : Design
        The features.
    labels : Labels
        What is known of the rows beside them.
    pandas : module or None
        Given, everything that holds rows is one of its frames or series.
    return_X_y : bool, default=False
        Whether data and target are all that is wanted.

    Returns
    -------
    bunch : Bunch, or (data, target)
        The data set.
    """
    parts = _arrays(design, labels) if pandas is None else _frames(about, design, labels, pandas)
    if return_X_y:
        return parts.data, parts.target
    return Bunch(
        **vars(parts),
        feature_names=design.names,
        target_name=about.target_name,
        target_names=list(about.target_names),
        sensitive_name=about.sensitive_name,
        sensitive_values=list(about.sensitive_values),
        DESCR=describe(about, design, labels),
        license=about.license,
    )


def _arrays(design: Design, labels: Labels) -> _Parts:
    return _Parts(design.matrix, labels.target, labels.sensitive, labels.attributes, labels.sample_weight, frame=None)


def _frames(about: About, design: Design, labels: Labels, pandas: ModuleType) -> _Parts:
    data = pandas.DataFrame(design.matrix, columns=design.names)
    target = pandas.Series(labels.target, name=about.target_name)
    weights = labels.sample_weight
    return _Parts(
        data,
        target,
        pandas.Series(labels.sensitive, name=about.sensitive_name),
        pandas.DataFrame(labels.attributes),
        None if weights is None else pandas.Series(weights, name=about.weight_name),
        frame=pandas.concat([data, target], axis=1),
    )
