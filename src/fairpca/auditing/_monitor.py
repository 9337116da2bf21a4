"""A monitor: people who come after the audit are watched for as long as the certificate is relied on."""
# SPDX-License-Identifier: MIT

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from fairpca._utils.files import writing
from fairpca._utils.schema import parse
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.auditing._certificate import Certificate, PromiseCertificate
from fairpca.auditing._promise import release_of
from fairpca.auditing._reduction import learned, model_digest, projections
from fairpca.auditing._watch import CellFeatures, KernelFeatures, Watch
from fairpca.comparison import NamedSides, People, Terms, check_same_rows
from fairpca.plots import EvidenceDisplay

FORMAT = "fairpca monitor"

LANDMARKS = 100
"""People around whom kernels stand: of a smooth kernel in few dimensions 100 span nearly all that it tells."""

REFERENCE = 5000
"""People that all later ones are compared with: their means are known so well that an MMD^2 of 0.002 is a change."""

CHUNK = 2**11
"""Rows whose features are in memory at a time, and after which there is a point in the picture."""


@dataclass(frozen=True)
class Alarm:
    """What refutes a certificate.

    Attributes
    ----------
    measure : str
        The comparison whose evidence was the first at the limit.
    claim : str
        What was claimed of it.
    n_people : int
        How many had come.
    confidence : float
        1 - alpha: without a reason for it, at most a part alpha of all streams would ever see an alarm.
    components, columns : list of (str, float)
        Which components differ, and which columns of the table load on them, with their shares; the largest first.
    """

    measure: str
    claim: str
    n_people: int
    confidence: float
    components: list[tuple[str, float]]
    columns: list[tuple[str, float]]

    def __str__(self) -> str:
        parts = [_listed(each) for each in (self.components, self.columns) if each]
        moved = f" What differs: {'; columns that load on them: '.join(parts)}." if parts else ""
        return (
            f"ALARM after {self.n_people:,} people: {self.measure} is not what was certified, {self.claim} "
            f"({100 * self.confidence:g} % confidence).{moved}"
        )


def _listed(shares: list[tuple[str, float]]) -> str:
    return ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in shares[:3])


