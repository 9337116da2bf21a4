/* Gaussian kernel sums, vectorised and without the interpreter lock.
 *
 * SPDX-License-Identifier: MIT
 *
 * numpy computes float64 exponentials one by one on machines without AVX-512, and a kernel pass is n^2 / 2 of them.
 *
 * The file includes itself: the loops at its end are read once for each width of vectors. Those of 64 bytes take a
 * fifth less time than those of 32 where the machine has them, and four times as long where it has not.
 */
#ifndef BYTES
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
    for (size c = 0; c < job->c; c++)
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
#include "gaussian.c"

#ifdef WIDEST_MACHINE
#define BYTES 64
#define ABREAST 2
#define TOGETHER 3
#define MACHINES __attribute__((target("arch=" WIDEST_MACHINE)))
#include "gaussian.c"
#endif

/* Rows lane, lane + lanes, ... of the upper triangle of K, ROWS at a time. Returns 0 when memory is short. */
static int work_on_lane(const Job *job, size lane, size lanes)
{
    void (*work)(const Job *, size, size, Tile *) = work_on_tile_of_32;
#ifdef WIDEST_MACHINE
    if (__builtin_cpu_supports(WIDEST_MACHINE))
        work = work_on_tile_of_64;
#endif
    Tile tile;
    double *memory = allocate(job, &tile);
    if (memory == NULL)
        return 0;
    for (size start = lane * ROWS / TILE * TILE; start < job->n; start += TILE) {
        load_columns(job, start, &tile);
        work(job, lane * ROWS, lanes * ROWS, &tile);
        add_to_columns(job, &tile);
    }
    free(memory);
    return 1;
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

PyObject *gaussian_lane(PyObject *Py_UNUSED(module), PyObject *args)
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
        if (!get_buffer(arrays[held], &views[held], "d", 2, held == 2))
            goto release;
    Job job = {
        .Z = views[0].buf, .operand = views[1].buf, .sums = views[2].buf,
        .d = views[0].shape[0], .n = views[0].shape[1], .c = views[1].shape[0],
        .scales = {.orders = 1}, .n_first = n_first,
    };
    if (arrays[SCALES] != NULL)
        job.scales = (Scales){views[SCALES].buf, views[SCALES].shape[0], views[SCALES].shape[1] - COEFFICIENTS};
    if (views[1].shape[1] != job.n || views[2].shape[1] != job.n || views[2].shape[0] != job.c || lane < 0 || lanes < 1
        || n_first < 0 || n_first > job.c || job.scales.orders < 1 || job.scales.orders > MOST_ORDERS) {
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

#else

typedef double vec __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef uint64_t bits __attribute__((vector_size(BYTES), aligned(8)));
#define NUMBERS (BYTES / 8)
#define AT(address) (*(vec *)(address))

INLINE double sum_of(vec v)
{
    double sum[NUMBERS];
    memcpy(sum, &v, sizeof sum);
    UNROLLED for (int half = NUMBERS / 2; half > 0; half /= 2)
        UNROLLED for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

/* 2^y for y <= 0, or a rounding error above: 2^k 2^r, |r| <= 1/2, 2^r by 1 + r q(r), where q interpolates (2^r - 1) / r
 * in the eleven Chebyshev points of |r| <= 1/2 (error of 2^r below 2e-17). The remainder r of a power of 2 is exact, and
 * costs less than that of `exponential`. What is not a number stays so. */
INLINE vec power_of_two(vec y)
{
    const double ROUND = 6755399441055744.0 + 1023.0; /* see exponential */
    vec shifted = y + ROUND;
    vec r = y - (shifted - ROUND);
    vec p = r * 4.4549605981865186e-10 + 7.072585949269223e-09;
    p = p * r + 1.0178062445845774e-07;
    p = p * r + 1.321544258792169e-06;
    p = p * r + 1.525273382983612e-05;
    p = p * r + 0.0001540353044173605;
    p = p * r + 0.0013333558146416936;
    p = p * r + 0.009618129107606888;
    p = p * r + 0.0555041086648216;
    p = p * r + 0.24022650695910097;
    p = p * r + 0.6931471805599453;
    p = p * r + 1.0;
    vec power = p * (vec)((bits)shifted << 52);
    return (vec)((bits)power & ~(bits)(y < SMALLEST_POWER));
}

/* -|y_i - y_j|^2 of ROWS rows i and a few vectors of columns. Differences first: products would lose the digits of
 * small distances between rows far from the origin. */
INLINE void negative_squares(const Tile *tile, size d, size j, int abreast, vec (*sum)[ABREAST])
{
    UNROLLED for (int r = 0; r < ROWS; r++)
        UNROLLED for (int v = 0; v < abreast; v++)
            sum[r][v] = (vec){0};
    for (size k = 0; k < d; k++)
        UNROLLED for (int r = 0; r < ROWS; r++)
            UNROLLED for (int v = 0; v < abreast; v++) {
                vec difference = tile->rows[k * ROWS + r] - AT(tile->Z + k * PITCH + j + v * NUMBERS);
                sum[r][v] -= difference * difference;
            }
}

/* Kernel values of ROWS rows against the columns. */
INLINE void kernel_rows(const Tile *tile, size d, size from)
{
    vec sum[ROWS][ABREAST];
    for (size j = from; j < tile->padded; j += ABREAST * NUMBERS) {
        negative_squares(tile, d, j, ABREAST, sum);
        UNROLLED for (int r = 0; r < ROWS; r++)
            UNROLLED for (int v = 0; v < ABREAST; v++)
                AT(tile->kernel + r * PITCH + j + v * NUMBERS) = power_of_two(sum[r][v]);
    }
}

/* Kernel values of both orders, one after the other; of a single order the first is the last. */
INLINE void mixture_rows(const Tile *tile, size d, size from, const Scales *scales)
{
    double *last_kernel = tile->kernel + (scales->orders - 1) * ROWS * PITCH;
    vec sum[ROWS][ABREAST], power[ROWS] = {{0}};
    for (size j = from; j < tile->padded; j += NUMBERS) {
        vec first[ROWS] = {{0}}, last[ROWS] = {{0}};
        negative_squares(tile, d, j, 1, sum);
        for (size k = 0; k < scales->n; k++) {
            const double *scale = scales->table + k * (COEFFICIENTS + scales->orders);
            const double rate = scale[RATE], *coefficients = scale + COEFFICIENTS;
            if (scale[SQUARINGS] < 0)
                UNROLLED for (int r = 0; r < ROWS; r++)
                    power[r] = power_of_two(rate * sum[r][0]);
            else
                /* What would end below normal numbers, which are slow, is 0 from the start. */
                UNROLLED for (int r = 0; r < ROWS; r++)
                    power[r] = (vec)((bits)power[r] & ~(bits)(rate * sum[r][0] < SMALLEST_POWER));
            for (int squaring = 0; squaring < (int)scale[SQUARINGS]; squaring++)
                UNROLLED for (int r = 0; r < ROWS; r++)
                    power[r] *= power[r];
            UNROLLED for (int r = 0; r < ROWS; r++) {
                first[r] += coefficients[0] * power[r];
                last[r] += coefficients[scales->orders - 1] * power[r];
            }
        }
        UNROLLED for (int r = 0; r < ROWS; r++) {
            AT(tile->kernel + r * PITCH + j) = first[r];
            AT(last_kernel + r * PITCH + j) = last[r];
        }
    }
}

/* A few operands: rows i gain sum_j K_ij o_j, and columns j gain sum_i K_ij o_i. */
INLINE void apply(const Tile *tile, size from, const double *kernel, size c, int together)
{
    const double *operand = tile->operand + c * PITCH, *weights = tile->weights + c * ROWS;
    double *sums = tile->sums + c * PITCH;
    vec row_sum[TOGETHER][ROWS] = {{{0}}};
    for (size j = from; j < tile->padded; j += NUMBERS) {
        vec k[ROWS];
        UNROLLED for (int r = 0; r < ROWS; r++)
            k[r] = AT(kernel + r * PITCH + j);
        UNROLLED for (int t = 0; t < together; t++) {
            vec o = AT(operand + t * PITCH + j), column_sum = AT(sums + t * PITCH + j);
            UNROLLED for (int r = 0; r < ROWS; r++) {
                row_sum[t][r] += k[r] * o;
                column_sum += k[r] * weights[t * ROWS + r];
            }
            AT(sums + t * PITCH + j) = column_sum;
        }
    }
    UNROLLED for (int t = 0; t < together; t++)
        UNROLLED for (int r = 0; r < ROWS; r++)
            tile->gained[(c + t) * ROWS + r] = sum_of(row_sum[t][r]);
}

/* Operands start, ..., stop - 1, which meet the same kernel. */
INLINE void apply_all(const Tile *tile, size from, const double *kernel, size start, size stop)
{
    size c = start;
    for (; c + TOGETHER <= stop; c += TOGETHER)
        apply(tile, from, kernel, c, TOGETHER);
    if (stop - c == 2)
        apply(tile, from, kernel, c, 2);
    else if (stop - c == 1)
        apply(tile, from, kernel, c, 1);
}

/* Rows i = first, first + step, ... against those columns of a tile that are not before them. */
MACHINES
static void work_on_tile(const Job *job, size first, size step, Tile *tile)
{
    size orders = job->scales.orders, n_first = orders == 1 ? job->c : job->n_first;
    for (size i = first; i < tile->stop; i += step) {
        size from = i < tile->start ? 0 : (i - tile->start) / MOST_ABREAST * MOST_ABREAST;
        load_rows(job, i, tile);
        if (job->scales.table == NULL)
            kernel_rows(tile, job->d, from);
        else
            mixture_rows(tile, job->d, from, &job->scales);
        if (i >= tile->start)
            for (size order = 0; order < orders; order++)
                cut_at_diagonal(tile->kernel + order * ROWS * PITCH, from, i - tile->start);
        apply_all(tile, from, tile->kernel, 0, n_first);
        apply_all(tile, from, tile->kernel + ROWS * PITCH, n_first, job->c);
        add_to_rows(job, i, tile);
    }
}

#undef BYTES
#undef ABREAST
#undef TOGETHER
#undef MACHINES
#undef NUMBERS
#undef AT
#endif
