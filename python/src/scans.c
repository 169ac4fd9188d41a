/* scans.c - running reductions, differences, patterns that reduce, functions of whole rows. */
#include <string.h>

#include "core.h"

/* _pattern_reduce(name, x, pattern, sizes) */
static PyObject *f_pattern_reduce(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name, *pattern, *sizes;
    PyObject *x;
    tn_reduction op;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    tn_dtype dtype = TN_F32;
    tn_tensor src, made;
    if (!PyArg_ParseTuple(args, "sO!ss:reduce", &name, tpy_Tensor, &x, &pattern, &sizes))
        return NULL;
    tpy_widen(&src, x);
    tn_status status = tn_reduction_parse(&op, name);
    if (status == TN_OK)
        status = tn_reduction_result(op, src.dtype, &dtype);
    if (status == TN_OK)
        status = tn_pattern_reduce_shape(pattern, sizes, &src, &ndim, shape);
    if (status != TN_OK)
        return tpy_raise(status);
    PyObject *owned = tpy_empty(&made, dtype, ndim, shape);
    if (!owned)
        return NULL;
    TPY_RUN(status, tn_nbytes(&src), tn_pattern_reduce(op, NULL, &made, &src, pattern, sizes));
    if (status == TN_OK)
        return owned;
    Py_DECREF(owned);
    return tpy_raise(status);
}

/* _scan(name, x, axis, dtype, initial) */
static PyObject *f_scan(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    PyObject *x, *given;
    int axis, initial;
    tn_scan_op op;
    tn_tensor src, made;
    if (!PyArg_ParseTuple(args, "sO!iOp:scan", &name, tpy_Tensor, &x, &axis, &given, &initial))
        return NULL;
    tn_status status = tn_scan_parse(&op, name);
    if (status != TN_OK)
        return tpy_raise(status);
    tpy_widen(&src, x);
    tn_dtype dtype = src.dtype, wanted;
    bool counts = op == TN_SCAN_SUM || op == TN_SCAN_PROD;
    if (counts)
        status = tn_reduction_result(op == TN_SCAN_SUM ? TN_REDUCE_SUM : TN_REDUCE_PROD,
                                     src.dtype, &dtype);
    if (status != TN_OK)
        return tpy_raise(status);
    PyObject *cast = NULL;
    if (given != Py_None) {
        if (tpy_dtype_from(&wanted, given) < 0)
            return NULL;
        if (tpy_reduces_into(op == TN_SCAN_SUM ? TN_REDUCE_SUM : TN_REDUCE_PROD, dtype,
                             wanted)) {
            dtype = wanted;
        } else {
            cast = tpy_cast(x, wanted);
            if (!cast)
                return NULL;
            tpy_widen(&src, cast);
            dtype = wanted;
        }
    }
    int64_t shape[TN_MAX_NDIM];
    memcpy(shape, src.shape, sizeof *shape * (size_t)src.ndim);
    if (initial)
        shape[axis]++;
    PyObject *owned = tpy_empty(&made, dtype, src.ndim, shape);
    if (owned) {
        TPY_RUN(status, tn_nbytes(&src), tn_scan(op, &made, &src, axis));
        if (status != TN_OK) {
            Py_CLEAR(owned);
            tpy_raise(status);
        }
    }
    Py_XDECREF(cast);
    return owned;
}

static PyObject *f_diff(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    int axis;
    tn_tensor src, made;
    if (!PyArg_ParseTuple(args, "O!i:diff", tpy_Tensor, &x, &axis))
        return NULL;
    tpy_widen(&src, x);
    int64_t shape[TN_MAX_NDIM];
    memcpy(shape, src.shape, sizeof *shape * (size_t)src.ndim);
    shape[axis] -= shape[axis] > 0;
    PyObject *owned = tpy_empty(&made, src.dtype, src.ndim, shape);
    if (!owned)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src), tn_diff(&made, &src, axis));
    if (status == TN_OK)
        return owned;
    Py_DECREF(owned);
    return tpy_raise(status);
}

