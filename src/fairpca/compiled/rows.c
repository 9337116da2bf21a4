/* Raw rows and few coordinates: projections, and sums of rows times gradients.
 *
 * SPDX-License-Identifier: MIT
 *
 * A table is read once, in its own precision: a few rows at a time are centred in float64, in the nearest cache. The
 * projection of a row does not depend on the rows beside it.
 */
#include "native.h"

enum { ROWS = 8, COLUMNS = 4 };

typedef struct {
    const void *X;
    int is_single;
    size n, p, padded;  /* padded: p, rounded up to a multiple of WIDTH */
    const double *mean; /* padded */
} Table;

typedef float single_vec __attribute__((vector_size(16), aligned(4), may_alias));

/* x - mean of `filled` rows from row i on; what is beyond them or beyond p is 0. */
INLINE void centre(const Table *table, size i, size filled, double *out)
{
    size whole = table->p / WIDTH * WIDTH;
    for (size r = 0; r < filled; r++, out += table->padded) {
        if (table->is_single) {
            const float *x = (const float *)table->X + (i + r) * table->p;
            for (size k = 0; k < whole; k += WIDTH)
                store(out + k, __builtin_convertvector(*(const single_vec *)(x + k), vec) - load(table->mean + k));
            for (size k = whole; k < table->p; k++)
                out[k] = (double)x[k] - table->mean[k];
        } else {
            const double *x = (const double *)table->X + (i + r) * table->p;
            for (size k = 0; k < whole; k += WIDTH)
                store(out + k, load(x + k) - load(table->mean + k));
            for (size k = whole; k < table->p; k++)
                out[k] = x[k] - table->mean[k];
        }
    }
    if (filled < ROWS)
        memset(out, 0, sizeof(double) * (size_t)((ROWS - filled) * table->padded));
}

/* Coordinates a, ..., a + WIDTH - 1 of ROWS rows. */
INLINE void project_rows(const double *rows, size p, size pitch, const double *matrix, size width, vec *sum)
{
    for (int r = 0; r < ROWS; r++)
        sum[r] = all(0.0);
    for (size k = 0; k < p; k++) {
        vec m = load(matrix + k * width);
        _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++)
            sum[r] += rows[r * pitch + k] * m;
    }
}

FOR_EACH_MACHINE
static void project_table(const Table *table, const double *matrix, size d, size width, double *rows, double *out)
{
    for (size i = 0; i < table->n; i += ROWS) {
        size filled = table->n - i < ROWS ? table->n - i : ROWS;
        centre(table, i, filled, rows);
        for (size a = 0; a < d; a += WIDTH) {
            vec sum[ROWS];
            project_rows(rows, table->p, table->padded, matrix + a, width, sum);
            for (size b = 0; b < WIDTH && a + b < d; b++)
                for (size r = 0; r < filled; r++)
                    out[(a + b) * table->n + i + r] = sum[r][b];
        }
    }
}

/* Adds to COLUMNS rows of the sums at a time, fewer at the end. */
INLINE void pull_columns(const double *rows, size pitch, const double *gradients, size columns, double *sums)
{
    for (size k = 0; k < pitch; k += WIDTH) {
        vec sum[COLUMNS];
        for (size c = 0; c < columns; c++)
            sum[c] = load(sums + c * pitch + k);
        _Pragma("GCC unroll 8") for (int r = 0; r < ROWS; r++) {
            vec x = load(rows + r * pitch + k);
            for (size c = 0; c < columns; c++)
                sum[c] += x * gradients[c * ROWS + r];
        }
        for (size c = 0; c < columns; c++)
            store(sums + c * pitch + k, sum[c]);
    }
}

