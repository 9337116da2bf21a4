"""Models certified one after the other, from the strictest, until one fails."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.threads import blas_threads_for
from fairpca._utils.typing import FloatArray
from fairpca.estimator import FairPCA
from fairpca.inference import Evidence, upper_bound
from fairpca.selection._held_out import HeldOut, judged_bandwidth


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

    @classmethod
    def of(cls, model: FairPCA, held: HeldOut, confidence: float) -> "Judgement":
        """Judge a model."""
        with blas_threads_for(held.rows.n_rows**2):
            measured = held.measured(model)
            bounds = [measured.upper_bound(j, known, confidence) for j, known in enumerate(held.measures)]
        return cls(measured, np.array(bounds))

    @property
    def worst(self) -> int:
        """The measure of the largest bound."""
        return int(np.argmax(self.bounds))

    @property
    def bound(self) -> float:
        """The largest bound: it holds for all measures, without a correction."""
        return float(self.bounds.max())

    def bound_of_equals(self, held: HeldOut, confidence: float) -> float:
        """Return the bound that about these rows would give if the groups were equal in the population."""
        spectra = [self.measured.by_sampling(j, known) for j, known in enumerate(held.measures)]
        return max(upper_bound(0.0, spectrum, confidence) for spectrum in spectra)

    def records(self, held: HeldOut) -> list[dict[str, Any]]:
        """Return what users want to know of each measure."""
        found = self.measured
        columns = found.values, found.levels, found.unbiased, self.bounds
        names = "mmd2", "chance_level", "unbiased", "upper_bound"
        return [
            known.as_dict() | dict(zip(names, numbers, strict=True))
            for known, *numbers in zip(held.measures, *(column.tolist() for column in columns), strict=True)
        ]


def fixed_sequence(models: Sequence[FairPCA], held: HeldOut, target: float, confidence: float) -> dict[int, Judgement]:
    r"""Judge models from the last to the first until the bound of one exceeds the target.

    A model is handed out wrongly only if some model whose MMD^2 exceeds \epsilon in the population is judged below it.
    The order is fixed before the rows are looked at, so the first such model in it is always the same one, and it has
    to be passed for any to be handed out wrongly: that happens with probability 1 - confidence at most, however many
    models there are.

    Parameters
    ----------
    models : sequence of FairPCA
        Loosest first, fitted to other rows.
    held : HeldOut
        Rows that judge.
    target : float
        epsilon.
    confidence : float
        Of each bound.

    Returns
    -------
    judgements : dict of int to Judgement
        By the position of the model, in the order in which they were judged; all but the last are certified, and the
        last is unless its bound exceeds the target.
    """
    judgements: dict[int, Judgement] = {}
    for index in range(len(models) - 1, -1, -1):
        judgements[index] = Judgement.of(models[index], held, confidence)
        if not judgements[index].bound <= target:
            break
    return judgements


def certificate_of(
    model: FairPCA, judgement: Judgement, held: HeldOut, target: float, confidence: float
) -> HeldOutCertificate:
    """Return the certificate of a model that was judged below the target.

    Parameters
    ----------
    model : FairPCA
        The model.
    judgement : Judgement
        What was found.
    held : HeldOut
        Rows that judged.
    target : float
        epsilon.
    confidence : float
        Of the bound.
    """
    records = judgement.records(held)
    worst = records[judgement.worst]
    return HeldOutCertificate(
        target=target,
        upper_bound=worst["upper_bound"],
        mmd2=worst["mmd2"],
        chance_level=worst["chance_level"],
        confidence=confidence,
        n_rows=held.rows.n_rows,
        tolerance=float(model.tolerance),
        bandwidth=judged_bandwidth(model),
        measures=records,
    )


def why_not(judgement: Judgement, held: HeldOut, target: float, confidence: float) -> str:
    """Return why not even the strictest model was certified, and what would help, in words.

    Parameters
    ----------
    judgement : Judgement
        Of the strictest model.
    held : HeldOut
        Rows that judged.
    target : float
        epsilon.
    confidence : float
        Of the bound.
    """
    found = (
        f"no model was certified: the smallest bound found is {judgement.bound:.2g}, of the strictest tolerance, and "
        f"target={target:g}. The strictest model is handed out, without a certificate."
    )
    least, n = judgement.bound_of_equals(held, confidence), held.rows.n_rows
    if target < least:
        return (
            f"{found} Even of equal groups {n} held-out rows can show no less than about {least:.2g}: raise the target "
            f"above it, or hold out about {least / target:.2g} times as many people."
        )
    return (
        f"{found} {n} held-out rows could show {least:.2g} of equal groups; these still differ. A target of "
        f"{judgement.bound:.2g} is possible; stricter tolerances, fewer components or more people to fit to would help."
    )


def table_of(
    tolerances: FloatArray, models: Sequence[FairPCA], judgements: dict[int, Judgement], held: HeldOut
) -> dict[str, Any]:
    """Return a column for each of what is known, with an entry for each tolerance; nan where none was looked at.

    Parameters
    ----------
    tolerances : ndarray of shape (n_tolerances,)
        Decreasing.
    models : sequence of FairPCA
        Their models.
    judgements : dict of int to Judgement
        What was found, by the position of the model.
    held : HeldOut
        Rows that judged.
    """
    names = "test_mmd2", "test_chance_level", "test_excess", "upper_bound", "test_variance"
    table = {"tolerance": tolerances} | {name: np.full(len(tolerances), np.nan) for name in names}
    for index, judgement in judgements.items():
        measured, worst = judgement.measured, judgement.worst
        values = measured.values[worst], measured.levels[worst], measured.excesses[worst], judgement.bound
        for name, value in zip(names, [*values, held.variance_kept(models[index])], strict=True):
            table[name][index] = value
    return table