class Monitor:
    r"""Tests the claim of a certificate on the people who come after it, at any time and for as long as one likes.

    It bets against each claim of the certificate, "MMD^2 of the population is at most U" at the certificate's bandwidth
    or "total variation is at most the target", and the wealth K_j of bets on comparison j is evidence against it. Of J
    comparisons the alarm is raised as soon as any has

    .. math:: K_j / J \ge 1 / \alpha, \qquad \alpha = 1 - \text{confidence of the certificate}.

    While all claims hold, each K_j ever reaches J/alpha with probability at most alpha/J (Ville's inequality, see the
    page), so that at most a part alpha of all streams ever sees an alarm, however often it is looked at. Shares of
    alpha are what is valid: comparisons have people in common, so that their average would be no test at any time.

    Parameters
    ----------
    certificate : Certificate or PromiseCertificate
        What is tested, see `fairpca.load_certificate`.
    model : fitted transformer, array-like of shape (n_components, n_features) or None
        What was certified, as `fairpca.verify` takes it.
    feature_names : sequence of str, default=None
        What the columns are called; by default as in the fit of the model.

    Attributes
    ----------
    alarm_ : Alarm or None
        What refutes the certificate; it stays.
    changed_ : int or None
        After how many people it was seen that people as a whole are others than the first 5,000 of the stream; None
        while they are not. That is no fault, but a certificate speaks of the people that it was made on. With
        probability at most alpha it is ever said of people who have not changed.
    n_people_, n_compared_ : int
        People who have come, and those of them who have a group of some comparison.

    Notes
    -----
    It holds if people come independently of each other, and if those whose attributes are not known are like the others
    of their group in what is released of them. The first 100 are landmarks of the kernel and are not bet on.

    References
    ----------
    Shekhar, Ramdas (2023). Nonparametric two-sample testing by betting. IEEE Transactions on Information Theory.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from fairpca import Monitor, audit
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.normal(size=(13_000, 4)), rng.choice(["a", "b"], 13_000)
    >>> reduction = PCA(2).fit(X[:1000])
    >>> found = audit(reduction, X[1000:3000], sensitive_features=group[1000:3000], adversaries=(), random_state=0)
    >>> monitor = Monitor(found.certificate(trust_rows=True), reduction)
    >>> monitor.update(X[3000:], sensitive_features=group[3000:]).alarm_ is None
    True
    >>> moved = X[3000:] + (group[3000:] == "b")[:, None]
    >>> monitor.update(moved, sensitive_features=group[3000:]).alarm_ is None
    False
    """

    def __init__(
        self, certificate: Certificate | PromiseCertificate, model: Any, *, feature_names: Sequence[str] | None = None
    ) -> None:
        if not isinstance(certificate, Certificate | PromiseCertificate):
            raise TypeError(
                f"certificate must be a Certificate, as fairpca.load_certificate reads it; got "
                f"{type(certificate).__name__}."
            )
        self._digest = model_digest(model)
        certified: str | None
        # What is claimed of each measure, and that as what a witness must not exceed.
        if isinstance(certificate, PromiseCertificate):
            certified, self._limits = certificate.release, [certificate.target] * len(certificate.measures)
            self._what, self._claims = "total variation", self._limits
        else:
            certified, self._limits = certificate.model, [each["upper_bound"] for each in certificate.measures]
            self._what, self._claims = "MMD^2", [math.sqrt(max(0.0, limit)) for limit in self._limits]
            self._bandwidth = certificate.bandwidth
        if self._digest != certified:
            raise ValueError("model is another than the certified one: its components, means or scales differ.")
        if certificate.is_edited:
            raise ValueError("the certificate was edited: its digest is of another text.")
        for measure in certificate.measures:
            if measure.get("kind", "groups") != "groups":
                raise ValueError(
                    f"{measure['name']}: only groups can be watched, and this attribute is continuous; certify it cut "
                    "into ranges."
                )
        self.certificate, self.model, self.feature_names = certificate, model, feature_names
        self.inputs: dict[str, dict[str, Any]] = {}
        self.alarm_: Alarm | None = None
        self.changed_: int | None = None
        self.n_people_ = self.n_compared_ = 0
        self._named = NamedSides(certificate.measures, Terms.named(**certificate.terms))
        self._alpha = 1.0 - certificate.confidence
        self._history: list[list[float]] = []
        self._step = 1
        self._watches: list[Watch] = []
        self._change: Watch | None = None
        self._landmarks = np.zeros((0, 0))
        self._features: KernelFeatures | CellFeatures | None = None
        self._release = release_of(model) if isinstance(certificate, PromiseCertificate) else None
        if self._release is not None:
            level = int(np.flatnonzero(self._release.levels_ == self._release.level_)[0])
            self._begin(CellFeatures(self._release.places_.values_of(level)))

    def _begin(self, features: KernelFeatures | CellFeatures) -> None:
        limit = math.log(len(self._claims) / self._alpha)
        self._features = features
        self._watches = [Watch(features, claim, limit) for claim in self._claims]
        self._sum, self._n_reference = np.zeros(len(features)), 0

    def update(self, X: Any, y: Any = None, *, sensitive_features: Any, control_features: Any = None) -> Self:
        """Take people in the order in which they have come; refused are all of them or none.

        Parameters
        ----------
        X : array-like, or sparse array or matrix, of shape (n_samples, n_features)
            Rows, one or more, as the model takes them.
        y : array-like of shape (n_samples,), default=None
            Labels, where the certified notion of fairness speaks of them.
        sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k)
            Protected attributes, called as in the audit. None or NaN where one is not known.
        control_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
            Segments, where there were such in the audit.

        Returns
        -------
        self : Monitor
            The monitor, whose `alarm_` may be set now.
        """
        if sensitive_features is None:
            raise ValueError("sensitive_features=None: pass a column, with None for people whose group is not known.")
        people = People(sensitive_features, y, control_features)
        check_same_rows(X, people.tables)
        rows: AnyArray = projections(self.model, X, least=1)
        sides = self._named.of(people, len(rows))
        if isinstance(self._features, CellFeatures):
            rows = self._codes(rows, self._features)
        elif self._landmarks.size and rows.shape[1] != self._landmarks.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} reduced columns; those before had {self._landmarks.shape[1]}.")
        if self._features is None:
            missing = LANDMARKS - len(self._landmarks)
            self._landmarks = np.vstack([self._landmarks.reshape(-1, rows.shape[1]), rows[:missing]])
            self._count(sides[:missing])
            rows, sides = rows[missing:], sides[missing:]
            if len(self._landmarks) == LANDMARKS:
                self._begin(KernelFeatures(self._landmarks, self._bandwidth))
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            assert self._features is not None
            self._take(self._features.of(rows[part]), sides[part])
            self._remember()
        return self

    def _codes(self, rows: FloatArray, features: CellFeatures) -> IntArray:
        """Return the cell of each row of a release."""
        assert self._release is not None
        if self._release.output == "codes":
            return rows[:, 0].astype(np.int64)
        return np.asarray(pairwise_distances_argmin(rows, features.values))

    def _count(self, sides: IntArray) -> None:
        self.n_people_ += len(sides)
        self.n_compared_ += int(np.sum(np.any(sides >= 0, axis=1)))

    def _take(self, F: FloatArray, sides: IntArray) -> None:
        crossed = []
        for position, watch in enumerate(self._watches):
            own = np.flatnonzero(sides[:, position] >= 0)
            at = watch.add(F[own], sides[own, position]) if len(own) else None
            if at is not None:
                crossed.append((int(own[at]), position))
        if crossed and self.alarm_ is None:
            self.alarm_ = self._alarm(*min(crossed))
        rest = max(0, min(len(F), REFERENCE - self._n_reference))
        self._sum += F[:rest].sum(axis=0)
        self._n_reference += rest
        if self._change is None and self._n_reference == REFERENCE:
            self._change = self._watch_of_all()
        if self._change is not None and rest < len(F):
            at = self._change.add(F[rest:], np.zeros(len(F) - rest, dtype=np.int64))
            if at is not None and self.changed_ is None:
                self.changed_ = self.n_people_ + rest + at + 1
        self._count(sides)

    def _watch_of_all(self) -> Watch:
        """Return bets that people are others than the first: half of alpha is for bets, half for the error of means."""
        features = self._watches[0].features
        claim = features.error(REFERENCE, self._alpha / 2.0)
        return Watch(features, claim, math.log(2.0 / self._alpha), self._sum / REFERENCE)

    def _alarm(self, row: int, position: int) -> Alarm:
        watch = self._watches[position]
        shares = watch.features.shares(watch.witness, watch.difference)
        names = [f"component {k + 1}" for k in range(len(shares))]
        return Alarm(
            measure=self.certificate.measures[position]["name"],
            claim=f"{self._what} at most {self._limits[position]:.2g}",
            n_people=self.n_people_ + row + 1,
            confidence=self.certificate.confidence,
            components=_ordered(names, shares),
            columns=self._columns(shares),
        )

    def _columns(self, shares: FloatArray) -> list[tuple[str, float]]:
        """Return how components are made of columns, where they are."""
        components = learned(self.model, "components_")
        if components is None and self.model is not None and not hasattr(self.model, "transform"):
            components = self.model
        if components is None or np.shape(components)[0] != len(shares):
            return []
        squares = np.asarray(components, dtype=np.float64) ** 2
        loads = shares @ (squares / np.maximum(squares.sum(axis=1, keepdims=True), 1e-300))
        names = learned(self.model, "feature_names_in_") if self.feature_names is None else self.feature_names
        known = names is not None and len(names) == len(loads)
        return _ordered(list(map(str, names)) if known else [f"column {k}" for k in range(len(loads))], loads)

    def _remember(self, most: int = 1000) -> None:
        """Keep a point of the picture; when there are too many, every second, and fewer from then on."""
        if not self._history or self.n_people_ - self._history[-1][0] >= self._step:
            change = (0.0 if self._change is None else self._change.log_wealth) - math.log(2.0)
            self._history.append([self.n_people_, self._log_evidence(), change])
            if len(self._history) > most:
                self._history, self._step = self._history[::2], 2 * max(self._step, self.n_people_ // most)

    def _log_evidence(self) -> float:
        return max((watch.log_wealth for watch in self._watches), default=0.0) - math.log(len(self._claims))

    @property
    def evidence_(self) -> float:
        """The largest K_j / J. It is 1/J at first, and 1/alpha is an alarm."""
        return math.exp(min(self._log_evidence(), 700.0))

    @property
    def threshold_(self) -> float:
        """1/alpha."""
        return 1.0 / self._alpha

    def plot(self, ax: Any = None) -> EvidenceDisplay:
        """Draw the evidence over time.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        """
        people, evidence, change = np.array(self._history or [[0, self._log_evidence(), 0.0]], dtype=np.float64).T
        alarm = None if self.alarm_ is None else self.alarm_.n_people
        return EvidenceDisplay(people, evidence, change, self.threshold_, alarm).plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """Return what it has found as plain types."""
        return {
            "alarm": None if self.alarm_ is None else asdict(self.alarm_),
            "changed": self.changed_,
            "n_people": self.n_people_,
            "n_compared": self.n_compared_,
            "evidence": self.evidence_,
            "threshold": self.threshold_,
        }

    def __str__(self) -> str:
        counts = f"{self.n_people_:,} people, {self.n_compared_:,} of them in known groups"
        lines = [
            f"No alarm: {counts}; evidence {self.evidence_:.3g}, {self.threshold_:g} would be an alarm."
            if self.alarm_ is None
            else f"{self.alarm_} Since then: {counts}."
        ]
        if self.changed_ is not None:
            lines.append(
                f"After {self.changed_:,} people it was clear that people as a whole are others than the first "
                f"{REFERENCE:,}: audit again, for a certificate speaks of people like those it was made on."
            )
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that is known, in one step; nobody ever sees half of it.

        The file holds 100 reduced rows, which are data of people, and sums; keep it as private as the stream.

        Parameters
        ----------
        path : path
            Where to.
        """
        state = {
            "format": FORMAT,
            "certificate": self.certificate.digest,
            "model": self._digest,
            "n_people": self.n_people_,
            "n_compared": self.n_compared_,
            "alarm": None if self.alarm_ is None else asdict(self.alarm_),
            "changed": self.changed_,
            "landmarks": self._landmarks.tolist(),
            "watches": [watch.state() for watch in self._watches],
            "change": None if self._change is None else self._change.state(),
            "reference": [self._n_reference, self._sum.tolist()] if self._watches else None,
            "history": [self._step, self._history],
            "inputs": self.inputs,
        }
        with writing(Path(path)) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_text(json.dumps(state | {"digest": _digest_of(state)}, allow_nan=False), encoding="utf-8")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        certificate: Certificate | PromiseCertificate,
        model: Any,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Go on where a monitor was saved, as if it had never stopped.

        Parameters
        ----------
        path : path
            A file of `save`.
        certificate, model, feature_names
            Those of the monitor.
        """
        monitor = cls(certificate, model, feature_names=feature_names)
        state = _read_state(Path(path))
        if (state["certificate"], state["model"]) != (certificate.digest, monitor._digest):
            raise ValueError(f"{path} is the state of another monitor: its certificate or its model is another one.")
        monitor.n_people_, monitor.n_compared_ = state["n_people"], state["n_compared"]
        monitor.changed_, monitor.inputs = state["changed"], state["inputs"]
        if state["alarm"] is not None:
            shares = {name: [tuple(pair) for pair in state["alarm"][name]] for name in ("components", "columns")}
            monitor.alarm_ = Alarm(**(state["alarm"] | shares))
        monitor._step, monitor._history = state["history"]
        if state["landmarks"]:
            monitor._landmarks = np.array(state["landmarks"], dtype=np.float64)
        if state["watches"] and monitor._features is None:
            monitor._begin(KernelFeatures(monitor._landmarks, monitor._bandwidth))
        for watch, saved in zip(monitor._watches, state["watches"], strict=True):
            watch.restore(saved)
        if state["reference"] is not None:
            monitor._n_reference, monitor._sum = state["reference"][0], np.array(state["reference"][1])
        if state["change"] is not None:
            monitor._change = monitor._watch_of_all()
            monitor._change.restore(state["change"])
        return monitor


def _ordered(names: list[str], shares: FloatArray) -> list[tuple[str, float]]:
    return [(names[k], round(float(shares[k]), 3)) for k in np.argsort(-shares, kind="stable")]


def _digest_of(state: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _read_state(path: Path) -> dict[str, Any]:
    """Return what a file says, if it is a whole state that nobody has changed."""
    try:
        state = parse(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is no whole state of a monitor ({error}); use a copy, or begin a new one.") from None
    if not isinstance(state, dict) or state.pop("format", None) != FORMAT:
        raise ValueError(f"{path} is no state of a monitor: it does not say that its format is {FORMAT!r}.")
    digest = state.pop("digest", None)
    if digest != _digest_of({"format": FORMAT} | state):
        raise ValueError(f"{path} was changed, or written by another version; use a copy, or begin a new monitor.")
    return state
