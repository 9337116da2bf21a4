"""What a reduction tells of people that it has not seen: tests, bounds, adversaries."""
# SPDX-License-Identifier: MIT

from fairpca.auditing._audit import audit
from fairpca.auditing._certificate import Certificate, load_certificate
from fairpca.auditing._reduction import projections
from fairpca.auditing._result import AuditResult
from fairpca.auditing._verify import Verification, verify

__all__ = [
    "AuditResult",
    "Certificate",
    "Verification",
    "audit",
    "load_certificate",
    "projections",
    "verify",
]
