/* Distances of all pairs of rows, of which few are kept.
 *
 * SPDX-License-Identifier: MIT
 *
 * The median of n^2 / 2 distances needs those near it, and how many are below. To store all of them and to look at them
 * three times takes four times as long.
 */
#include "native.h"

enum { TOGETHER = 256, ROWS_AT_ONCE = 8 };

typedef struct {
    const double *Z;
    size length, d;
    double low, high, *kept;
    size room;
    size next, below, between; /* shared by threads */
} Sieve;

/* |z_i - z_j|^2 for j = start, ..., start + n - 1, which of them are kept, and how many are below. */
FOR_EACH_MACHINE
static size squares_from(const Sieve *sieve, size i, size start, size n, double *restrict squares,
                         unsigned char *restrict is_kept)
{
    const double low = sieve->low, high = sieve->high;
    for (size j = 0; j < n; j++)
        squares[j] = 0.0;
    for (size k = 0; k < sieve->d; k++) {
        const double *row = sieve->Z + k * sieve->length, here = row[i];
        for (size j = 0; j < n; j++) {
            double difference = here - row[start + j];
            squares[j] += difference * difference;
        }
    }
    size below = 0;
    for (size j = 0; j < n; j++)
        below += squares[j] < low;
    for (size j = 0; j < n; j++)
        is_kept[j] = (squares[j] >= low) & (squares[j] <= high);
    return below;
}

/* Moves what is kept to the front, and returns how much it is. Eight at a time: most of them are not kept. */
static size sift(double *squares, const unsigned char *is_kept, size n)
{
    size count = 0;
    for (size j = 0; j < n; j += 8) {
        uint64_t eight;
        memcpy(&eight, is_kept + j, sizeof eight);
        for (; eight != 0; eight &= eight - 1)
            squares[count++] = squares[j + __builtin_ctzll(eight) / 8];
    }
    return count;
}

static void keep(Sieve *sieve, const double *squares, size count)
{
    size first = __atomic_fetch_add(&sieve->between, count, __ATOMIC_RELAXED);
    size fits = sieve->room - first < count ? sieve->room - first : count;
    if (fits > 0)
        memcpy(sieve->kept + first, squares, sizeof(double) * (size_t)fits);
}

static void sift_rows(void *job)
{
    Sieve *sieve = job;
    double squares[TOGETHER];
    unsigned char is_kept[TOGETHER + 8];
    size below = 0, first, length = sieve->length;
    while ((first = __atomic_fetch_add(&sieve->next, ROWS_AT_ONCE, __ATOMIC_RELAXED)) < length)
        for (size i = first; i < first + ROWS_AT_ONCE && i < length; i++)
            for (size start = i + 1; start < length; start += TOGETHER) {
                size n = length - start < TOGETHER ? length - start : TOGETHER;
                below += squares_from(sieve, i, start, n, squares, is_kept);
                memset(is_kept + n, 0, 8);
                keep(sieve, squares, sift(squares, is_kept, n));
            }
    __atomic_fetch_add(&sieve->below, below, __ATOMIC_RELAXED);
}

PyObject *squares_between(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *rows, *kept;
    Arrays arrays = {.held = 0};
    Sieve sieve = {.below = 0};
    int threads;
    if (!PyArg_ParseTuple(args, "OddOi", &rows, &sieve.low, &sieve.high, &kept, &threads))
        return NULL;
    if (!hold(&arrays, rows, "d", 2, 0) || !hold(&arrays, kept, "d", 1, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    sieve.Z = views[0].buf;
    sieve.d = views[0].shape[0];
    sieve.length = views[0].shape[1];
    sieve.kept = views[1].buf;
    sieve.room = views[1].shape[0];
    Py_BEGIN_ALLOW_THREADS
    work_together(sift_rows, &sieve, threads);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_BuildValue("nn", sieve.below, sieve.between));
}
