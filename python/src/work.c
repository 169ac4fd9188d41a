/* work.c - the calls that create, convert and copy elements, for the Python side: arguments are
 * checked there or by the library; results are new Tensors or the given out. */
#include <string.h>

#include "core.h"

/* ---- threads: a handle for each number, made once and kept ---- */

enum { MOST_THREADS = 1024 };

static tn_handle *handles[MOST_THREADS + 1];
static int all_threads; /* for every Python thread; 0 means the library's default */
static _Thread_local int own_threads, used_threads;

void tpy_use_threads(void)
{
    int want = own_threads ? own_threads : all_threads;
    if (want != used_threads && tn_handle_use(handles[want]) == TN_OK)
        used_threads = want;
}

static PyObject *f_set_threads(PyObject *self, PyObject *args)
{
    (void)self;
    int n, own;
    if (!PyArg_ParseTuple(args, "ii:set_num_threads", &n, &own))
        return NULL;
    if (n < 0 || n > MOST_THREADS)
        return PyErr_Format(PyExc_ValueError, "set_num_threads: %d threads, expected 1 to %d",
                            n, MOST_THREADS);
    if (n && !handles[n]) {
        tn_status status = tn_handle_create(&handles[n], TN_CPU, 0, &(tn_config){.threads = n});
        if (status != TN_OK)
            return tpy_raise(status);
    }
    PyObject *old = PyLong_FromLong(own ? own_threads : all_threads);
    *(own ? &own_threads : &all_threads) = n;
    return old;
}

static PyObject *f_get_threads(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(own_threads ? own_threads : all_threads);
}

/* ---- imports ---- */

static int only_cpu(const char *call, PyObject *device)
{
    if (device == Py_None ||
        (PyUnicode_Check(device) && PyUnicode_CompareWithASCIIString(device, "cpu") == 0))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: device %R, expected \"cpu\"", call, device);
    return -1;
}

static PyObject *f_asarray(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    (void)self;
    PyObject *given = Py_None, *device = Py_None, *copy = Py_None;
    if (n != 1)
        return PyErr_Format(PyExc_TypeError, "asarray() takes 1 positional argument, got %zd",
                            n);
    Py_ssize_t nk = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < nk; k++) {
        if (tpy_keyword(names, k, "dtype"))
            given = args[n + k];
        else if (tpy_keyword(names, k, "device"))
            device = args[n + k];
        else if (tpy_keyword(names, k, "copy"))
            copy = args[n + k];
        else {
            tpy_unknown_keyword("asarray", names, k);
            return NULL;
        }
    }
    if (only_cpu("asarray", device) < 0)
        return NULL;
    tn_dtype dtype = TN_F64;
    bool typed = given != Py_None;
    bool any = copy == Py_None;
    int want = any ? -1 : PyObject_IsTrue(copy);
    if ((!any && want < 0) || (typed && tpy_dtype_from(&dtype, given) < 0))
        return NULL;
    PyObject *o = args[0];
    if (tpy_is_number(o) || ((PyList_Check(o) || PyTuple_Check(o)))) {
        if (want == 0)
            return PyErr_Format(PyExc_ValueError, "asarray: Python numbers need a copy");
        return tpy_from_sequence(o, typed, dtype);
    }
    PyObject *t = tpy_as_tensor(o);
    if (!t)
        return NULL;
    bool same = !typed || tensor_of(t)->dtype == dtype;
    bool shared = t == o || tensor_of(t)->owner;
    if (!same || (want == 1 && shared) || (want == 0 && !shared)) {
        PyObject *made = NULL;
        if (want == 0)
            PyErr_Format(PyExc_ValueError, "asarray: copy=False, but a copy is needed");
        else
            made = tpy_cast(t, same ? tensor_of(t)->dtype : dtype);
        Py_DECREF(t);
        return made;
    }
    return t;
}

