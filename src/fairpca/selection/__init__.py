"""The loosest tolerance that held-out rows certify."""
# SPDX-License-Identifier: MIT

from fairpca.selection._cv import FairPCACV as FairPCACV
from fairpca.selection._held_out import HeldOutCertificate as HeldOutCertificate
from fairpca.selection._split import (
    by_position as by_position,
    held_out_split as held_out_split,
    part_of as part_of,
    people_at as people_at,
)
