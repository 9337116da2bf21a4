/* Sums over rows of products of one-dimensional functions, and gradients of sums of such products.
 *
 * SPDX-License-Identifier: MIT
 *
 * A recipe (see `mmd/hermite/_recipe.py`) makes lines, each with one number for every row of a chunk: a line of ones, tables of
 * functions of each coordinate, then products of two earlier lines. A feature is the product of one of the left lines
 * and one of the right ones. Features are never made: their sums are matrix products of the lines, and gradients go
 * backwards from these products to the tables.
 */
#include "native.h"

enum { ALPHA, BETA, GAMMA, PER_LINE };  /* what a line of a table is made with, see `fill_hermite` */
enum { RATE, FIRST, PER_AXIS };
enum { SIDE = 4, LONGEST = 128, SHORTEST = 32, CACHED = 65536 };

typedef struct {
    size d, n_lines, n_table, n_products;
    const double *axes, *table; /* d x PER_AXIS, n_table x PER_LINE */
    const int64_t *sizes, *products;  /* d, n_products x 2 */
    size left, n_left, right, n_right;
    const int64_t *counts, *conjugate; /* how many right lines each left one meets, and the other way round */
    size chunk, pitch;
} Recipe;

/* Coefficients are padded with zeros, so that SIDE of them can be read at a time. */
INLINE size padded(size n)
{
    return (n + SIDE - 1) / SIDE * SIDE;
}

/* psi_0 = first exp(-rate y^2 / 2), psi_n = alpha_n y psi_(n-1) - beta_n psi_(n-2). */
INLINE void fill_hermite(const Recipe *recipe, const double *axis, const double *lines, size n_lines, const double *y,
                         double *out)
{
    size pitch = recipe->pitch;
    for (size i = 0; i < recipe->chunk; i += WIDTH) {
        vec here = load(y + i), before = all(0.0), last = axis[FIRST] * exponential(-0.5 * axis[RATE] * here * here);
        store(out + i, last);
        for (size n = 1; n < n_lines; n++) {
            vec next = (lines[n * PER_LINE + ALPHA] * here) * last - lines[n * PER_LINE + BETA] * before;
            before = last, last = next;
            store(out + n * pitch + i, next);
        }
    }
}

INLINE void make_lines(const Recipe *recipe, const double *Y, double *lines)
{
    size pitch = recipe->pitch, line = 1;
    for (size i = 0; i < recipe->chunk; i += WIDTH)
        store(lines + i, all(1.0));
    for (size a = 0; a < recipe->d; line += recipe->sizes[a++]) {
        const double *axis = recipe->axes + a * PER_AXIS, *y = Y + a * pitch;
        fill_hermite(recipe, axis, recipe->table + (line - 1) * PER_LINE, recipe->sizes[a], y, lines + line * pitch);
    }
    for (size e = 0; e < recipe->n_products; e++, line++) {
        const double *l = lines + recipe->products[2 * e] * pitch, *r = lines + recipe->products[2 * e + 1] * pitch;
        double *out = lines + line * pitch;
        for (size i = 0; i < recipe->chunk; i += WIDTH)
            store(out + i, load(l + i) * load(r + i));
    }
}