static PyObject *f_from_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *names)
{
    (void)self;
    PyObject *device = Py_None, *copy = Py_None;
    if (n != 1)
        return PyErr_Format(PyExc_TypeError,
                            "from_dlpack() takes 1 positional argument, got %zd", n);
    for (Py_ssize_t k = 0; names && k < PyTuple_Size(names); k++) {
        if (tpy_keyword(names, k, "device"))
            device = args[n + k];
        else if (tpy_keyword(names, k, "copy"))
            copy = args[n + k];
        else {
            tpy_unknown_keyword("from_dlpack", names, k);
            return NULL;
        }
    }
    if (only_cpu("from_dlpack", device) < 0)
        return NULL;
    PyObject *t = tpy_from_dlpack(args[0], copy);
    if (!t && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        if (PyObject_HasAttrString(args[0], "__dlpack__")) { /* its own failure */
            PyErr_Restore(type, value, trace);
            return NULL;
        }
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        PyErr_Format(PyExc_TypeError, "from_dlpack: %R has no __dlpack__",
                     (PyObject *)Py_TYPE(args[0]));
    }
    return t;
}

static PyObject *f_dtype(PyObject *self, PyObject *o)
{
    (void)self;
    tn_dtype dtype;
    return tpy_dtype_from(&dtype, o) < 0 ? NULL : tpy_dtype_object(dtype);
}

static PyObject *f_promote(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    tn_dtype dtype = TN_BOOL, next;
    for (Py_ssize_t k = 0; k < n; k++) {
        if (tpy_dtype_from(&next, args[k]) < 0)
            return NULL;
        tn_status status = k ? tn_promote(&dtype, dtype, next) : TN_OK;
        if (status != TN_OK)
            return tpy_raise(status);
        if (!k)
            dtype = next;
    }
    return tpy_dtype_object(dtype);
}

/* The dtype that a Python number gets together with another dtype. */
static PyObject *f_weak(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *number, *given;
    tn_dtype dtype;
    if (!PyArg_ParseTuple(args, "OO:weak", &number, &given) ||
        tpy_dtype_from(&dtype, given) < 0)
        return NULL;
    tpy_weak_dtype(&dtype, number, false, dtype);
    return tpy_dtype_object(dtype);
}

/* ---- creation ---- */

static PyObject *f_empty(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    int64_t shape[TN_MAX_NDIM];
    tn_dtype dtype;
    tn_tensor t;
    if (n != 2 || tpy_dtype_from(&dtype, args[1]) < 0)
        return NULL;
    int ndim = tpy_shape_from(args[0], shape, "empty");
    return ndim < 0 ? NULL : tpy_empty(&t, dtype, ndim, shape);
}

static PyObject *f_fill(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x, *value;
    if (!PyArg_ParseTuple(args, "O!O:fill", tpy_Tensor, &x, &value))
        return NULL;
    tn_tensor t;
    tpy_widen(&t, x);
    return tpy_assign(&t, value) < 0 ? NULL : Py_NewRef(x);
}

static PyObject *finish(tn_status status, PyObject *x)
{
    return status == TN_OK ? Py_NewRef(x) : tpy_raise(status);
}

static PyObject *f_arange(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    double start, step;
    tn_tensor t;
    tn_status status;
    if (!PyArg_ParseTuple(args, "O!dd:arange", tpy_Tensor, &x, &start, &step))
        return NULL;
    tpy_widen(&t, x);
    TPY_RUN(status, tn_nbytes(&t), tn_arange(&t, start, step));
    return finish(status, x);
}

static PyObject *f_randn(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    unsigned long long seed;
    tn_tensor t;
    tn_status status;
    if (!PyArg_ParseTuple(args, "O!K:randn", tpy_Tensor, &x, &seed))
        return NULL;
    tpy_widen(&t, x);
    TPY_RUN(status, tn_nbytes(&t), tn_randn(&t, seed));
    return finish(status, x);
}

