/* The limited-memory BFGS inverse Hessian whose first metric is a Cholesky factor.
 *
 * SPDX-License-Identifier: MIT
 *
 * Nocedal and Wright, algorithm 7.4. Vectors have a hundred entries or so: what numpy does around a product of two of them
 * takes longer than the product.
 */
#include "native.h"

enum { MOST_PAIRS = 16 };

typedef struct {
    const double *step, *change;
    double curvature;
} Pair;

/* Replaces q by (LL')^-1 q; row j of `factor` has column j of L from its diagonal on. */
static void solve(const double *factor, double *q, size n)
{
    for (size j = 0; j < n; j++) {
        const double *column = factor + j * n;
        q[j] /= column[j];
        add_multiple(-q[j], column + j + 1, q + j + 1, n - j - 1);
    }
    for (size j = n; j-- > 0;) {
        const double *column = factor + j * n;
        q[j] = (q[j] - dot(column + j + 1, q + j + 1, n - j - 1)) / column[j];
    }
}

static void multiply(const double *factor, const Pair *pairs, size n_pairs, double *q, size n)
{
    double coefficients[MOST_PAIRS];
    for (size k = n_pairs; k-- > 0;) {
        coefficients[k] = dot(pairs[k].step, q, n) / pairs[k].curvature;
        add_multiple(-coefficients[k], pairs[k].change, q, n);
    }
    solve(factor, q, n);
    for (size k = 0; k < n_pairs; k++)
        add_multiple(coefficients[k] - dot(pairs[k].change, q, n) / pairs[k].curvature, pairs[k].step, q, n);
}

/* Holds the vectors of a pair (step, change, curvature), of n entries each. */
static int hold_pair(Arrays *arrays, PyObject *given, size n, Pair *pair)
{
    PyObject *step, *change;
    if (!PyArg_ParseTuple(given, "OOd", &step, &change, &pair->curvature) || !hold(arrays, step, "d", 1, 0)
        || !hold(arrays, change, "d", 1, 0))
        return 0;
    const Py_buffer *views = arrays->views + arrays->held - 2;
    pair->step = views[0].buf;
    pair->change = views[1].buf;
    if (views[0].shape[0] == n && views[1].shape[0] == n)
        return 1;
    disagreement(arrays);
    return 0;
}

PyObject *quasi_newton_product(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *factor, *listed, *product;
    Arrays arrays = {.held = 0};
    Pair pairs[MOST_PAIRS];
    if (!PyArg_ParseTuple(args, "OO!O", &factor, &PyList_Type, &listed, &product))
        return NULL;
    if (!hold(&arrays, factor, "d", 2, 0) || !hold(&arrays, product, "d", 1, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    size n = views[1].shape[0], n_pairs = PyList_Size(listed);
    if (views[0].shape[0] != n || views[0].shape[1] != n)
        return disagreement(&arrays);
    if (n_pairs > MOST_PAIRS) {
        PyErr_Format(PyExc_ValueError, "%zd pairs are too many, %d are the most", n_pairs, MOST_PAIRS);
        return let_go(&arrays, NULL);
    }
    for (size k = 0; k < n_pairs; k++)
        if (!hold_pair(&arrays, PyList_GetItem(listed, k), n, &pairs[k]))
            return let_go(&arrays, NULL);
    multiply(views[0].buf, pairs, n_pairs, views[1].buf, n);
    return let_go(&arrays, Py_NewRef(Py_None));
}