/* out_ij += sum over rows of weight * left_i * right_j, for SIDE left lines at a time. */
INLINE void add_moments(const Recipe *recipe, const double *lines, const double *weights, double *weighted, double *out)
{
    size pitch = recipe->pitch;
    for (size i = 0; i < recipe->n_left; i += SIDE) {
        size rows = recipe->n_left - i < SIDE ? recipe->n_left - i : SIDE, most = 0;
        for (size r = 0; r < rows; r++)
            most = recipe->counts[i + r] > most ? recipe->counts[i + r] : most;
        for (size r = 0; r < SIDE; r++)
            for (size x = 0; x < recipe->chunk; x += WIDTH)
                store(weighted + r * pitch + x, load(weights + x) * load(lines + (recipe->left + i + r) * pitch + x));
        for (size j = 0; j < most; j += SIDE) {
            const double *right = lines + (recipe->right + j) * pitch;
            vec sum[SIDE][SIDE] = {{{0}}};
            for (size x = 0; x < recipe->chunk; x += WIDTH) {
                vec l[SIDE];
                UNROLLED for (int r = 0; r < SIDE; r++)
                    l[r] = load(weighted + r * pitch + x);
                UNROLLED for (int s = 0; s < SIDE; s++) {
                    vec other = load(right + s * pitch + x);
                    UNROLLED for (int r = 0; r < SIDE; r++)
                        sum[r][s] += l[r] * other;
                }
            }
            for (size r = 0; r < rows; r++)
                for (size s = 0; s < SIDE && j + s < recipe->counts[i + r]; s++)
                    out[(i + r) * recipe->n_right + j + s] += sum_of(sum[r][s]);
        }
    }
}

/* sums_j = squares of the first j of some lines. */
INLINE void sum_first_squares(const Recipe *recipe, const double *lines, size n_lines, double *sums)
{
    size pitch = recipe->pitch;
    memset(sums, 0, sizeof(double) * (size_t)pitch);
    for (size j = 0; j < n_lines; j++)
        for (size x = 0; x < recipe->chunk; x += WIDTH) {
            vec line = load(lines + j * pitch + x);
            store(sums + (j + 1) * pitch + x, load(sums + j * pitch + x) + line * line);
        }
}

/* squares = sum of the squares of all features: those of the left lines times sums of those of the first right ones. */
INLINE void sum_squares(const Recipe *recipe, const double *lines, double *sums, double *squares)
{
    size pitch = recipe->pitch;
    sum_first_squares(recipe, lines + recipe->right * pitch, recipe->n_right, sums);
    memset(squares, 0, sizeof(double) * (size_t)pitch);
    for (size i = 0; i < recipe->n_left; i++)
        for (size x = 0; x < recipe->chunk; x += WIDTH) {
            vec left = load(lines + (recipe->left + i) * pitch + x);
            store(squares + x, load(squares + x) + left * left * load(sums + recipe->counts[i] * pitch + x));
        }
}

/* out_r = sum_j c_rj line_j for n_out lines, c_rj = c[r * across + j * along], of which the first counts_r count. */
INLINE void combine(const Recipe *recipe, const double *c, size across, size along, const int64_t *counts,
                    const double *lines, size n_out, double *out)
{
    size pitch = recipe->pitch;
    for (size i = 0; i < n_out; i += SIDE) {
        size rows = n_out - i < SIDE ? n_out - i : SIDE, most = 0;
        for (size r = 0; r < rows; r++)
            most = counts[i + r] > most ? counts[i + r] : most;
        for (size x = 0; x < recipe->chunk; x += SIDE * WIDTH) {
            vec sum[SIDE][SIDE] = {{{0}}};
            for (size j = 0; j < most; j++) {
                const double *line = lines + j * pitch + x, *factor = c + i * across + j * along;
                UNROLLED for (int s = 0; s < SIDE; s++) {
                    vec term = load(line + s * WIDTH);
                    UNROLLED for (int r = 0; r < SIDE; r++)
                        sum[r][s] += factor[r * across] * term;
                }
            }
            for (size r = 0; r < rows; r++)
                UNROLLED for (int s = 0; s < SIDE; s++)
                    store(out + (i + r) * pitch + x + s * WIDTH, sum[r][s]);
        }
    }
}

