"""What a reduction tells of people that it has not seen: tests, bounds, adversaries."""
# SPDX-License-Identifier: MIT

from fairpca.auditing._audit import audit
from fairpca.auditing._result import AuditResult

__all__ = ["AuditResult", "audit"]
