/* products.c - matmul and einsum. */
#include <string.h>

#include "core.h"

/* Compute into out, through a temporary where it shares memory with a source. */
static PyObject *into(PyObject *out, tn_dtype dtype, int ndim, const int64_t *shape,
                      tn_status (*call)(const tn_tensor *, const void *), const void *job,
                      int64_t bytes)
{
    tn_tensor made;
    tn_status status;
    if (out == Py_None) {
        PyObject *owned = tpy_empty(&made, dtype, ndim, shape);
        if (!owned)
            return NULL;
        TPY_RUN(status, bytes, call(&made, job));
        if (status == TN_OK)
            return owned;
        Py_DECREF(owned);
        return tpy_raise(status);
    }
    tpy_operand dst;
    if (tpy_take_out(&dst, out) < 0)
        return NULL;
    TPY_RUN(status, bytes, call(&dst.t, job));
    if (status == TN_EOVERLAP) {
        status = tn_alloc(&made, dst.t.dtype, dst.t.ndim, dst.t.shape);
        if (status == TN_OK) {
            TPY_RUN(status, bytes, call(&made, job));
            if (status == TN_OK)
                status = tn_rearrange(&dst.t, &made);
            tn_free(&made);
        }
    }
    tpy_drop(&dst);
    return status == TN_OK ? Py_NewRef(out) : tpy_raise(status);
}

typedef struct sources {
    const char *text;
    int n;
    const tn_tensor *at[TN_EINSUM_SOURCES];
    tn_tensor t[TN_EINSUM_SOURCES];
} sources;

static tn_status run_matmul(const tn_tensor *dst, const void *job)
{
    const sources *s = job;
    return tn_matmul(dst, s->at[0], s->at[1]);
}

static tn_status run_einsum(const tn_tensor *dst, const void *job)
{
    const sources *s = job;
    return tn_einsum(dst, s->text, s->n, s->at);
}

/* The dtype that the sources promote to, and their bytes. */
static tn_status promote_sources(const sources *s, tn_dtype *dtype, int64_t *bytes)
{
    tn_status status = TN_OK;
    *bytes = 0;
    for (int k = 0; k < s->n && status == TN_OK; k++) {
        *bytes += tn_nbytes(s->at[k]);
        if (k == 0)
            *dtype = s->at[0]->dtype;
        else
            status = tn_promote(dtype, *dtype, s->at[k]->dtype);
    }
    return status;
}

static PyObject *f_matmul(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    sources s;
    int ndim;
    int64_t shape[TN_MAX_NDIM], bytes;
    tn_dtype dtype = TN_F32;
    if (n != 3 || !tpy_is_tensor(args[0]) || !tpy_is_tensor(args[1]))
        return PyErr_Format(PyExc_TypeError, "matmul takes two tensors");
    s.n = 2;
    for (int k = 0; k < 2; k++) {
        tpy_widen(&s.t[k], args[k]);
        s.at[k] = &s.t[k];
    }
    tn_status status = promote_sources(&s, &dtype, &bytes);
    if (status == TN_OK)
        status = tn_matmul_shape(s.at[0], s.at[1], &ndim, shape);
    if (status != TN_OK)
        return tpy_raise(status);
    return into(args[2], dtype, ndim, shape, run_matmul, &s, bytes);
}

static PyObject *f_einsum(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *list, *out;
    sources s;
    int ndim;
    int64_t shape[TN_MAX_NDIM], bytes;
    tn_dtype dtype = TN_F32;
    if (!PyArg_ParseTuple(args, "sO!O:einsum", &s.text, &PyList_Type, &list, &out))
        return NULL;
    Py_ssize_t n = PyList_Size(list);
    if (n < 1 || n > TN_EINSUM_SOURCES)
        return PyErr_Format(PyExc_ValueError, "einsum: %zd arrays, expected 1 to %d", n,
                            TN_EINSUM_SOURCES);
    s.n = (int)n;
    for (int k = 0; k < s.n; k++) {
        tpy_widen(&s.t[k], PyList_GetItem(list, k));
        s.at[k] = &s.t[k];
    }
    tn_status status = promote_sources(&s, &dtype, &bytes);
    if (status == TN_OK)
        status = tn_einsum_shape(s.text, s.n, s.at, &ndim, shape);
    if (status != TN_OK)
        return tpy_raise(status);
    return into(out, dtype, ndim, shape, run_einsum, &s, bytes);
}

PyMethodDef tpy_product_functions[] = {
    {"_matmul", (PyCFunction)(void (*)(void))f_matmul, METH_FASTCALL, NULL},
    {"_einsum", f_einsum, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
