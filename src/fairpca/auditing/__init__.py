"""What a reduction reveals of people that it has not seen: tests, bounds, adversaries."""
# SPDX-License-Identifier: MIT

from fairpca.auditing._audit import audit as audit
from fairpca.auditing._certificate import Certificate as Certificate, load_certificate as load_certificate
from fairpca.auditing._reduction import projections as projections
from fairpca.auditing._result import AuditResult as AuditResult
from fairpca.auditing._verify import Verification as Verification, verify as verify
