"""The three data sets of the paper, loaded once in each process."""
# SPDX-License-Identifier: MIT

from functools import cache

from sklearn.utils import Bunch

from fairpca.datasets import load_adult, load_compas, load_german
from fairpca.evaluation import Split

_LOADERS = {"compas": load_compas, "german": load_german, "adult": load_adult}

DATA_NAMES = tuple(_LOADERS)

TITLES = {"compas": "COMPAS", "german": "German credit", "adult": "Adult income"}


@cache
def load(name: str, data_home: str | None = None) -> Bunch:
    """Return a data set with the number of rows that the paper uses.

    Parameters
    ----------
    name : {"compas", "german", "adult"}
        The data set.
    data_home : str, default=None
        Where its raw file is cached.
    """
    return _LOADERS[name](paper=True, data_home=data_home)


def split(name: str, seed: int, data_home: str | None = None) -> Split:
    """Return a 70-30 split of a data set, standardised with the training rows.

    Parameters
    ----------
    name : {"compas", "german", "adult"}
        The data set.
    seed : int
        Number of the split.
    data_home : str, default=None
        Where its raw file is cached.
    """
    data = load(name, data_home)
    return Split.random(data.data, data.target, data.sensitive_features, seed=seed)


def sensitive_index(name: str, data_home: str | None = None) -> int:
    """Return the index of the protected attribute among the features.

    Examples
    --------
    >>> sensitive_index("german")
    4
    """
    data = load(name, data_home)
    return int(data.feature_names.index(data.sensitive_name))
