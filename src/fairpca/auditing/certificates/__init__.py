"""What an audit has shown, in a file that others can check."""
# SPDX-License-Identifier: MIT

from fairpca.auditing.certificates._certificate import Certificate, installed, plain_terms
from fairpca.auditing.certificates._promise import PromiseCertificate, load_certificate
from fairpca.auditing.certificates._verification import Verification

__all__ = ["Certificate", "PromiseCertificate", "Verification", "installed", "load_certificate", "plain_terms"]