/* _vecdot(a, b, axis): axis is negative, the same in both. */
static PyObject *f_vecdot(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *y;
    int axis, ndim;
    int64_t shape[TN_MAX_NDIM];
    tn_tensor a, b, wide, made;
    tn_dtype dtype = TN_F32;
    if (!PyArg_ParseTuple(args, "O!O!i:vecdot", tpy_Tensor, &x, tpy_Tensor, &y, &axis))
        return NULL;
    tpy_widen(&a, x);
    tpy_widen(&b, y);
    tn_status status = tn_broadcast_shape(2, (const tn_tensor *[]){&a, &b}, &ndim, shape);
    if (status == TN_OK)
        status = tn_init(&wide, NULL, a.dtype, ndim, shape);
    axis += ndim;
    if (status == TN_OK)
        status = tn_reduction_result(TN_REDUCE_SUM, a.dtype, &dtype);
    if (status == TN_OK)
        status = tn_reduce_shape(&wide, 1, &axis, false, &ndim, shape);
    if (status != TN_OK)
        return tpy_raise(status);
    if (tpy_kind(dtype) == 'i' || tpy_kind(dtype) == 'u')
        dtype = a.dtype; /* the dtype is kept, as in matmul */
    PyObject *owned = tpy_empty(&made, dtype, ndim, shape);
    if (!owned)
        return NULL;
    TPY_RUN(status, tn_nbytes(&a) + tn_nbytes(&b), tn_dot(&made, &a, &b, 1, &axis));
    if (status == TN_OK)
        return owned;
    Py_DECREF(owned);
    return tpy_raise(status);
}

/* ---- rows ---- */

/* _softmax(kind, x, axis, out) */
static PyObject *f_softmax(PyObject *self, PyObject *args)
{
    (void)self;
    const char *kind;
    PyObject *x, *out, *owned;
    int axis;
    tn_tensor src;
    tpy_operand dst;
    if (!PyArg_ParseTuple(args, "sO!iO:softmax", &kind, tpy_Tensor, &x, &axis, &out))
        return NULL;
    tpy_widen(&src, x);
    if (tpy_result(&dst, &owned, out, src.dtype, src.ndim, src.shape) < 0)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src),
            *kind == 's'   ? tn_softmax(&dst.t, &src, axis)
            : *kind == 'l' ? tn_log_softmax(&dst.t, &src, axis)
                           : tn_causal_softmax(&dst.t, &src));
    return tpy_finish(status, &dst, owned);
}

/* _norm(x, weight, bias, eps, layer, out) */
static PyObject *f_norm(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *weight, *bias, *out, *owned;
    double eps;
    int layer;
    tn_tensor src, w, b;
    tpy_operand dst;
    if (!PyArg_ParseTuple(args, "O!OOdpO:norm", tpy_Tensor, &x, &weight, &bias, &eps, &layer,
                          &out))
        return NULL;
    tpy_widen(&src, x);
    if (weight != Py_None)
        tpy_widen(&w, weight);
    if (bias != Py_None)
        tpy_widen(&b, bias);
    const tn_tensor *pw = weight == Py_None ? NULL : &w, *pb = bias == Py_None ? NULL : &b;
    if (tpy_result(&dst, &owned, out, src.dtype, src.ndim, src.shape) < 0)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src),
            layer ? tn_layer_norm(&dst.t, &src, pw, pb, eps)
                  : tn_rms_norm(&dst.t, &src, pw, eps));
    return tpy_finish(status, &dst, owned);
}

PyMethodDef tpy_scan_functions[] = {
    {"_pattern_reduce", f_pattern_reduce, METH_VARARGS, NULL},
    {"_scan", f_scan, METH_VARARGS, NULL},
    {"_diff", f_diff, METH_VARARGS, NULL},
    {"_vecdot", f_vecdot, METH_VARARGS, NULL},
    {"_softmax", f_softmax, METH_VARARGS, NULL},
    {"_norm", f_norm, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
