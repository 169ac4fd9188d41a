/* index.c - x[key] and x[key] = value for integers, slices, ... and None: views, no element is
 * read.
 *
 * Keys that contain arrays are handled by the Python side. */
#include <string.h>

#include "core.h"

typedef struct cursor {
    tn_tensor *t; /* rewritten in place: writing never overtakes reading */
    tn_tensor out;
    char *data;
    int axis; /* of the source, the next that a key takes */
} cursor;

static bool is_integer(PyObject *o)
{
    if (PyLong_CheckExact(o))
        return true;
    if (PyBool_Check(o) || PySlice_Check(o))
        return false;
    if (tpy_is_tensor(o)) {
        char kind = tpy_kind(tensor_of(o)->dtype);
        return tpy_ndim(o) == 0 && (kind == 'i' || kind == 'u');
    }
    if (!PyIndex_Check(o))
        return false;
    if (PyLong_Check(o))
        return true;
    /* integers of NumPy answer __index__, and so do arrays, which have axes */
    PyObject *ndim = PyObject_GetAttrString(o, "ndim");
    long n = ndim ? PyLong_AsLong(ndim) : 0;
    Py_XDECREF(ndim);
    PyErr_Clear();
    return n == 0;
}

static int keep_axis(cursor *c, int64_t n, int64_t stride)
{
    if (c->out.ndim == TN_MAX_NDIM) {
        tpy_raise_index("the result has more than %d axes", TN_MAX_NDIM);
        return -1;
    }
    c->out.shape[c->out.ndim] = n;
    c->out.stride[c->out.ndim++] = stride;
    return 0;
}

static int take_integer(cursor *c, PyObject *o)
{
    Py_ssize_t i = PyNumber_AsSsize_t(o, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return -1;
    int64_t n = c->t->shape[c->axis];
    if (i < -n || i >= n) {
        tpy_raise_index("index %zd is out of range for axis %d of extent %lld", i, c->axis,
                        (long long)n);
        return -1;
    }
    c->data += (i < 0 ? i + n : i) * c->t->stride[c->axis];
    c->axis++;
    return 0;
}

static int take_slice(cursor *c, PyObject *o)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) < 0)
        return -1;
    int64_t n = c->t->shape[c->axis], stride = c->t->stride[c->axis];
    Py_ssize_t length = PySlice_AdjustIndices((Py_ssize_t)n, &start, &stop, step);
    if (length > 0)
        c->data += start * stride;
    c->axis++;
    int64_t scaled;
    if (__builtin_mul_overflow(stride, (int64_t)step, &scaled))
        scaled = 0; /* such a step selects one element at most */
    return keep_axis(c, length, scaled);
}

static int take_key(cursor *c, PyObject *o)
{
    if (o == Py_None)
        return keep_axis(c, 1, 0);
    if (c->axis >= c->t->ndim) {
        tpy_raise_index("too many indices for a tensor of %d axes", c->t->ndim);
        return -1;
    }
    return PySlice_Check(o) ? take_slice(c, o) : take_integer(c, o);
}

/* The number of axes that the keys consume; -1: one of them is advanced, -2: ... occurs
 * twice. */
static int survey_keys(PyObject *key, Py_ssize_t n, Py_ssize_t *dots)
{
    int taken = 0;
    *dots = -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(key, i);
        if (o == Py_Ellipsis) {
            if (*dots != -1)
                return -2;
            *dots = i;
        } else if (PySlice_Check(o) || is_integer(o)) {
            taken++;
        } else if (o != Py_None) {
            return -1;
        }
    }
    return taken;
}

static int take_tuple(cursor *c, PyObject *key)
{
    Py_ssize_t n = PyTuple_Size(key), dots;
    int taken = survey_keys(key, n, &dots);
    if (taken == -1)
        return 0;
    if (taken == -2) {
        tpy_raise_index("an index has one ... at most");
        return -1;
    }
    if (taken > c->t->ndim) {
        tpy_raise_index("too many indices: %d for a tensor of %d axes", taken, c->t->ndim);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (i == dots) {
            for (int rest = c->t->ndim - taken; rest > 0; rest--, c->axis++)
                if (keep_axis(c, c->t->shape[c->axis], c->t->stride[c->axis]) < 0)
                    return -1;
        } else if (take_key(c, PyTuple_GetItem(key, i)) < 0) {
            return -1;
        }
    }
    return 1;
}

