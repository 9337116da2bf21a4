"""What held-out rows of several folds say of models along tolerances."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.comparison import People
from fairpca.path import FairPCAPath
from fairpca.selection._held_out import HeldOut


@dataclass(frozen=True, eq=False)
class FoldScores:
    """What the held-out rows of one fold say of each model.

    Attributes
    ----------
    mmd2s, levels, deviations : ndarray of shape (n_tolerances, n_measures)
        Plug-in MMD^2, what chance shows of it, and the deviation of that.
    variances : ndarray of shape (n_tolerances,)
        Share of the variance kept.
    """

    mmd2s: FloatArray
    levels: FloatArray
    deviations: FloatArray
    variances: FloatArray


def score_fold(path: FairPCAPath, X: Any, people: People, tolerances: FloatArray, held: HeldOut) -> FoldScores:
    """Fit models to the training part of a fold and judge them on the rest.

    Parameters
    ----------
    path : FairPCAPath
        Not yet fitted.
    X : table of shape (n, p)
        The training part.
    people : People
        What is known of it.
    tolerances : ndarray of shape (n_tolerances,)
        Decreasing.
    held : HeldOut
        The rest.
    """
    path._fit(X, people, tolerances)
    with held.quietly():
        found = [held.measured(model) for model in path.models_]
        measures = range(len(held.measures))
        return FoldScores(
            mmd2s=np.array([each.values for each in found]),
            levels=np.array([each.levels for each in found]),
            deviations=np.array([[each.by_chance(j).deviation for j in measures] for each in found]),
            variances=np.array([held.variance_kept(model) for model in path.models_]),
        )


@dataclass(frozen=True, eq=False)
class Scores:
    r"""What the folds say together.

    Statistics are made within each fold and averaged; projections of different folds are never compared with each
    other, for the errors that fits make on complementary rows cancel. With h and b of fold f, measure j and tolerance t

    .. math:: e_{tj} = \frac1F \sum_f (h_{ftj} - b_{ftj}), \qquad s_{tj} = \frac1F \sqrt{\sum_f s_{ftj}^2}.

    Attributes
    ----------
    tolerances : ndarray of shape (n_tolerances,)
        Decreasing.
    names : tuple of str
        What each measure compares.
    mmd2s, levels, deviations : ndarray of shape (n_folds, n_tolerances, n_measures)
        h, b and the deviation s that groups drawn by lot would show in each fold.
    variances : ndarray of shape (n_folds, n_tolerances)
        Share of the variance kept.
    """

    tolerances: FloatArray
    names: tuple[str, ...]
    mmd2s: FloatArray
    levels: FloatArray
    deviations: FloatArray
    variances: FloatArray

    @classmethod
    def of(cls, tolerances: FloatArray, names: tuple[str, ...], scores: Sequence[FoldScores]) -> "Scores":
        """Put the folds side by side."""
        stacked = {name: np.array([getattr(fold, name) for fold in scores]) for name in FoldScores.__dataclass_fields__}
        return cls(tolerances, names, **stacked)

    @property
    def excesses(self) -> FloatArray:
        """The mean excesses e, of shape (n_tolerances, n_measures)."""
        return (self.mmd2s - self.levels).mean(axis=0)

    @property
    def null_deviations(self) -> FloatArray:
        """The deviations s of these means, of shape (n_tolerances, n_measures)."""
        return np.sqrt(np.sum(self.deviations**2, axis=0)) / len(self.deviations)

    @property
    def in_units(self) -> FloatArray:
        """The excesses in units of their deviations, of shape (n_tolerances, n_measures).

        The unit of a measure is the mean of its deviations over all tolerances: with units that differ, a projection
        that tells less of everything would look worse.
        """
        units = self.null_deviations.mean(axis=0)
        return self.excesses / np.where(units > 0, units, 1.0)

    def best(self) -> int:
        r"""Return the loosest tolerance that is within one deviation of the best.

        .. math:: \max_j \frac{e_{tj}}{s_j} \le \min_{t'} \max_j \frac{e_{t'j}}{s_j} + 1.
        """
        largest = self.in_units.max(axis=1)
        return int(np.argmax(largest <= largest.min() + 1.0))

    def table(self) -> dict[str, Any]:
        """Return a column for each of what is known, with an entry for each tolerance.

        Of several measures it tells that of the largest excess in units of its deviation, by name; and the mean excess
        of each.
        """
        worst = self.in_units.argmax(axis=1)
        mmd2s, levels = _picked(self.mmd2s, worst), _picked(self.levels, worst)
        table: dict[str, Any] = {
            "tolerance": self.tolerances,
            "measure": np.array(self.names, dtype=object)[worst],
            "mean_test_mmd2": mmd2s.mean(axis=0),
            "std_test_mmd2": mmd2s.std(axis=0),
            "mean_test_chance_level": levels.mean(axis=0),
            "mean_test_excess": (mmd2s - levels).mean(axis=0),
            "null_deviation": _picked(self.null_deviations[None], worst)[0],
            "mean_test_variance": self.variances.mean(axis=0),
            "std_test_variance": self.variances.std(axis=0),
        }
        for fold, (mmd2, level, variance) in enumerate(zip(mmd2s, levels, self.variances, strict=True)):
            table |= {
                f"split{fold}_test_mmd2": mmd2,
                f"split{fold}_test_excess": mmd2 - level,
                f"split{fold}_test_variance": variance,
            }
        if len(self.names) > 1:
            table |= {f"mean_test_excess of {name}": self.excesses[:, j] for j, name in enumerate(self.names)}
        return table


def _picked(values: FloatArray, measures: IntArray) -> FloatArray:
    """Return for each fold and tolerance what one of the measures has, of shape (n_folds, n_tolerances)."""
    return values[:, np.arange(len(measures)), measures]