/* From the derivatives by the products to those by the tables, then by the coordinates. */
INLINE void go_backwards(const Recipe *recipe, const double *Y, const double *lines, double *by_line, double *by_axis)
{
    size pitch = recipe->pitch, chunk = recipe->chunk;
    for (size e = recipe->n_products - 1; e >= 0; e--) {
        size l = recipe->products[2 * e], r = recipe->products[2 * e + 1], made = 1 + recipe->n_table + e;
        for (size x = 0; x < chunk; x += WIDTH) {
            vec of_made = load(by_line + made * pitch + x);
            double *of_left = by_line + l * pitch + x, *of_right = by_line + r * pitch + x;
            store(of_left, load(of_left) + of_made * load(lines + r * pitch + x));
            store(of_right, load(of_right) + of_made * load(lines + l * pitch + x));
        }
    }
    size line = 1;
    for (size a = 0; a < recipe->d; line += recipe->sizes[a++])
        for (size x = 0; x < chunk; x += WIDTH) {
            const double *values = lines + line * pitch + x, *by = by_line + line * pitch + x;
            const double *table = recipe->table + (line - 1) * PER_LINE;
            vec here = load(by) * load(values), slope = all(0.0);
            for (size n = 1; n < recipe->sizes[a]; n++) {
                vec of_line = load(by + n * pitch);
                here += of_line * load(values + n * pitch);
                slope += table[n * PER_LINE + GAMMA] * of_line * load(values + (n - 1) * pitch);
            }
            slope -= recipe->axes[a * PER_AXIS + RATE] * load(Y + a * pitch + x) * here;
            store(by_axis + a * pitch + x, slope);
        }
}

/* The derivatives of the sum of the squares of all features by the lines of one side: twice a line times the squares of
 * those of the other side that it meets. */
INLINE void square_slopes(const Recipe *recipe, const double *lines, size n_lines, const int64_t *counts,
                          const double *sums, double *by_line)
{
    size pitch = recipe->pitch;
    for (size i = 0; i < n_lines; i++)
        for (size x = 0; x < recipe->chunk; x += WIDTH)
            store(by_line + i * pitch + x, 2 * load(lines + i * pitch + x) * load(sums + counts[i] * pitch + x));
}

/* Copies `filled` numbers of each line from row start on; 0 after them. */
static void copy_chunk(const double *from, size n_lines, size n, size start, size filled, size pitch, double *to)
{
    for (size a = 0; a < n_lines; a++) {
        memcpy(to + a * pitch, from + a * n + start, sizeof(double) * (size_t)filled);
        memset(to + a * pitch + filled, 0, sizeof(double) * (size_t)(pitch - filled));
    }
}

typedef struct {
    const double *Y, *operand; /* d x n; weights, k x n, or coefficients, k x n_left x n_right, both padded */
    double *out, *squares;     /* moments, k x n_left x n_right, or slopes, d x n_out x n; squares, n, or nothing */
    double *memory;
    size n, k, n_out;          /* n_out is k, or k + 1 with the slopes of the squares at the end */
} Work;

FOR_EACH_MACHINE
static void sum_moments(const Recipe *recipe, const Work *work)
{
    size pitch = recipe->pitch;
    double *lines = work->memory, *Y = lines + (recipe->n_lines + SIDE) * pitch, *weights = Y + recipe->d * pitch;
    double *weighted = weights + work->k * pitch, *squares = weighted + SIDE * pitch, *sums = squares + pitch;
    for (size start = 0; start < work->n; start += recipe->chunk) {
        size filled = work->n - start < recipe->chunk ? work->n - start : recipe->chunk;
        copy_chunk(work->Y, recipe->d, work->n, start, filled, pitch, Y);
        copy_chunk(work->operand, work->k, work->n, start, filled, pitch, weights);
        make_lines(recipe, Y, lines);
        for (size b = 0; b < work->k; b++)
            add_moments(recipe, lines, weights + b * pitch, weighted, work->out + b * recipe->n_left * recipe->n_right);
        if (work->squares != NULL) {
            sum_squares(recipe, lines, sums, squares);
            memcpy(work->squares + start, squares, sizeof(double) * (size_t)filled);
        }
    }
}

