/* Gaussian kernel sums, vectorised and without the interpreter lock.
 *
 * SPDX-License-Identifier: MIT
 *
 * numpy computes float64 exponentials one by one on machines without AVX-512, and a kernel pass is n^2 / 2 of them.
 *
 * The loops are there for two widths of vectors. Those of 64 bytes take a fifth less time than those of 32 where the
 * machine has them, and four times as long where it has not.
 */
#include "native.h"

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

enum { TILE = 256, ROWS = 4, MOST_ABREAST = 16 };

/* Distance between rows of a buffer. Not a divisor of 4096 bytes: processors take a load for a conflict with an
 * earlier store when their addresses agree in the last 12 bits, and wait. */
enum { PITCH = TILE + MOST_ABREAST };

/* sqrt(log2(e) / 2): exp(-|z - z'|^2 / 2) is 2 to the power of -|y - y'|^2 with y = UNIT z.
 * That UNIT is rounded matters as little as that bandwidths are. */
#define UNIT 0.84932180028801904
#define SMALLEST_POWER (-1021.0) /* as SMALLEST is to exponentials */

/* A kernel of several scales, of one order or two: the sum over the scales of a coefficient times exp(rate x). One row
 * of the table for each scale: rate, squarings, coefficients. Where squarings is not negative, the exponential is that
 * of the scale before, squared so many times. */
typedef struct {
    const double *table;
    size n, orders;
} Scales;

enum { RATE, SQUARINGS, COEFFICIENTS, MOST_ORDERS = 2 };

typedef struct {
    const double *Z, *operand; /* d x n, c x n */
    double *sums;              /* c x n */
    size n, d, c;
    Scales scales;  /* no table: one scale */
    size n_first;   /* operands that meet the kernel of the first order; the others meet the last */
    size n_whole;   /* operands that meet all of a kernel of one order; the others what is above its diagonal, and half
                     * of that */
} Job;

/* Columns j of K, copied so that they are contiguous and padded with 0, and the ROWS rows i that meet them. */
typedef struct {
    size start, stop, padded;  /* which columns; how many, rounded up */
    double *Z, *operand;       /* d x PITCH, times UNIT; c x PITCH */
    double *sums;              /* c x PITCH, what all rows add to columns */
    double *rows, *weights;    /* d x ROWS, times UNIT; c x ROWS */
    double *gained;            /* c x ROWS, what the columns add to rows */
    double *kernel;            /* orders x ROWS x PITCH */
} Tile;

/* Returns what to free, or NULL. */
static double *allocate(const Job *job, Tile *tile)
{
    enum { LINE = 64 / sizeof(double) };
    size kernels = ROWS * job->scales.orders, lines = job->d + 2 * job->c;
    double *memory = malloc(sizeof(double) * (size_t)(LINE + PITCH * (lines + kernels) + ROWS * lines));
    if (memory == NULL)
        return NULL;
    /* A vector that crosses from one line of the cache to the next costs two. */
    tile->Z = memory + (LINE - (uintptr_t)memory / sizeof(double) % LINE);
    tile->operand = tile->Z + PITCH * job->d;
    tile->sums = tile->operand + PITCH * job->c;
    tile->kernel = tile->sums + PITCH * job->c;
    tile->rows = tile->kernel + PITCH * kernels;
    tile->weights = tile->rows + ROWS * job->d;
    tile->gained = tile->weights + ROWS * job->c;
    return memory;
}

static void load_columns(const Job *job, size start, Tile *tile)
{
    size n = job->n - start < TILE ? job->n - start : TILE;
    tile->start = start;
    tile->stop = start + n;
    tile->padded = (n + MOST_ABREAST - 1) / MOST_ABREAST * MOST_ABREAST;
    size rest = (tile->padded - n) * (size)sizeof(double);
    for (size k = 0; k < job->d; k++) {
        for (size j = 0; j < n; j++)
            tile->Z[k * PITCH + j] = UNIT * job->Z[k * job->n + start + j];
        memset(tile->Z + k * PITCH + n, 0, rest);
    }
    for (size c = 0; c < job->c; c++) {
        memcpy(tile->operand + c * PITCH, job->operand + c * job->n + start, sizeof(double) * n);
        memset(tile->operand + c * PITCH + n, 0, rest);
    }
    memset(tile->sums, 0, sizeof(double) * PITCH * job->c);
}

static void load_rows(const Job *job, size i, Tile *tile)
{
    for (size r = 0; r < ROWS; r++) {
        int filled = i + r < job->n;
        for (size k = 0; k < job->d; k++)
            tile->rows[k * ROWS + r] = filled ? UNIT * job->Z[k * job->n + i + r] : 0.0;
        for (size c = 0; c < job->c; c++)
            tile->weights[c * ROWS + r] = filled ? job->operand[c * job->n + i + r] : 0.0;
    }
}

