/* exp of a contiguous block of float64, several at a time.
 *
 * SPDX-License-Identifier: MIT
 *
 * The kernel matrix is made of n^2 / 2 exponentials, and numpy computes float64 exponentials one by one on
 * machines without AVX-512. This loop is written so that compilers vectorise it for what the machine has.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_MACHINE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_MACHINE
#endif

static const double SMALLEST = -708.0, LARGEST = 709.0; /* the range whose results are normal numbers */
static const double LOG2_E = 1.4426950408889634074;
static const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
static const double ROUND = 6755399441055744.0; /* 1.5 * 2^52: adding it leaves the nearest integer in the low bits */

/* exp(x) = 2^k exp(r), |r| <= ln(2) / 2, exp(r) by its Taylor polynomial of degree 13 (remainder below 1e-17). */
FOR_EACH_MACHINE
static void exp_block(double *values, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        double x = values[i];
        x = x > SMALLEST ? x : SMALLEST;
        x = x < LARGEST ? x : LARGEST;
        double shifted = x * LOG2_E + ROUND;
        double k = shifted - ROUND;
        double r = (x - k * LN2_HIGH) - k * LN2_LOW;
        double p = 1.0 / 6227020800.0;
        p = p * r + 1.0 / 479001600.0;
        p = p * r + 1.0 / 39916800.0;
        p = p * r + 1.0 / 3628800.0;
        p = p * r + 1.0 / 362880.0;
        p = p * r + 1.0 / 40320.0;
        p = p * r + 1.0 / 5040.0;
        p = p * r + 1.0 / 720.0;
        p = p * r + 1.0 / 120.0;
        p = p * r + 1.0 / 24.0;
        p = p * r + 1.0 / 6.0;
        p = p * r + 0.5;
        p = p * r + 1.0;
        p = p * r + 1.0;
        uint64_t exponent, bits;
        memcpy(&exponent, &shifted, sizeof exponent);
        memcpy(&bits, &p, sizeof bits);
        bits += exponent << 52;
        memcpy(&values[i], &bits, sizeof bits);
    }
}

static PyObject *exp_inplace(PyObject *Py_UNUSED(module), PyObject *array)
{
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return NULL;
    if (view.itemsize != sizeof(double) || view.format == NULL || strcmp(view.format, "d") != 0) {
        PyBuffer_Release(&view);
        PyErr_SetString(PyExc_TypeError, "exp_inplace needs a C-contiguous float64 array");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    exp_block((double *)view.buf, view.len / (Py_ssize_t)sizeof(double));
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"exp_inplace", exp_inplace, METH_O, "Replace every entry of a C-contiguous float64 array by its exponential."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_fastexp", "Vectorised exponential.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__fastexp(void)
{
    return PyModuleDef_Init(&module);
}
