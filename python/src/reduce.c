/* reduce.c - reductions; the Python side passes the name of the op and non-negative axes. */
#include <string.h>

#include "core.h"

#define FAST(name) (PyCFunction)(void (*)(void)) name

/* The given out, or a new tensor of shape; owned is the object that the call returns. */
int tpy_result(tpy_operand *dst, PyObject **owned, PyObject *out, tn_dtype dtype, int ndim,
               const int64_t *shape)
{
    if (out != Py_None) {
        if (tpy_take_out(dst, out) < 0)
            return -1;
        *owned = Py_NewRef(out);
        return 0;
    }
    dst->held = NULL;
    dst->exported = false;
    *owned = tpy_empty(&dst->t, dtype, ndim, shape);
    return *owned ? 0 : -1;
}

PyObject *tpy_finish(tn_status status, tpy_operand *dst, PyObject *owned)
{
    tpy_drop(dst);
    if (status == TN_OK)
        return owned;
    Py_DECREF(owned);
    return tpy_raise(status);
}

/* None: every axis; otherwise a tuple of axes, non-negative by now. */
static int axes_from(PyObject *o, int *axes)
{
    int64_t given[TN_MAX_NDIM];
    if (o == Py_None)
        return TN_ALL_AXES;
    int n = tpy_shape_from(o, given, "axis");
    for (int i = 0; i < n; i++)
        axes[i] = (int)given[i];
    return n < 0 ? -2 : n;
}

static PyObject *reduced(tn_reduction op, const double *params, const tn_tensor *src, int naxes,
                         const int *axes, bool keep, tn_dtype dtype, PyObject *out)
{
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    tpy_operand dst;
    PyObject *owned;
    tn_status status = tn_reduce_shape(src, naxes, axes, keep, &ndim, shape);
    if (status != TN_OK)
        return tpy_raise(status);
    if (tpy_result(&dst, &owned, out, dtype, ndim, shape) < 0)
        return NULL;
    TPY_RUN(status, tn_nbytes(src), tn_reduce(op, params, &dst.t, src, naxes, axes));
    return tpy_finish(status, &dst, owned);
}

/* True if the library itself can reduce src into this dtype. */
bool tpy_reduces_into(tn_reduction op, tn_dtype natural, tn_dtype wanted)
{
    bool integer_sum = (op == TN_REDUCE_SUM || op == TN_REDUCE_PROD) &&
                       (natural == TN_I64 || natural == TN_U64) &&
                       (tpy_kind(wanted) == 'i' || tpy_kind(wanted) == 'u');
    bool wider = tpy_kind(natural) == 'f' && (wanted == TN_F32 || wanted == TN_F64) &&
                 tn_dtype_size(wanted) > tn_dtype_size(natural);
    return natural == wanted || integer_sum || wider;
}

/* _reduce(name, x, axes, keepdims, dtype, out, param) */
static PyObject *f_reduce(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    tn_reduction op;
    int axes[TN_MAX_NDIM];
    tn_dtype dtype = TN_F32, wanted;
    tn_tensor src;
    const char *name = n == 7 ? PyUnicode_AsUTF8AndSize(args[0], NULL) : NULL;
    if (!name || !tpy_is_tensor(args[1]))
        return PyErr_Format(PyExc_TypeError, "_reduce takes a name and a tensor");
    tn_status status = tn_reduction_parse(&op, name);
    int naxes = axes_from(args[2], axes);
    if (status != TN_OK || naxes == -2)
        return status != TN_OK ? tpy_raise(status) : NULL;
    double param = 0;
    bool have = args[6] != Py_None;
    if (have && (param = PyFloat_AsDouble(args[6])) == -1 && PyErr_Occurred())
        return NULL;
    tpy_widen(&src, args[1]);
    status = tn_reduction_result(op, src.dtype, &dtype);
    if (status != TN_OK)
        return tpy_raise(status);
    int keep = PyObject_IsTrue(args[3]);
    if (keep < 0)
        return NULL;
    if (args[4] == Py_None)
        return reduced(op, have ? &param : NULL, &src, naxes, axes, keep, dtype, args[5]);
    if (tpy_dtype_from(&wanted, args[4]) < 0)
        return NULL;
    if (tpy_reduces_into(op, dtype, wanted))
        return reduced(op, have ? &param : NULL, &src, naxes, axes, keep, wanted, args[5]);
    PyObject *cast = tpy_cast(args[1], wanted), *made = NULL; /* elements are converted first */
    if (cast) {
        tpy_widen(&src, cast);
        status = tn_reduction_result(op, wanted, &dtype);
        if (status != TN_OK)
            tpy_raise(status);
        else
            made = reduced(op, have ? &param : NULL, &src, naxes, axes, keep, dtype, args[5]);
        Py_DECREF(cast);
    }
    if (made && args[5] == Py_None && tensor_of(made)->dtype != wanted) {
        PyObject *last = tpy_cast(made, wanted);
        Py_DECREF(made);
        return last;
    }
    return made;
}

PyMethodDef tpy_reduce_functions[] = {
    {"_reduce", (PyCFunction)(void (*)(void))f_reduce, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
