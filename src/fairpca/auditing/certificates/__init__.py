"""What an audit has shown, in a file that others can check."""
# SPDX-License-Identifier: MIT

from fairpca.auditing.certificates._certificate import Certificate, installed, load_certificate
from fairpca.auditing.certificates._verification import Verification

__all__ = ["Certificate", "Verification", "installed", "load_certificate"]
