/* What the compiled loops share: vectors, an exponential, arrays of numpy.
 *
 * SPDX-License-Identifier: MIT
 *
 * Vectors are those of GCC and Clang, compiled for several generations of machines and chosen when loaded.
 */
#ifndef FAIRPCA_NATIVE_H
#define FAIRPCA_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef __GNUC__ /* Clang defines it too, Microsoft's compiler does not */
#error "the compiled loops are written in the vectors of GCC and Clang; fairpca installs without them and uses numpy"
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST_MACHINE "x86-64-v4"
#define FOR_EACH_MACHINE __attribute__((target_clones("arch=" WIDEST_MACHINE, "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_MACHINE
#endif

typedef Py_ssize_t size;

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

INLINE double sum_of(vec v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

#define SMALLEST (-708.0) /* below, exponentials are hardly normal numbers, and taken for 0 */

/* exp(x) = 2^k exp(r), |r| <= ln(2) / 2, exp(r) by 1 + r + r^2 q(r), where q interpolates (exp(r) - 1 - r) / r^2 in
 * the ten Chebyshev points of |r| <= 0.3466 (error of exp(r) below 1.3e-17).
 * Made for kernels: x is at most a rounding error above 0. What is not a number stays so. */
INLINE vec exponential(vec x)
{
    const double LOG2_E = 1.4426950408889634074;
    const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
    /* 1.5 * 2^52: adding it leaves the nearest integer in the low bits; and 1023 more, the bias of an exponent. */
    const double ROUND = 6755399441055744.0 + 1023.0;
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

/* A C-contiguous array of numbers of one format ("d", "f", "l" for int64 or "L" for uint64) and so many dimensions, 0
 * for any; returns 0 with an exception set where it is none. */
int get_buffer(PyObject *array, Py_buffer *view, const char *format, int ndim, int writable);

/* Views of several arrays, of which those of a call are released together. */
typedef struct {
    Py_buffer views[10];
    int held;
} Arrays;

int hold(Arrays *arrays, PyObject *array, const char *format, int ndim, int writable);
PyObject *let_go(Arrays *arrays, PyObject *answer);
PyObject *disagreement(Arrays *arrays); /* lets go, with an exception set */

PyObject *exp_inplace(PyObject *module, PyObject *array);
PyObject *gaussian_sums(PyObject *module, PyObject *args);
PyObject *project(PyObject *module, PyObject *args);
PyObject *pull_back(PyObject *module, PyObject *args);
PyObject *feature_moments(PyObject *module, PyObject *args);
PyObject *feature_slopes(PyObject *module, PyObject *args);

#endif
