/* Gaussian kernel sums, vectorised and without the interpreter lock.
 *
 * SPDX-License-Identifier: MIT
 *
 * numpy computes float64 exponentials one by one on machines without AVX-512, and a kernel pass is n^2 / 2 of them.
 * Vectors are those of GCC and Clang, compiled for several generations of machines and chosen when loaded.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef __GNUC__ /* Clang defines it too, Microsoft's compiler does not */
#error "the kernel sums are written in the vectors of GCC and Clang; fairpca installs without them and uses numpy"
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_MACHINE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_MACHINE
#endif

typedef Py_ssize_t size;

static const double SMALLEST = -708.0; /* below, exponentials are hardly normal numbers, and taken for 0 */
static const double LOG2_E = 1.4426950408889634074;
static const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
/* 1.5 * 2^52: adding it leaves the nearest integer in the low bits; and 1023 more, the bias of an exponent. */
static const double ROUND = 6755399441055744.0 + 1023.0;

typedef double vec __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint64_t bits __attribute__((vector_size(32), aligned(8)));
enum { WIDTH = 4 }; /* numbers in a vec */
#define UNROLLED _Pragma("GCC unroll 4")
#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const double *from)
{
    return *(const vec *)from;
}

INLINE void store(double *to, vec v)
{
    *(vec *)to = v;
}

INLINE vec all(double x)
{
    return (vec){x, x, x, x};
}

/* exp(x) = 2^k exp(r), |r| <= ln(2) / 2, exp(r) by 1 + r + r^2 q(r), where q interpolates (exp(r) - 1 - r) / r^2 in
 * the ten Chebyshev points of |r| <= 0.3466 (error of exp(r) below 1.3e-17).
 * Made for kernels: x is at most a rounding error above 0. What is not a number stays so. */
INLINE vec exponential(vec x)
{
    vec shifted = x * LOG2_E + ROUND;
    vec k = shifted - ROUND;
    vec r = (x - k * LN2_HIGH) - k * LN2_LOW;
    vec p = all(2.510038319586702e-08);
    p = p * r + 2.7620085455018414e-07;
    p = p * r + 2.7557268464831627e-06;
    p = p * r + 2.4801521302241082e-05;
    p = p * r + 0.00019841269863050506;
    p = p * r + 0.001388888891720967;
    p = p * r + 0.008333333333330063;
    p = p * r + 0.041666666666624136;
    p = p * r + 0.16666666666666669;
    p = p * r + 0.5000000000000001;
    p = p * r + 1.0;
    p = p * r + 1.0;
    vec power = p * (vec)((bits)shifted << 52);
    return (vec)((bits)power & ~(bits)(x < SMALLEST));
}

FOR_EACH_MACHINE
static void exp_block(double *values, size n)
{
    size i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        store(values + i, exponential(load(values + i)));
    if (i < n) {
        double rest[WIDTH] = {0};
        memcpy(rest, values + i, sizeof(double) * (n - i));
        store(rest, exponential(load(rest)));
        memcpy(values + i, rest, sizeof(double) * (n - i));
    }
}

enum { TILE = 256, ROWS = 4 };

/* Distance between rows of a buffer. Not a divisor of 4096 bytes: processors take a load for a conflict with an
 * earlier store when their addresses agree in the last 12 bits, and wait. */
enum { PITCH = TILE + 8 };

/* The columns j of a tile, copied so that they are contiguous and padded to a multiple of WIDTH. */
typedef struct {
    size n, padded;
    double *Z;          /* d x PITCH */
    double *operand;    /* c x PITCH */
    double *sums;       /* c x PITCH, what the tile adds to rows j */
} Columns;

/* -|z_i - z_j|^2 of ROWS rows i and WIDTH of the tile's columns. Differences first: z_i.z_j - |z_i|^2 / 2 - |z_j|^2 / 2
 * would lose the digits of small distances between rows far from the origin. */
INLINE void negative_squares(const Columns *columns, size d, const double *rows, size j, vec *sum)
{
    UNROLLED for (int r = 0; r < ROWS; r++)
        sum[r] = all(0.0);
    for (size k = 0; k < d; k++) {
        vec z = load(columns->Z + k * PITCH + j);
        UNROLLED for (int r = 0; r < ROWS; r++) {
            vec difference = rows[k * ROWS + r] - z;
            sum[r] -= difference * difference;
        }
    }
}

/* Kernel values of ROWS rows i against the tile's columns. */
INLINE void kernel_rows(const Columns *columns, size d, const double *rows, double *kernel)
{
    vec sum[ROWS];
    for (size j = 0; j < columns->padded; j += WIDTH) {
        negative_squares(columns, d, rows, j, sum);
        UNROLLED for (int r = 0; r < ROWS; r++)
            store(kernel + r * PITCH + j, exponential(0.5 * sum[r]));
    }
}

