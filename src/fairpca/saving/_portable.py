"""The ways in which a fitted model leaves Python."""
# SPDX-License-Identifier: MIT

import os
from typing import TYPE_CHECKING, cast

from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline

from fairpca.saving._archive import write_archive
from fairpca.saving._export import pca_of, write_onnx
from fairpca.saving._fair_pca import fair_pca_to_archive

if TYPE_CHECKING:
    from fairpca.estimator import FairPCA


class Portable:
    """What `FairPCA` can do to leave Python: files without pickle, scikit-learn's own classes, ONNX."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `fairpca.load` reads.

        The file is a zip archive of one JSON document and plain arrays, and nothing in it can be run. It is written in
        one step, and the same model gives the same bytes.

        Parameters
        ----------
        path : path
            Where to; names that end in ``.fairpca`` tell what the file is.

        Notes
        -----
        Everything that was learned is kept, and all parameters but two, which are for the next fit alone: `callback`
        is None in the loaded model, and so is a `random_state` that is a generator and not a number. What metadata
        scikit-learn is to route to `fit` is not kept either. A notion or a solver of your own is refused.

        Examples
        --------
        See `fairpca.load`.
        """
        write_archive(path, *fair_pca_to_archive(cast("FairPCA", self)))

    def to_pca(self) -> PCA | Pipeline:
        """Return fitted estimators of scikit-learn that project rows alike.

        Returns
        -------
        pca : PCA or Pipeline
            With `standardize=False` a `sklearn.decomposition.PCA`. With `standardize=True` a pipeline of a
            `StandardScaler` and such a `PCA`, which scales no columns itself; its step "pca" has the components, in the
            scaled units. `transform` and `inverse_transform` agree with those of this model up to rounding;
            components without variance are exactly 0 here, too.

        Examples
        --------
        >>> import numpy as np
        >>> from fairpca import FairPCA
        >>> rng = np.random.default_rng(0)
        >>> X, group = rng.normal(size=(100, 4)), np.repeat(["a", "b"], 50)
        >>> model = FairPCA(2).fit(X, sensitive_features=group)
        >>> pipeline = model.to_pca()
        >>> np.allclose(pipeline.transform(X), model.transform(X), rtol=0, atol=1e-12)
        True
        """
        return pca_of(cast("FairPCA", self))

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float64") -> None:
        """Write the projection as an ONNX graph, for runtimes without Python; needs ``pip install 'fairpca[onnx]'``.

        Parameters
        ----------
        path : path
            Where to.
        dtype : {"float64", "float32"}, default="float64"
            Type of the input "X", of shape (n, n_features), and of the output "Z", of shape (n, n_components). In
            float32 columns whose means are far from 0 lose digits before they are centred.
        """
        write_onnx(cast("FairPCA", self), path, dtype)
