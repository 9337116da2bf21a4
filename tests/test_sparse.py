"""Sparse tables give the answers of the same tables in arrays, and are never made dense beyond a block."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator_sparse_array, check_estimator_sparse_matrix

from fairpca import FairPCA, FairPCACV, FairPCAPath, audit
from fairpca.exceptions import NoSensitiveFeaturesWarning, TrainingRowsWarning
from fairpca.metrics import explained_variance, fair_variance_scorer, mmd2
from fairpca.report import make_report
from fairpca.rows import compressed, n_distinct


@pytest.fixture(scope="module")
def table():
    """Rows of which two fifths are stored, in two groups that differ in two columns."""
    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b"], [140, 160])
    stored = rng.random((300, 8)) < 0.4
    X = np.where(stored, rng.normal(size=stored.shape) * np.linspace(2, 0.5, 8), 0.0)
    X[:, :2] += np.where(stored[:, :2] & (group == "b")[:, None], 1.5, 0.0)
    return X, group


def fit(X, group, d=2, **parameters):
    people = {name: parameters.pop(name) for name in ("y", "sample_weight") if name in parameters}
    return FairPCA(d, tolerance=1e-2, random_state=0, **parameters).fit(X, sensitive_features=group, **people)


def assert_same(one, other):
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-10)
    np.testing.assert_allclose(one.mean_, other.mean_, atol=1e-12)
    assert one.mmd2_ == pytest.approx(other.mmd2_, abs=1e-12)
    assert one.mmd_method_ == other.mmd_method_


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(("mmd", "d"), [("exact", 2), ("hermite", 3)])
def test_the_answer_is_that_of_the_array(table, mmd, d, standardize):
    X, group = table
    dense, compact = (fit(rows, group, d, mmd=mmd, standardize=standardize) for rows in (X, sparse.csr_array(X)))
    assert dense.mmd_method_ == mmd
    assert_same(compact, dense)
    rows = sparse.csc_array(X)
    np.testing.assert_allclose(compact.transform(rows), dense.transform(X), atol=1e-12)
    np.testing.assert_allclose(compact.residuals(rows), dense.residuals(X), atol=1e-12)
    assert compact.score(rows) == pytest.approx(dense.score(X), abs=1e-12)


@pytest.mark.parametrize("mmd", ["exact", "hermite"])
def test_weights_labels_and_several_attributes(table, rng, mmd):
    X, group = table
    people = {"group": group, "age": rng.normal(size=len(X)), "third": rng.integers(3, size=len(X))}
    known = {"y": rng.integers(2, size=len(X)), "sample_weight": rng.integers(3, size=len(X))}
    known["sample_weight"][:20] = 0
    parameters = {"fairness": "equal_opportunity", "favourable": 1, "mmd": mmd, **known}
    assert_same(fit(sparse.csr_array(X), people, **parameters), fit(X, people, **parameters))


@pytest.mark.parametrize("dtype", [bool, np.uint16, np.float32])
def test_other_numbers_are_those_of_the_array(table, dtype):
    X, group = table
    whole = np.rint(2 * np.abs(X)).astype(dtype)
    dense, compact = (fit(rows, group, mmd="hermite") for rows in (whole, sparse.csr_array(whole)))
    assert_same(compact, dense)
    projected = compact.transform(sparse.csr_array(whole))
    assert projected.dtype == dense.transform(whole).dtype == (np.float32 if dtype is np.float32 else np.float64)


def stored_twice(X):
    rows = sparse.csr_array(X)
    halves = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    return sparse.csr_array(halves, shape=X.shape)


def zeros_stored(X):
    n, p = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(p), n), np.arange(0, n * p + 1, p)), shape=X.shape)


def unsorted(X):
    rows = zeros_stored(X)
    rows.indices, rows.data = rows.indices[::-1].copy(), rows.data.reshape(X.shape)[:, ::-1].ravel()
    return rows


WAYS = {
    **{name: lambda X, name=name: getattr(sparse, f"{name}_array")(X) for name in ("bsr", "coo", "csc", "csr")},
    **{name: lambda X, name=name: getattr(sparse, f"{name}_matrix")(X) for name in ("dia", "dok", "lil")},
    **{each.__name__: each for each in (stored_twice, zeros_stored, unsorted)},
}


@pytest.mark.filterwarnings("ignore:Constructing a DIA:scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("way", WAYS)
def test_how_entries_are_stored_does_not_matter(table, way):
    X, group = table
    odd = np.column_stack([X, np.zeros(len(X)), 1e7 + X[:, 0]])
    odd[40:60, :9] = 0.0
    rows = WAYS[way](odd)
    before = rows.copy()
    model, dense = fit(rows, group, mmd="hermite"), fit(odd, group, mmd="hermite")
    assert_same(model, dense)
    np.testing.assert_allclose(model.transform(rows), dense.transform(odd), atol=1e-7)
    assert rows.nnz == before.nnz
    np.testing.assert_array_equal(rows.toarray(), before.toarray())
    assert n_distinct(compressed(rows)) == len(np.unique(odd, axis=0))


def test_what_is_no_table_of_finite_numbers_gets_one_clear_sentence(table):
    for rows, message in (
        (sparse.csr_array(np.eye(6) * 1j), "dtype complex128, which is not a real number; use float64"),
        (sparse.coo_array(np.arange(6.0)), r"shape \(6,\); it must be \(n_samples, n_features\)"),
        (sparse.csr_array((6, 0)), r"shape \(6, 0\).*at least 2 samples and 1 feature"),
        (sparse.csr_array((1, 3)), r"shape \(1, 3\).*at least 2 samples"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(rows, np.arange(rows.shape[0]) % 2)
    X, group = table
    model = fit(X, group)
    for value, kind in ((np.nan, "csr"), (np.inf, "csc"), (np.nan, "coo")):
        bad = X.copy()
        bad[270, 4] = value
        rows = sparse.csr_array(bad).asformat(kind)
        for use in (lambda rows: fit(rows, group), model.transform, model.score):
            with pytest.raises(ValueError, match=f"X has {value} in row 270, column 4; drop or impute"):
                use(rows)


def test_path_and_choice_of_the_tolerance(table):
    X, group = table
    tolerances = [3e-2, 1e-2]
    dense, compact = (
        FairPCAPath(FairPCA(2, random_state=0), tolerances=tolerances).fit(rows, sensitive_features=group)
        for rows in (X, sparse.coo_array(X))
    )
    np.testing.assert_allclose(compact.variances_, dense.variances_, atol=1e-12)
    dense, compact = (
        FairPCACV(FairPCA(2), tolerances=tolerances, target=1.9, random_state=0).fit(rows, sensitive_features=group)
        for rows in (X, sparse.coo_array(X))
    )
    np.testing.assert_allclose(compact.cv_results_["test_variance"], dense.cv_results_["test_variance"], atol=1e-12)
    assert_same(compact.best_estimator_, dense.best_estimator_)
    assert compact.score(sparse.csc_array(X)) == pytest.approx(dense.score(X), abs=1e-12)


def test_audit_metrics_and_report(table, tmp_path):
    X, group = table
    model, new, others = fit(X[::2], group[::2]), X[1::2], group[1::2]
    how = {"sensitive_features": others, "adversaries": "linear", "random_state": 0, "n_permutations": 99}
    dense, compact = (audit(model, rows, **how) for rows in (new, sparse.csc_array(new)))
    assert compact.measures == dense.measures
    assert compact.origin.rows == dense.origin.rows
    with pytest.warns(TrainingRowsWarning, match="100 % of them were in the fit"):
        audit(model, sparse.csr_array(X[::2]), **(how | {"sensitive_features": group[::2]}))
    of_components = audit(model.components_, sparse.csr_array(new), **how)
    assert of_components.mmd2 == pytest.approx(audit(model.components_, new, **how).mmd2, abs=1e-12)
    share = explained_variance(sparse.csr_array(new), model.components_)
    assert share == pytest.approx(explained_variance(new, model.components_), abs=1e-12)
    assert mmd2(sparse.csr_array(new), sensitive_features=others) == mmd2(new, sensitive_features=others)
    scorer = fair_variance_scorer()
    scores = [scorer(model, rows, sensitive_features=others) for rows in (new, sparse.coo_array(new))]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    pages = [make_report(model, rows, **how).summary for rows in (new, sparse.coo_array(new))]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("check", [check_estimator_sparse_array, check_estimator_sparse_matrix])
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NoSensitiveFeaturesWarning")
def test_scikit_learn_knows_that_sparse_tables_are_taken(check):
    model = FairPCA(tolerance=1e-3)
    assert model.__sklearn_tags__().input_tags.sparse
    check("FairPCA", model)


@pytest.mark.thorough
def test_no_dense_copy_is_made(rng):
    n, p = 40_000, 120
    X = sparse.random_array((n, p), density=0.05, format="csr", rng=rng)
    model = FairPCA(2, tolerance=1e-2, random_state=0)
    peaks = []
    for use in (lambda: model.fit(X, sensitive_features=np.arange(n) % 2), lambda: model.transform(X)):
        tracemalloc.start()
        use()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < 0.7 * 8 * n * p
    assert peaks[1] < 2**26


def test_plain_pca_of_a_table_too_large_to_be_dense_goes_by_blocks(monkeypatch, rng):
    X = sparse.random_array((4000, 20), density=0.05, format="csr", rng=rng)
    with pytest.warns(NoSensitiveFeaturesWarning):
        expected = FairPCA(3).fit(X.toarray())
    monkeypatch.setattr("fairpca.data._prepared.MEMORY_NUMBERS", 1000)
    with pytest.warns(NoSensitiveFeaturesWarning):
        model = FairPCA(3).fit(X)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-10)
    with pytest.raises(ValueError, match=r'mmd="exact" works on dense rows.*\(4000, 20\) would take 0.00064 GB'):
        FairPCA(2, mmd="exact").fit(X, sensitive_features=np.arange(4000) % 2)
