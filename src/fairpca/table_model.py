"""A model for tables of people: from their columns to numbers, and from these to fair components."""
# SPDX-License-Identifier: MIT

import os
from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import AnyArray
from fairpca.estimator import FairPCA
from fairpca.release import Release
from fairpca.saving import write_archive
from fairpca.tables import Roles, TableEncoder, TableOptions


@dataclass(frozen=True)
class HeldOut:
    """Which rows of a table were held out of a fit, so that they can be found again.

    Attributes
    ----------
    share : float
        Share of the rows.
    random_state : int
        With which they were drawn, see `fairpca.tables.prepare`.
    """

    share: float
    random_state: int


class TableModel(TransformerMixin, BaseEstimator):
    """FairPCA together with the way from a table of people to its features.

    `fairpca fit` writes such models, and `fairpca.load` reads them. A fitted one goes into a pipeline as
    `sklearn.frozen.FrozenEstimator(model)`, which keeps it from being fitted again.

    Parameters
    ----------
    encoder : TableEncoder
        How columns become features.
    model : FairPCA
        What reduces the features.
    roles : Roles, default=None
        Which columns hold protected attributes, labels, segments and weights, where that is known.
    held_out : HeldOut, default=None
        Which rows of the table were held out, where some were.
    options : TableOptions, default=None
        How the columns of people are read, where that is known.
    release : Release, default=None
        What is released of the reduced rows in place of them.

    Attributes
    ----------
    model_ : FairPCA
        The fitted model; it has all that was learned.
    release_ : Release or None
        The fitted release. Of `fairpca fit --promise` it is certified.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.table_model import TableModel
    >>> from fairpca.tables import Roles, prepare
    >>> rng = np.random.default_rng(0)
    >>> table = {"age": rng.integers(18, 80, 200), "work": rng.choice(["no", "yes"], 200), "sex": ["f", "m"] * 100}
    >>> roles = Roles("sex")
    >>> prepared = prepare(table, roles, random_state=0)
    >>> model = TableModel(prepared.encoder, FairPCA(2), roles)
    >>> model.fit(table, sensitive_features=table["sex"]).transform({"work": ["yes"], "age": [41]}).shape
    (1, 2)
    """

    def __init__(
        self,
        encoder: TableEncoder,
        model: FairPCA,
        roles: Roles | None = None,
        held_out: HeldOut | None = None,
        options: TableOptions | None = None,
        release: Release | None = None,
    ) -> None:
        self.encoder = encoder
        self.model = model
        self.roles = roles
        self.held_out = held_out
        self.options = options
        self.release = release

    @classmethod
    def of_fitted(
        cls,
        encoder: TableEncoder,
        fitted: FairPCA,
        roles: Roles | None = None,
        held_out: HeldOut | None = None,
        options: TableOptions | None = None,
        release: Release | None = None,
    ) -> "TableModel":
        """Put a fitted model together with the encoder of its rows.

        Parameters
        ----------
        encoder, roles, held_out, options
            As above.
        fitted : FairPCA
            A model that was fitted to rows of the encoder.
        release : Release, default=None
            A release that was fitted to its projections.
        """
        check_is_fitted(fitted)
        if fitted.n_features_in_ != encoder.n_features:
            raise ValueError(
                f"the model has {fitted.n_features_in_} features, but the encoder makes {encoder.n_features}."
            )
        if release is not None and release.n_features_in_ != fitted.n_components_:
            raise ValueError(
                f"the release takes {release.n_features_in_} columns; the model has {fitted.n_components_} components."
            )
        model = cls(encoder, clone(fitted), roles, held_out, options, None if release is None else clone(release))
        model.model_, model.release_ = fitted, release
        return model

    @property
    def reduction_(self) -> Any:
        """What reduces features: the fitted model, or a pipeline of it and its release."""
        check_is_fitted(self)
        return self.model_ if self.release_ is None else make_pipeline(self.model_, self.release_)

    def fit(
        self,
        table: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the model to a table.

        Parameters
        ----------
        table : TableFile, path or frame
            Rows that have the columns of the encoder.
        y, sensitive_features, control_features, sample_weight
            See `FairPCA.fit`.

        Returns
        -------
        self : TableModel
            The fitted model.
        """
        people = {
            "sensitive_features": sensitive_features,
            "control_features": control_features,
            "sample_weight": sample_weight,
        }
        X = self.encoder.encode(table, known=self._columns_with_roles())
        self.model_, self.release_ = clone(self.model).fit(X, y, **people), None
        if self.release is not None:
            self.release_ = clone(self.release).fit(self.model_.transform(X), y, **people)
        return self

    def transform(self, table: Any) -> AnyArray:
        """Project the rows of a table.

        Parameters
        ----------
        table : TableFile, path or frame
            Rows that have the columns of the encoder, by name, in any order.

        Returns
        -------
        Z : ndarray of shape (n, n_components)
            Their projections, or what is released of them. Features of categories that the fit did not know are 0, with
            a warning.
        """
        check_is_fitted(self)
        return self.reduction_.transform(self.encoder.encode(table, known=self._columns_with_roles()))

    def _columns_with_roles(self) -> tuple[str, ...]:
        return () if self.roles is None else tuple(self.roles.by_column)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the components.

        Parameters
        ----------
        input_features : ignored
            For pipelines.
        """
        check_is_fitted(self)
        return self.reduction_.get_feature_names_out()

    def summary(self) -> str:
        """Return what is kept and what new people will show, in words; first what is promised, where something is."""
        check_is_fitted(self)
        promised = getattr(self.release_, "certificate_", None)
        return "\n".join([*([] if promised is None else [str(promised)]), self.model_.summary()])

    def save(self, path: str | os.PathLike[str], *, rows: str | os.PathLike[str] | None = None) -> None:
        """Write the model to a file that `fairpca.load` reads, see `FairPCA.save`.

        Parameters
        ----------
        path : path
            Where to.
        rows : path, default=None
            Where to write hashes of the rows of the fit, which are not handed on.
        """
        from fairpca.saving import save_rows, table_model_to_archive

        write_archive(path, *table_model_to_archive(self))
        if rows is not None:
            save_rows(self.model_, rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