int tpy_index(tn_tensor *t, PyObject *key)
{
    cursor c;
    c.t = t;
    c.data = t->data;
    c.axis = 0;
    c.out.ndim = 0;
    int result = 1;
    if (PyTuple_Check(key))
        result = take_tuple(&c, key);
    else if (key == Py_Ellipsis)
        ;
    else if (key == Py_None || PySlice_Check(key) || is_integer(key))
        result = take_key(&c, key) < 0 ? -1 : 1;
    else
        return 0;
    if (result != 1)
        return result;
    for (; c.axis < t->ndim; c.axis++)
        if (keep_axis(&c, t->shape[c.axis], t->stride[c.axis]) < 0)
            return -1;
    t->data = c.data;
    t->ndim = c.out.ndim;
    for (int i = 0; i < t->ndim; i++) {
        t->shape[i] = c.out.shape[i];
        t->stride[i] = c.out.stride[i];
    }
    return 1;
}

PyObject *tpy_getitem(PyObject *self, PyObject *key)
{
    tn_tensor t;
    tpy_widen(&t, self);
    int done = tpy_index(&t, key);
    if (done > 0)
        return tpy_view(&t, self);
    PyObject *f = done < 0 ? NULL : tpy_python("getitem");
    return f ? PyObject_CallFunctionObjArgs(f, self, key, NULL) : NULL;
}

/* Within a kind any width can be assigned; a kind can be assigned to the kinds above it. */
static bool casts(tn_dtype from, tn_dtype to)
{
    static const char order[] = "buifc";
    const char *a = strchr(order, tpy_kind(from)), *b = strchr(order, tpy_kind(to));
    bool integers = tpy_kind(from) == 'i' && tpy_kind(to) == 'u';
    return a <= b || integers;
}

/* Write elements, through a temporary where dst and src share memory. */
static tn_status write_elements(const tn_tensor *dst, const tn_tensor *src)
{
    tn_tensor wide, copy;
    tn_status status = tn_broadcast_to(&wide, src, dst->ndim, dst->shape);
    if (status != TN_OK)
        return status;
    int64_t bytes = tn_nbytes(dst);
    bool same = dst->dtype == src->dtype;
    TPY_RUN(status, bytes, same ? tn_rearrange(dst, &wide) : tn_cast(dst, &wide));
    if (status != TN_EOVERLAP)
        return status;
    status = tn_contiguous(&copy, src);
    if (status != TN_OK)
        return status;
    status = tn_broadcast_to(&wide, &copy, dst->ndim, dst->shape);
    if (status == TN_OK)
        TPY_RUN(status, bytes, same ? tn_rearrange(dst, &wide) : tn_cast(dst, &wide));
    tn_free(&copy);
    return status;
}

int tpy_assign(const tn_tensor *dst, PyObject *value)
{
    tpy_operand op;
    tn_status status;
    if (dst->flags & TN_READONLY) {
        PyErr_SetString(PyExc_ValueError, "assignment: the tensor is read-only");
        return -1;
    }
    if (tpy_is_number(value)) {
        uint64_t scratch[2];
        if (tpy_number(scratch, dst->dtype, value) < 0)
            return -1;
        TPY_RUN(status, tn_nbytes(dst), tn_fill(dst, scratch));
        if (status != TN_OK)
            tpy_raise(status);
        return status == TN_OK ? 0 : -1;
    }
    if (tpy_take(&op, value, false) < 0)
        return -1;
    while (op.t.ndim > dst->ndim && op.t.ndim > 0 && op.t.shape[0] == 1) {
        op.t.ndim--; /* leading axes of extent 1 may be too many */
        memmove(op.t.shape, op.t.shape + 1, sizeof(int64_t) * (size_t)op.t.ndim);
        memmove(op.t.stride, op.t.stride + 1, sizeof(int64_t) * (size_t)op.t.ndim);
    }
    int result = -1;
    if (!casts(op.t.dtype, dst->dtype)) {
        tpy_raise_dtype("assignment: %s does not go into %s; use astype",
                        tpy_long_name(op.t.dtype), tpy_long_name(dst->dtype));
    } else {
        status = write_elements(dst, &op.t);
        if (status == TN_OK)
            result = 0;
        else
            tpy_raise(status);
    }
    tpy_drop(&op);
    return result;
}

int tpy_setitem(PyObject *self, PyObject *key, PyObject *value)
{
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted");
        return -1;
    }
    tn_tensor t;
    tpy_widen(&t, self);
    int done = tpy_index(&t, key);
    if (done > 0)
        return tpy_assign(&t, value);
    PyObject *f = done < 0 ? NULL : tpy_python("setitem");
    PyObject *r = f ? PyObject_CallFunctionObjArgs(f, self, key, value, NULL) : NULL;
    Py_XDECREF(r);
    return r ? 0 : -1;
}