static PyObject *f_randint(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    unsigned long long seed;
    long long low, high;
    tn_tensor t;
    tn_status status;
    if (!PyArg_ParseTuple(args, "O!KLL:randint", tpy_Tensor, &x, &seed, &low, &high))
        return NULL;
    tpy_widen(&t, x);
    TPY_RUN(status, tn_nbytes(&t), tn_randint(&t, seed, low, high));
    return finish(status, x);
}

/* ---- converting and copying ---- */

static PyObject *f_astype(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *given;
    int copy;
    tn_dtype dtype;
    if (!PyArg_ParseTuple(args, "OOp:astype", &o, &given, &copy) ||
        tpy_dtype_from(&dtype, given) < 0)
        return NULL;
    PyObject *x = tpy_as_tensor(o);
    if (!x)
        return NULL;
    PyObject *result =
        tensor_of(x)->dtype == dtype && !copy ? Py_NewRef(x) : tpy_cast(x, dtype);
    Py_DECREF(x);
    return result;
}

static PyObject *f_contiguous(PyObject *self, PyObject *o)
{
    (void)self;
    PyObject *x = tpy_as_tensor(o);
    PyObject *result = x ? tpy_dense(x) : NULL;
    Py_XDECREF(x);
    return result;
}

/* ---- several tensors ---- */

typedef struct many {
    int n;
    tn_tensor *t;
    const tn_tensor **at;
    PyObject *held; /* a list of the Tensors */
} many;

static void many_free(many *m)
{
    PyMem_Free(m->t);
    PyMem_Free(m->at);
    Py_XDECREF(m->held);
}

/* All of a sequence of Tensors. */
static int many_take(many *m, PyObject *list)
{
    Py_ssize_t n = PySequence_Size(list);
    *m = (many){0};
    if (n < 0)
        return -1;
    m->n = (int)n;
    m->held = PyList_New(n);
    m->t = PyMem_Malloc(sizeof *m->t * (size_t)(n ? n : 1));
    m->at = PyMem_Malloc(sizeof *m->at * (size_t)(n ? n : 1));
    if (!m->held || !m->t || !m->at) {
        PyErr_NoMemory();
        many_free(m);
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *o = PySequence_GetItem(list, k), *x = o ? tpy_as_tensor(o) : NULL;
        Py_XDECREF(o);
        if (!x || PyList_SetItem(m->held, k, x) < 0) {
            many_free(m);
            return -1;
        }
        tpy_widen(&m->t[k], x);
        m->at[k] = &m->t[k];
    }
    return 0;
}

typedef tn_status (*join_fn)(const tn_tensor *, int, int, const tn_tensor *const *);

static PyObject *join(PyObject *args, join_fn call)
{
    PyObject *dst, *list;
    int axis;
    many m;
    tn_tensor t;
    tn_status status;
    if (!PyArg_ParseTuple(args, "O!iO:join", tpy_Tensor, &dst, &axis, &list) ||
        many_take(&m, list) < 0)
        return NULL;
    tpy_widen(&t, dst);
    TPY_RUN(status, tn_nbytes(&t), call(&t, axis, m.n, m.at));
    many_free(&m);
    return finish(status, dst);
}

static PyObject *f_concat(PyObject *self, PyObject *args)
{
    (void)self;
    return join(args, tn_concat);
}

static PyObject *f_stack(PyObject *self, PyObject *args)
{
    (void)self;
    return join(args, tn_stack);
}

/* dst, src and a list of numbers: tile; dst, src, axis, number: repeat and roll. */
static PyObject *f_tile(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *dst, *src, *list;
    int64_t reps[TN_MAX_NDIM];
    tn_tensor d, s;
    tn_status status;
    if (!PyArg_ParseTuple(args, "O!O!O:tile", tpy_Tensor, &dst, tpy_Tensor, &src, &list) ||
        tpy_shape_from(list, reps, "tile") < 0)
        return NULL;
    tpy_widen(&d, dst);
    tpy_widen(&s, src);
    if (PySequence_Size(list) != s.ndim)
        return PyErr_Format(PyExc_ValueError, "tile: a number for each axis is needed");
    TPY_RUN(status, tn_nbytes(&d), tn_tile(&d, &s, reps));
    return finish(status, dst);
}

