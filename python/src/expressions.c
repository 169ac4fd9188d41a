/* expressions.c - texts evaluated in one pass, and plans of them. */
#include <string.h>

#include "core.h"

typedef struct named {
    int n;
    const char *text;
    const char *names[TN_EXPR_NAMES];
    const tn_tensor *at[TN_EXPR_NAMES];
    tn_tensor t[TN_EXPR_NAMES];
} named;

/* Two lists of one length: names and Tensors. */
static int named_take(named *s, PyObject *names, PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    if (n > TN_EXPR_NAMES || PyList_Size(names) != n) {
        PyErr_Format(PyExc_ValueError, "eval: %zd tensors, expected at most %d", n,
                     TN_EXPR_NAMES);
        return -1;
    }
    s->n = (int)n;
    for (int k = 0; k < s->n; k++) {
        s->names[k] = PyUnicode_AsUTF8AndSize(PyList_GetItem(names, k), NULL);
        if (!s->names[k])
            return -1;
        tpy_widen(&s->t[k], PyList_GetItem(list, k));
        s->at[k] = &s->t[k];
    }
    return 0;
}

static int64_t bytes_of(const named *s)
{
    int64_t bytes = 0;
    for (int k = 0; k < s->n; k++)
        bytes += tn_nbytes(s->at[k]);
    return bytes;
}

/* _eval(text, names, tensors, out) */
static PyObject *f_eval(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *names, *list, *out;
    named s;
    tn_tensor made;
    tn_status status;
    if (!PyArg_ParseTuple(args, "sO!O!O:eval", &s.text, &PyList_Type, &names, &PyList_Type,
                          &list, &out) ||
        named_take(&s, names, list) < 0)
        return NULL;
    if (out == Py_None) {
        TPY_RUN(status, bytes_of(&s), tn_eval_copy(&made, s.text, s.n, s.names, s.at));
        return status == TN_OK ? tpy_adopt(&made) : tpy_raise(status);
    }
    tpy_operand dst;
    if (tpy_take_out(&dst, out) < 0)
        return NULL;
    TPY_RUN(status, bytes_of(&s), tn_eval(&dst.t, s.text, s.n, s.names, s.at));
    if (status == TN_EOVERLAP) {
        status = tn_alloc(&made, dst.t.dtype, dst.t.ndim, dst.t.shape);
        if (status == TN_OK) {
            TPY_RUN(status, bytes_of(&s), tn_eval(&made, s.text, s.n, s.names, s.at));
            if (status == TN_OK)
                status = tn_rearrange(&dst.t, &made);
            tn_free(&made);
        }
    }
    tpy_drop(&dst);
    return status == TN_OK ? Py_NewRef(out) : tpy_raise(status);
}

/* The sources of a plan, in the order of the text. */
static tn_status in_order(const tn_expr *e, const named *s, const tn_tensor **srcs, int *n)
{
    *n = tn_expr_count(e);
    for (int i = 0; i < *n; i++) {
        srcs[i] = NULL;
        for (int k = 0; k < s->n; k++)
            if (strcmp(s->names[k], tn_expr_name(e, i)) == 0)
                srcs[i] = s->at[k];
        if (!srcs[i])
            return TN_EARG;
    }
    return TN_OK;
}

/* _plan_expr(text, names, tensors, out); _expr_names(text) gives the order of its sources. */
static PyObject *f_plan_expr(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *names, *list, *out, *result = NULL;
    named s;
    tn_expr *e = NULL;
    tn_plan *plan;
    tn_tensor dst;
    tn_dtype dtype;
    int n, ndim;
    int64_t shape[TN_MAX_NDIM];
    const tn_tensor *srcs[TN_EXPR_NAMES];
    if (!PyArg_ParseTuple(args, "sO!O!O:plan", &s.text, &PyList_Type, &names, &PyList_Type,
                          &list, &out) ||
        named_take(&s, names, list) < 0)
        return NULL;
    tn_status status = tn_expr_parse(&e, s.text);
    if (status != TN_OK)
        return tpy_raise(status);
    if (in_order(e, &s, srcs, &n) != TN_OK) {
        PyErr_SetString(PyExc_ValueError, "plan: the text names a tensor that was not given");
    } else {
        status = tn_expr_result(e, n, srcs, &dtype, &ndim, shape);
        if (status != TN_OK) {
            tpy_raise(status);
        } else if (tpy_plan_destination(&dst, out, dtype, ndim, shape) == 0) {
            status = tn_plan_expr(&plan, e, &dst, n, srcs);
            result = status == TN_OK ? tpy_plan_wrap(plan, &dst, n, srcs) : tpy_raise(status);
        }
    }
    tn_expr_free(e);
    return result;
}

static PyObject *f_expr_names(PyObject *self, PyObject *o)
{
    (void)self;
    const char *text = PyUnicode_AsUTF8AndSize(o, NULL);
    tn_expr *e;
    if (!text)
        return NULL;
    tn_status status = tn_expr_parse(&e, text);
    if (status != TN_OK)
        return tpy_raise(status);
    PyObject *list = PyList_New(tn_expr_count(e));
    for (int i = 0; list && i < tn_expr_count(e); i++) {
        PyObject *name = PyUnicode_FromString(tn_expr_name(e, i));
        if (!name || PyList_SetItem(list, i, name) < 0)
            Py_CLEAR(list);
    }
    tn_expr_free(e);
    return list;
}

PyMethodDef tpy_expr_functions[] = {
    {"_eval", f_eval, METH_VARARGS, NULL},
    {"_plan_expr", f_plan_expr, METH_VARARGS, NULL},
    {"_expr_names", f_expr_names, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
