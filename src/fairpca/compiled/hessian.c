/* Blocks of a Hessian from the sums that they are made of.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each number takes part in a few additions only; what takes time in numpy is where the numbers lie. Blocks are put
 * together in the cache, one pair of components at a time.
 */
#include "native.h"

/* Of d components and q directions:
 *   block (a, b) = 2 (G_ab + G_ba + (G_ab + G_ba)' - O_ab), without G_ba where crossings are not halved, plus [a = b] S
 * with G the crossings, d q x d q; O the outer sums on and above their diagonals for a <= b; S = `same`, symmetric.
 * All in double or in float, which is how they are added. */
#define BLOCKS(name, real)                                                                                             \
    static void name(const real *G, const real *O, const real *S, double *hessian, real *half, size d, size q,         \
                     int is_halved)                                                                                    \
    {                                                                                                                  \
        for (size a = 0; a < d; a++)                                                                                   \
            for (size b = a; b < d; b++) {                                                                             \
                for (size i = 0; i < q; i++) {                                                                         \
                    const real *ab = G + ((a * q + i) * d + b) * q, *ba = G + ((b * q + i) * d + a) * q;               \
                    for (size j = 0; j < q; j++)                                                                       \
                        half[i * q + j] = is_halved ? ab[j] + ba[j] : ab[j];                                           \
                }                                                                                                      \
                for (size i = 0; i < q; i++)                                                                           \
                    for (size j = i; j < q; j++) {                                                                     \
                        real value = 2 * (half[i * q + j] + half[j * q + i] - *O++);                                   \
                        half[i * q + j] = half[j * q + i] = a == b ? value + S[i * q + j] : value;                     \
                    }                                                                                                  \
                for (size i = 0; i < q; i++) {                                                                         \
                    double *ab = hessian + ((a * q + i) * d + b) * q, *ba = hessian + ((b * q + i) * d + a) * q;       \
                    for (size j = 0; j < q; j++)                                                                       \
                        ab[j] = ba[j] = half[i * q + j];                                                               \
                }                                                                                                      \
            }                                                                                                          \
    }

BLOCKS(blocks_of_doubles, double)
BLOCKS(blocks_of_floats, float)

static int agree(const Py_buffer *crossings, const Py_buffer *outer, const Py_buffer *same, const Py_buffer *hessian)
{
    size q = same->shape[0], length = crossings->shape[0];
    if (q == 0 || same->shape[1] != q || length % q != 0 || crossings->shape[1] != length)
        return 0;
    size d = length / q;
    return outer->shape[0] == d * (d + 1) / 2 && outer->shape[1] == q * (q + 1) / 2 && hessian->shape[0] == length
        && hessian->shape[1] == length;
}

PyObject *hessian_blocks(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { CROSSINGS, OUTER, SAME, HESSIAN, ARRAYS };
    PyObject *given[ARRAYS];
    Arrays arrays = {.held = 0};
    int is_halved;
    if (!PyArg_ParseTuple(args, "OOOOp", &given[CROSSINGS], &given[OUTER], &given[SAME], &given[HESSIAN], &is_halved))
        return NULL;
    const char *format = hold(&arrays, given[CROSSINGS], "f", 2, 0) ? "f" : "d";
    if (arrays.held == 0) {
        PyErr_Clear();
        if (!hold(&arrays, given[CROSSINGS], "d", 2, 0))
            return NULL;
    }
    for (int k = OUTER; k < ARRAYS; k++)
        if (!hold(&arrays, given[k], k == HESSIAN ? "d" : format, 2, k == HESSIAN))
            return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    if (!agree(&views[CROSSINGS], &views[OUTER], &views[SAME], &views[HESSIAN]))
        return disagreement(&arrays);
    size q = views[SAME].shape[0], d = views[CROSSINGS].shape[0] / q;
    void *half = malloc(sizeof(double) * (size_t)(q * q));
    if (half == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    if (*format == 'f')
        blocks_of_floats(views[CROSSINGS].buf, views[OUTER].buf, views[SAME].buf, views[HESSIAN].buf, half, d, q, is_halved);
    else
        blocks_of_doubles(views[CROSSINGS].buf, views[OUTER].buf, views[SAME].buf, views[HESSIAN].buf, half, d, q, is_halved);
    Py_END_ALLOW_THREADS
    free(half);
    return let_go(&arrays, Py_NewRef(Py_None));
}
