/* functions.c - the functions of the module: one C function for each elementwise op, and the
 * calls that the Python side is built on. */
#include <string.h>

#include "core.h"

int tpy_keyword(PyObject *names, Py_ssize_t k, const char *name)
{
    return PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, k), name) == 0;
}

int tpy_unknown_keyword(const char *call, PyObject *names, Py_ssize_t k)
{
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", call,
                 PyTuple_GetItem(names, k));
    return -1;
}

int tpy_axis(const char *call, PyObject *o, int ndim, int *axis)
{
    Py_ssize_t i = PyNumber_AsSsize_t(o, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return -1;
    if (i < -ndim || i >= ndim) {
        tpy_raise_axis(call, i, ndim);
        return -1;
    }
    *axis = (int)(i < 0 ? i + ndim : i);
    return 0;
}

int tpy_shape_from(PyObject *o, int64_t *shape, const char *call)
{
    if (PyIndex_Check(o) && !PySequence_Check(o)) {
        shape[0] = PyNumber_AsSsize_t(o, PyExc_OverflowError);
        return shape[0] == -1 && PyErr_Occurred() ? -1 : 1;
    }
    if (tpy_is_tensor(o) && tpy_ndim(o) == 0) {
        shape[0] = PyNumber_AsSsize_t(o, PyExc_OverflowError);
        return shape[0] == -1 && PyErr_Occurred() ? -1 : 1;
    }
    Py_ssize_t n = PySequence_Size(o);
    if (n < 0)
        return -1;
    if (n > TN_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s: %zd axes, expected at most %d", call, n,
                     TN_MAX_NDIM);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *x = PySequence_GetItem(o, i);
        shape[i] = x ? PyNumber_AsSsize_t(x, PyExc_OverflowError) : -1;
        Py_XDECREF(x);
        if (shape[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return (int)n;
}

static PyObject *too_many(const char *call, int want, Py_ssize_t got)
{
    return PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s, got %zd", call,
                        want, want == 1 ? "" : "s", got);
}

/* f(x1, …, xn, *, out=None) */
static PyObject *elementwise(const char *call, tn_op op, int n, PyObject *const *args,
                             Py_ssize_t given, PyObject *names)
{
    if (given != n)
        return too_many(call, n, given);
    PyObject *out = NULL;
    if (names)
        for (Py_ssize_t k = 0; k < PyTuple_Size(names); k++) {
            if (!tpy_keyword(names, k, "out")) {
                tpy_unknown_keyword(call, names, k);
                return NULL;
            }
            out = args[n + k];
        }
    return tpy_apply(op, NULL, n, args, out, false);
}

static int number_from(double *out, PyObject *o)
{
    *out = PyFloat_AsDouble(o);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

/* The same with numbers after the tensors, by position or by name. */
static PyObject *with_numbers(const char *call, tn_op op, int n, const char *numbers,
                              PyObject *const *args, Py_ssize_t given, PyObject *names)
{
    static const struct {
        tn_op op;
        double value[2];
    } defaults[] = {
        {TN_LEAKY_RELU, {0.01}}, {TN_ELU, {1}},     {TN_HARD_TANH, {-1, 1}},
        {TN_SOFTPLUS, {1, 20}},  {TN_ADDCMUL, {1}}, {TN_HARD_SIGMOID, {1.0 / 6, 0.5}},
    };
    int np = tn_op_params(op);
    if (given < n || given > n + np)
        return too_many(call, n, given);
    double params[2] = {0, 0};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (defaults[i].op == op)
            memcpy(params, defaults[i].value, sizeof params);
    for (Py_ssize_t k = n; k < given; k++)
        if (number_from(&params[k - n], args[k]) < 0)
            return NULL;
    PyObject *out = NULL;
    Py_ssize_t nk = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < nk; k++) {
        if (tpy_keyword(names, k, "out")) {
            out = args[given + k];
            continue;
        }
        const char *name = numbers;
        int p = 0;
        for (; p < np && !tpy_keyword(names, k, name); p++)
            name += strlen(name) + 1;
        if (p == np || p < given - n) {
            tpy_unknown_keyword(call, names, k);
            return NULL;
        }
        if (number_from(&params[p], args[given + k]) < 0)
            return NULL;
    }
    return tpy_apply(op, params, n, args, out, false);
}

#define FUNCTION(name, op, n)                                                                  \
    static PyObject *f_##name(PyObject *self, PyObject *const *args, Py_ssize_t given,         \
                              PyObject *names)                                                 \
    {                                                                                          \
        (void)self;                                                                            \
        return elementwise(#name, op, n, args, given, names);                                  \
    }
#define UNARY(name, op, text)         FUNCTION(name, op, 1)
#define BINARY(name, op, text)        FUNCTION(name, op, 2)
#define TERNARY(name, op, args, text) FUNCTION(name, op, 3)
#define WITH(name, op, n, signature, numbers, text)                                            \
    static PyObject *f_##name(PyObject *self, PyObject *const *args, Py_ssize_t given,         \
                              PyObject *names)                                                 \
    {                                                                                          \
        (void)self;                                                                            \
        return with_numbers(#name, op, n, numbers, args, given, names);                        \
    }
#include "functions.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef WITH

#define ROW(name, signature, text)                                                             \
    {#name, (PyCFunction)(void (*)(void))f_##name, METH_FASTCALL | METH_KEYWORDS,              \
     #name "(" signature ", *, out=None)\n--\n\n" text},
#define UNARY(name, op, text)                       ROW(name, "x, /", text)
#define BINARY(name, op, text)                      ROW(name, "x1, x2, /", text)
#define TERNARY(name, op, args, text)               ROW(name, args ", /", text)
#define WITH(name, op, n, signature, numbers, text) ROW(name, signature, text)

PyMethodDef tpy_functions[] = {
#include "functions.def"
    {NULL, NULL, 0, NULL},
};