FOR_EACH_MACHINE
static void find_slopes(const Recipe *recipe, const Work *work)
{
    size pitch = recipe->pitch, n_lines = recipe->n_lines + SIDE, across = padded(recipe->n_right);
    double *lines = work->memory, *by_line = lines + n_lines * pitch, *Y = by_line + n_lines * pitch;
    double *by_axis = Y + recipe->d * pitch, *sums = by_axis + recipe->d * pitch;
    double *left = lines + recipe->left * pitch, *right = lines + recipe->right * pitch;
    double *by_left = by_line + recipe->left * pitch, *by_right = by_line + recipe->right * pitch;
    for (size start = 0; start < work->n; start += recipe->chunk) {
        size filled = work->n - start < recipe->chunk ? work->n - start : recipe->chunk;
        copy_chunk(work->Y, recipe->d, work->n, start, filled, pitch, Y);
        make_lines(recipe, Y, lines);
        for (size b = 0; b < work->n_out; b++) {
            memset(by_line, 0, sizeof(double) * (size_t)(recipe->n_lines * pitch));
            if (b < work->k) {
                const double *c = work->operand + b * padded(recipe->n_left) * across;
                combine(recipe, c, across, 1, recipe->counts, right, recipe->n_left, by_left);
                combine(recipe, c, 1, across, recipe->conjugate, left, recipe->n_right, by_right);
            } else {
                sum_first_squares(recipe, right, recipe->n_right, sums);
                square_slopes(recipe, left, recipe->n_left, recipe->counts, sums, by_left);
                sum_first_squares(recipe, left, recipe->n_left, sums);
                square_slopes(recipe, right, recipe->n_right, recipe->conjugate, sums, by_right);
            }
            go_backwards(recipe, Y, lines, by_line, by_axis);
            for (size a = 0; a < recipe->d; a++)
                memcpy(work->out + (a * work->n_out + b) * work->n + start, by_axis + a * pitch,
                       sizeof(double) * (size_t)filled);
        }
    }
}

/* Rows at a time: their lines stay in the cache of one core. Lines do not start at multiples of 4096 bytes apart:
 * processors take a load for a conflict with an earlier store when their addresses agree in the last 12 bits. */
static void choose_chunk(Recipe *recipe, size n_lines)
{
    recipe->chunk = LONGEST;
    while (recipe->chunk > SHORTEST && recipe->chunk * n_lines > CACHED)
        recipe->chunk /= 2;
    recipe->pitch = recipe->chunk + 8;
}

static int agrees(const Recipe *r)
{
    size n_table = 0;
    for (size a = 0; a < r->d; a++)
        n_table += r->sizes[a];
    int inside = r->left >= 0 && r->right >= 0 && r->left + r->n_left <= r->n_lines
                 && r->right + r->n_right <= r->n_lines && n_table == r->n_table;
    for (size e = 0; e < 2 * r->n_products; e++)
        inside = inside && r->products[e] >= 0 && r->products[e] < 1 + r->n_table + e / 2;
    for (size i = 0; i < r->n_left; i++)
        inside = inside && r->counts[i] >= 0 && r->counts[i] <= r->n_right;
    for (size j = 0; j < r->n_right; j++)
        inside = inside && r->conjugate[j] >= 0 && r->conjugate[j] <= r->n_left;
    return inside;
}

/* The recipe is a tuple (left, right, axes, table, sizes, products, counts, conjugate). */
static int hold_recipe(Arrays *arrays, PyObject *tuple, Recipe *recipe)
{
    PyObject *objects[6];
    if (!PyArg_ParseTuple(tuple, "nnOOOOOO", &recipe->left, &recipe->right, &objects[0], &objects[1], &objects[2],
                          &objects[3], &objects[4], &objects[5]))
        return 0;
    const char *formats[6] = {"d", "d", "l", "l", "l", "l"};
    const int dimensions[6] = {2, 2, 1, 2, 1, 1};
    for (int i = 0; i < 6; i++)
        if (!hold(arrays, objects[i], formats[i], dimensions[i], 0))
            return 0;
    const Py_buffer *v = arrays->views;
    recipe->axes = v[0].buf, recipe->table = v[1].buf, recipe->sizes = v[2].buf, recipe->products = v[3].buf;
    recipe->counts = v[4].buf, recipe->conjugate = v[5].buf;
    recipe->d = v[0].shape[0], recipe->n_table = v[1].shape[0], recipe->n_products = v[3].shape[0];
    recipe->n_left = v[4].shape[0], recipe->n_right = v[5].shape[0];
    recipe->n_lines = 1 + recipe->n_table + recipe->n_products;
    if (v[0].shape[1] == PER_AXIS && v[1].shape[1] == PER_LINE && v[2].shape[0] == recipe->d && v[3].shape[1] == 2
        && agrees(recipe))
        return 1;
    PyErr_SetString(PyExc_ValueError, "the recipe does not agree with itself");
    return 0;
}

