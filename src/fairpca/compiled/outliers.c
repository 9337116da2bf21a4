/* Kernel values of rows and a few outliers, one by one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

enum { MOST_AXES = 3 };

typedef struct {
    const double *Y, *weights;         /* d x n, k x n */
    const double *Y_out, *weights_out; /* d x m, m x k */
    double *potential, *slopes;        /* k x n, d x k x n */
    double *pulls;                     /* d x k x m, of WIDTH numbers each, to be added up at the end */
    size n, m, d, k;
} Crossing;

INLINE void gain(double *sum, vec term)
{
    store(sum, load(sum) + term);
}

/* What WIDTH rows from row i on and all outliers feel of each other. */
INLINE void cross(const Crossing *c, size i, size d)
{
    for (size o = 0; o < c->m; o++) {
        vec away[MOST_AXES], square = all(0.0);
        for (size a = 0; a < d; a++) {
            away[a] = load(c->Y + a * c->n + i) - c->Y_out[a * c->m + o];
            square += away[a] * away[a];
        }
        vec kernel = exponential(-0.5 * square);
        for (size b = 0; b < c->k; b++) {
            vec felt = c->weights_out[o * c->k + b] * kernel, given = load(c->weights + b * c->n + i) * kernel;
            gain(c->potential + b * c->n + i, felt);
            for (size a = 0; a < d; a++) {
                gain(c->slopes + (a * c->k + b) * c->n + i, -felt * away[a]);
                gain(c->pulls + WIDTH * ((a * c->k + b) * c->m + o), given * away[a]);
            }
        }
    }
}

/* The same for a single weight: what the rows feel stays in registers. */
INLINE void cross_one_weight(const Crossing *c, size i, size d)
{
    vec y[MOST_AXES], slope[MOST_AXES], potential = all(0.0), weight = load(c->weights + i);
    for (size a = 0; a < d; a++) {
        y[a] = load(c->Y + a * c->n + i);
        slope[a] = all(0.0);
    }
    for (size o = 0; o < c->m; o++) {
        vec away[MOST_AXES], square = all(0.0);
        for (size a = 0; a < d; a++) {
            away[a] = y[a] - c->Y_out[a * c->m + o];
            square += away[a] * away[a];
        }
        vec kernel = exponential(-0.5 * square), felt = c->weights_out[o] * kernel, given = weight * kernel;
        potential += felt;
        for (size a = 0; a < d; a++) {
            slope[a] -= felt * away[a];
            gain(c->pulls + WIDTH * (a * c->m + o), given * away[a]);
        }
    }
    store(c->potential + i, potential);
    for (size a = 0; a < d; a++)
        store(c->slopes + a * c->n + i, slope[a]);
}

FOR_EACH_MACHINE
static void cross_all(const Crossing *c)
{
    for (size i = 0; i < c->n; i += WIDTH)
        if (c->k != 1)
            cross(c, i, c->d);
        else if (c->d == 1)
            cross_one_weight(c, i, 1);
        else if (c->d == 2)
            cross_one_weight(c, i, 2);
        else
            cross_one_weight(c, i, 3);
}

/* felt_of_outliers(Y, weights, Y_out, weights_out, felt, pulls), see `mmd/fourier/_outliers.py`. The number n of rows is a
 * multiple of WIDTH. felt, of shape (1 + d, k, n), is 0 at first; pulls have the shape (d, k, m). */
PyObject *felt_of_outliers(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *objects[6];
    const int dimensions[6] = {2, 2, 2, 2, 3, 3};
    Arrays arrays = {.held = 0};
    if (!PyArg_ParseTuple(args, "OOOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &objects[5]))
        return NULL;
    for (int i = 0; i < 6; i++)
        if (!hold(&arrays, objects[i], "d", dimensions[i], i >= 4))
            return let_go(&arrays, NULL);
    const Py_buffer *v = arrays.views;
    Crossing c = {
        .Y = v[0].buf, .weights = v[1].buf, .Y_out = v[2].buf, .weights_out = v[3].buf,
        .d = v[0].shape[0], .n = v[0].shape[1], .k = v[1].shape[0], .m = v[2].shape[1],
    };
    c.potential = v[4].buf, c.slopes = c.potential + c.k * c.n;
    if (c.d < 1 || c.d > MOST_AXES || c.n % WIDTH || v[1].shape[1] != c.n || v[2].shape[0] != c.d
        || v[3].shape[0] != c.m || v[3].shape[1] != c.k || v[4].shape[0] != 1 + c.d || v[4].shape[1] != c.k
        || v[4].shape[2] != c.n || v[5].shape[0] != c.d || v[5].shape[1] != c.k || v[5].shape[2] != c.m)
        return disagreement(&arrays);
    size numbers = c.d * c.k * c.m;
    c.pulls = calloc((size_t)(WIDTH * numbers) + 1, sizeof(double));
    if (c.pulls == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    cross_all(&c);
    for (size i = 0; i < numbers; i++)
        ((double *)v[5].buf)[i] = sum_of(load(c.pulls + WIDTH * i));
    free(c.pulls);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}
