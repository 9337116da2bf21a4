"""Methods side by side: where their variance lies among eigenvectors, and how much of a feature they carry."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairpca._utils.typing import FloatArray
from fairpca.metrics import communality
from fairpca.plots.style import MARKERS, PALETTE, quiet_axes


class CommunalityDisplay:
    """Box plot of the communality of one feature over splits, a box for each method.

    Parameters
    ----------
    communalities : dict of str to sequence of float
        For each method the communality in every split.
    feature_name : str, default="the feature"
        The feature, usually the protected attribute.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    boxes_ : dict
        The artists that `matplotlib.axes.Axes.boxplot` returned.
    scatters_ : list of matplotlib PathCollection
        The splits of each method.

    See Also
    --------
    fairpca.metrics.communality : The number.

    Examples
    --------
    >>> display = CommunalityDisplay({"PCA": [0.4, 0.5, 0.3], "FairPCA": [0.01, 0.02, 0.01]}, "age").plot()
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['PCA', 'FairPCA']
    """

    def __init__(self, communalities: Mapping[str, Sequence[float]], feature_name: str = "the feature") -> None:
        self.communalities = communalities
        self.feature_name = feature_name

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Sequence[Any]],
        *,
        feature: int,
        feature_name: str = "the feature",
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Take the communalities of fitted estimators and draw them.

        Parameters
        ----------
        estimators : dict of str to sequence of fitted transformers
            For each method one estimator a split.
        feature : int
            Index of the feature.
        feature_name : str, default="the feature"
            Its name.
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.boxplot`.
        """
        values: dict[str, list[float]] = {}
        for name, fitted in estimators.items():
            for estimator in fitted:
                check_is_fitted(estimator)
            values[name] = [float(communality(estimator.components_)[feature]) for estimator in fitted]
        return cls(values, feature_name).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.boxplot`.
        """
        self.ax_, self.figure_ = quiet_axes(ax)
        places = np.arange(1, len(self.communalities) + 1)
        look = {
            "widths": 0.5,
            "showfliers": False,
            "patch_artist": True,
            "boxprops": {"facecolor": "0.93", "edgecolor": "0.4"},
            "medianprops": {"color": "black"},
        }
        values = [np.asarray(column, dtype=float) for column in self.communalities.values()]
        self.boxes_ = self.ax_.boxplot(values, positions=places, **(look | style))
        self.boxes_["medians"][0].set_label("median")
        self.scatters_ = [self._splits(index, column) for index, column in enumerate(values)]
        self.ax_.set_xticks(places, list(self.communalities))
        self.ax_.set_ylim(bottom=0)
        self.ax_.set_ylabel(f"communality of {self.feature_name}")
        self.ax_.legend(frameon=False)
        return self

    def _splits(self, index: int, column: Any) -> Any:
        """Draw every split beside its neighbours, so that equal values stay visible."""
        places = index + 1 + np.linspace(-0.15, 0.15, len(column))
        return self.ax_.scatter(
            places,
            column,
            s=18,
            color=PALETTE[index % len(PALETTE)],
            marker=MARKERS[index % len(MARKERS)],
            linewidths=0,
            zorder=3,
            label="one split" if index == 0 else None,
        )


def projection_spectrum(estimator: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of P* and the share of the variance along each of its eigenvectors.

    P* is the estimator's `projection_matrix_` or, where it has none, VV'. Tied eigenvalues leave the eigenvectors free
    to turn; they are the principal axes of the rows inside their span, by decreasing variance.

    Parameters
    ----------
    estimator : fitted transformer
        FairPCA, a baseline, or scikit-learn's PCA.
    X : array-like of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    eigenvalues : ndarray of shape (n_features,)
        Eigenvalues of P*, decreasing.
    explained_variance_ratio : ndarray of shape (n_features,)
        v'Sv / tr(S) for each eigenvector v; the sum is 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 2, 3]
    >>> projection_spectrum(PCA(1).fit(X), X)[0].round(6)
    array([1., 0., 0.])
    """
    check_is_fitted(estimator)
    frame = estimator.components_.T
    matrix = getattr(estimator, "projection_matrix_", None)
    values, vectors = np.linalg.eigh(frame @ frame.T if matrix is None else matrix)
    values, vectors = values[::-1], vectors[:, ::-1]
    rows = (np.asarray(X, dtype=np.float64) - estimator.mean_) / getattr(estimator, "scale_", 1.0)
    rows -= rows.mean(axis=0)
    covariance = rows.T @ rows
    # Eigenvalues of a projection matrix lie in [0, 1]; closer ones are equal but for rounding and the solver.
    edges = np.flatnonzero(-np.diff(values) > 1e-4) + 1
    blocks = np.split(np.arange(len(values)), edges)
    variances = [_decreasing_variances(covariance, vectors[:, block]) for block in blocks]
    return np.clip(values, 0.0, 1.0), np.concatenate(variances) / np.trace(covariance)


def _decreasing_variances(covariance: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.maximum(np.linalg.eigvalsh(vectors.T @ covariance @ vectors)[::-1], 0.0)


class SpectrumDisplay:
    """Share of the variance along each eigenvector of a projection matrix, in the order of its eigenvalues.

    A method that rounds a relaxed matrix P* to its first d eigenvectors loses the variance of those that follow.

    Parameters
    ----------
    explained_variance_ratio : ndarray of shape (n_splits, n_features)
        Share of the variance along each eigenvector, one row a split.
    n_components : int
        d, how many eigenvectors are kept.
    name : str, default=None
        What the mean is called in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each split, and the mean.

    See Also
    --------
    projection_spectrum : The numbers for one estimator.

    Examples
    --------
    >>> import numpy as np
    >>> display = SpectrumDisplay(np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]]), n_components=1).plot()
    >>> display.lines_[-1].get_ydata()
    array([55., 30., 15.])
    """

    def __init__(self, explained_variance_ratio: FloatArray, n_components: int, name: str | None = None) -> None:
        self.explained_variance_ratio = explained_variance_ratio
        self.n_components = n_components
        self.name = name

    @classmethod
    def from_estimators(
        cls, estimators: Sequence[Any], rows: Sequence[Any], *, name: str | None = None, ax: Any = None, **style: Any
    ) -> Self:
        """Take the spectra of estimators, one for each split, and draw them.

        Parameters
        ----------
        estimators : sequence of fitted transformers
            One method fitted on several splits.
        rows : sequence of array-like of shape (n_samples, n_features)
            The rows of each split.
        name : str, default=None
            What the mean is called in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.plot` for the mean.
        """
        shares = [projection_spectrum(estimator, X)[1] for estimator, X in zip(estimators, rows, strict=True)]
        return cls(np.array(shares), len(estimators[0].components_), name).plot(ax=ax, **style)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, name: str | None = None, ax: Any = None, **style: Any) -> Self:
        """Take the spectrum of one estimator and draw it; see `from_estimators`."""
        return cls.from_estimators([estimator], [X], name=name, ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **style : dict
            Passed to `matplotlib.axes.Axes.plot` for the mean.
        """
        self.ax_, self.figure_ = quiet_axes(ax)
        percent = 100 * np.atleast_2d(self.explained_variance_ratio)
        order = np.arange(1, percent.shape[1] + 1)
        kept = f"kept: first {self.n_components}"
        self.ax_.axvspan(0.5, self.n_components + 0.5, color="0.92", linewidth=0, label=kept)
        label = "one split" if len(percent) > 1 else None
        self.lines_ = []
        for split in percent if len(percent) > 1 else []:
            (line,) = self.ax_.plot(order, split, color="0.6", linewidth=0.7, label=label)
            self.lines_.append(line)
            label = None
        look = {"color": PALETTE[0], "marker": "o", "markersize": 3.5, "linewidth": 1.5}
        mean = f"{self.name or 'P*'}" + (f", mean of {len(percent)} splits" if len(percent) > 1 else "")
        self.lines_ += self.ax_.plot(order, percent.mean(axis=0), label=mean, **(look | style))
        self.ax_.set_xlim(0.5, len(order) + 0.5)
        # Shared axes may have been given a limit by another drawing.
        self.ax_.set_ylim(0, max(self.ax_.get_ylim()[1], 1.05 * percent.max()))
        self.ax_.set_xlabel("eigenvector of P*, by decreasing eigenvalue")
        self.ax_.set_ylabel("variance explained (%)")
        self.ax_.legend(frameon=False)
        return self
