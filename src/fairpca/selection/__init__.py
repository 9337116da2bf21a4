"""The tolerance chosen by rows that were held out: by cross-validation, or up to a certificate."""
# SPDX-License-Identifier: MIT

from fairpca.selection._cv import FairPCACV
from fairpca.selection._sequence import HeldOutCertificate

__all__ = ["FairPCACV", "HeldOutCertificate"]
