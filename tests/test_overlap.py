"""Rows of the fit are counted wherever they come back, and new ones are not taken for them."""
# SPDX-License-Identifier: MIT

import io
import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairpca
from fairpca import FairPCA, FairPCACV, Release, audit
from fairpca.exceptions import ModelFileError, TrainingRowsWarning

QUICK = {"adversaries": (), "n_permutations": 19, "random_state": 0}


def drawn(kind, n, rng):
    """Return rows of numbers that hardly ever coincide, of counts that some people share, or of two answers."""
    if kind == "numbers":
        return rng.normal(size=(n, 4)) * [1, 1e3, 1e-3, 1] + [0, 2000, 0, 5]
    if kind == "counts":
        columns = rng.integers(18, 80, n), np.round(rng.normal(40, 8, n)), rng.integers(0, 5, n), rng.random(n) < 0.3
        return np.column_stack(columns).astype(float)
    return rng.integers(0, 2, (n, 2)).astype(float)


class Fitted:
    """A model and the rows of its fit, half of each group."""

    def __init__(self, kind="numbers", n=600, seed=0):
        self.rng = np.random.default_rng(seed)
        self.kind, self.X = kind, drawn(kind, n, self.rng)
        self.model = FairPCA(2, tolerance=1.0, random_state=0).fit(self.X, sensitive_features=np.arange(n) % 2)

    def new(self, n):
        return drawn(self.kind, n, self.rng)

    def overlap(self, X, *model, **options):
        (model,) = model or [self.model]
        return audit(model, X, sensitive_features=np.arange(X.shape[0]) % 2, **QUICK, **options).overlap


@pytest.fixture(scope="module")
def fit():
    return Fitted()


def through_text(X):
    return pd.read_csv(io.StringIO(pd.DataFrame(X).to_csv(index=False))).to_numpy()


FORMS = {
    "as they were": lambda X: X,
    "shuffled": lambda X: X[np.random.default_rng(1).permutation(len(X))],
    "without the last": lambda X: X[:-1],
    "with one more": lambda X: np.vstack([X, X[:1] + 1]),
    "with one cell edited": lambda X: X + np.eye(*X.shape),
    "float32": lambda X: X.astype(np.float32),
    "through text": through_text,
    "float32 through text": lambda X: through_text(X.astype(np.float32)),
    "lists": lambda X: np.asfortranarray(X),
    "a frame": pd.DataFrame,
    "sparse": sparse.csr_array,
    "Dask": lambda X: da.from_array(X, chunks=(250, -1)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.TrainingRowsWarning")
def test_the_rows_of_the_fit_are_known_in_every_form(fit, form):
    found = fit.overlap(FORMS[form](fit.X))
    assert found.found >= len(fit.X) - 4
    assert found.share > 0.99


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.TrainingRowsWarning")
@pytest.mark.parametrize("kind", ["numbers", "counts"])
def test_shares_are_counted_and_new_rows_are_not_taken_for_old(kind):
    fit = Fitted(kind, n=2000)
    for share in (0.0, 0.01, 0.03, 0.3, 0.8):
        k = round(1000 * share)
        found = fit.overlap(np.vstack([fit.X[:k], fit.new(1000 - k)]))
        # Of counts one row in eight coincides with another by itself, which cannot be known more exactly than that.
        assert found.share == pytest.approx(share, abs=0.02 if kind == "numbers" else 0.06)
        assert found.too_many == (share > 0.1) or 0.01 <= share <= 0.1
        assert found.found == pytest.approx(k + found.by_chance * (1 - share), abs=60)


def test_tables_of_few_answers_say_that_nothing_can_be_said():
    fit = Fitted("answers")
    found = fit.overlap(fit.new(500))
    assert (found.is_known, found.too_many, found.found) == (False, False, 500)
    with pytest.raises(ValueError, match=r"cannot be told how many were in the fit; trust_rows=True says"):
        audit(fit.model, fit.new(500), sensitive_features=np.arange(500) % 2, **QUICK).certificate()


def test_who_knows_the_rows(fit):
    sex, others = np.arange(600) % 2, {"sensitive_features": np.arange(600) % 2}
    pipeline = make_pipeline(StandardScaler(), FairPCA(2, tolerance=1.0))
    released = make_pipeline(fit.model, Release(random_state=0).fit(fit.model.transform(fit.X), **others))
    chosen = FairPCACV(FairPCA(2), target=1.0, tolerances=[1.0], random_state=0).fit(fit.X, **others)
    lazy = FairPCA(2, tolerance=1.0).fit(da.from_array(fit.X, chunks=(250, -1)), sensitive_features=sex)
    knowing = [lazy, pipeline.fit(fit.X, fairpca__sensitive_features=sex), released[:1], chosen]
    for each in [*knowing, pickle.loads(pickle.dumps(fit.model))]:
        with pytest.warns(TrainingRowsWarning, match="100 % of them were in the fit"):
            assert fit.overlap(fit.X[:-1], each).share == 1.0
        assert fit.overlap(fit.new(300), each).found == 0
    with pytest.warns(TrainingRowsWarning):
        # Their number and their means are all that is known of them.
        assert fit.overlap(fit.X, PCA(2).fit(fit.X)).share == 1.0
    for other in (PCA(2).fit(fit.X), fit.model.components_, None):
        assert fit.overlap(fit.X[:-1], other) is None
        with pytest.warns(TrainingRowsWarning):
            assert fit.overlap(fit.X[:-1], other, fitted_rows=fit.X).share == 1.0


def test_the_file_beside_the_model(fit, tmp_path):
    model, rows = tmp_path / "m.fairpca", tmp_path / "m.fairpca.rows"
    fit.model.save(model, rows=rows)
    assert rows.stat().st_size < 20 * 600
    assert rows.stat().st_mode & 0o077 == 0
    loaded = fairpca.load(model)
    assert fit.overlap(fit.X[:-1], loaded) is None
    with pytest.warns(TrainingRowsWarning):
        assert fit.overlap(fit.X[:-1], loaded, fitted_rows=rows).share == 1.0
    with pytest.raises(ValueError, match="belongs to another model"):
        fit.overlap(fit.X, Fitted(seed=1).model, fitted_rows=rows)
    with pytest.raises(ValueError, match="does not know the rows of its fit"):
        loaded.save(model, rows=rows)
    for path in (model, tmp_path / "half"):
        (tmp_path / "half").write_bytes(rows.read_bytes()[:1000])
        with pytest.raises(ModelFileError, match="cannot be loaded"):
            fit.overlap(fit.X, loaded, fitted_rows=path)
