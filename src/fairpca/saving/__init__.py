"""Fitted models as files without pickle, as estimators of scikit-learn, and as ONNX graphs."""
# SPDX-License-Identifier: MIT

from fairpca.saving._archive import read_archive, write_archive
from fairpca.saving._fair_pca import fair_pca_from_archive, fair_pca_to_archive
from fairpca.saving._load import READERS, load, table_model_from_archive, table_model_to_archive
from fairpca.saving._portable import Portable
from fairpca.saving._release import release_from_archive, release_to_archive

__all__ = [
    "READERS",
    "Portable",
    "fair_pca_from_archive",
    "fair_pca_to_archive",
    "load",
    "read_archive",
    "release_from_archive",
    "release_to_archive",
    "table_model_from_archive",
    "table_model_to_archive",
    "write_archive",
]
