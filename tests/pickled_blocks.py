"""Rows whose work is pickled, as if it went to another process."""
# SPDX-License-Identifier: MIT

import pickle

from fairpca.rows import ArrayRows


class PickledBlocks:
    """Rows in blocks of a given height, whose work is pickled on its way."""

    def __init__(self, X, attached, height):
        self.X, self.attached, self.height = X, attached, height
        self.n_rows, self.n_columns = X.shape

    def total(self, function, *arguments):
        terms = []
        for start in range(0, self.n_rows, self.height):
            block = slice(start, start + self.height)
            task, data = pickle.loads(pickle.dumps((function, arguments)))
            terms.append(pickle.loads(pickle.dumps(task(self.X[block], self.attached[block], *data))))
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def sample(self, indices):
        return self.X[indices], self.attached[indices]

    def taken(self, indices):
        return ArrayRows(self.X[indices], self.attached[indices])