/* A kernel of several scales, of one order or two: the sum over the scales of a coefficient times exp(rate x). One row of
 * the table for each scale: rate, squarings, coefficients. Where squarings is not negative, the exponential is that of
 * the scale before, squared so many times. */
typedef struct {
    const double *table;
    size n, orders;
} Scales;

enum { RATE, SQUARINGS, COEFFICIENTS, MOST_ORDERS = 2 };

/* Kernel values of both orders, one after the other; of a single order the first is the last. */
INLINE void mixture_rows(const Columns *columns, size d, const double *rows, const Scales *scales, double *kernel)
{
    double *last_kernel = kernel + (scales->orders - 1) * ROWS * PITCH;
    vec sum[ROWS], power[ROWS] = {{0}};
    for (size j = 0; j < columns->padded; j += WIDTH) {
        vec first[ROWS] = {{0}}, last[ROWS] = {{0}};
        negative_squares(columns, d, rows, j, sum);
        for (size k = 0; k < scales->n; k++) {
            const double *scale = scales->table + k * (COEFFICIENTS + scales->orders);
            const double half_rate = 0.5 * scale[RATE], *coefficients = scale + COEFFICIENTS;
            if (scale[SQUARINGS] < 0)
                UNROLLED for (int r = 0; r < ROWS; r++)
                    power[r] = exponential(half_rate * sum[r]);
            else
                /* What would end below normal numbers, which are slow, is 0 from the start. */
                UNROLLED for (int r = 0; r < ROWS; r++)
                    power[r] = (vec)((bits)power[r] & ~(bits)(half_rate * sum[r] < SMALLEST));
            for (int squaring = 0; squaring < (int)scale[SQUARINGS]; squaring++)
                UNROLLED for (int r = 0; r < ROWS; r++)
                    power[r] *= power[r];
            UNROLLED for (int r = 0; r < ROWS; r++) {
                first[r] += coefficients[0] * power[r];
                last[r] += coefficients[scales->orders - 1] * power[r];
            }
        }
        UNROLLED for (int r = 0; r < ROWS; r++) {
            store(kernel + r * PITCH + j, first[r]);
            store(last_kernel + r * PITCH + j, last[r]);
        }
    }
}

/* One operand column: rows i gain sum_j K_ij o_j; rows j gain sum_i K_ij o_i when the tile is off the diagonal. */
INLINE void apply(const double *kernel, size n, const double *operand, const double *weights, double *sums,
                  double *gained, int mirrored)
{
    vec row_sum[ROWS] = {{0}};
    for (size j = 0; j < n; j += WIDTH) {
        vec o = load(operand + j), column_sum = load(sums + j);
        UNROLLED for (int r = 0; r < ROWS; r++) {
            vec k = load(kernel + r * PITCH + j);
            row_sum[r] += k * o;
            column_sum += k * weights[r];
        }
        if (mirrored)
            store(sums + j, column_sum);
    }
    UNROLLED for (int r = 0; r < ROWS; r++)
        gained[r] = (row_sum[r][0] + row_sum[r][1]) + (row_sum[r][2] + row_sum[r][3]);
}

typedef struct {
    const double *Z, *operand; /* d x n, c x n */
    double *sums;              /* c x n */
    size n, d, c;
    Scales scales;  /* no table: one scale */
    size n_first;   /* operands that meet the kernel of the first order; the others meet the last */
} Job;

static void load_columns(const Job *job, size start, size stop, Columns *columns)
{
    columns->n = stop - start;
    columns->padded = (columns->n + WIDTH - 1) / WIDTH * WIDTH;
    size bytes = columns->n * (size)sizeof(double), rest = (columns->padded - columns->n) * (size)sizeof(double);
    for (size k = 0; k < job->d; k++) {
        memcpy(columns->Z + k * PITCH, job->Z + k * job->n + start, bytes);
        memset(columns->Z + k * PITCH + columns->n, 0, rest);
    }
    for (size c = 0; c < job->c; c++) {
        memcpy(columns->operand + c * PITCH, job->operand + c * job->n + start, bytes);
        memset(columns->operand + c * PITCH + columns->n, 0, rest);
    }
    memset(columns->sums, 0, sizeof(double) * PITCH * job->c);
}

