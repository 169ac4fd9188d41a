/* plans.c - tenon.Plan: the same operation repeated on other data.
 *
 * A plan stores the shapes, strides and dtypes that it was made for; the arrays of a run must
 * match. */
#include <string.h>

#include "core.h"

PyTypeObject *tpy_Plan;

enum { MOST_SOURCES = 16 };

typedef struct plan_object {
    PyObject_HEAD tn_plan *plan;
    int nsrc;
    tn_tensor *operands; /* dst, then the sources, without data */
} plan_object;

static plan_object *plan_of(PyObject *o)
{
    return (plan_object *)o;
}

static void plan_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    tn_plan_free(plan_of(self)->plan);
    PyMem_Free(plan_of(self)->operands);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Takes ownership of plan, even on failure. */
PyObject *tpy_plan_wrap(tn_plan *plan, const tn_tensor *dst, int n,
                        const tn_tensor *const *srcs)
{
    plan_object *o = PyObject_New(plan_object, tpy_Plan);
    tn_tensor *kept = PyMem_Malloc(sizeof *kept * (size_t)(n + 1));
    if (!o || !kept) {
        tn_plan_free(plan);
        PyMem_Free(kept);
        if (o) {
            o->plan = NULL;
            o->operands = NULL;
            Py_DECREF(o);
        }
        return PyErr_NoMemory();
    }
    kept[0] = *dst;
    for (int k = 0; k < n; k++)
        kept[k + 1] = *srcs[k];
    o->plan = plan;
    o->nsrc = n;
    o->operands = kept;
    return (PyObject *)o;
}

/* A dense destination if none is given. */
int tpy_plan_destination(tn_tensor *dst, PyObject *out, tn_dtype dtype, int ndim,
                         const int64_t *shape)
{
    if (out != Py_None) {
        if (!tpy_is_tensor(out)) {
            PyErr_SetString(PyExc_TypeError, "plan: out is not a Tensor");
            return -1;
        }
        tpy_widen(dst, out);
        return 0;
    }
    tn_status status = tn_init(dst, NULL, dtype, ndim, shape);
    if (status != TN_OK)
        tpy_raise(status);
    return status == TN_OK ? 0 : -1;
}

/* plan_op(name, params, [Tensor], out) */
static PyObject *f_plan_op(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    PyObject *params_given, *list, *out;
    tn_op op;
    if (!PyArg_ParseTuple(args, "sOO!O:plan_op", &name, &params_given, &PyList_Type, &list,
                          &out))
        return NULL;
    tn_status status = tn_op_parse(&op, name);
    if (status != TN_OK)
        return tpy_raise(status);
    int n = (int)PyList_Size(list);
    if (n != tn_op_arity(op))
        return PyErr_Format(PyExc_TypeError, "plan: %s takes %d tensors, got %d", name,
                            tn_op_arity(op), n);
    tn_tensor t[3], dst;
    const tn_tensor *srcs[3];
    tn_dtype in[3] = {TN_F32, TN_F32, TN_F32}, dtype = TN_F32;
    for (int k = 0; k < n; k++) {
        tpy_widen(&t[k], PyList_GetItem(list, k));
        srcs[k] = &t[k];
        in[k] = t[k].dtype;
    }
    double params[2] = {0, 0};
    bool have = params_given != Py_None;
    if (have && !PyArg_ParseTuple(params_given, "d|d", &params[0], &params[1]))
        return NULL;
    status = tn_op_result(op, in, n, &dtype);
    int ndim = 0;
    int64_t shape[TN_MAX_NDIM];
    if (status == TN_OK)
        status = tn_broadcast_shape(n, srcs, &ndim, shape);
    if (status != TN_OK)
        return tpy_raise(status);
    if (tpy_plan_destination(&dst, out, dtype, ndim, shape) < 0)
        return NULL;
    tn_plan *plan;
    status = tn_plan_op(&plan, op, have ? params : NULL, &dst, n, srcs);
    return status == TN_OK ? tpy_plan_wrap(plan, &dst, n, srcs) : tpy_raise(status);
}

