/* Distances of all pairs of rows, of which few are kept.
 *
 * SPDX-License-Identifier: MIT
 *
 * The median of n^2 / 2 distances needs those near it, and how many are below. To store all of them and to look at them
 * three times takes four times as long.
 */
#include "native.h"

enum { TOGETHER = 256 };

/* |z_i - z_j|^2 for j = start, ..., start + n - 1. */
FOR_EACH_MACHINE
static void squares_from(const double *Z, size length, size d, size i, size start, size n, double *squares)
{
    for (size j = 0; j < n; j++)
        squares[j] = 0.0;
    for (size k = 0; k < d; k++) {
        const double *row = Z + k * length, here = row[i];
        for (size j = 0; j < n; j++) {
            double difference = here - row[start + j];
            squares[j] += difference * difference;
        }
    }
}

typedef struct {
    double low, high, *kept;
    size room, below, between;
} Sieve;

/* Without a branch that hangs on the numbers, which nobody could foretell; the last place takes what is not kept. */
static void sift(Sieve *sieve, const double *squares, size n)
{
    const double low = sieve->low, high = sieve->high;
    double *restrict kept = sieve->kept;
    size below = 0, between = sieve->between, room = sieve->room;
    for (size j = 0; j < n; j++) {
        double square = squares[j];
        kept[between < room ? between : room] = square;
        below += square < low;
        between += (square >= low) & (square <= high);
    }
    sieve->below += below;
    sieve->between = between;
}

PyObject *squares_between(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *rows, *kept;
    Arrays arrays = {.held = 0};
    Sieve sieve = {.below = 0};
    if (!PyArg_ParseTuple(args, "OddO", &rows, &sieve.low, &sieve.high, &kept))
        return NULL;
    if (!hold(&arrays, rows, "d", 2, 0) || !hold(&arrays, kept, "d", 1, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    size d = views[0].shape[0], length = views[0].shape[1];
    if (views[1].shape[0] == 0) {
        PyErr_SetString(PyExc_ValueError, "there is no room for what is between");
        return let_go(&arrays, NULL);
    }
    sieve.kept = views[1].buf;
    sieve.room = views[1].shape[0] - 1;
    Py_BEGIN_ALLOW_THREADS
    double squares[TOGETHER];
    for (size i = 0; i < length; i++)
        for (size start = i + 1; start < length; start += TOGETHER) {
            size n = length - start < TOGETHER ? length - start : TOGETHER;
            squares_from(views[0].buf, length, d, i, start, n, squares);
            sift(&sieve, squares, n);
        }
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_BuildValue("nn", sieve.below, sieve.between));
}
