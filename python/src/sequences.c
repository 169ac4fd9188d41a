/* sequences.c - tensors of Python numbers and nested sequences.
 *
 * One pass determines shape and dtype, a second one writes; a sequence that changes between the
 * two is an error and never causes a write out of bounds. */
#include <string.h>

#include "core.h"

typedef struct survey {
    int64_t shape[TN_MAX_NDIM];
    int ndim;    /* axes found so far; -1: not known yet */
    bool strong; /* a leaf with a dtype of its own was seen */
    bool weak;   /* a number was seen */
    bool typed;  /* the dtype is given */
    tn_dtype dtype, number;
} survey;

static int promote_into(tn_dtype *into, bool *seen, tn_dtype other)
{
    tn_status status = *seen ? tn_promote(into, *into, other) : TN_OK;
    if (!*seen)
        *into = other;
    *seen = true;
    if (status == TN_OK)
        return 0;
    tpy_raise(status);
    return -1;
}

static bool is_sequence(PyObject *o)
{
    return PyList_Check(o) || PyTuple_Check(o) ||
           (PySequence_Check(o) && !PyUnicode_Check(o) && !PyDict_Check(o) &&
            !PyObject_CheckBuffer(o) && !PyObject_HasAttrString(o, "__dlpack__"));
}

static int close_at(survey *s, int depth)
{
    if (s->ndim == -1)
        s->ndim = depth;
    if (s->ndim == depth)
        return 0;
    PyErr_SetString(PyExc_ValueError, "asarray: sequences of different depths");
    return -1;
}

static int see_extent(survey *s, int depth, int64_t n)
{
    if (depth >= TN_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "asarray: more than %d axes", TN_MAX_NDIM);
        return -1;
    }
    if (s->shape[depth] == -1)
        s->shape[depth] = n;
    if (s->shape[depth] == n)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "asarray: axis %d has sequences of length %lld and of length %lld", depth,
                 (long long)s->shape[depth], (long long)n);
    return -1;
}

static int look(survey *s, PyObject *o, int depth)
{
    if (PyBool_Check(o) || PyLong_Check(o) || PyFloat_CheckExact(o) ||
        PyComplex_CheckExact(o)) {
        tn_dtype d = PyBool_Check(o)    ? TN_BOOL
                     : PyLong_Check(o)  ? TN_I64
                     : PyFloat_Check(o) ? TN_F64
                                        : TN_C128;
        if (d == TN_I64 && !s->typed) { /* a number that only u64 holds */
            int overflow;
            (void)PyLong_AsLongLongAndOverflow(o, &overflow);
            if (overflow > 0)
                d = TN_U64;
        }
        if (d == TN_U64 && (!s->weak || s->number <= TN_I64)) {
            s->number = TN_U64;
            s->weak = true;
        } else if (!(d == TN_I64 && s->weak && s->number == TN_U64)) {
            if (promote_into(&s->number, &s->weak, d) < 0)
                return -1;
        }
        return close_at(s, depth);
    }
    if (is_sequence(o) && !tpy_is_tensor(o)) {
        Py_ssize_t n = PySequence_Size(o);
        if (n < 0 || see_extent(s, depth, n) < 0 || Py_EnterRecursiveCall(" in asarray"))
            return -1;
        int result = n == 0 ? close_at(s, depth + 1) : 0;
        for (Py_ssize_t i = 0; i < n && result == 0; i++) {
            PyObject *x = PySequence_GetItem(o, i);
            result = x ? look(s, x, depth + 1) : -1;
            Py_XDECREF(x);
        }
        Py_LeaveRecursiveCall();
        return result;
    }
    if (PyUnicode_Check(o) || o == Py_None || PyType_Check(o) || PyDict_Check(o) ||
        (!PyObject_CheckBuffer(o) && !PyObject_HasAttrString(o, "__dlpack__"))) {
        PyErr_Format(PyExc_TypeError,
                     "asarray: %R is neither an array, a number nor a sequence", o);
        return -1;
    }
    PyObject *t = tpy_as_tensor(o);
    if (!t)
        return -1;
    int ndim = tpy_ndim(t), result = promote_into(&s->dtype, &s->strong, tensor_of(t)->dtype);
    for (int i = 0; i < ndim && result == 0; i++)
        result = see_extent(s, depth + i, tensor_of(t)->axes[i]);
    Py_DECREF(t);
    return result < 0 ? -1 : close_at(s, depth + ndim);
}

