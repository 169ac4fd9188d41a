/* choose.c - selection by data: take, put, masks, sorting, sets. */
#include <string.h>

#include "core.h"

/* A failing index is an IndexError, with the library's sentence. */
static PyObject *raise_index(tn_status status)
{
    return status == TN_EARG ? tpy_raise_index("%s", tn_error()) : tpy_raise(status);
}

static PyObject *give(tn_status status, PyObject *owned)
{
    if (status == TN_OK)
        return owned;
    Py_DECREF(owned);
    return raise_index(status);
}

/* _take(x, axis, index) */
static PyObject *f_take(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *y;
    int axis, ndim = 0;
    int64_t shape[2 * TN_MAX_NDIM];
    tn_tensor src, index, made;
    if (!PyArg_ParseTuple(args, "O!iO!:take", tpy_Tensor, &x, &axis, tpy_Tensor, &y))
        return NULL;
    tpy_widen(&src, x);
    tpy_widen(&index, y);
    for (int i = 0; i < axis; i++)
        shape[ndim++] = src.shape[i];
    for (int i = 0; i < index.ndim; i++)
        shape[ndim++] = index.shape[i];
    for (int i = axis + 1; i < src.ndim; i++)
        shape[ndim++] = src.shape[i];
    PyObject *owned = tpy_empty(&made, src.dtype, ndim, shape);
    if (!owned)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&made), tn_take(&made, &src, axis, &index));
    return give(status, owned);
}

/* _take_along(x, axis, index) */
static PyObject *f_take_along(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *y;
    int axis;
    tn_tensor src, index, made;
    int64_t shape[TN_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "O!iO!:take_along_axis", tpy_Tensor, &x, &axis, tpy_Tensor, &y))
        return NULL;
    tpy_widen(&src, x);
    tpy_widen(&index, y);
    for (int i = 0; i < src.ndim; i++)
        shape[i] = i == axis ? index.shape[i] : src.shape[i];
    PyObject *owned = tpy_empty(&made, src.dtype, src.ndim, shape);
    if (!owned)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&made), tn_take_along(&made, &src, axis, &index));
    return give(status, owned);
}

typedef tn_status (*put_fn)(tn_put_op, const tn_tensor *, int, const tn_tensor *,
                            const tn_tensor *);

/* _put(op, dst, axis, index, src) */
static PyObject *put(PyObject *args, put_fn call)
{
    PyObject *x, *y, *z;
    int op, axis;
    tn_tensor dst, index, src;
    if (!PyArg_ParseTuple(args, "iO!iO!O!:put", &op, tpy_Tensor, &x, &axis, tpy_Tensor, &y,
                          tpy_Tensor, &z))
        return NULL;
    tpy_widen(&dst, x);
    tpy_widen(&index, y);
    tpy_widen(&src, z);
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src), call((tn_put_op)op, &dst, axis, &index, &src));
    return give(status, Py_NewRef(x));
}

static PyObject *f_put(PyObject *self, PyObject *args)
{
    (void)self;
    return put(args, tn_put);
}

static PyObject *f_put_along(PyObject *self, PyObject *args)
{
    (void)self;
    return put(args, tn_put_along);
}

static PyObject *f_masked_select(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *y;
    tn_tensor src, mask, made;
    if (!PyArg_ParseTuple(args, "O!O!:masked_select", tpy_Tensor, &x, tpy_Tensor, &y))
        return NULL;
    tpy_widen(&src, x);
    tpy_widen(&mask, y);
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src), tn_masked_select_copy(&made, &src, &mask));
    return status == TN_OK ? tpy_adopt(&made) : tpy_raise(status);
}

static PyObject *f_masked_put(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *y, *z;
    tn_tensor dst, mask, src;
    if (!PyArg_ParseTuple(args, "O!O!O!:masked_put", tpy_Tensor, &x, tpy_Tensor, &y, tpy_Tensor,
                          &z))
        return NULL;
    tpy_widen(&dst, x);
    tpy_widen(&mask, y);
    tpy_widen(&src, z);
    tn_status status;
    TPY_RUN(status, tn_nbytes(&dst), tn_masked_put(&dst, &mask, &src));
    return status == TN_OK ? Py_NewRef(x) : tpy_raise(status);
}

static PyObject *f_nonzero(PyObject *self, PyObject *x)
{
    (void)self;
    tn_tensor src, made;
    if (!tpy_is_tensor(x))
        return PyErr_Format(PyExc_TypeError, "nonzero takes a tensor");
    tpy_widen(&src, x);
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src), tn_nonzero_copy(&made, &src));
    return status == TN_OK ? tpy_adopt(&made) : tpy_raise(status);
}

/* ---- order ---- */

