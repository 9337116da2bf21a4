"""Fitted models as files without pickle, as estimators of scikit-learn, and as ONNX graphs."""
# SPDX-License-Identifier: MIT

from fairpca.saving._archive import read_archive as read_archive, write_archive as write_archive
from fairpca.saving._estimators import from_archive as from_archive, to_archive as to_archive
from fairpca.saving._load import (
    READERS as READERS,
    load as load,
    table_model_from_archive as table_model_from_archive,
    table_model_to_archive as table_model_to_archive,
)
from fairpca.saving._portable import (
    Portable as Portable,
    load_rows as load_rows,
    rows_beside as rows_beside,
    save_rows as save_rows,
)
from fairpca.saving._release import (
    release_from_archive as release_from_archive,
    release_to_archive as release_to_archive,
)
