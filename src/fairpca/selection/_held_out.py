"""Held-out rows that certify models one after the other, from the strictest, until one fails."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpca._utils.threads import blas_threads_for
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import Compared, Comparison, Measure
from fairpca.estimator import FairPCA
from fairpca.fitting import variance_kept
from fairpca.inference import ComparedRows, Evidence, upper_bound
from fairpca.mmd import factor_to_judge
from fairpca.rows import strata_of
from fairpca.selection._split import part_of


@dataclass(frozen=True)
class HeldOutCertificate:
    """What rows that a model was not fitted to show of the population they come from.

    Attributes
    ----------
    target : float
        epsilon, what the MMD^2 of the population was to be shown not to exceed.
    upper_bound : float
        U, at most epsilon: with the given confidence no measure of the population is larger.
    mmd2, chance_level : float
        Plug-in MMD^2 of the held-out rows and its chance level, of the measure with the largest bound.
    confidence : float
        The probability, over the choice of rows, with which a model that exceeds epsilon is not handed out.
    n_rows : int
        Held-out rows.
    tolerance : float
        The tolerance of the model, on the rows that it was fitted to.
    bandwidth : float
        sigma.
    measures : list of dict
        What is compared, with `mmd2`, `chance_level`, the `unbiased` estimate and `upper_bound` of each.
    """

    target: float
    upper_bound: float
    mmd2: float
    chance_level: float
    confidence: float
    n_rows: int
    tolerance: float
    bandwidth: float
    measures: list[dict[str, Any]]

    def __str__(self) -> str:
        return (
            f"With {100 * self.confidence:g} % confidence the MMD^2 of the population is at most {self.target:.2g}, by "
            f"{self.n_rows} rows that were not fitted to: they show {self.mmd2:.2g}, chance {self.chance_level:.2g}, "
            f"and the bound is {self.upper_bound:.2g}."
        )


@dataclass(frozen=True, eq=False)
class Judgement:
    """What held-out rows say of one model.

    Attributes
    ----------
    measured : Evidence
        Values and levels.
    bounds : ndarray of shape (n_measures,)
        U of each measure.
    """

    measured: Evidence
    bounds: FloatArray

    @property
    def worst(self) -> int:
        """The measure of the largest bound."""
        return int(np.argmax(self.bounds))

    @property
    def bound(self) -> float:
        """The largest bound: it holds for all measures, without a correction."""
        return float(self.bounds.max())


@dataclass(frozen=True, eq=False)
class HeldOut:
    r"""Held-out rows, who among them is compared with whom, and what they are to show of models.

    Models are judged from the last to the first until the bound of one exceeds the target. A model is handed out
    wrongly only if some model whose MMD^2 exceeds \epsilon in the population is judged below it. The order is fixed
    before the rows are looked at, so the first such model in it is always the same one, and it has to be passed for any
    to be handed out wrongly: that happens with probability 1 - confidence at most, however many models there are.

    Attributes
    ----------
    X : table of shape (n, p)
        The rows.
    rows : ComparedRows
        Their weights; projections come from models.
    measures : tuple of Measure
        What is compared, with the rows that are held out.
    target : float
        epsilon.
    confidence : float
        Of each bound.
    seed : int
        With which samples and frequencies are drawn, the same for all models.
    """

    X: Any
    rows: ComparedRows
    measures: tuple[Measure, ...]
    target: float
    confidence: float
    seed: int

    @classmethod
    def of(
        cls, X: Any, compared: Compared, held_out: IntArray, target: float, confidence: float, seed: int
    ) -> "HeldOut":
        """Take some of all rows, compared as all are: parts have the same measures, however few rows a group has there.

        Parameters
        ----------
        X : table of shape (n, p)
            All rows.
        compared : Compared
            Who among them is compared with whom.
        held_out : ndarray of int of shape (k,)
            Which are held out.
        target, confidence, seed
            See above.
        """
        assert compared.comparison is not None
        strata = strata_of(compared.attached)[held_out]
        present = replace(compared, comparison=_rebalanced(compared.comparison, strata))
        rows = ComparedRows.of(np.zeros((len(compared.attached), 0)), present).chosen(held_out)
        measures = tuple(_on_rows(measure, rows, j) for j, measure in enumerate(compared.measures))
        return cls(part_of(X, held_out), rows, measures, target, confidence, seed)

    def judge(self, model: FairPCA) -> Judgement:
        """Return what the rows show of a model that was fitted to others."""
        rows = replace(self.rows, Z=np.asarray(model.transform(self.X), dtype=np.float64))
        with blas_threads_for(rows.n_rows**2):
            measured = Evidence.of(rows, _judged_bandwidth(model), np.random.default_rng(self.seed))
            bounds = [measured.upper_bound(j, known, self.confidence) for j, known in enumerate(self.measures)]
        return Judgement(measured, np.array(bounds))

    def judge_in_turn(self, models: Sequence[FairPCA]) -> dict[int, Judgement]:
        """Judge models from the last to the first until the bound of one exceeds the target.

        Parameters
        ----------
        models : sequence of FairPCA
            Loosest first, fitted to other rows.

        Returns
        -------
        judgements : dict of int to Judgement
            By the position of the model, in the order in which they were judged; all but the last are certified, and
            the last is unless its bound exceeds the target.
        """
        judgements: dict[int, Judgement] = {}
        for index in range(len(models) - 1, -1, -1):
            judgements[index] = self.judge(models[index])
            if not judgements[index].bound <= self.target:
                break
        return judgements

    def certificate(self, model: FairPCA, judgement: Judgement) -> HeldOutCertificate:
        """Return the certificate of a model that was judged below the target."""
        found = judgement.measured
        columns = np.column_stack([found.values, found.levels, found.unbiased, judgement.bounds]).tolist()
        names = "mmd2", "chance_level", "unbiased", "upper_bound"
        records = [
            known.as_dict() | dict(zip(names, numbers, strict=True))
            for known, numbers in zip(self.measures, columns, strict=True)
        ]
        worst = records[judgement.worst]
        return HeldOutCertificate(
            target=self.target,
            upper_bound=worst["upper_bound"],
            mmd2=worst["mmd2"],
            chance_level=worst["chance_level"],
            confidence=self.confidence,
            n_rows=self.rows.n_rows,
            tolerance=float(model.tolerance),
            bandwidth=_judged_bandwidth(model),
            measures=records,
        )

    def why_not(self, judgement: Judgement) -> str:
        """Return why not even the strictest model was certified, and what would help, in words."""
        target, n = self.target, self.rows.n_rows
        said = (
            f"no model was certified: the smallest bound found is {judgement.bound:.2g}, of the strictest tolerance, "
            f"and target={target:g}. The strictest model is handed out, without a certificate."
        )
        # What about these rows would give if the groups were equal in the population.
        spectra = [judgement.measured.by_sampling(j, known) for j, known in enumerate(self.measures)]
        least = max(upper_bound(0.0, spectrum, self.confidence) for spectrum in spectra)
        if target < least:
            return (
                f"{said} Even of equal groups {n} held-out rows can show no less than about {least:.2g}: raise the "
                f"target above it, or hold out about {least / target:.2g} times as many people."
            )
        return (
            f"{said} {n} held-out rows could show {least:.2g} of equal groups; these still differ. A target of "
            f"{judgement.bound:.2g} is possible; stricter tolerances, fewer components or more people to fit to would "
            "help."
        )

    def table(
        self, tolerances: FloatArray, models: Sequence[FairPCA], judgements: dict[int, Judgement]
    ) -> dict[str, Any]:
        """Return a column for each of what is known, with an entry for each tolerance; nan where none was looked at."""
        names = "test_mmd2", "test_chance_level", "test_excess", "upper_bound", "test_variance"
        table = {"tolerance": tolerances} | {name: np.full(len(tolerances), np.nan) for name in names}
        for index, judgement in judgements.items():
            found, worst = judgement.measured, judgement.worst
            kept = variance_kept(models[index], self.X, self.rows.attached)
            values = found.values[worst], found.levels[worst], found.excesses[worst], judgement.bound, kept
            for name, value in zip(names, values, strict=True):
                table[name][index] = value
        return table


def _judged_bandwidth(model: FairPCA) -> float:
    """Return the bandwidth by which a model is judged: of several the one next to sigma."""
    return model.bandwidth_ * factor_to_judge(model.bandwidth_factors_)


def _on_rows(measure: Measure, rows: ComparedRows, j: int) -> Measure:
    """Return a measure with the numbers of those rows that are held out."""
    columns, inside = rows.columns_of(j), rows.taking_part(j)
    sides = tuple(int(sign.any(axis=1).sum()) for sign in (columns > 0, columns < 0))
    return replace(
        measure,
        n_rows=int(inside.sum()),
        weight=float(rows.masses[inside].sum()),
        sides=sides if measure.kind == "groups" else (),
    )


def _rebalanced(comparison: Comparison, strata: AnyArray) -> Comparison:
    """Return a comparison in which strata of which there is no row leave their weight to the others of their side.

    Without it the weights of a side would not sum to one: rare combinations of attributes are not in every part.
    """
    present = np.bincount(strata[strata >= 0], minlength=comparison.n_strata) > 0
    contrasts = np.zeros_like(comparison.contrasts)
    for side in (np.maximum(comparison.contrasts, 0.0), np.minimum(comparison.contrasts, 0.0)):
        kept = side * present[:, None]
        sums = kept.sum(axis=0)
        contrasts += kept * (side.sum(axis=0) / np.where(sums == 0, 1.0, sums))
    return replace(comparison, contrasts=contrasts)
