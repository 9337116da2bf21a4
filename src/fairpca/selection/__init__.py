"""The loosest tolerance that held-out rows certify."""
# SPDX-License-Identifier: MIT

from fairpca.selection._cv import FairPCACV as FairPCACV
from fairpca.selection._sequence import HeldOutCertificate as HeldOutCertificate