/* Every value of K serves its row and its column. So those below the diagonal count for nothing, those on it half. */
static void cut_at_diagonal(double *kernel, size from, size diagonal)
{
    for (size r = 0; r < ROWS; r++) {
        for (size j = from; j < diagonal + r; j++)
            kernel[r * PITCH + j] = 0.0;
        kernel[r * PITCH + diagonal + r] *= 0.5;
    }
}

static void add_to_rows(const Job *job, size i, const Tile *tile)
{
    size filled = job->n - i < ROWS ? job->n - i : ROWS;
    for (size c = 0; c < job->c; c++)
        for (size r = 0; r < filled; r++)
            job->sums[c * job->n + i + r] += tile->gained[c * ROWS + r];
}

static void add_to_columns(const Job *job, const Tile *tile)
{
    for (size c = 0; c < (job->scales.orders == 1 ? job->n_whole : job->c); c++)
        for (size j = tile->start; j < tile->stop; j++)
            job->sums[c * job->n + j] += tile->sums[c * PITCH + j - tile->start];
}

/* Names in the loops, another for each width. */
#define PASTED(name, bytes) name##_of_##bytes
#define AT_WIDTH(name, bytes) PASTED(name, bytes)
#define vec AT_WIDTH(vec, BYTES)
#define bits AT_WIDTH(bits, BYTES)
#define power_of_two AT_WIDTH(power_of_two, BYTES)
#define sum_of AT_WIDTH(sum_of, BYTES)
#define negative_squares AT_WIDTH(negative_squares, BYTES)
#define kernel_rows AT_WIDTH(kernel_rows, BYTES)
#define mixture_rows AT_WIDTH(mixture_rows, BYTES)
#define apply AT_WIDTH(apply, BYTES)
#define apply_all AT_WIDTH(apply_all, BYTES)
#define work_on_tile AT_WIDTH(work_on_tile, BYTES)

#define BYTES 32
#define ABREAST 1
#define TOGETHER 2
#define MACHINES FOR_EACH_MACHINE
#include "gaussian_loops.h"

#ifdef WIDEST_MACHINE
#define BYTES 64
#define ABREAST 2
#define TOGETHER 3
#define MACHINES __attribute__((target("arch=" WIDEST_MACHINE)))
#include "gaussian_loops.h"
#endif

typedef void WorkOnTile(const Job *, size, size, Tile *);

static WorkOnTile *widest_loops(void)
{
#ifdef WIDEST_MACHINE
    if (__builtin_cpu_supports(WIDEST_MACHINE))
        return work_on_tile_of_64;
#endif
    return work_on_tile_of_32;
}

/* Rows first, first + step, ... of the upper triangle of K, ROWS at a time. */
static void work_on_rows(const Job *job, size first, size step, WorkOnTile *work, Tile *tile)
{
    for (size start = first * ROWS / TILE * TILE; start < job->n; start += TILE) {
        load_columns(job, start, tile);
        work(job, first * ROWS, step * ROWS, tile);
        add_to_columns(job, tile);
    }
}

PyObject *exp_inplace(PyObject *Py_UNUSED(module), PyObject *array)
{
    Py_buffer view;
    if (!get_buffer(array, &view, "d", 0, 1))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    exp_block((double *)view.buf, view.len / (size)sizeof(double));
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

PyObject *gaussian_sums(PyObject *Py_UNUSED(module), PyObject *args)
{
    enum { Z, OPERAND, SUMS, SCALES, ARRAYS };
    PyObject *given[ARRAYS] = {NULL};
    Arrays arrays = {.held = 0};
    size first, step, n_whole, n_first = 0;
    if (!PyArg_ParseTuple(args, "OOOnnn|On", &given[Z], &given[OPERAND], &given[SUMS], &first, &step, &n_whole,
                          &given[SCALES], &n_first))
        return NULL;
    for (int k = 0; k < ARRAYS && given[k] != NULL; k++)
        if (!hold(&arrays, given[k], "d", 2, k == SUMS))
            return let_go(&arrays, NULL);
    const Py_buffer *views = arrays.views;
    Job job = {
        .Z = views[Z].buf, .operand = views[OPERAND].buf, .sums = views[SUMS].buf,
        .d = views[Z].shape[0], .n = views[Z].shape[1], .c = views[OPERAND].shape[0],
        .scales = {.orders = 1}, .n_first = n_first, .n_whole = n_whole,
    };
    if (given[SCALES] != NULL)
        job.scales = (Scales){views[SCALES].buf, views[SCALES].shape[0], views[SCALES].shape[1] - COEFFICIENTS};
    const size *sums = views[SUMS].shape;
    if (views[OPERAND].shape[1] != job.n || sums[0] != job.c || sums[1] != job.n || first < 0 || step <= first
        || n_first < 0 || n_first > job.c || n_whole < 0 || n_whole > job.c || job.scales.orders < 1
        || job.scales.orders > MOST_ORDERS)
        return disagreement(&arrays);
    Tile tile;
    double *memory = allocate(&job, &tile);
    if (memory == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    work_on_rows(&job, first, step, widest_loops(), &tile);
    free(memory);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}