typedef tn_status (*along_fn)(const tn_tensor *, const tn_tensor *, int, int64_t);

static PyObject *along(PyObject *args, along_fn call)
{
    PyObject *dst, *src;
    int axis;
    long long number;
    tn_tensor d, s;
    tn_status status;
    if (!PyArg_ParseTuple(args, "O!O!iL:along", tpy_Tensor, &dst, tpy_Tensor, &src, &axis,
                          &number))
        return NULL;
    tpy_widen(&d, dst);
    tpy_widen(&s, src);
    TPY_RUN(status, tn_nbytes(&d), call(&d, &s, axis, number));
    return finish(status, dst);
}

static PyObject *f_repeat(PyObject *self, PyObject *args)
{
    (void)self;
    return along(args, tn_repeat);
}

static PyObject *f_roll(PyObject *self, PyObject *args)
{
    (void)self;
    return along(args, tn_roll);
}

/* pad(dst, src, before, after, mode, value) */
static PyObject *f_pad(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *dst, *src, *before, *after, *value;
    int mode;
    int64_t b[TN_MAX_NDIM], a[TN_MAX_NDIM];
    uint64_t scratch[2];
    tn_tensor d, s;
    tn_status status;
    if (!PyArg_ParseTuple(args, "O!O!OOiO:pad", tpy_Tensor, &dst, tpy_Tensor, &src, &before,
                          &after, &mode, &value))
        return NULL;
    tpy_widen(&d, dst);
    tpy_widen(&s, src);
    if (tpy_shape_from(before, b, "pad") != s.ndim || tpy_shape_from(after, a, "pad") != s.ndim)
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_ValueError, "pad: a width for each axis");
    if (tpy_number(scratch, s.dtype, value) < 0)
        return NULL;
    TPY_RUN(status, tn_nbytes(&d), tn_pad_into(&d, &s, b, a, (tn_pad_mode)mode, scratch));
    return finish(status, dst);
}

/* rearrange(x, pattern, sizes, out): a view if strides can express it, otherwise a copy in one
 * pass. */
static PyObject *f_pattern(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *out;
    const char *pattern, *sizes;
    tn_tensor v;
    if (!PyArg_ParseTuple(args, "OssO:rearrange", &o, &pattern, &sizes, &out))
        return NULL;
    PyObject *x = tpy_as_tensor(o), *result = NULL;
    if (!x)
        return NULL;
    tn_tensor t;
    tpy_widen(&t, x);
    tn_status status;
    if (out != Py_None) {
        tpy_operand dst;
        if (tpy_take_out(&dst, out) == 0) {
            TPY_RUN(status, tn_nbytes(&dst.t), tn_pattern_into(&dst.t, &t, pattern, sizes));
            if (status == TN_EOVERLAP) {
                tn_tensor made;
                status = tn_pattern_copy(&made, &t, pattern, sizes);
                if (status == TN_OK) {
                    status = tn_rearrange(&dst.t, &made);
                    tn_free(&made);
                }
            }
            tpy_drop(&dst);
            result = finish(status, out);
        }
    } else {
        status = tn_pattern_view(&v, &t, pattern, sizes);
        if (status == TN_OK) {
            result = tpy_view(&v, x);
        } else if (status == TN_ESTRIDE) {
            TPY_RUN(status, tn_nbytes(&t), tn_pattern_copy(&v, &t, pattern, sizes));
            result = status == TN_OK ? tpy_adopt(&v) : tpy_raise(status);
        } else {
            tpy_raise(status);
        }
    }
    Py_DECREF(x);
    return result;
}