/* plan_copy(view, out): the elements of a view in a dense tensor or out. */
static PyObject *f_plan_copy(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *out;
    tn_tensor s, dst;
    if (!PyArg_ParseTuple(args, "O!O:plan_copy", tpy_Tensor, &x, &out))
        return NULL;
    tpy_widen(&s, x);
    if (tpy_plan_destination(&dst, out, s.dtype, s.ndim, s.shape) < 0)
        return NULL;
    tn_plan *plan;
    tn_status status = dst.dtype == s.dtype ? tn_plan_rearrange(&plan, &dst, &s)
                                            : tn_plan_cast(&plan, &dst, &s);
    return status == TN_OK ? tpy_plan_wrap(plan, &dst, 1, (const tn_tensor *[]){&s})
                           : tpy_raise(status);
}

static PyObject *f_plan_cast(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *given, *out;
    tn_dtype dtype;
    tn_tensor s, dst;
    if (!PyArg_ParseTuple(args, "O!OO:plan_cast", tpy_Tensor, &x, &given, &out) ||
        tpy_dtype_from(&dtype, given) < 0)
        return NULL;
    tpy_widen(&s, x);
    if (tpy_plan_destination(&dst, out, dtype, s.ndim, s.shape) < 0)
        return NULL;
    tn_plan *plan;
    tn_status status = tn_plan_cast(&plan, &dst, &s);
    return status == TN_OK ? tpy_plan_wrap(plan, &dst, 1, (const tn_tensor *[]){&s})
                           : tpy_raise(status);
}

static PyObject *f_plan_pad(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *before, *after, *value, *out;
    int mode;
    int64_t b[TN_MAX_NDIM], a[TN_MAX_NDIM], shape[TN_MAX_NDIM];
    uint64_t scratch[2];
    tn_tensor s, dst;
    if (!PyArg_ParseTuple(args, "O!OOiOO:plan_pad", tpy_Tensor, &x, &before, &after, &mode,
                          &value, &out))
        return NULL;
    tpy_widen(&s, x);
    if (tpy_shape_from(before, b, "pad") != s.ndim || tpy_shape_from(after, a, "pad") != s.ndim)
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_ValueError, "pad: a width for each axis");
    if (tpy_number(scratch, s.dtype, value) < 0)
        return NULL;
    for (int i = 0; i < s.ndim; i++)
        shape[i] = b[i] + s.shape[i] + a[i];
    if (tpy_plan_destination(&dst, out, s.dtype, s.ndim, shape) < 0)
        return NULL;
    tn_plan *plan;
    tn_status status = tn_plan_pad(&plan, &dst, &s, b, a, (tn_pad_mode)mode, scratch);
    return status == TN_OK ? tpy_plan_wrap(plan, &dst, 1, (const tn_tensor *[]){&s})
                           : tpy_raise(status);
}

/* ---- running ---- */

/* An operand of a run must have the shape, strides and dtype of the planned one. */
static int agrees(const tn_tensor *got, const tn_tensor *want, const char *who)
{
    bool same = got->dtype == want->dtype && got->ndim == want->ndim;
    for (int i = 0; same && i < want->ndim; i++)
        same = got->shape[i] == want->shape[i] &&
               (want->shape[i] <= 1 || got->stride[i] == want->stride[i]);
    if (same)
        return 0;
    PyObject *a = tpy_shape_tuple(got->ndim, got->shape);
    PyObject *b = tpy_shape_tuple(want->ndim, want->shape);
    if (a && b)
        PyErr_Format(PyExc_ValueError,
                     "run: %s is %s %R, the plan was made for %s %R and its strides", who,
                     tpy_long_name(got->dtype), a, tpy_long_name(want->dtype), b);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return -1;
}

static PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    plan_object *p = plan_of(self);
    PyObject *out = Py_None, *result = NULL;
    if (names && PyTuple_Size(names) > 0) {
        if (!tpy_keyword(names, 0, "out")) {
            tpy_unknown_keyword("run", names, 0);
            return NULL;
        }
        out = args[n];
    }
    if (n != p->nsrc)
        return PyErr_Format(PyExc_TypeError, "run() takes %d arrays, got %zd", p->nsrc, n);
    tpy_operand *ops = PyMem_Malloc(sizeof *ops * (size_t)(n + 1));
    if (!ops)
        return PyErr_NoMemory();
    const void *data[MOST_SOURCES + 1];
    Py_ssize_t taken = 0;
    for (; taken < n; taken++) {
        if (tpy_take(&ops[taken], args[taken], false) < 0)
            goto done;
        data[taken] = ops[taken].t.data;
        if (agrees(&ops[taken].t, &p->operands[taken + 1], "a source") < 0) {
            taken++;
            goto done;
        }
    }
    tn_status status;
    int64_t bytes = tn_nbytes(&p->operands[0]) * 2;
    if (out == Py_None) {
        tn_tensor made;
        if (!tn_is_contiguous(&p->operands[0])) {
            PyErr_SetString(PyExc_ValueError, "run: the plan was made for an out of its own "
                                              "strides, give one");
            goto done;
        }
        result =
            tpy_empty(&made, p->operands[0].dtype, p->operands[0].ndim, p->operands[0].shape);
        if (!result)
            goto done;
        TPY_RUN(status, bytes, tn_plan_run(p->plan, made.data, data));
        if (status != TN_OK)
            Py_CLEAR(result);
    } else {
        tpy_operand dst;
        if (tpy_take_out(&dst, out) < 0)
            goto done;
        int fits = agrees(&dst.t, &p->operands[0], "out");
        status = TN_OK;
        if (fits == 0)
            TPY_RUN(status, bytes, tn_plan_run(p->plan, dst.t.data, data));
        tpy_drop(&dst);
        if (fits == 0 && status == TN_OK)
            result = Py_NewRef(out);
    }
    if (!result && !PyErr_Occurred())
        tpy_raise(status);
done:
    for (Py_ssize_t k = 0; k < taken; k++)
        tpy_drop(&ops[k]);
    PyMem_Free(ops);
    return result;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *f = PyObject_GetAttrString(self, "run");
    PyObject *r = f ? PyObject_Call(f, args, kwargs) : NULL;
    Py_XDECREF(f);
    return r;
}

static PyObject *explain(PyObject *self, PyObject *unused)
{
    (void)unused;
    char text[8192];
    tn_status status = tn_plan_explain(plan_of(self)->plan, text, sizeof text);
    return status == TN_OK ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                           : tpy_raise(status);
}

static PyObject *get_read(PyObject *self, void *unused)
{
    (void)unused;
    int64_t n = 0;
    for (int k = 0; k < plan_of(self)->nsrc; k++)
        n += tn_nbytes(&plan_of(self)->operands[k + 1]);
    return PyLong_FromLongLong(n);
}

static PyObject *get_written(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(tn_nbytes(&plan_of(self)->operands[0]));
}

static PyObject *get_kind(PyObject *self, void *unused)
{
    (void)unused;
    char text[256];
    tn_status status = tn_plan_explain(plan_of(self)->plan, text, sizeof text);
    return status == TN_OK ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)strcspn(text, " "))
                           : tpy_raise(status);
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    const tn_tensor *dst = &plan_of(self)->operands[0];
    return tpy_shape_tuple(dst->ndim, dst->shape);
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return tpy_dtype_object(plan_of(self)->operands[0].dtype);
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL | METH_KEYWORDS,
     "run($self, /, *arrays, out=None)\n--\n\nDo the work on arrays of the planned shapes, "
     "strides and dtypes."},
    {"explain", explain, METH_NOARGS,
     "explain($self, /)\n--\n\nWhat was chosen, and why, as text."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"nbytes_read", get_read, NULL, "Bytes of the sources.", NULL},
    {"nbytes_written", get_written, NULL, "Bytes of the result.", NULL},
    {"kind", get_kind, NULL, "What kind of work it is, the first word of explain().", NULL},
    {"shape", get_shape, NULL, "The shape of the result.", NULL},
    {"dtype", get_dtype, NULL, "The dtype of the result.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef functions[] = {
    {"_plan_op", f_plan_op, METH_VARARGS, NULL},
    {"_plan_copy", f_plan_copy, METH_VARARGS, NULL},
    {"_plan_cast", f_plan_cast, METH_VARARGS, NULL},
    {"_plan_pad", f_plan_pad, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Work that is planned once and runs on other data; many threads may run one."},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_call, call},
    {0, NULL},
};
static PyType_Spec spec = {
    .name = "tenon.Plan",
    .basicsize = sizeof(plan_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int tpy_plans_ready(PyObject *module)
{
    tpy_Plan = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!tpy_Plan || PyModule_AddObjectRef(module, "Plan", (PyObject *)tpy_Plan) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
