/* Frames and gradients in the charts of a solver.
 *
 * SPDX-License-Identifier: MIT
 *
 * A step of a small problem takes some thousand operations. What numpy does around each product of small matrices takes
 * longer than the products.
 *
 * The chart is B -> span(Y), Y = V + QB, with V of shape (p, d), Q of shape (p, q) and b = B' of shape (d, q). The frame
 * is W = Y T^-1, where T'T = I + B'B is the Cholesky factorisation.
 */
#include "native.h"

enum { MOST_COMPONENTS = 32 };

typedef struct {
    size p, d, q;
} Shape;

/* T^-1 of I + B'B = T'T, upper triangular with zeros below. */
static void invert_factor(const double *b, Shape shape, double *inverse)
{
    size d = shape.d, q = shape.q;
    double factor[MOST_COMPONENTS * MOST_COMPONENTS];
    for (size a = 0; a < d; a++)
        for (size c = a; c < d; c++) {
            double left = dot(b + a * q, b + c * q, q) + (a == c);
            for (size e = 0; e < a; e++)
                left -= factor[e * d + a] * factor[e * d + c];
            factor[a * d + c] = a == c ? __builtin_sqrt(left) : left / factor[a * d + a];
        }
    for (size c = 0; c < d; c++) {
        for (size a = c + 1; a < d; a++)
            inverse[a * d + c] = 0.0;
        inverse[c * d + c] = 1.0 / factor[c * d + c];
        for (size a = c; a-- > 0;) {
            double left = 0.0;
            for (size e = a + 1; e <= c; e++)
                left += factor[a * d + e] * inverse[e * d + c];
            inverse[a * d + c] = -left / factor[a * d + a];
        }
    }
}

static void make_frame(const double *V, const double *Q, const double *b, Shape shape, double *frame, double *inverse)
{
    size d = shape.d, q = shape.q;
    invert_factor(b, shape, inverse);
    for (size i = 0; i < shape.p; i++) {
        double y[MOST_COMPONENTS], *w = frame + i * d;
        for (size a = 0; a < d; a++)
            y[a] = V[i * d + a] + dot(Q + i * q, b + a * q, q);
        for (size c = 0; c < d; c++) {
            w[c] = 0.0;
            for (size a = 0; a <= c; a++)
                w[c] += y[a] * inverse[a * d + c];
        }
    }
}

/* out = T^-1 (G'Q - (G'W) (T^-T B')), of shape (d, q), of one gradient G, whose entry (i, a) is G[i * rows + a * columns]. */
static void pull_gradient_back(const double *G, size rows, size columns, const double *Q, const double *frame,
                               const double *turned, const double *inverse, Shape shape, double *along, double *out)
{
    size d = shape.d, q = shape.q;
    double inside[MOST_COMPONENTS * MOST_COMPONENTS] = {0.0};
    memset(along, 0, sizeof(double) * (size_t)(d * q));
    for (size i = 0; i < shape.p; i++)
        for (size a = 0; a < d; a++) {
            double g = G[i * rows + a * columns];
            add_multiple(g, Q + i * q, along + a * q, q);
            for (size c = 0; c < d; c++)
                inside[a * d + c] += g * frame[i * d + c];
        }
    for (size a = 0; a < d; a++)
        for (size c = 0; c < d; c++)
            add_multiple(-inside[a * d + c], turned + c * q, along + a * q, q);
    memset(out, 0, sizeof(double) * (size_t)(d * q));
    for (size a = 0; a < d; a++)
        for (size e = a; e < d; e++)
            add_multiple(inverse[a * d + e], along + e * q, out + a * q, q);
}

/* T^-T B', of shape (d, q). */
static void turn(const double *b, const double *inverse, Shape shape, double *turned)
{
    size d = shape.d, q = shape.q;
    memset(turned, 0, sizeof(double) * (size_t)(d * q));
    for (size c = 0; c < d; c++)
        for (size e = 0; e <= c; e++)
            add_multiple(inverse[e * d + c], b + e * q, turned + c * q, q);
}

/* Householder vectors, which map V to the first axes, up to signs; they are the columns of H, (n, d), of length sqrt 2. */
static void reflect_to_axes(const double *V, size n, size d, double *H)
{
    memcpy(H, V, sizeof(double) * (size_t)(n * d));
    for (size a = 0; a < d; a++) {
        double square = 0.0;
        for (size i = a; i < n; i++)
            square += H[i * d + a] * H[i * d + a];
        double length = __builtin_copysign(__builtin_sqrt(square), H[a * d + a]);
        H[a * d + a] += length;
        /* |x + |x| e|^2 = 2 |x| (|x| + x_a) */
        double unit = length != 0.0 ? 1.0 / __builtin_sqrt(length * H[a * d + a]) : 0.0;
        for (size i = 0; i < a; i++)
            H[i * d + a] = 0.0;
        for (size i = a; i < n; i++)
            H[i * d + a] *= unit;
        for (size c = a + 1; c < d; c++) {
            double along = 0.0;
            for (size i = a; i < n; i++)
                along += H[i * d + a] * H[i * d + c];
            for (size i = a; i < n; i++)
                H[i * d + c] -= along * H[i * d + a];
        }
    }
}

