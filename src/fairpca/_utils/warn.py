"""Warnings that point at the line of the caller, however deep in the package they come from."""
# SPDX-License-Identifier: MIT

import sys
import warnings

Note = tuple[str, type[Warning]]
"""What a user is warned of, and the class of the warning."""

_OWN = ("fairpca", "sklearn", "joblib")
"""Packages between a user's line and ours: scikit-learn wraps the methods of estimators."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that belongs neither to this package nor to those that call it for the user.

    Parameters
    ----------
    message : str
        What to say.
    category : type of Warning
        The class of the warning.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OWN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