FOR_EACH_MACHINE
static void work_on_tile(const Job *job, size row_start, size row_stop, size start, size stop, Columns *columns,
                         double *rows, double *kernel)
{
    int mirrored = row_start != start;
    load_columns(job, start, stop, columns);
    for (size i = row_start; i < row_stop; i += ROWS) {
        size filled = row_stop - i < ROWS ? row_stop - i : ROWS;
        double weights[ROWS], gained[ROWS];
        memset(rows, 0, sizeof(double) * ROWS * job->d);
        for (size r = 0; r < filled; r++)
            for (size k = 0; k < job->d; k++)
                rows[k * ROWS + r] = job->Z[k * job->n + i + r];
        if (job->scales.table == NULL)
            kernel_rows(columns, job->d, rows, kernel);
        else
            mixture_rows(columns, job->d, rows, &job->scales, kernel);
        for (size c = 0; c < job->c; c++) {
            memset(weights, 0, sizeof weights);
            memcpy(weights, job->operand + c * job->n + i, sizeof(double) * filled);
            const double *of_order = kernel + (c < job->n_first ? 0 : (job->scales.orders - 1) * ROWS * PITCH);
            apply(of_order, columns->padded, columns->operand + c * PITCH, weights, columns->sums + c * PITCH, gained,
                  mirrored);
            for (size r = 0; r < filled; r++)
                job->sums[c * job->n + i + r] += gained[r];
        }
    }
    if (mirrored)
        for (size c = 0; c < job->c; c++)
            for (size j = 0; j < columns->n; j++)
                job->sums[c * job->n + start + j] += columns->sums[c * PITCH + j];
}

/* Tiles lane, lane + lanes, ... of the upper triangle of K. Returns 0 when memory is short. */
static int work_on_lane(const Job *job, size lane, size lanes)
{
    size blocks = (job->n + TILE - 1) / TILE, index = 0;
    size kernels = ROWS * job->scales.orders;
    double *memory = malloc(sizeof(double) * (PITCH * (job->d + 2 * job->c + kernels) + ROWS * job->d));
    if (memory == NULL)
        return 0;
    Columns columns = {.Z = memory};
    columns.operand = columns.Z + PITCH * job->d;
    columns.sums = columns.operand + PITCH * job->c;
    double *kernel = columns.sums + PITCH * job->c, *rows = kernel + PITCH * kernels;
    for (size row = 0; row < blocks; row++)
        for (size column = row; column < blocks; column++, index++) {
            if (index % lanes != lane)
                continue;
            size row_stop = job->n * (row + 1) / blocks, stop = job->n * (column + 1) / blocks;
            work_on_tile(job, job->n * row / blocks, row_stop, job->n * column / blocks, stop, &columns, rows, kernel);
        }
    free(memory);
    return 1;
}

static int get_buffer(PyObject *array, Py_buffer *view, int ndim, int writable)
{
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, view, flags) < 0)
        return 0;
    if ((ndim == 0 || view->ndim == ndim) && view->format != NULL && strcmp(view->format, "d") == 0)
        return 1;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_TypeError, "expected a C-contiguous float64 array of the right number of dimensions");
    return 0;
}

static PyObject *exp_inplace(PyObject *Py_UNUSED(module), PyObject *array)
{
    Py_buffer view;
    if (!get_buffer(array, &view, 0, 1))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    exp_block((double *)view.buf, view.len / (size)sizeof(double));
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

static PyObject *gaussian_lane(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { ARRAYS = 3, SCALES = ARRAYS };
    PyObject *arrays[ARRAYS + 1] = {NULL}, *answer = NULL;
    Py_buffer views[ARRAYS + 1];
    size lane, lanes, n_first = 0;
    int held = 0, enough_memory = 1;
    if (!PyArg_ParseTuple(args, "OOOnn|On", &arrays[0], &arrays[1], &arrays[2], &lane, &lanes, &arrays[SCALES],
                          &n_first))
        return NULL;
    for (int wanted = arrays[SCALES] == NULL ? ARRAYS : ARRAYS + 1; held < wanted; held++)
        if (!get_buffer(arrays[held], &views[held], 2, held == 2))
            goto release;
    Job job = {
        .Z = views[0].buf, .operand = views[1].buf, .sums = views[2].buf,
        .d = views[0].shape[0], .n = views[0].shape[1], .c = views[1].shape[0],
        .scales = {.orders = 1}, .n_first = n_first,
    };
    if (arrays[SCALES] != NULL)
        job.scales = (Scales){views[SCALES].buf, views[SCALES].shape[0], views[SCALES].shape[1] - COEFFICIENTS};
    if (views[1].shape[1] != job.n || views[2].shape[1] != job.n || views[2].shape[0] != job.c || lanes < 1
        || job.scales.orders < 1 || job.scales.orders > MOST_ORDERS) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not agree in shape");
        goto release;
    }
    Py_BEGIN_ALLOW_THREADS
    enough_memory = work_on_lane(&job, lane, lanes);
    Py_END_ALLOW_THREADS
    answer = enough_memory ? Py_NewRef(Py_None) : PyErr_NoMemory();
release:
    while (held > 0)
        PyBuffer_Release(&views[--held]);
    return answer;
}

static PyMethodDef methods[] = {
    {"exp_inplace", exp_inplace, METH_O, "Replace every entry, none above 700, of a C-contiguous float64 array by its exponential."},
    {"gaussian_lane", gaussian_lane, METH_VARARGS,
     "gaussian_lane(Z, operand, sums, lane, lanes[, scales, n_first]): add this lane's tiles of operand @ K to sums."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_native", "Gaussian kernel sums.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
