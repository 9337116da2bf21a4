"""What a choice of the tolerance refuses before any work."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca._utils.checks import check_confidence, check_number
from fairpca._utils.progress import say_with
from fairpca._utils.typing import FloatArray
from fairpca.comparison import People
from fairpca.path import check_decreasing
from fairpca.rows import is_dask
from fairpca.solvers import solver_from


def check_choice(parameters: Any, X: Any, people: People) -> FloatArray | None:
    """Refuse what no work is needed to refuse; return the tolerances that were asked for.

    Parameters
    ----------
    parameters : FairPCACV
        What was asked for.
    X : table of shape (n, p)
        Rows.
    people : People
        What is known of them.
    """
    if people.sensitive_features is None:
        raise ValueError("sensitive_features=None: a tolerance is chosen by how groups differ; pass them.")
    if any(map(is_dask, [X, *people.tables.values()])):
        raise TypeError(
            "FairPCACV splits rows at random and needs them in memory; got a Dask collection. Use compute(), or "
            'FairPCA with tolerance="auto", which needs no folds.'
        )
    if parameters.target is not None:
        check_number("target", parameters.target, above=0.0)
        check_number("test_size", parameters.test_size, above=0.0, below=1.0)
        check_confidence(parameters.confidence)
    say_with(parameters.callback)
    solver_from(parameters.solver)
    return None if parameters.tolerances is None else check_decreasing(parameters.tolerances)