FOR_EACH_MACHINE
static void pull_table(const Table *table, const double *gradients, size m, double *rows, double *sums)
{
    for (size i = 0; i < table->n; i += ROWS) {
        size filled = table->n - i < ROWS ? table->n - i : ROWS;
        centre(table, i, filled, rows);
        for (size a = 0; a < m; a += COLUMNS) {
            double of_rows[COLUMNS * ROWS] = {0};
            size columns = m - a < COLUMNS ? m - a : COLUMNS;
            for (size c = 0; c < columns; c++)
                memcpy(of_rows + c * ROWS, gradients + (a + c) * table->n + i, sizeof(double) * (size_t)filled);
            double *target = sums + a * table->padded;
            if (columns == 4)
                pull_columns(rows, table->padded, of_rows, 4, target);
            else if (columns == 3)
                pull_columns(rows, table->padded, of_rows, 3, target);
            else if (columns == 2)
                pull_columns(rows, table->padded, of_rows, 2, target);
            else
                pull_columns(rows, table->padded, of_rows, 1, target);
        }
    }
}

/* Holds X, mean, an array of shape (p, d) or (m, n), and the one to write; returns 0 with an exception set if they do
 * not agree. */
static int hold_table(Arrays *arrays, PyObject *args, Table *table)
{
    PyObject *objects[4];
    if (!PyArg_ParseTuple(args, "OOOO", &objects[0], &objects[1], &objects[2], &objects[3]))
        return 0;
    table->is_single = hold(arrays, objects[0], "f", 2, 0);
    if (!table->is_single) {
        PyErr_Clear();
        if (!hold(arrays, objects[0], "d", 2, 0))
            return 0;
    }
    if (!hold(arrays, objects[1], "d", 1, 0) || !hold(arrays, objects[2], "d", 2, 0)
        || !hold(arrays, objects[3], "d", 2, 1))
        return 0;
    const Py_buffer *X = &arrays->views[0];
    table->X = X->buf, table->n = X->shape[0], table->p = X->shape[1];
    table->padded = (table->p + WIDTH - 1) / WIDTH * WIDTH;
    if (arrays->views[1].shape[0] == table->p)
        return 1;
    disagreement(arrays);
    return 0;
}

static double *copy_of_mean(const Table *table, const Py_buffer *mean, double *memory)
{
    memcpy(memory, mean->buf, sizeof(double) * (size_t)table->p);
    return memory + table->padded;
}

PyObject *project(PyObject *Py_UNUSED(module), PyObject *args)
{
    Arrays arrays = {.held = 0};
    Table table;
    if (!hold_table(&arrays, args, &table))
        return let_go(&arrays, NULL);
    const Py_buffer *matrix = &arrays.views[2], *out = &arrays.views[3];
    size d = matrix->shape[1], width = (d + WIDTH - 1) / WIDTH * WIDTH;
    if (matrix->shape[0] != table.p || out->shape[0] != d || out->shape[1] != table.n)
        return disagreement(&arrays);
    double *memory = calloc((size_t)((1 + ROWS) * table.padded + table.p * width) + 1, sizeof(double));
    if (memory == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    double *rows = copy_of_mean(&table, &arrays.views[1], memory), *wide = rows + ROWS * table.padded;
    table.mean = memory;
    for (size k = 0; k < table.p; k++)
        memcpy(wide + k * width, (const double *)matrix->buf + k * d, sizeof(double) * (size_t)d);
    project_table(&table, wide, d, width, rows, out->buf);
    free(memory);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}

PyObject *pull_back(PyObject *Py_UNUSED(module), PyObject *args)
{
    Arrays arrays = {.held = 0};
    Table table;
    if (!hold_table(&arrays, args, &table))
        return let_go(&arrays, NULL);
    const Py_buffer *gradients = &arrays.views[2], *out = &arrays.views[3];
    size m = gradients->shape[0];
    if (gradients->shape[1] != table.n || out->shape[0] != table.p || out->shape[1] != m)
        return disagreement(&arrays);
    double *memory = calloc((size_t)((1 + ROWS + m) * table.padded) + 1, sizeof(double));
    if (memory == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    double *rows = copy_of_mean(&table, &arrays.views[1], memory), *sums = rows + ROWS * table.padded;
    table.mean = memory;
    pull_table(&table, gradients->buf, m, rows, sums);
    for (size k = 0; k < table.p; k++)
        for (size a = 0; a < m; a++)
            ((double *)out->buf)[k * m + a] = sums[a * table.padded + k];
    free(memory);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}
