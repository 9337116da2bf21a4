"""Whether a certificate holds, in plain words."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass


@dataclass(frozen=True)
class Verification:
    """What rows say of a certificate.

    Attributes
    ----------
    holds : bool
        Whether these rows, with this model, show what was certified.
    differences : list of str
        Why not: a sentence for each reason.
    same_model : bool
        Whether it is the model that was certified.
    same_rows : bool or None
        Whether they are the rows that were audited, in their order; None where that cannot be told.
    upper_bound : float
        U of the worst measure, from these rows; of the audited rows of a release, which chose its level, the target.
    mmd2 : float or None
        MMD^2 of the same measure; None of a release.
    certified : float
        The U of the certificate, or the target of a release.
    confidence : float
        Of both.
    n_rows : int
        Rows that were looked at.
    """

    holds: bool
    differences: list[str]
    same_model: bool
    same_rows: bool | None
    upper_bound: float
    mmd2: float | None
    certified: float
    confidence: float
    n_rows: int

    def __str__(self) -> str:
        which = {True: "the audited rows", False: "other rows than the audited", None: "whether audited is not known"}
        rows = f"{self.n_rows} rows ({which[self.same_rows]})"
        if not self.holds:
            return "\n".join([f"NOT confirmed by {rows}:", *(f"  - {sentence}" for sentence in self.differences)])
        what = "a distance between groups" if self.mmd2 is None else "an MMD^2"
        return (
            f"The certificate holds: it is this model, and {rows} show {what} of at most {self.upper_bound:.2g} with "
            f"{100 * self.confidence:g} % confidence, where {self.certified:.2g} was certified."
        )
