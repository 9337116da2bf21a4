"""Pictures, as scikit-learn Display objects. They need matplotlib: pip install 'fairpca[plot]'."""
# SPDX-License-Identifier: MIT

from fairpca.plots._projection import ProjectionDisplay

__all__ = ["ProjectionDisplay"]