/* _sort(x, axis, descending, values, indices, k): a pair, with None for a result that was not
 * requested. */
static PyObject *f_sort(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *values = NULL, *indices = NULL;
    int axis, descending, want_values, want_indices;
    long long k;
    tn_tensor src, v, i;
    int64_t shape[TN_MAX_NDIM];
    if (!PyArg_ParseTuple(args, "O!ipppL:sort", tpy_Tensor, &x, &axis, &descending,
                          &want_values, &want_indices, &k))
        return NULL;
    tpy_widen(&src, x);
    memcpy(shape, src.shape, sizeof *shape * (size_t)src.ndim);
    if (k >= 0)
        shape[axis] = k;
    if (want_values && !(values = tpy_empty(&v, src.dtype, src.ndim, shape)))
        return NULL;
    if (want_indices && !(indices = tpy_empty(&i, TN_I64, src.ndim, shape))) {
        Py_XDECREF(values);
        return NULL;
    }
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src),
            tn_sort(values ? &v : NULL, indices ? &i : NULL, &src, axis,
                    descending ? TN_DESCENDING : 0));
    if (!values)
        values = Py_NewRef(Py_None);
    if (!indices)
        indices = Py_NewRef(Py_None);
    if (status == TN_OK)
        return Py_BuildValue("(NN)", values, indices);
    Py_DECREF(values);
    Py_DECREF(indices);
    return tpy_raise(status);
}

static PyObject *f_searchsorted(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *y;
    int right;
    tn_tensor sorted, values, made;
    if (!PyArg_ParseTuple(args, "O!O!p:searchsorted", tpy_Tensor, &x, tpy_Tensor, &y, &right))
        return NULL;
    tpy_widen(&sorted, x);
    tpy_widen(&values, y);
    PyObject *owned = tpy_empty(&made, TN_I64, values.ndim, values.shape);
    if (!owned)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&values), tn_searchsorted(&made, &sorted, &values, right));
    return give(status, owned);
}

/* _unique(x, each): values, first index, inverse, counts. */
static PyObject *f_unique(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    int each;
    tn_tensor src, t[4];
    if (!PyArg_ParseTuple(args, "O!p:unique", tpy_Tensor, &x, &each))
        return NULL;
    tpy_widen(&src, x);
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src),
            each ? tn_unique_each_copy(&t[0], &t[1], &t[2], &t[3], &src)
                 : tn_unique_copy(&t[0], &t[1], &t[2], &t[3], &src));
    if (status != TN_OK)
        return tpy_raise(status);
    PyObject *made[4];
    for (int i = 0; i < 4; i++)
        made[i] = tpy_adopt(&t[i]);
    return Py_BuildValue("(NNNN)", made[0], made[1], made[2], made[3]);
}

static PyObject *f_bincount(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    long long n;
    tn_tensor src, made;
    if (!PyArg_ParseTuple(args, "O!L:bincount", tpy_Tensor, &x, &n))
        return NULL;
    tpy_widen(&src, x);
    PyObject *owned = tpy_empty(&made, TN_I64, 1, (int64_t[]){n});
    if (!owned)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src), tn_bincount(&made, &src));
    if (status == TN_OK)
        return owned;
    Py_DECREF(owned);
    return tpy_raise(status);
}

static PyObject *f_histogram(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    long long n;
    double low, high;
    tn_tensor src, made;
    if (!PyArg_ParseTuple(args, "O!Ldd:histogram", tpy_Tensor, &x, &n, &low, &high))
        return NULL;
    tpy_widen(&src, x);
    PyObject *owned = tpy_empty(&made, TN_I64, 1, (int64_t[]){n});
    if (!owned)
        return NULL;
    tn_status status;
    TPY_RUN(status, tn_nbytes(&src), tn_histogram(&made, &src, low, high));
    if (status == TN_OK)
        return owned;
    Py_DECREF(owned);
    return tpy_raise(status);
}

PyMethodDef tpy_choose_functions[] = {
    {"_take", f_take, METH_VARARGS, NULL},
    {"_take_along", f_take_along, METH_VARARGS, NULL},
    {"_put", f_put, METH_VARARGS, NULL},
    {"_put_along", f_put_along, METH_VARARGS, NULL},
    {"_masked_select", f_masked_select, METH_VARARGS, NULL},
    {"_masked_put", f_masked_put, METH_VARARGS, NULL},
    {"_nonzero", f_nonzero, METH_O, NULL},
    {"_sort", f_sort, METH_VARARGS, NULL},
    {"_searchsorted", f_searchsorted, METH_VARARGS, NULL},
    {"_unique", f_unique, METH_VARARGS, NULL},
    {"_bincount", f_bincount, METH_VARARGS, NULL},
    {"_histogram", f_histogram, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
