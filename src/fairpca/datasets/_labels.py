"""What is known of the rows of a table beside their features."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray

_NO_MEANINGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Labels:
    """Target, groups, sensitive attributes and weights of the rows.

    Attributes
    ----------
    target, sensitive : ndarray of shape (n_rows,)
        Zeros and ones.
    attributes : dict of str to ndarray of shape (n_rows,)
        The sensitive attributes as the raw table has them: categories in words, numbers as numbers.
    sample_weight : ndarray of shape (n_rows,) or None
        Survey weights, where the source has any.
    """

    target: IntArray
    sensitive: IntArray
    attributes: dict[str, AnyArray]
    sample_weight: FloatArray | None = None

    def take(self, rows: IntArray | None) -> "Labels":
        """Return the labels of some rows, in their order; of all for None."""
        if rows is None:
            return self
        return Labels(
            self.target[rows],
            self.sensitive[rows],
            {name: values[rows] for name, values in self.attributes.items()},
            None if self.sample_weight is None else self.sample_weight[rows],
        )


def in_words(column: Sequence[str], meanings: Mapping[str, str] = _NO_MEANINGS) -> AnyArray:
    """Return a column of categories as an array of words.

    Parameters
    ----------
    column : sequence of str
        Categories or codes.
    meanings : dict of str to str, default={}
        What codes mean. Those that the source does not document stay as they are.

    Returns
    -------
    words : ndarray of str of shape (n_rows,)
        The words.

    Examples
    --------
    >>> in_words(["1", "2", "9"], {"1": "married", "2": "single"})
    array(['married', 'single', '9'], dtype='<U7')
    """
    return np.array(translate(column, meanings), dtype=np.str_)


def translate(column: Sequence[str], meanings: Mapping[str, str]) -> list[str]:
    """Return a column with what its codes mean; those without a meaning stay as they are."""
    return [meanings.get(category, category) for category in column]
