"""FPCA against the published loading matrices, on identical rows."""

import numpy as np
import pytest

from fairpca.baselines import FPCA
from fairpca.geometry import principal_angles

# The published code took the first row of each headerless table for a header, so its solutions are without that row.
FIRST_ROW = 1
MU = 0.01
# Eigenvalues 10 and 11 are 0.5 and 0.1 percent apart there; the stored matrices are not solved that closely.
NEARLY_TIED = {("adult", 1, 10, 0.1): 1.5, ("adult", 2, 10, 0.1): 1.5}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::fairpca.baselines.TiedEigenvaluesWarning")
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.RankWarning")
@pytest.mark.parametrize("d", [2, 10])
@pytest.mark.parametrize("split", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["compas", "german", pytest.param("adult", marks=pytest.mark.slow)])
def test_published_subspaces_are_met(reference, name, split, d):
    data = reference(name, split)
    X, group = data["X_train"][FIRST_ROW:], data["a_train"][FIRST_ROW:]
    for delta in (0.0, 0.1):
        published = data[f"V_fpca_d{d}_delta{delta}"]
        model = FPCA(d, delta=delta, mu=MU).fit(X, sensitive_features=group)
        assert model.converged_
        # Tied or not, the published frame spans an invariant subspace of P* that has its d largest eigenvalues.
        ritz = published.T @ model.projection_matrix_ @ published
        residual = model.projection_matrix_ @ published - published @ ritz
        assert np.linalg.norm(residual, 2) < 1e-3
        np.testing.assert_allclose(np.linalg.eigvalsh(ritz)[::-1], model.eigenvalues_[:d], atol=1e-3)
        if not model.tied_:
            angle = principal_angles(model.components_.T, published)[0]
            assert angle < NEARLY_TIED.get((name, split, d, delta), 1.0)


@pytest.mark.parametrize("split", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_the_form_of_the_text_lands_elsewhere(reference, split):
    data = reference("german", split)
    X, group = data["X_train"][FIRST_ROW:], data["a_train"][FIRST_ROW:]
    model = FPCA(10, mu=MU, form="text").fit(X, sensitive_features=group)
    assert principal_angles(model.components_.T, data["V_fpca_d10_delta0.0"])[0] > 10


@pytest.mark.thorough
def test_direct_optimisation_keeps_more_variance_at_a_better_objective(reference):
    data = reference("german", 0)
    X, group = data["X_train"], data["a_train"]
    rounded = FPCA(10, mu=MU).fit(X, sensitive_features=group)
    direct = FPCA(10, mu=MU, rounding="stiefel").fit(X, sensitive_features=group)
    assert direct.rounded_objective_ > rounded.rounded_objective_
    assert direct.score(X) > rounded.score(X) + 0.04
