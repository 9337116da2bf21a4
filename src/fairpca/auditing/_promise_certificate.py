"""The certificate of a release: what is promised of every classifier."""
# SPDX-License-Identifier: MIT

import os
from dataclasses import asdict, dataclass, replace
from typing import Any

from fairpca.auditing._certificate import Certificate
from fairpca.auditing._fields import PROMISE, check_promise, check_terms, digest_of, read, write
from fairpca.release import AnyClassifierBound

CHOSEN = (
    "The level is the finest of those that were passed: from the coarsest to finer ones, as long as the bound was at "
    "most the target, which was fixed before. The rows were used neither to fit nor to choose anything else."
)


@dataclass(frozen=True)
class PromiseCertificate:
    """What is promised of a release, and all that is needed to show it again.

    It holds nothing of any single row. Nobody signs it: what it says is worth as much as `fairpca.verify` finds.

    Attributes
    ----------
    release : str
        SHA-256 of all that released data depend on: of the reduction, the places, and how they are merged.
    kind : str
        Of the release: "cells" or "task".
    target : float
        The total variation distance between groups that is not exceeded.
    n_cells, n_levels : int
        Cells that are told apart, and levels that were looked at until they were found.
    against : str
        Of more than two groups, who is compared with whom.
    terms : dict
        How people were compared.
    measures : list of dict
        What was compared, see `AnyClassifierBound.measures`.
    confidence : float
        Of the promise.
    slack_kind : str
        For which kind of weights it holds.
    n_rows : int
        Rows that it was shown on.
    rows : str or None
        SHA-256 of these rows, where they were a table of numbers in memory.
    versions : dict of str to str
        Of the packages.
    digest : str
        SHA-256 of all of this.
    """

    release: str
    kind: str
    target: float
    n_cells: int
    n_levels: int
    against: str
    terms: dict[str, Any]
    measures: list[dict[str, Any]]
    confidence: float
    slack_kind: str
    n_rows: int
    rows: str | None
    versions: dict[str, str]
    digest: str = ""

    def with_digest(self) -> "PromiseCertificate":
        """Return it with the digest of what it says now."""
        return replace(self, digest=digest_of(asdict(self)))

    @property
    def is_edited(self) -> bool:
        """Whether it says something else than when its digest was made."""
        return self.digest != digest_of(asdict(self))

    @property
    def bound(self) -> AnyClassifierBound:
        """What follows: no decision has a larger gap, and no classifier tells groups better."""
        return AnyClassifierBound(
            upper_bound=self.target,
            confidence=self.confidence,
            measures=self.measures,
            slack_kind=self.slack_kind,
            notion=self.terms["fairness"],
            n_rows=self.n_rows,
            n_levels=self.n_levels,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, in one step, with what it says in words.

        Parameters
        ----------
        path : path
            Where to.
        """
        write(path, {"promise": str(self), "chosen": CHOSEN} | asdict(self), PROMISE)

    @classmethod
    def from_fields(cls, where: str, fields: dict[str, Any]) -> "PromiseCertificate":
        """Take the fields of a file, and refuse any others.

        Parameters
        ----------
        where : str
            The file.
        fields : dict
            What it says.
        """
        check_promise(where, fields)
        check_terms(where, fields["terms"])
        words, chosen = fields.pop("promise"), fields.pop("chosen")
        found = cls(**fields)
        if words != str(found) or chosen != CHOSEN:
            raise ValueError(f"{where} was edited: it says in words what its numbers do not say.")
        return found

    def __str__(self) -> str:
        return str(self.bound)


def load_certificate(path: str | os.PathLike[str]) -> Certificate | PromiseCertificate:
    """Read a certificate; nothing in the file is run.

    Parameters
    ----------
    path : path
        A file that `save` of a certificate, or `fairpca fit`, has written.

    Returns
    -------
    certificate : Certificate or PromiseCertificate
        What it says of a projection, or of a release. `fairpca.verify` tells whether it holds.
    """
    kind, fields = read(path)
    return (PromiseCertificate if kind == PROMISE else Certificate).from_fields(str(path), fields)
