"""The certificate: what an audit has shown of a model."""
# SPDX-License-Identifier: MIT

import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fairpca.auditing.certificates._file import write
from fairpca.auditing.certificates._schema import MEASURE, check_certificate
from fairpca.comparison import Terms
from fairpca.inference import LEAST_ROWS
from fairpca.versions import environment

if TYPE_CHECKING:
    from fairpca.auditing._result import AuditResult

PACKAGES = ("fairpca", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Certificate:
    """What was shown of a model on rows that it had not seen, and all that is needed to show it again.

    It holds nothing of any single row. Nobody signs it: what it says is worth as much as `fairpca.verify` finds.

    Attributes
    ----------
    model : str
        SHA-256 of components, means, scales and which of them count.
    n_components : int
        d.
    terms : dict
        How people were compared.
    measures : list of dict
        What was compared, and what was found, as in `AuditResult.measures`: among others the `upper_bound` U.
    p_value : float
        Of all measures and scales together.
    bandwidth : float
        sigma.
    confidence : float
        Of the bounds.
    n_rows : int
        Rows of the audit.
    rows : str or None
        SHA-256 of these rows, where they were a table of numbers in memory.
    seed, n_permutations : int
        With which lots and frequencies were drawn.
    versions : dict of str to str
        Of the packages.
    """

    model: str
    n_components: int
    terms: dict[str, Any]
    measures: list[dict[str, Any]]
    p_value: float
    bandwidth: float
    confidence: float
    n_rows: int
    rows: str | None
    seed: int
    n_permutations: int
    versions: dict[str, str]

    @classmethod
    def of(cls, audit: "AuditResult") -> "Certificate":
        """Take the findings of an audit, or refuse to.

        Parameters
        ----------
        audit : AuditResult
            The findings.
        """
        origin = audit.origin
        if origin.training_rows:
            raise ValueError(
                "these look like the rows that the model was fitted to, and what they show says nothing of new people: "
                "no certificate. Audit rows that were held out."
            )
        if origin.model is None:
            raise ValueError(
                "a certificate names its model by a fingerprint, which fitted projections of this package, PCA, "
                "IncrementalPCA and arrays of components have; audit one of these."
            )
        for measure in audit.measures:
            _check_rows(measure)
        return cls(
            model=origin.model,
            n_components=audit.n_components,
            terms=plain_terms(origin.terms),
            measures=[
                {name: measure[name] for name in MEASURE} | {"sides": list(measure["sides"])}
                for measure in audit.measures
            ],
            p_value=audit.p_value,
            bandwidth=audit.bandwidth,
            confidence=audit.confidence,
            n_rows=audit.n_rows,
            rows=origin.rows,
            seed=origin.seed,
            n_permutations=audit.n_permutations,
            versions=installed(),
        )

    @property
    def upper_bound(self) -> float:
        """U of the worst measure: with the given confidence no measure of the population is larger."""
        return max(float(measure["upper_bound"]) for measure in self.measures)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, in one step.

        Parameters
        ----------
        path : path
            Where to.
        """
        fields = asdict(self)
        for measure in fields["measures"]:
            measure.update({name: None for name, value in measure.items() if _is_nan(value)})
        write(path, fields)

    @classmethod
    def from_fields(cls, where: str, fields: dict[str, Any]) -> "Certificate":
        """Take the fields of a file, and refuse any others.

        Parameters
        ----------
        where : str
            The file.
        fields : dict
            What it says.
        """
        check_certificate(where, fields)
        check_terms(where, fields["terms"])
        for measure in fields["measures"]:
            _check_rows(measure)
            measure.update({name: math.nan for name, value in measure.items() if value is None})
        return cls(**fields)

    def __str__(self) -> str:
        lines = [
            f"Certificate for the model {self.model[:12]} of {self.n_components} components, from {self.n_rows} rows "
            f"that were not used to fit, as the auditor says. With {100 * self.confidence:g} % confidence the MMD^2 of "
            "people like them is at most:"
        ]
        for measure in self.measures:
            rows = " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))
            lines.append(f"  {measure['name']} ({rows} rows): {measure['upper_bound']:.2g}")
        lines.append(f"Bandwidth {self.bandwidth:.4g}. Check it with fairpca.verify, on these rows or on others.")
        return "\n".join(lines)


def installed() -> dict[str, str]:
    """Return the versions of the packages that numbers depend on."""
    versions = environment()["versions"]
    return {package: str(versions[package]) for package in PACKAGES}


def _check_rows(measure: dict[str, Any]) -> None:
    rows = measure["sides"] or [measure["n_rows"]]
    if min(rows) < LEAST_ROWS:
        raise ValueError(
            f"{measure['name']} compares {' and '.join(map(str, rows))} rows, and fewer than {LEAST_ROWS} on a side "
            "say nothing of the population: no certificate. Audit more rows, or leave out or merge small groups "
            "(small_groups=)."
        )


def check_terms(where: str, terms: dict[str, Any]) -> None:
    """Refuse comparisons that this version does not know.

    Parameters
    ----------
    where : str
        The file.
    terms : dict
        How people are compared.
    """
    try:
        Terms.named(**terms)
    except ValueError as error:
        raise ValueError(f"{where} asks for a comparison that is unknown here: {error}") from None


def plain_terms(terms: dict[str, Any]) -> dict[str, Any]:
    """Return how people are compared in plain types, or refuse what has no name.

    Parameters
    ----------
    terms : dict
        How they are compared.
    """
    if not isinstance(terms["fairness"], str):
        raise ValueError(
            f"fairness={terms['fairness']!r} cannot travel, for whoever verifies the certificate does not have it; "
            "only notions that have a name can."
        )
    label, kinds = terms["favourable"], terms["sensitive_kind"]
    label = label.item() if hasattr(label, "item") else label
    if not (label is None or isinstance(label, str | bool | int | float)):
        raise ValueError(f"favourable={label!r} cannot be written as plain text; labels that are texts or numbers can.")
    plain = kinds if isinstance(kinds, str) else {str(name): kind for name, kind in kinds.items()}
    return terms | {"favourable": label, "sensitive_kind": plain, "min_group_size": int(terms["min_group_size"])}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