static PyObject *f_pattern_shape(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *x;
    const char *pattern, *sizes;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    tn_tensor t;
    if (!PyArg_ParseTuple(args, "O!ss:pattern_shape", tpy_Tensor, &x, &pattern, &sizes))
        return NULL;
    tpy_widen(&t, x);
    tn_status status = tn_pattern_shape(pattern, sizes, &t, &ndim, shape);
    return status == TN_OK ? tpy_shape_tuple(ndim, shape) : tpy_raise(status);
}

static PyObject *f_broadcast_shape(PyObject *self, PyObject *list)
{
    (void)self;
    many m;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    if (many_take(&m, list) < 0)
        return NULL;
    tn_status status = tn_broadcast_shape(m.n, m.at, &ndim, shape);
    many_free(&m);
    return status == TN_OK ? tpy_shape_tuple(ndim, shape) : tpy_raise(status);
}

static PyObject *f_facts(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("{ssss}", "version", tn_version(), "isa", tn_isa());
}

/* The components that the module was built with, and the BLAS, which is loaded for the
 * query. */
static PyObject *f_parts(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("{sOsOsOsOsz}", "sleef", TPY_SLEEF ? Py_True : Py_False, "openmp",
                         TPY_OPENMP ? Py_True : Py_False, "io_uring",
                         TPY_URING ? Py_True : Py_False, "png", TPY_PNG ? Py_True : Py_False,
                         "blas", tn_blas());
}

#define FAST(name) (PyCFunction)(void (*)(void)) name
PyMethodDef tpy_work_functions[] = {
    {"asarray", FAST(f_asarray), METH_FASTCALL | METH_KEYWORDS,
     "asarray(obj, /, *, dtype=None, device=None, copy=None)\n--\n\nA Tensor of obj's "
     "elements, "
     "shared where they can be: tensors, buffers, DLPack, numbers, nested sequences."},
    {"dtype", f_dtype, METH_O, "dtype(obj, /)\n--\n\nThe DType that a name or a type means."},
    {"from_dlpack", FAST(f_from_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "from_dlpack(x, /, *, device=None, copy=None)\n--\n\nA Tensor of another library's "
     "elements, shared by DLPack."},
    {"_promote", FAST(f_promote), METH_FASTCALL, NULL},
    {"_weak", f_weak, METH_VARARGS, NULL},
    {"_empty", FAST(f_empty), METH_FASTCALL, NULL},
    {"_fill", f_fill, METH_VARARGS, NULL},
    {"_arange", f_arange, METH_VARARGS, NULL},
    {"_randn", f_randn, METH_VARARGS, NULL},
    {"_randint", f_randint, METH_VARARGS, NULL},
    {"_astype", f_astype, METH_VARARGS, NULL},
    {"contiguous", f_contiguous, METH_O,
     "contiguous(x, /)\n--\n\nx itself when it is dense and row-major, else a copy that is."},
    {"_concat", f_concat, METH_VARARGS, NULL},
    {"_stack", f_stack, METH_VARARGS, NULL},
    {"_tile", f_tile, METH_VARARGS, NULL},
    {"_repeat", f_repeat, METH_VARARGS, NULL},
    {"_roll", f_roll, METH_VARARGS, NULL},
    {"_pad", f_pad, METH_VARARGS, NULL},
    {"_pattern", f_pattern, METH_VARARGS, NULL},
    {"_pattern_shape", f_pattern_shape, METH_VARARGS, NULL},
    {"_broadcast_shape", f_broadcast_shape, METH_O, NULL},
    {"_set_threads", f_set_threads, METH_VARARGS, NULL},
    {"_get_threads", f_get_threads, METH_NOARGS, NULL},
    {"_facts", f_facts, METH_NOARGS, NULL},
    {"_parts", f_parts, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
