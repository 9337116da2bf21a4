"""Methods by moments: what each promises, on arrays, blocks, sparse and Dask tables, weights, several attributes."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from scipy.linalg import null_space, sqrtm
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairpca
from fairpca.baselines import FPCA, LEACE, SPLINCE, AugmentedPCA, ClosedFormFairPCA, ReconstructionFairPCA
from fairpca.data._columns import extremes
from fairpca.exceptions import NoSensitiveFeaturesWarning, RankWarning
from fairpca.saving import from_archive, to_archive

METHODS = [
    ClosedFormFairPCA(3),
    ClosedFormFairPCA(3, match="covariances"),
    LEACE(3),
    SPLINCE(3),
    AugmentedPCA(3, mu=5.0),
    ReconstructionFairPCA(3),
]
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)


@pytest.fixture
def table(rng):
    """Rows of three groups and an age, which shift columns, and labels that go with two of them."""
    n, p = 400, 8
    race, age = rng.integers(3, size=n), rng.uniform(18, 80, size=n)
    y = (rng.normal(size=n) + race > 1).astype(int)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    X += np.outer(race == 1, rng.normal(size=p)) + np.outer(race == 2, rng.normal(size=p))
    X += np.outer((age - 50) / 20, rng.normal(size=p)) + np.outer(y, rng.normal(size=p))
    X[race == 2, 0] *= 3
    return X, pd.DataFrame({"race": np.array(["a", "b", "c"])[race], "age": age}), y


def one_hot(labels):
    return (np.asarray(labels)[:, None] == np.unique(labels)).astype(float)


def same(first, second):
    # Some subspaces are found by iterations.
    atol = {ReconstructionFairPCA: 1e-6, FPCA: 1e-5}.get(type(first), 1e-9)
    for name in ("components_", "explained_variance_", "mean_", "scale_"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=atol, rtol=max(atol, 1e-7))


def fitted(method, table, columns=("race",), **known):
    X, people, y = table
    return clone(method).fit(X, y, sensitive_features=people[list(columns)], **known)


def test_closed_form_is_its_formula(table):
    X, people, _ = table
    model = fitted(ClosedFormFairPCA(3), table, ["race", "age"])
    scaled = StandardScaler().fit_transform(X)
    z = np.column_stack([one_hot(people["race"]), people["age"]])
    R = null_space((z - z.mean(axis=0)).T @ scaled, rcond=1e-9)
    assert R.shape[1] == 8 - 2 - 1
    expected = R @ np.linalg.eigh(R.T @ np.cov(scaled.T) @ R)[1][:, -3:]
    np.testing.assert_allclose(model.components_.T @ model.components_, expected @ expected.T, atol=1e-10)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    assert np.abs(np.cov(model.transform(X).T, z.T)[:3, 3:]).max() < 1e-10


def test_one_pass_keeps_the_digits_of_sorted_rows_far_from_zero(rng):
    """Few rows far away are not among those whose mean is subtracted; means are a million deviations from zero."""
    X, group = rng.normal(size=(20_000, 5)) @ rng.normal(size=(5, 5)), rng.integers(2, size=20_000)
    X[3:9] += 1e4
    order = np.argsort(X[:, 0])
    X, group = X[order], group[order]
    near, far = (ClosedFormFairPCA(2).fit(rows, sensitive_features=group) for rows in (X, X + 1e9))
    scaled = StandardScaler().fit_transform(X)
    R = null_space((one_hot(group) - one_hot(group).mean(axis=0)).T @ scaled, rcond=1e-9)
    expected = R @ np.linalg.eigh(R.T @ np.cov(scaled.T) @ R)[1][:, -2:]
    for model, atol in ((near, 1e-9), (far, 1e-4)):
        np.testing.assert_allclose(model.components_.T @ model.components_, expected @ expected.T, atol=atol)


@pytest.mark.parametrize("shape", [(1, 3), (7, 1), (1000, 3), (5001, 40), (300, 3000)])
def test_a_column_that_differs_in_one_entry_is_not_constant(rng, shape):
    X = np.ones(shape)
    for function, initial, value in ((np.minimum, np.inf, 0.5), (np.maximum, -np.inf, 1.5)):
        X[rng.integers(shape[0]), rng.integers(shape[1])] = value
        np.testing.assert_array_equal(extremes(X, function, initial), function.reduce(X, axis=0))
    assert np.isinf(extremes(X[:0], np.minimum, np.inf)).all()


def test_closed_form_of_covariances_is_its_formula_for_two_groups(table):
    X, people, _ = table
    group = (people["race"] == "c").to_numpy()
    model = ClosedFormFairPCA(2, match="covariances", share=0.6).fit(X, sensitive_features=group)
    scaled = StandardScaler().fit_transform(X)
    R = null_space((scaled[group].mean(axis=0) - scaled[~group].mean(axis=0))[None])
    sizes, vectors = np.linalg.eigh(
        R.T @ (np.cov(scaled[~group].T, bias=True) - np.cov(scaled[group].T, bias=True)) @ R
    )
    kept = R @ vectors[:, np.argsort(np.abs(sizes))[:4]]  # 0.6 of 7 directions
    expected = kept @ np.linalg.eigh(kept.T @ np.cov(scaled.T) @ kept)[1][:, -2:]
    np.testing.assert_allclose(model.components_.T @ model.components_, expected @ expected.T, atol=1e-9)


def test_covariances_of_three_groups_come_closer(table):
    X, people, _ = table

    def spread(model):
        Z = model.transform(X)
        return sum(np.linalg.norm(np.cov(Z[people["race"] == g].T) - np.cov(Z.T)) for g in "abc")

    assert spread(fitted(ClosedFormFairPCA(2, match="covariances", share=0.4), table)) < 0.5 * spread(
        fitted(ClosedFormFairPCA(2), table)
    )


def test_leace_is_its_formula_and_changes_least(table, rng):
    X, people, _ = table
    model = LEACE(6, standardize=False).fit(X, sensitive_features=people["race"])
    z = one_hot(people["race"])
    S, cross = np.cov(X.T), np.cov(X.T, z.T)[:8, 8:]
    root = np.real(sqrtm(S))
    M = np.linalg.solve(root, cross)
    P = np.eye(8) - root @ M @ np.linalg.pinv(M, rcond=1e-9) @ np.linalg.inv(root)
    erased = (X - X.mean(axis=0)) @ P.T + X.mean(axis=0)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), erased, atol=1e-8)
    assert np.abs(np.cov(erased.T, z.T)[:8, 8:]).max() < 1e-10
    # Any other linear map that erases moves rows further.
    for _ in range(20):
        other = P + 0.05 * rng.normal(size=(8, 8)) @ P
        assert np.linalg.norm((X - X.mean(axis=0)) @ (other - np.eye(8)).T) > np.linalg.norm(erased - X)


def test_leace_coordinates_are_the_pca_of_erased_rows(table):
    X, people, _ = table
    every = LEACE(6, standardize=False).fit(X, sensitive_features=people["race"])
    erased = every.inverse_transform(every.transform(X))
    model, plain = LEACE(3, standardize=False).fit(X, sensitive_features=people["race"]), PCA(3).fit(erased)
    np.testing.assert_allclose(np.abs(model.axes_ @ plain.components_.T), np.eye(3), atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_, plain.explained_variance_)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(plain.transform(erased)), atol=1e-8)


def test_splince_erases_the_attribute_and_keeps_the_labels(table):
    X, people, y = table
    model = SPLINCE(6).fit(X, y, sensitive_features=people["race"])
    erased = model.inverse_transform(model.transform(X))
    z = one_hot(people["race"])
    assert np.abs(np.cov(erased.T, z.T)[:8, 8:]).max() < 1e-10
    np.testing.assert_allclose(np.cov(erased.T, y)[-1, :-1], np.cov(X.T, y)[-1, :-1], atol=1e-9)
    forgetful = LEACE(6).fit(X, sensitive_features=people["race"])
    lost = forgetful.inverse_transform(forgetful.transform(X))
    assert np.abs(np.cov(lost.T, y)[-1, :-1] - np.cov(X.T, y)[-1, :-1]).max() > 0.01


def test_augmented_pca_maximises_its_objective(table, rng):
    X, people, _ = table
    mu, z = 20.0, one_hot(people["race"])
    model = AugmentedPCA(2, mu=mu, standardize=False).fit(X, sensitive_features=people["race"])
    centred = X - X.mean(axis=0)

    def objective(scores):
        basis = np.linalg.qr(scores - scores.mean(axis=0))[0]
        return np.sum((basis.T @ centred) ** 2) - mu * np.sum((basis.T @ (z - z.mean(axis=0))) ** 2)

    best = objective(model.transform(X))
    assert all(objective(centred @ (model.components_.T + 0.1 * rng.normal(size=(8, 2)))) < best for _ in range(50))
    Z = model.transform(X)
    np.testing.assert_allclose(Z.var(axis=0, ddof=1), model.explained_variance_)
    assert abs(np.corrcoef(Z.T)[0, 1]) < 1e-10


def test_augmented_pca_without_an_adversary_is_pca(table):
    X, people, _ = table
    model = AugmentedPCA(3, mu=0, standardize=False).fit(X, sensitive_features=people["race"])
    np.testing.assert_allclose(np.abs(model.components_), np.abs(PCA(3).fit(X).components_), atol=1e-8)


@every_method
def test_blocks_in_any_order_give_the_fit_of_all_rows(table, method):
    X, people, y = table
    order = np.argsort(people["race"], kind="stable")  # one group after the other
    model = clone(method)
    for rows in np.array_split(order, 7):
        model.partial_fit(X[rows], y[rows], sensitive_features=people[["race"]].iloc[rows])
    same(model, fitted(method, table))
    assert model.n_samples_ == 400


def test_fpca_takes_blocks_and_sparse_tables_too(table):
    X, people, _ = table
    group = people["race"] == "a"
    expected = FPCA(2).fit(X, sensitive_features=group)
    same(FPCA(2).fit(sparse.csr_array(X), sensitive_features=group), expected)
    blocks = FPCA(2).partial_fit(X[:200], sensitive_features=group[:200])
    same(blocks.partial_fit(X[200:], sensitive_features=group[200:]), expected)


def test_blocks_must_bring_the_same_columns(table):
    X, people, _ = table
    model = LEACE(2).partial_fit(X[:100], sensitive_features=people[:100])
    with pytest.raises(ValueError, match=r"sensitive_features has the columns race.* earlier blocks had race.*age"):
        model.partial_fit(X[100:], sensitive_features=people[100:]["race"])
    with pytest.raises(ValueError, match='sensitive_kind="continuous"'):
        model.partial_fit(X[100:110], sensitive_features=people[100:110])
    assert model.n_samples_ == 100


@every_method
def test_dask_and_sparse_tables_give_the_same(table, method):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    X, people, y = table
    expected = fitted(method, table)
    attribute = dd.from_pandas(people[["race"]], npartitions=3)
    lazy = clone(method).fit(da.from_array(X, chunks=(130, 5)), da.from_array(y), sensitive_features=attribute)
    same(lazy, expected)
    same(clone(method).fit(sparse.csr_array(X), y, sensitive_features=people[["race"]]), expected)
    assert da.asarray(lazy.transform(da.from_array(X, chunks=(130, 5)))).compute() == pytest.approx(
        expected.transform(X)
    )


def test_dask_numbers_are_attributes_too(table):
    da = pytest.importorskip("dask.array")
    X, people, _ = table
    age = people["age"].to_numpy()
    lazy = LEACE(2).fit(da.from_array(X, chunks=(100, 8)), sensitive_features=da.from_array(age, chunks=100))
    same(lazy, LEACE(2).fit(X, sensitive_features=age))


@pytest.mark.parametrize("method", [*METHODS, FPCA(2), FPCA(2, delta=0.1, form="text")], ids=repr)
def test_weights_count_rows(table, method, rng):
    X, people, y = table
    if isinstance(method, FPCA):
        people = people.assign(race=people["race"] == "a")
    weight = rng.integers(0, 4, size=len(X))
    often = np.repeat(np.arange(len(X)), weight)
    weighted = fitted(method, (X, people, y), sample_weight=weight)
    same(weighted, clone(method).fit(X[often], y[often], sensitive_features=people[["race"]].iloc[often]))
    # The program of FPCA has the sum of squares in it.
    blocks, unit = clone(method), 1.0 if isinstance(method, FPCA) else 0.5
    for part in (slice(0, 150), slice(150, None)):
        blocks.partial_fit(
            X[part], y[part], sensitive_features=people[["race"]][part], sample_weight=unit * weight[part]
        )
    np.testing.assert_allclose(blocks.components_, weighted.components_, atol=1e-5)


@pytest.mark.parametrize("method", [ClosedFormFairPCA(3), LEACE(3), SPLINCE(3)], ids=repr)
def test_groups_and_numbers_together_are_uncorrelated_with_the_result(table, method):
    X, people, _ = table
    Z = fitted(method, table, ["race", "age"]).transform(X)
    z = np.column_stack([one_hot(people["race"]), people["age"]])
    assert np.abs(np.cov(Z.T, z.T)[:3, 3:]).max() < 1e-8


@pytest.mark.parametrize("method", [*METHODS, FPCA(2), ReconstructionFairPCA(2, standardize=False)], ids=repr)
def test_units_do_not_matter(table, method):
    X, people, y = table
    groups = people["race"] == "a" if isinstance(method, FPCA) else people["race"]
    expected = clone(method).fit(X, y, sensitive_features=groups).components_
    columns = 10.0 ** np.array([-120, -9, -3, 0, 0, 3, 9, 120])
    for units in (1e-140, 1e140, columns) if method.standardize else (1e-140, 1e140):
        there = clone(method).fit(X * units, y, sensitive_features=groups)
        np.testing.assert_allclose(there.components_, expected, atol=1e-6 if isinstance(method, FPCA) else 1e-8)


@pytest.mark.parametrize("method", [FPCA(2), ReconstructionFairPCA(2), LEACE(2)], ids=repr)
@pytest.mark.parametrize(
    ("scale", "words"),
    [(1e-300, "squares are not normal"), (1e160, "squares are not normal"), (1e300, "sums over rows overflow; divide")],
)
def test_numbers_that_cannot_be_squared_are_refused(two_groups, method, scale, words):
    X, group = two_groups
    model = clone(method).set_params(standardize=False)
    with pytest.raises(ValueError, match=words):
        model.fit(X * scale, sensitive_features=group)
    assert not hasattr(model, "mean_")


@every_method
def test_without_attributes_it_is_pca(table, method):
    X, _, _ = table
    with pytest.warns(NoSensitiveFeaturesWarning):
        model = clone(method).set_params(standardize=False).fit(X)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(PCA(3).fit(X).components_), atol=1e-8)


@pytest.mark.filterwarnings("ignore::fairpca.baselines.TiedEigenvaluesWarning")
@pytest.mark.parametrize("method", [*METHODS, FPCA()], ids=repr)
def test_null_directions_come_last_and_are_zero(table, method):
    X, people, y = table
    groups = people["race"] == "a" if isinstance(method, FPCA) else people["race"]
    flat = X[:, [0, 1, 2, 3, 0, 1, 2, 3]]
    with pytest.warns(RankWarning, match="rank of the data, 4"):
        model = clone(method).set_params(n_components=6).fit(flat, y, sensitive_features=groups)
    assert model.n_live_components_ <= 4
    assert np.all(model.transform(X)[:, model.n_live_components_ :] == 0)


@every_method
def test_frames_in_frames_out_and_routing(table, method):
    X, people, y = table
    frame = pd.DataFrame(X, columns=list("abcdefgh"), index=np.arange(len(X)) + 7)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(method).set_fit_request(sensitive_features=True, sample_weight=False)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed)
        pipeline.set_output(transform="pandas").fit(frame, y, sensitive_features=people["race"].set_axis(frame.index))
    Z = pipeline.transform(frame)
    name = type(method).__name__.lower()
    assert list(Z.columns) == [f"{name}0", f"{name}1", f"{name}2"]
    assert list(Z.index) == list(frame.index)
    np.testing.assert_allclose(Z, fitted(method, table).transform(X), atol=1e-9)


@pytest.mark.parametrize("method", [*METHODS, FPCA(2)], ids=repr)
def test_files_bring_the_same_method_back(table, method, tmp_path):
    X, people, y = table
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = clone(method).set_output(transform="pandas").fit(frame, y, sensitive_features=people["race"] == "a")
    model.save(tmp_path / "model.fairpca")
    loaded = fairpca.load(tmp_path / "model.fairpca")
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    pd.testing.assert_frame_equal(loaded.transform(frame), model.transform(frame), check_exact=True)
    Z = X[:, : len(model.components_)]
    np.testing.assert_array_equal(loaded.inverse_transform(Z), model.inverse_transform(Z))
    learned = {name for name in vars(model) if name.endswith("_")}
    assert learned == {name for name in vars(loaded) if name.endswith("_")}
    with pytest.raises(ValueError, match="comes from a file, which has no sums"):
        loaded.partial_fit(frame, y, sensitive_features=people["race"])


def test_files_with_other_contents_are_refused(table):
    document, arrays = to_archive(fitted(LEACE(3), table))
    for changed in (
        {"parameters": document["parameters"] | {"n_components": 9}},
        {"parameters": document["parameters"] | {"mu": 1.0}},
        {"learned": document["learned"] | {"axes_": document["learned"]["mean_"]}},
        {"learned": {k: v for k, v in document["learned"].items() if k != "axes_"}},
    ):
        with pytest.raises(ValueError, match=r"."):
            from_archive(document | changed, arrays, "LEACE")

    class Own(LEACE):
        pass

    with pytest.raises(TypeError, match="a Own would not come back as one"):
        to_archive(fitted(Own(3), table))


@pytest.mark.parametrize(
    ("method", "columns", "message"),
    [
        (
            ClosedFormFairPCA(7),
            ["race"],
            "n_components=7 is more than ClosedFormFairPCA leaves: .* take 2 of 8 .* at most 6",
        ),
        (LEACE(6), ["race", "age"], "n_components=6 is more than LEACE leaves: .* take 3 of 8 .* at most 5"),
        (
            ClosedFormFairPCA(match="covariances"),
            ["age"],
            "age is continuous. ClosedFormFairPCA.match=.means.., LEACE, .*",
        ),
        (ClosedFormFairPCA(match="variances"), ["race"], "match='variances' is unknown"),
        (ClosedFormFairPCA(share=1.5), ["race"], "share=1.5 must be at most 1"),
        (ReconstructionFairPCA(), ["age"], "age is continuous. ClosedFormFairPCA"),
        (FPCA(), ["race"], "FPCA takes one attribute of two groups; got 3 groups. ReconstructionFairPCA, .* several"),
        (FPCA(), ["race", "age"], "age is continuous"),
        (AugmentedPCA(mu=-1), ["race"], "mu=-1 must be a finite number >= 0"),
        (LEACE(sensitive_kind="number"), ["race"], "sensitive_kind"),
    ],
    ids=str,
)
def test_what_a_method_cannot_do_is_said(table, method, columns, message):
    with pytest.raises(ValueError, match=message):
        fitted(method, table, columns)


def test_labels_that_are_missing_or_stand_in_the_way_are_refused(table):
    X, people, _ = table
    with pytest.raises(ValueError, match=r"SPLINCE keeps .* labels: pass them as y, or use LEACE"):
        SPLINCE().fit(X, sensitive_features=people["race"])
    with pytest.raises(ValueError, match=r"y and sensitive_features covary .* use LEACE"):
        SPLINCE().fit(X, people["race"], sensitive_features=people["race"])
    with pytest.raises(ValueError, match="one group only, 'a'; two are needed"):
        LEACE().fit(X, sensitive_features=np.full(len(X), "a"))
