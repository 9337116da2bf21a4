"""The loosest tolerance that held-out rows certify."""
# SPDX-License-Identifier: MIT

from fairpca.selection._cv import FairPCACV as FairPCACV
from fairpca.selection._held_out import (
    by_position as by_position,
    check_parts as check_parts,
    one_split as one_split,
    part_of as part_of,
    people_at as people_at,
)
from fairpca.selection._sequence import HeldOutCertificate as HeldOutCertificate
