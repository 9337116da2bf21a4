/* Hashes of the cells, rows and columns of a table.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each cell takes a few operations on integers. numpy makes an array for every one of them; here they stay in registers.
 */
#include "native.h"

/* The finalizer of SplitMix64, in which every bit moves every other. */
INLINE uint64_t mixed(uint64_t number)
{
    number ^= number >> 30;
    number *= UINT64_C(0xBF58476D1CE4E5B9);
    number ^= number >> 27;
    number *= UINT64_C(0x94D049BB133111EB);
    return number ^ (number >> 31);
}

FOR_EACH_MACHINE
static void hash_cells(const double *numbers, double unit, uint64_t half, uint64_t kept, size n, uint64_t *out)
{
    for (size i = 0; i < n; i++) {
        double in_units = numbers[i] / unit + 0.0; /* -0.0 equals 0.0 */
        uint64_t bits;
        memcpy(&bits, &in_units, sizeof bits);
        out[i] = mixed((bits + half) & kept);
    }
}

FOR_EACH_MACHINE
static uint64_t sum_along(const uint64_t *cells, const uint64_t *rows, size n)
{
    uint64_t total = 0;
    for (size i = 0; i < n; i++)
        total += mixed(cells[i] + rows[i]);
    return total;
}

FOR_EACH_MACHINE
static void add_across(const uint64_t *cells, uint64_t column, size n, uint64_t *sums)
{
    for (size i = 0; i < n; i++)
        sums[i] += mixed(cells[i] + column);
}

/* Whole numbers have their bits at the upper end, which products would carry away. */
FOR_EACH_MACHINE
static uint64_t hash_row(const double *row, const uint64_t *factors, size p)
{
    uint64_t total = 0;
    for (size j = 0; j < p; j++) {
        double number = row[j] + 0.0; /* -0.0 equals 0.0 */
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        total += (bits ^ (bits >> 32)) * factors[j];
    }
    return total;
}

PyObject *cell_hashes(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *numbers, *units, *out;
    int n_dropped;
    Arrays arrays = {.held = 0};
    if (!PyArg_ParseTuple(args, "OOiO", &numbers, &units, &n_dropped, &out))
        return NULL;
    if (!hold(&arrays, numbers, "d", 2, 0) || !hold(&arrays, units, "d", 1, 0) || !hold(&arrays, out, "L", 2, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    size p = views[0].shape[0], n = views[0].shape[1];
    if (views[1].shape[0] != p || views[2].shape[0] != p || views[2].shape[1] != n)
        return disagreement(&arrays);
    if (n_dropped < 0 || n_dropped > 52) {
        PyErr_SetString(PyExc_ValueError, "a fraction has 52 bits to drop");
        return let_go(&arrays, NULL);
    }
    const double *from = views[0].buf, *unit = views[1].buf;
    uint64_t *to = views[2].buf, last = UINT64_C(1) << n_dropped;
    Py_BEGIN_ALLOW_THREADS
    for (size j = 0; j < p; j++)
        hash_cells(from + j * n, unit[j], last >> 1, ~(last - 1), n, to + j * n);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}

/* Holds cells, what is added to each along one of their axes, and where sums along that axis go. */
static int hold_sums(Arrays *arrays, PyObject *args, int axis)
{
    PyObject *cells, *added, *sums;
    if (!PyArg_ParseTuple(args, "OOO", &cells, &added, &sums))
        return 0;
    if (!hold(arrays, cells, "L", 2, 0) || !hold(arrays, added, "L", 1, 0) || !hold(arrays, sums, "L", 1, 1))
        return 0;
    const Py_buffer *views = arrays->views;
    if (views[1].shape[0] == views[0].shape[axis] && views[2].shape[0] == views[0].shape[1 - axis])
        return 1;
    disagreement(arrays);
    return 0;
}

PyObject *sums_along_columns(PyObject *Py_UNUSED(module), PyObject *args)
{
    Arrays arrays = {.held = 0};
    if (!hold_sums(&arrays, args, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    size p = views[0].shape[0], n = views[0].shape[1];
    const uint64_t *cells = views[0].buf, *rows = views[1].buf;
    uint64_t *sums = views[2].buf;
    Py_BEGIN_ALLOW_THREADS
    for (size j = 0; j < p; j++)
        sums[j] = sum_along(cells + j * n, rows, n);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}

PyObject *sums_along_rows(PyObject *Py_UNUSED(module), PyObject *args)
{
    Arrays arrays = {.held = 0};
    if (!hold_sums(&arrays, args, 0))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    size p = views[0].shape[0], n = views[0].shape[1];
    const uint64_t *cells = views[0].buf, *columns = views[1].buf;
    uint64_t *sums = views[2].buf;
    Py_BEGIN_ALLOW_THREADS
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (size j = 0; j < p; j++)
        add_across(cells + j * n, columns[j], n, sums);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}

PyObject *row_hashes(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *rows, *factors, *out;
    Arrays arrays = {.held = 0};
    if (!PyArg_ParseTuple(args, "OOO", &rows, &factors, &out))
        return NULL;
    if (!hold(&arrays, rows, "d", 2, 0) || !hold(&arrays, factors, "L", 1, 0) || !hold(&arrays, out, "L", 1, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    size n = views[0].shape[0], p = views[0].shape[1];
    if (views[1].shape[0] != p || views[2].shape[0] != n)
        return disagreement(&arrays);
    const double *row = views[0].buf;
    uint64_t *to = views[2].buf;
    Py_BEGIN_ALLOW_THREADS
    for (size i = 0; i < n; i++)
        to[i] = hash_row(row + i * p, views[1].buf, p);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}
