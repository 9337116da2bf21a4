"""What a reduction reveals of people that it has not seen: tests, bounds, adversaries."""
# SPDX-License-Identifier: MIT

from fairpca.auditing._audit import audit as audit
from fairpca.auditing._certificate import (
    Certificate as Certificate,
    PromiseCertificate as PromiseCertificate,
    load_certificate as load_certificate,
)
from fairpca.auditing._monitor import Alarm as Alarm, Monitor as Monitor
from fairpca.auditing._promise import certificate_of_release as certificate_of_release
from fairpca.auditing._reduction import projections as projections
from fairpca.auditing._remedies import with_remedies as with_remedies
from fairpca.auditing._result import (
    FIGURES as FIGURES,
    AuditResult as AuditResult,
    Breach as Breach,
    Figure as Figure,
    breaches as breaches,
)
from fairpca.auditing._verdict import (
    ADVERSARY_NAMES as ADVERSARY_NAMES,
    Verdict as Verdict,
    judge as judge,
    of_release as of_release,
    points as points,
    task_gap as task_gap,
)
from fairpca.auditing._verify import Verification as Verification, verify as verify
