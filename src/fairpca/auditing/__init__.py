"""What a reduction tells of people that it has not seen: tests, bounds, adversaries."""
# SPDX-License-Identifier: MIT

from fairpca.auditing._audit import audit
from fairpca.auditing._promise import certificate_of_release
from fairpca.auditing._reduction import projections
from fairpca.auditing._result import AuditResult
from fairpca.auditing._verify import verify
from fairpca.auditing.certificates import Certificate, PromiseCertificate, Verification, load_certificate

__all__ = [
    "AuditResult",
    "Certificate",
    "PromiseCertificate",
    "Verification",
    "audit",
    "certificate_of_release",
    "load_certificate",
    "projections",
    "verify",
]
