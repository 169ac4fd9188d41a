/* views.c - functions that return views of the same elements; a copy is made only if strides
 * cannot express the result. */
#include <string.h>

#include "core.h"

/* A Tensor of any argument, as a new reference. */
static PyObject *tensor_from(PyObject *o)
{
    return tpy_is_tensor(o) ? Py_NewRef(o) : tpy_as_tensor(o);
}

PyObject *tpy_dense(PyObject *x)
{
    tn_tensor t;
    tpy_widen(&t, x);
    if (tn_is_contiguous(&t))
        return Py_NewRef(x);
    tn_status status;
    TPY_RUN(status, tn_nbytes(&t), tn_contiguous(&t, &t));
    t.flags = 0;
    return status == TN_OK ? tpy_adopt(&t) : tpy_raise(status);
}

PyObject *tpy_cast(PyObject *x, tn_dtype dtype)
{
    tn_tensor t, made;
    tpy_widen(&t, x);
    PyObject *o = tpy_empty(&made, dtype, t.ndim, t.shape);
    if (!o)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&t) + tn_nbytes(&made), tn_cast(&made, &t));
    if (status == TN_OK)
        return o;
    Py_DECREF(o);
    return tpy_raise(status);
}

/* x.reshape(shape) and x.reshape(2, 3): a sequence, or the numbers themselves. */
static int shape_arguments(PyObject *const *args, Py_ssize_t n, int64_t *shape,
                           const char *call)
{
    if (n == 1)
        return tpy_shape_from(args[0], shape, call);
    if (n > TN_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s: %zd axes, expected at most %d", call, n,
                     TN_MAX_NDIM);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        shape[i] = PyNumber_AsSsize_t(args[i], PyExc_OverflowError);
        if (shape[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return (int)n;
}

static PyObject *reshaped(PyObject *x, int ndim, const int64_t *shape, PyObject *copy)
{
    tn_tensor t, v;
    tpy_widen(&t, x);
    tn_status status = TN_ESTRIDE;
    if (copy != Py_True) {
        status = tn_reshape(&v, &t, ndim, shape);
        if (status == TN_OK)
            return tpy_view(&v, x);
    }
    if (status != TN_ESTRIDE || copy == Py_False)
        return tpy_raise(status);
    TPY_RUN(status, tn_nbytes(&t), tn_contiguous(&v, &t));
    if (status != TN_OK)
        return tpy_raise(status);
    v.flags = 0;
    tn_tensor dense = v;
    status = tn_reshape(&v, &v, ndim, shape);
    if (status == TN_OK)
        return tpy_adopt(&v);
    tn_free(&dense);
    return tpy_raise(status);
}

/* _core.reshape(x, shape, copy=None) */
static PyObject *f_reshape(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    (void)self;
    PyObject *copy = Py_None, *shape_given = n >= 2 ? args[1] : NULL;
    Py_ssize_t nk = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < nk; k++) {
        if (tpy_keyword(names, k, "copy"))
            copy = args[n + k];
        else if (tpy_keyword(names, k, "shape"))
            shape_given = args[n + k];
        else {
            tpy_unknown_keyword("reshape", names, k);
            return NULL;
        }
    }
    if (n < 1 || n > 2 || !shape_given)
        return PyErr_Format(PyExc_TypeError, "reshape() takes x and shape");
    int64_t shape[TN_MAX_NDIM];
    int ndim = tpy_shape_from(shape_given, shape, "reshape");
    PyObject *x = ndim < 0 ? NULL : tensor_from(args[0]);
    PyObject *result = x ? reshaped(x, ndim, shape, copy) : NULL;
    Py_XDECREF(x);
    return result;
}

PyObject *tpy_method_reshape(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    int64_t shape[TN_MAX_NDIM];
    int ndim = shape_arguments(args, n, shape, "reshape");
    return ndim < 0 ? NULL : reshaped(self, ndim, shape, Py_None);
}

static PyObject *permuted(PyObject *x, const int64_t *given, int n, const char *call)
{
    tn_tensor t;
    int axes[TN_MAX_NDIM];
    tpy_widen(&t, x);
    if (n != t.ndim)
        return PyErr_Format(PyExc_ValueError, "%s: got %d axes for a tensor of %d", call, n,
                            t.ndim);
    for (int i = 0; i < n; i++) {
        if (given[i] < -n || given[i] >= n)
            return tpy_raise_axis(call, (Py_ssize_t)given[i], n);
        axes[i] = (int)(given[i] < 0 ? given[i] + n : given[i]);
    }
    tn_status status = tn_permute(&t, &t, axes);
    return status == TN_OK ? tpy_view(&t, x) : tpy_raise(status);
}

static PyObject *f_permute_dims(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *names)
{
    (void)self;
    PyObject *axes_given = n == 2 ? args[1] : NULL;
    if (n == 1 && names && PyTuple_Size(names) == 1 && tpy_keyword(names, 0, "axes"))
        axes_given = args[1];
    if (!axes_given)
        return PyErr_Format(PyExc_TypeError, "permute_dims() takes x and axes");
    int64_t axes[TN_MAX_NDIM];
    int ndim = tpy_shape_from(axes_given, axes, "permute_dims");
    PyObject *x = ndim < 0 ? NULL : tensor_from(args[0]);
    PyObject *result = x ? permuted(x, axes, ndim, "permute_dims") : NULL;
    Py_XDECREF(x);
    return result;
}

PyObject *tpy_method_permute(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    int64_t axes[TN_MAX_NDIM];
    int ndim = shape_arguments(args, n, axes, "permute");
    return ndim < 0 ? NULL : permuted(self, axes, ndim, "permute");
}

/* Views with one axis: (x, axis). */
static PyObject *axis_view(PyObject *const *args, Py_ssize_t n, const char *call, int more,
                           tn_status (*view)(tn_tensor *, const tn_tensor *, int))
{
    if (n != 2)
        return PyErr_Format(PyExc_TypeError, "%s() takes x and an axis", call);
    PyObject *x = tensor_from(args[0]), *result = NULL;
    tn_tensor t;
    int axis;
    if (x) {
        tpy_widen(&t, x);
        if (tpy_axis(call, args[1], t.ndim + more, &axis) == 0) {
            tn_status status = view(&t, &t, axis);
            result = status == TN_OK ? tpy_view(&t, x) : tpy_raise(status);
        }
        Py_DECREF(x);
    }
    return result;
}

#define AXIS_VIEW(name, more, call)                                                            \
    static PyObject *f_##name(PyObject *self, PyObject *const *args, Py_ssize_t n)             \
    {                                                                                          \
        (void)self;                                                                            \
        return axis_view(args, n, #name, more, call);                                          \
    }
AXIS_VIEW(unsqueeze, 1, tn_unsqueeze)
AXIS_VIEW(squeeze, 0, tn_squeeze)
AXIS_VIEW(flip, 0, tn_flip)

static PyObject *f_broadcast_to(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *names)
{
    (void)self;
    if (n == 1 && names && PyTuple_Size(names) == 1 && tpy_keyword(names, 0, "shape"))
        n = 2;
    else if (names && PyTuple_Size(names) > 0)
        n = -1;
    if (n != 2)
        return PyErr_Format(PyExc_TypeError, "broadcast_to() takes x and shape");
    int64_t shape[TN_MAX_NDIM];
    int ndim = tpy_shape_from(args[1], shape, "broadcast_to");
    PyObject *x = ndim < 0 ? NULL : tensor_from(args[0]), *result = NULL;
    if (x) {
        tn_tensor t;
        tpy_widen(&t, x);
        tn_status status = tn_broadcast_to(&t, &t, ndim, shape);
        result = status == TN_OK ? tpy_view(&t, x) : tpy_raise(status);
        Py_DECREF(x);
    }
    return result;
}

static PyObject *f_diagonal(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *result = NULL;
    int a, b;
    if (!PyArg_ParseTuple(args, "Oii:diagonal", &o, &a, &b))
        return NULL;
    PyObject *x = tensor_from(o);
    if (x) {
        tn_tensor t;
        tpy_widen(&t, x);
        tn_status status = tn_diagonal(&t, &t, a, b);
        result = status == TN_OK ? tpy_view(&t, x) : tpy_raise(status);
        Py_DECREF(x);
    }
    return result;
}

static PyObject *f_windows(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *result = NULL;
    int axis;
    long long size, step;
    if (!PyArg_ParseTuple(args, "OiLL:windows", &o, &axis, &size, &step))
        return NULL;
    PyObject *x = tensor_from(o);
    if (x) {
        tn_tensor t;
        tpy_widen(&t, x);
        tn_status status = tn_windows(&t, &t, axis, size, step);
        result = status == TN_OK ? tpy_view(&t, x) : tpy_raise(status);
        Py_DECREF(x);
    }
    return result;
}

/* The same bytes as another dtype: of the same width, or else the last axis grows or
 * shrinks. */
static PyObject *f_bitcast(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    tn_dtype dtype;
    tn_tensor t;
    if (n != 2 || !tpy_is_tensor(args[0]))
        return PyErr_Format(PyExc_TypeError, "view() takes a tensor and a dtype");
    if (tpy_dtype_from(&dtype, args[1]) < 0)
        return NULL;
    tpy_widen(&t, args[0]);
    int64_t old = (int64_t)tn_dtype_size(t.dtype), width = (int64_t)tn_dtype_size(dtype);
    if (old != width) {
        int last = t.ndim - 1;
        if (last < 0 || (t.shape[last] > 1 && t.stride[last] != old))
            return tpy_raise_layout("view: elements of another width need a dense last axis");
        if (t.shape[last] * old % width)
            return tpy_raise_layout(
                "view: the last axis has %lld bytes, not a whole number of elements of %s",
                (long long)(t.shape[last] * old), tpy_long_name(dtype));
        t.shape[last] = t.shape[last] * old / width;
        t.stride[last] = width;
    }
    t.dtype = dtype;
    return tpy_view(&t, args[0]);
}

/* The real (0) or imaginary (1) part as a view. */
static PyObject *f_part(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    int which;
    if (!PyArg_ParseTuple(args, "O!i:part", tpy_Tensor, &x, &which))
        return NULL;
    tn_tensor t;
    tpy_widen(&t, x);
    if (tpy_kind(t.dtype) != 'c')
        return tpy_raise_dtype("%s: expected complex numbers, got %s", which ? "imag" : "real",
                               tpy_long_name(t.dtype));
    t.dtype = t.dtype == TN_C64 ? TN_F32 : TN_F64;
    if (which)
        t.data = (char *)t.data + tn_dtype_size(t.dtype);
    return tpy_view(&t, x);
}

/* A Tensor at an address in memory that owner keeps alive, for __array_interface__. */
static PyObject *f_at_address(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *owner, *address, *dtype_given, *shape_given, *stride_given;
    int readonly;
    tn_dtype dtype;
    int64_t shape[TN_MAX_NDIM], stride[TN_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "OOOOOp:at_address", &owner, &address, &dtype_given,
                          &shape_given, &stride_given, &readonly))
        return NULL;
    void *data = PyLong_AsVoidPtr(address);
    if ((!data && PyErr_Occurred()) || tpy_dtype_from(&dtype, dtype_given) < 0)
        return NULL;
    int ndim = tpy_shape_from(shape_given, shape, "asarray");
    if (ndim < 0)
        return NULL;
    tn_tensor t;
    tn_status status;
    if (stride_given == Py_None) {
        status = tn_init(&t, data, dtype, ndim, shape);
    } else {
        int n = tpy_shape_from(stride_given, stride, "asarray");
        if (n != ndim)
            return n < 0 ? NULL
                         : PyErr_Format(PyExc_ValueError, "asarray: %d strides for %d axes", n,
                                        ndim);
        status = tn_init_strided(&t, data, dtype, ndim, shape, stride);
    }
    if (status != TN_OK)
        return tpy_raise(status);
    if (!data && tn_numel(&t) != 0)
        return PyErr_Format(PyExc_BufferError, "asarray: the address is NULL");
    t.flags = readonly ? TN_READONLY : 0;
    return tpy_new(&t, owner);
}

static PyObject *f_readonly(PyObject *self, PyObject *x)
{
    (void)self;
    if (!tpy_is_tensor(x))
        return PyErr_Format(PyExc_TypeError, "readonly() takes a tensor");
    tn_tensor t;
    tpy_widen(&t, x);
    t.flags |= TN_READONLY;
    return tpy_view(&t, x);
}

#define FAST(name) (PyCFunction)(void (*)(void)) name
PyMethodDef tpy_view_functions[] = {
    {"reshape", FAST(f_reshape), METH_FASTCALL | METH_KEYWORDS,
     "reshape(x, /, shape, *, copy=None)\n--\n\nThe same elements in row-major order under "
     "another shape: a view where strides can, else a copy."},
    {"permute_dims", FAST(f_permute_dims), METH_FASTCALL | METH_KEYWORDS,
     "permute_dims(x, /, axes)\n--\n\nA view whose axis i is axis axes[i] of x."},
    {"unsqueeze", FAST(f_unsqueeze), METH_FASTCALL,
     "unsqueeze(x, axis, /)\n--\n\nA view with an axis of extent 1 before axis."},
    {"_squeeze", FAST(f_squeeze), METH_FASTCALL, NULL},
    {"_flip", FAST(f_flip), METH_FASTCALL, NULL},
    {"broadcast_to", FAST(f_broadcast_to), METH_FASTCALL | METH_KEYWORDS,
     "broadcast_to(x, /, shape)\n--\n\nA view that repeats x to shape, by strides of 0."},
    {"_diagonal", f_diagonal, METH_VARARGS, NULL},
    {"_windows", f_windows, METH_VARARGS, NULL},
    {"_bitcast", FAST(f_bitcast), METH_FASTCALL, NULL},
    {"_part", f_part, METH_VARARGS, NULL},
    {"_at_address", f_at_address, METH_VARARGS, NULL},
    {"_readonly", f_readonly, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
