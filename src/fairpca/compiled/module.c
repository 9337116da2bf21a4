/* The extension module: which functions there are, and how arrays reach them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

static int is_format(const char *format, const char *wanted)
{
    /* int64 is "l" or "q", whichever C type numpy was told, and uint64 "L" or "Q". */
    return strcmp(format, wanted) == 0 || (strcmp(wanted, "l") == 0 && strcmp(format, "q") == 0)
           || (strcmp(wanted, "L") == 0 && strcmp(format, "Q") == 0);
}

int get_buffer(PyObject *array, Py_buffer *view, const char *format, int ndim, int writable)
{
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, view, flags) < 0)
        return 0;
    if ((ndim == 0 || view->ndim == ndim) && view->format != NULL && is_format(view->format, format)
        && ((*format != 'l' && *format != 'L') || view->itemsize == sizeof(int64_t)))
        return 1;
    PyBuffer_Release(view);
    PyErr_Format(PyExc_TypeError, "expected a C-contiguous array of format '%s' and the right number of dimensions",
                 format);
    return 0;
}

int hold(Arrays *arrays, PyObject *array, const char *format, int ndim, int writable)
{
    if (!get_buffer(array, &arrays->views[arrays->held], format, ndim, writable))
        return 0;
    arrays->held++;
    return 1;
}

PyObject *let_go(Arrays *arrays, PyObject *answer)
{
    while (arrays->held > 0)
        PyBuffer_Release(&arrays->views[--arrays->held]);
    return answer;
}

PyObject *disagreement(Arrays *arrays)
{
    PyErr_SetString(PyExc_ValueError, "the arrays do not agree in shape");
    return let_go(arrays, NULL);
}

static PyMethodDef methods[] = {
    {"exp_inplace", exp_inplace, METH_O,
     "Replace every entry, none above 700, of a C-contiguous float64 array by its exponential."},
    {"gaussian_sums", gaussian_sums, METH_VARARGS,
     "gaussian_sums(Z, operand, sums, first, step, n_whole[, scales, n_first]): add to sums what every step-th few rows of "
     "the upper half of K, from the first on, add to operand @ K; of operands from n_whole on to half of it."},
    {"project", project, METH_VARARGS, "project(X, mean, matrix, out): out = matrix' (X - mean)'."},
    {"pull_back", pull_back, METH_VARARGS, "pull_back(X, mean, gradients, out): out = (X - mean)' gradients'."},
    {"feature_moments", feature_moments, METH_VARARGS,
     "feature_moments(recipe, Y, weights, out, squares): add weighted sums of products of features to out."},
    {"feature_slopes", feature_slopes, METH_VARARGS,
     "feature_slopes(recipe, Y, coefficients, out): out = gradients of sums of coefficients times products."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_native", "Compiled loops over rows.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