static int write_elements(const tn_tensor *t, PyObject *o)
{
    if (t->ndim == 0 && (PyBool_Check(o) || PyLong_Check(o) || PyFloat_CheckExact(o) ||
                         PyComplex_CheckExact(o)))
        return tpy_number(t->data, t->dtype, o);
    if (t->ndim > 0 && is_sequence(o) && !tpy_is_tensor(o)) {
        if (PySequence_Size(o) != t->shape[0]) {
            PyErr_SetString(PyExc_ValueError, "asarray: a sequence changed while it was read");
            return -1;
        }
        tn_tensor part = *t;
        part.ndim = t->ndim - 1;
        memmove(part.shape, part.shape + 1, sizeof *part.shape * (size_t)part.ndim);
        memmove(part.stride, part.stride + 1, sizeof *part.stride * (size_t)part.ndim);
        for (int64_t i = 0; i < t->shape[0]; i++) {
            PyObject *x = PySequence_GetItem(o, (Py_ssize_t)i);
            int result = x ? write_elements(&part, x) : -1;
            Py_XDECREF(x);
            if (result < 0)
                return -1;
            part.data = (char *)part.data + t->stride[0];
        }
        return 0;
    }
    PyObject *x = tpy_as_tensor(o);
    if (!x)
        return -1;
    tn_tensor src;
    tpy_widen(&src, x);
    tn_status status = tn_cast(t, &src);
    Py_DECREF(x);
    if (status == TN_OK)
        return 0;
    tpy_raise(status);
    return -1;
}

PyObject *tpy_from_sequence(PyObject *o, bool typed, tn_dtype dtype)
{
    survey s = {.ndim = -1, .typed = typed};
    for (int i = 0; i < TN_MAX_NDIM; i++)
        s.shape[i] = -1;
    if (look(&s, o, 0) < 0)
        return NULL;
    if (!typed) {
        dtype = s.strong ? s.dtype : s.weak ? s.number : TN_F64;
        if (s.strong && s.weak) {
            PyObject *zero = s.number == TN_BOOL         ? Py_NewRef(Py_False)
                             : tpy_kind(s.number) == 'f' ? PyFloat_FromDouble(0)
                             : s.number == TN_C128       ? PyComplex_FromDoubles(0, 0)
                                                         : PyLong_FromLong(0);
            if (!zero)
                return NULL;
            tpy_weak_dtype(&dtype, zero, false, s.dtype);
            Py_DECREF(zero);
        }
    } else if (s.weak && !s.strong && tpy_kind(s.number) == 'f' &&
               (tpy_kind(dtype) == 'i' || tpy_kind(dtype) == 'u')) {
        /* asarray([1.5], dtype=int32): the numbers are read as they are, then cast */
        PyObject *wide = tpy_from_sequence(o, true, TN_F64);
        PyObject *cast = wide ? tpy_cast(wide, dtype) : NULL;
        Py_XDECREF(wide);
        return cast;
    } else if (s.weak && s.number == TN_C128 && tpy_kind(dtype) != 'c') {
        return tpy_raise_dtype("asarray: complex numbers do not fit %s", tpy_long_name(dtype));
    }
    tn_tensor t;
    PyObject *made = tpy_empty(&t, dtype, s.ndim, s.shape);
    if (made && write_elements(&t, o) < 0)
        Py_CLEAR(made);
    return made;
}