PyObject *feature_moments(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tuple, *Y, *weights, *out, *squares;
    Arrays arrays = {.held = 0};
    Recipe recipe;
    if (!PyArg_ParseTuple(args, "OOOOO", &tuple, &Y, &weights, &out, &squares))
        return NULL;
    if (!hold_recipe(&arrays, tuple, &recipe) || !hold(&arrays, Y, "d", 2, 0) || !hold(&arrays, weights, "d", 2, 0)
        || !hold(&arrays, out, "d", 3, 1) || (squares != Py_None && !hold(&arrays, squares, "d", 1, 1)))
        return let_go(&arrays, NULL);
    const Py_buffer *v = arrays.views + 6;
    Work work = {.Y = v[0].buf, .operand = v[1].buf, .out = v[2].buf, .n = v[0].shape[1], .k = v[1].shape[0]};
    work.squares = squares == Py_None ? NULL : v[3].buf;
    if (v[0].shape[0] != recipe.d || v[1].shape[1] != work.n || v[2].shape[0] != work.k
        || v[2].shape[1] != recipe.n_left || v[2].shape[2] != recipe.n_right
        || (work.squares != NULL && v[3].shape[0] != work.n))
        return disagreement(&arrays);
    choose_chunk(&recipe, recipe.n_lines);
    size n_lines = recipe.n_lines + SIDE + recipe.d + work.k + SIDE + 1 + recipe.n_right + 1;
    work.memory = calloc((size_t)(n_lines * recipe.pitch), sizeof(double));
    if (work.memory == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    sum_moments(&recipe, &work);
    free(work.memory);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}

PyObject *feature_slopes(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tuple, *Y, *coefficients, *out;
    Arrays arrays = {.held = 0};
    Recipe recipe;
    if (!PyArg_ParseTuple(args, "OOOO", &tuple, &Y, &coefficients, &out))
        return NULL;
    if (!hold_recipe(&arrays, tuple, &recipe) || !hold(&arrays, Y, "d", 2, 0) || !hold(&arrays, coefficients, "d", 3, 0)
        || !hold(&arrays, out, "d", 3, 1))
        return let_go(&arrays, NULL);
    const Py_buffer *v = arrays.views + 6;
    Work work = {.Y = v[0].buf, .operand = v[1].buf, .out = v[2].buf, .n = v[0].shape[1], .k = v[1].shape[0]};
    if (v[0].shape[0] != recipe.d || v[1].shape[1] != padded(recipe.n_left) || v[1].shape[2] != padded(recipe.n_right)
        || v[2].shape[0] != recipe.d || v[2].shape[1] < work.k || v[2].shape[1] > work.k + 1
        || v[2].shape[2] != work.n)
        return disagreement(&arrays);
    work.n_out = v[2].shape[1];
    choose_chunk(&recipe, 2 * recipe.n_lines);
    size most = recipe.n_left > recipe.n_right ? recipe.n_left : recipe.n_right;
    size n_lines = 2 * (recipe.n_lines + SIDE) + 2 * recipe.d + most + 1;
    work.memory = calloc((size_t)(n_lines * recipe.pitch), sizeof(double));
    if (work.memory == NULL)
        return let_go(&arrays, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    find_slopes(&recipe, &work);
    free(work.memory);
    Py_END_ALLOW_THREADS
    return let_go(&arrays, Py_NewRef(Py_None));
}
