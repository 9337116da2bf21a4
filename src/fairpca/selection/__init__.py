"""The loosest tolerance that held-out rows certify."""
# SPDX-License-Identifier: MIT

from fairpca.selection._cv import FairPCACV
from fairpca.selection._sequence import HeldOutCertificate

__all__ = ["FairPCACV", "HeldOutCertificate"]