/* Q, (n, n - d): the last axes, reflected back. `along` has room for n - d numbers. */
static void make_complement(const double *H, size n, size d, double *along, double *Q)
{
    size q = n - d;
    memset(Q, 0, sizeof(double) * (size_t)(n * q));
    for (size j = 0; j < q; j++)
        Q[(d + j) * q + j] = 1.0;
    for (size a = d; a-- > 0;) {
        memset(along, 0, sizeof(double) * (size_t)q);
        for (size i = a; i < n; i++)
            add_multiple(H[i * d + a], Q + i * q, along, q);
        for (size i = a; i < n; i++)
            add_multiple(-H[i * d + a], along, Q + i * q, q);
    }
}

static int is_of(const Py_buffer *view, size rows, size columns)
{
    return view->shape[0] == rows && view->shape[1] == columns;
}

PyObject *complement_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *frame, *complement;
    Arrays arrays = {.held = 0};
    if (!PyArg_ParseTuple(args, "OO", &frame, &complement))
        return NULL;
    if (!hold(&arrays, frame, "d", 2, 0) || !hold(&arrays, complement, "d", 2, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    size n = views[0].shape[0], d = views[0].shape[1];
    if (d > n || !is_of(&views[1], n, n - d))
        return disagreement(&arrays);
    double *memory = malloc(sizeof(double) * (size_t)(n * d + n - d + 1));
    if (memory == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    reflect_to_axes(views[0].buf, n, d, memory);
    make_complement(memory, n, d, memory + n * d, views[1].buf);
    free(memory);
    return let_go(&arrays, Py_NewRef(Py_None));
}

PyObject *frame_at(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { V, Q, B, FRAME, INVERSE, ARRAYS };
    PyObject *given[ARRAYS];
    Arrays arrays = {.held = 0};
    if (!PyArg_ParseTuple(args, "OOOOO", &given[V], &given[Q], &given[B], &given[FRAME], &given[INVERSE]))
        return NULL;
    for (int k = 0; k < ARRAYS; k++)
        if (!hold(&arrays, given[k], "d", 2, k >= FRAME))
            return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    Shape shape = {views[V].shape[0], views[V].shape[1], views[Q].shape[1]};
    if (shape.d > MOST_COMPONENTS || views[Q].shape[0] != shape.p || !is_of(&views[B], shape.d, shape.q)
        || !is_of(&views[FRAME], shape.p, shape.d) || !is_of(&views[INVERSE], shape.d, shape.d))
        return disagreement(&arrays);
    make_frame(views[V].buf, views[Q].buf, views[B].buf, shape, views[FRAME].buf, views[INVERSE].buf);
    return let_go(&arrays, Py_NewRef(Py_None));
}

PyObject *gradients_at(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { Q, B, FRAME, INVERSE, FIRST, OTHERS, OUT, ARRAYS };
    static const int ndim[ARRAYS] = {2, 2, 2, 2, 2, 3, 3};
    PyObject *given[ARRAYS];
    Arrays arrays = {.held = 0};
    if (!PyArg_ParseTuple(args, "OOOOOOO", &given[Q], &given[B], &given[FRAME], &given[INVERSE], &given[FIRST],
                          &given[OTHERS], &given[OUT]))
        return NULL;
    for (int k = 0; k < ARRAYS; k++)
        if (!hold(&arrays, given[k], "d", ndim[k], k == OUT))
            return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    Shape shape = {views[FRAME].shape[0], views[FRAME].shape[1], views[Q].shape[1]};
    size n_others = views[OTHERS].shape[0], length = shape.d * shape.q;
    const size *others = views[OTHERS].shape, *out = views[OUT].shape;
    if (shape.d > MOST_COMPONENTS || views[Q].shape[0] != shape.p || !is_of(&views[B], shape.d, shape.q)
        || !is_of(&views[INVERSE], shape.d, shape.d) || !is_of(&views[FIRST], shape.p, shape.d)
        || others[1] != shape.d || others[2] != shape.p || out[0] != 1 + n_others || out[1] != shape.d || out[2] != shape.q)
        return disagreement(&arrays);
    double *memory = malloc(sizeof(double) * (size_t)(2 * length + 1));
    if (memory == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    double *turned = memory, *along = memory + length, *to = views[OUT].buf;
    const double *q = views[Q].buf, *frame = views[FRAME].buf, *inverse = views[INVERSE].buf, *G = views[OTHERS].buf;
    turn(views[B].buf, inverse, shape, turned);
    pull_gradient_back(views[FIRST].buf, shape.d, 1, q, frame, turned, inverse, shape, along, to);
    for (size k = 0; k < n_others; k++)
        pull_gradient_back(G + k * shape.d * shape.p, 1, shape.p, q, frame, turned, inverse, shape, along,
                           to + (k + 1) * length);
    free(memory);
    return let_go(&arrays, Py_NewRef(Py_None));
}
