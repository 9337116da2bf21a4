/* The loops of gaussian.c, for vectors of BYTES: it includes this once for each width.
 *
 * SPDX-License-Identifier: MIT
 *
 * ABREAST vectors of columns and TOGETHER operands fit the registers of MACHINES.
 */

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

/* A few operands: rows i gain sum_j K_ij o_j, and columns j gain sum_i K_ij o_i where all of K is wanted. */
INLINE void apply(const Tile *tile, size from, const double *kernel, size c, int together, int is_whole)
{
    const double *operand = tile->operand + c * PITCH, *weights = tile->weights + c * ROWS;
    double *sums = tile->sums + c * PITCH;
    vec row_sum[TOGETHER][ROWS] = {{{0}}};
    for (size j = from; j < tile->padded; j += NUMBERS) {
        vec k[ROWS];
        UNROLLED for (int r = 0; r < ROWS; r++)
            k[r] = AT(kernel + r * PITCH + j);
        UNROLLED for (int t = 0; t < together; t++) {
            vec o = AT(operand + t * PITCH + j);
            UNROLLED for (int r = 0; r < ROWS; r++)
                row_sum[t][r] += k[r] * o;
            if (!is_whole)
                continue;
            vec column_sum = AT(sums + t * PITCH + j);
            UNROLLED for (int r = 0; r < ROWS; r++)
                column_sum += k[r] * weights[t * ROWS + r];
            AT(sums + t * PITCH + j) = column_sum;
        }
    }
    UNROLLED for (int t = 0; t < together; t++)
        UNROLLED for (int r = 0; r < ROWS; r++)
            tile->gained[(c + t) * ROWS + r] = sum_of(row_sum[t][r]);
}

/* Operands start, ..., stop - 1, which meet the same kernel. */
INLINE void apply_all(const Tile *tile, size from, const double *kernel, size start, size stop, int is_whole)
{
    size c = start;
    for (; c + TOGETHER <= stop; c += TOGETHER)
        apply(tile, from, kernel, c, TOGETHER, is_whole);
    if (stop - c == 2)
        apply(tile, from, kernel, c, 2, is_whole);
    else if (stop - c == 1)
        apply(tile, from, kernel, c, 1, is_whole);
}

/* Rows i = first, first + step, ... against those columns of a tile that are not before them. */
MACHINES
static void work_on_tile(const Job *job, size first, size step, Tile *tile)
{
    size orders = job->scales.orders, n_first = orders == 1 ? job->n_whole : job->n_first;
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
        apply_all(tile, from, tile->kernel, 0, n_first, 1);
        if (orders == 1)
            apply_all(tile, from, tile->kernel, n_first, job->c, 0);
        else
            apply_all(tile, from, tile->kernel + ROWS * PITCH, n_first, job->c, 1);
        add_to_rows(job, i, tile);
    }
}

#undef BYTES
#undef ABREAST
#undef TOGETHER
#undef MACHINES
#undef NUMBERS
#undef AT
