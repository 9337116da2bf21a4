"""Warnings and errors of the package, each of its own class so that they can be filtered."""
# SPDX-License-Identifier: MIT

from typing import Any

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "AccuracyWarning",
    "AttributeInTableWarning",
    "ConvergenceWarning",
    "EffortWarning",
    "LeftOutWarning",
    "LimitExceededError",
    "ModelFileError",
    "NoSensitiveFeaturesWarning",
    "NotCertifiedWarning",
    "NullComponentsWarning",
    "RankWarning",
    "RowLabelsWarning",
    "StrictToleranceWarning",
    "TableError",
    "TableWarning",
    "TrainingRowsWarning",
]


class AccuracyWarning(UserWarning):
    """A discrepancy is known less accurately than the tolerance calls for."""


class AttributeInTableWarning(UserWarning):
    """A column of the table reveals a protected attribute."""


class EffortWarning(UserWarning):
    """The work that is about to begin takes minutes or more."""


class LeftOutWarning(UserWarning):
    """Rows of small groups were left out of a comparison, as was asked for."""


class LimitExceededError(ValueError):
    """Figures of an audit are above the limits that were required of them."""


class ModelFileError(ValueError):
    """A file is no model that this version can load, or not the whole of one, or not as it was written."""


class NoSensitiveFeaturesWarning(UserWarning):
    """A fair method was fitted without sensitive features and did plain PCA."""


class NotCertifiedWarning(UserWarning):
    """No model could be shown to keep below a target on new people, or a release was not certified."""


class OutOfReachError(ValueError):
    """No release can be shown to keep a promise on these rows: they are too few, or their groups too different."""


class RankWarning(UserWarning):
    """More components were asked for than the data have dimensions."""


class RowLabelsWarning(UserWarning):
    """Rows and groups carry different row labels and were matched by position."""


class StrictToleranceWarning(UserWarning):
    """A tolerance is so far below the chance level that single rows decide what meets it."""


class TableError(ValueError):
    """A table, or what is said of its columns, cannot be used.

    Parameters
    ----------
    words : str
        Why.
    **options : dict
        Arguments of `TableFile`, `Roles` and `TableOptions` with which the table can be used, where some are known.
    """

    def __init__(self, words: str, **options: Any) -> None:
        super().__init__(words)
        self.options = options


class TableWarning(UserWarning):
    """Something of a table was left out, guessed or not known before."""


class TrainingRowsWarning(UserWarning):
    """An audit was given rows that the reduction was fitted to."""


class NullComponentsWarning(UserWarning):
    """The fairest way to keep much variance leaves some of the components without any."""
