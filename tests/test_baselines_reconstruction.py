import numpy as np
import pytest
from sklearn.decomposition import PCA

from fairpca.baselines import FPCA, ReconstructionFairPCA
from fairpca.exceptions import NoSensitiveFeaturesWarning
from fairpca.geometry import principal_angles, projection_distance


def covariances(X, group):
    return [np.cov(X[group == label].T, bias=True) for label in np.unique(group)]


def losses(V, sigmas):
    d = V.shape[1]
    return np.array([np.linalg.eigvalsh(S)[-d:].sum() - np.trace(V.T @ S @ V) for S in sigmas])


def rows_with(covariance, rng, n=40):
    """Return rows whose mean is 0 and whose covariance is exactly the given one."""
    Z = rng.normal(size=(n, len(covariance)))
    Z -= Z.mean(axis=0)
    Z = np.linalg.qr(Z)[0] * np.sqrt(n)
    return Z @ np.linalg.cholesky(covariance).T


def test_losses_are_equal_and_recomputed_from_the_rows(two_groups):
    X, group = two_groups
    model = ReconstructionFairPCA(2, standardize=False).fit(X, sensitive_features=group)
    expected = losses(model.components_.T, covariances(X, group))
    np.testing.assert_allclose(model.group_losses_, expected, rtol=1e-8)
    assert model.group_losses_[0] == pytest.approx(model.group_losses_[1], rel=1e-8)
    assert 0 < model.mixture_weight_ < 1
    assert model.duality_gap_ <= 1e-10 * expected.max()
    assert model.converged_
    assert list(model.groups_) == ["a", "b"]


@pytest.mark.parametrize(
    ("first", "second", "d", "expected"),
    [
        ([4, 1], [1, 4], 1, 1.5),  # both eigenvalues meet at w = 1/2
        ([6, 5, 1, 1], [6, 1, 5, 1], 2, 2.0),  # the first axis is settled, the second is tied
        ([4, 4, 1, 1], [1, 1, 4, 4], 2, 3.0),  # four eigenvalues meet
        ([4, 3, 1, 1], [1, 1, 1, 3], 2, None),
    ],
)
def test_crossing_eigenvalues_still_give_exactly_d_dimensions(rng, first, second, d, expected):
    X = np.vstack([rows_with(np.diag(np.array(v, dtype=float)), rng) for v in (first, second)])
    group = np.repeat([0, 1], 40)
    model = ReconstructionFairPCA(d, standardize=False).fit(X, sensitive_features=group)
    assert model.components_.shape[0] == d
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-12)
    assert model.group_losses_[0] == pytest.approx(model.group_losses_[1], abs=1e-9)
    assert model.duality_gap_ <= 1e-9
    if expected is not None:
        assert model.group_losses_[0] == pytest.approx(expected, abs=1e-9)


def several(rng, n_groups, p=6):
    """Return rows of groups whose covariances have nothing in common, and these covariances."""
    X = np.vstack([rng.normal(size=(60, p)) @ rng.normal(size=(p, p)) for _ in range(n_groups)])
    group = np.repeat(np.arange(n_groups), 60)
    return X, group, covariances(X, group)


@pytest.mark.parametrize("d", [1, 2])
def test_the_optimum_of_two_groups_is_the_largest_minimum_of_a_grid_of_weights(two_groups, d):
    X, group = two_groups
    model = ReconstructionFairPCA(d, standardize=False).fit(X, sensitive_features=group)
    H = [np.linalg.eigvalsh(S)[-d:].sum() / d * np.eye(6) - S for S in covariances(X, group)]
    minima = [np.linalg.eigvalsh(t * H[0] + (1 - t) * H[1])[:d].sum() for t in np.linspace(0, 1, 20_001)]
    assert model.group_losses_.max() == pytest.approx(max(minima), rel=1e-7)
    assert model.group_losses_.max() >= max(minima) * (1 - 1e-12)
    assert model.mixture_weight_ == pytest.approx(np.argmax(minima) / 20_000, abs=1e-4)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_optimum_of_three_groups_is_that_of_a_grid(rng, d):
    X, group, sigmas = several(rng, 3)
    model = ReconstructionFairPCA(d, standardize=False).fit(X, sensitive_features=group)
    best = np.array([np.linalg.eigvalsh(S)[-d:].sum() for S in sigmas])
    grid = [(i / 60, j / 60, 1 - (i + j) / 60) for i in range(61) for j in range(61 - i)]
    minima = [w @ best - np.linalg.eigvalsh(np.tensordot(w, sigmas, axes=1))[-d:].sum() for w in np.array(grid)]
    largest = model.group_losses_.max()
    np.testing.assert_allclose(model.group_losses_, losses(model.components_.T, sigmas), rtol=1e-8)
    assert largest - model.duality_gap_ >= max(minima) - 1e-9 * best.max()
    assert largest - model.duality_gap_ == pytest.approx(max(minima), rel=0.02)
    assert model.mixture_weights_.sum() == pytest.approx(1)
    for _ in range(2000):
        turned = np.linalg.qr(model.components_.T + 0.03 * rng.normal(size=(6, d)))[0]
        assert losses(turned, sigmas).max() >= largest - 1e-6 * best.max()


def test_many_groups_and_attributes_are_bounded_from_both_sides(rng):
    X, group, sigmas = several(rng, 12)
    model = ReconstructionFairPCA(3, standardize=False).fit(X, sensitive_features={"a": group, "b": group % 2})
    assert list(model.groups_[[0, 11, 12]]) == ["a=0", "a=11", "b=0"]
    plain = losses(PCA(3).fit(X).components_.T, sigmas)
    assert model.group_losses_.max() < plain.max()
    assert 0 <= model.duality_gap_ < 0.2 * model.group_losses_.max()


def test_equal_losses_are_another_goal_than_equal_distributions(rng):
    # Two ellipses, mirror images in the diagonal, apart along the diagonal.
    def ellipse(degrees):
        angle = np.radians(degrees)
        axes = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return rows_with(axes @ np.diag([4.0, 0.5]) @ axes.T, rng, 200)

    X = np.vstack([ellipse(20) - 2, ellipse(70) + 2])
    group = np.repeat([0, 1], 200)
    diagonal = np.array([[1.0], [1.0]])
    same_loss = ReconstructionFairPCA(1, standardize=False).fit(X, sensitive_features=group)
    same_moments = FPCA(1, standardize=False).fit(X, sensitive_features=group)
    assert principal_angles(same_loss.components_.T, diagonal)[0] < 1e-4
    assert principal_angles(same_moments.components_.T, diagonal)[0] == pytest.approx(90)
    Z = same_loss.transform(X)
    assert abs(Z[group == 0].mean() - Z[group == 1].mean()) > 5


def test_without_groups_it_is_pca(two_groups):
    X, _ = two_groups
    with pytest.warns(NoSensitiveFeaturesWarning, match="ReconstructionFairPCA"):
        model = ReconstructionFairPCA(2, standardize=False).fit(X)
    assert projection_distance(model.components_.T, PCA(2).fit(X).components_.T) < 1e-10
    assert len(model.group_losses_) == 0
    assert np.isnan(model.mixture_weight_)
