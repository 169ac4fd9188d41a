/* take_in.c - imports objects of other libraries as operands: buffers, DLPack,
 * __array_interface__, numbers.
 *
 * tpy_drop releases what an operand holds, in any order and even after a failure. */
#include <math.h>
#include <string.h>

#include "core.h"

PyTypeObject *tpy_Export, *tpy_Managed;

/* ---- owners ---- */

typedef struct export_owner {
    PyObject_HEAD Py_buffer view;
} export_owner;

typedef struct managed_owner {
    PyObject_HEAD DLManagedTensorVersioned *m;
    DLManagedTensor *old;
} managed_owner;

static void export_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyBuffer_Release(&((export_owner *)self)->view);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* A deleter is foreign code: it must not see an exception that may be set. */
static void give_back(DLManagedTensorVersioned *m, DLManagedTensor *old)
{
    PyObject *et, *ev, *tb;
    PyErr_Fetch(&et, &ev, &tb);
    if (m && m->deleter)
        m->deleter(m);
    if (old && old->deleter)
        old->deleter(old);
    PyErr_Restore(et, ev, tb);
}

static void managed_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    give_back(((managed_owner *)self)->m, ((managed_owner *)self)->old);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot export_slots[] = {
    {Py_tp_doc, "A buffer of another object, held while tensors use it."},
    {Py_tp_dealloc, export_dealloc},
    {0, NULL},
};
static PyType_Spec export_spec = {
    .name = "tenon._core.Export",
    .basicsize = sizeof(export_owner),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = export_slots,
};
static PyType_Slot managed_slots[] = {
    {Py_tp_doc, "A DLPack tensor of another library, held while tensors use it."},
    {Py_tp_dealloc, managed_dealloc},
    {0, NULL},
};
static PyType_Spec managed_spec = {
    .name = "tenon._core.Managed",
    .basicsize = sizeof(managed_owner),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = managed_slots,
};

int tpy_take_in_ready(PyObject *module)
{
    tpy_Export = (PyTypeObject *)PyType_FromSpec(&export_spec);
    tpy_Managed = (PyTypeObject *)PyType_FromSpec(&managed_spec);
    if (!tpy_Export || !tpy_Managed)
        return -1;
    return PyModule_AddObjectRef(module, "Export", (PyObject *)tpy_Export);
}

/* ---- buffers ---- */

/* The description of a foreign object's buffer.  Extents and strides are checked by the
 * library's call before it uses an address; a Tensor that outlives the call is checked when it
 * is made. */
static int describe_buffer(tn_tensor *t, const Py_buffer *view)
{
    if (tpy_dtype_from_buffer(&t->dtype, view) < 0)
        return -1;
    if (view->ndim < 0 || view->ndim > TN_MAX_NDIM || (view->ndim > 0 && !view->shape)) {
        PyErr_Format(PyExc_BufferError,
                     "asarray: a buffer of %d axes, expected 0 to %d with a shape", view->ndim,
                     TN_MAX_NDIM);
        return -1;
    }
    if (view->suboffsets)
        for (int i = 0; i < view->ndim; i++)
            if (view->suboffsets[i] >= 0) {
                PyErr_SetString(PyExc_BufferError, "asarray: the buffer has suboffsets");
                return -1;
            }
    int64_t dense = view->itemsize;
    for (int i = view->ndim - 1; i >= 0; i--) {
        t->shape[i] = view->shape[i];
        t->stride[i] = view->strides ? view->strides[i] : dense;
        if (!view->strides && __builtin_mul_overflow(dense, view->shape[i], &dense)) {
            PyErr_SetString(PyExc_BufferError,
                            "asarray: the buffer's size does not fit 64 bits");
            return -1;
        }
    }
    if (!view->strides && dense > view->len) {
        PyErr_Format(PyExc_BufferError,
                     "asarray: the buffer has %zd bytes, its shape says %lld", view->len,
                     (long long)dense);
        return -1;
    }
    t->data = view->buf;
    t->ndim = view->ndim;
    t->device = TN_CPU;
    t->flags = view->readonly ? TN_READONLY : 0;
    return 0;
}

/* A Tensor of a description of owner's memory, after a check that every address fits in 64
 * bits. */
static PyObject *checked(const tn_tensor *said, PyObject *owner)
{
    tn_tensor t;
    tn_status status =
        tn_init_strided(&t, said->data, said->dtype, said->ndim, said->shape, said->stride);
    if (status != TN_OK)
        return tpy_raise(status);
    t.flags = said->flags;
    return tpy_new(&t, owner);
}

static PyObject *from_buffer(PyObject *o)
{
    export_owner *owner = PyObject_New(export_owner, tpy_Export);
    if (!owner)
        return NULL;
    memset(&owner->view, 0, sizeof owner->view);
    PyObject *result = NULL;
    int flags = PyBUF_STRIDES | PyBUF_FORMAT;
    if (PyObject_GetBuffer(o, &owner->view, flags | PyBUF_WRITABLE) < 0) {
        PyErr_Clear();
        memset(&owner->view, 0, sizeof owner->view);
        if (PyObject_GetBuffer(o, &owner->view, flags) < 0)
            memset(&owner->view, 0, sizeof owner->view);
    }
    tn_tensor t;
    if (owner->view.obj && describe_buffer(&t, &owner->view) == 0)
        result = checked(&t, (PyObject *)owner);
    if (result)
        tpy_ndarray_learn(o, &t);
    Py_DECREF(owner);
    return result;
}

/* ---- DLPack ---- */

/* A Tensor of a producer's memory; takes ownership of m or old, even on failure. */
static PyObject *adopt(DLManagedTensorVersioned *m, DLManagedTensor *old)
{
    managed_owner *owner = PyObject_New(managed_owner, tpy_Managed);
    if (!owner) {
        give_back(m, old);
        return NULL;
    }
    owner->m = m;
    owner->old = old;
    tn_tensor t;
    tn_status status = m ? tn_from_dlpack(&t, m) : tn_from_dlpack_old(&t, old);
    PyObject *result = status == TN_OK ? tpy_new(&t, (PyObject *)owner) : tpy_raise(status);
    Py_DECREF(owner);
    return result;
}

static PyObject *adopt_capsule(PyObject *capsule)
{
    bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    void *m = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
    if (!m ||
        PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor"))
        return NULL;
    return versioned ? adopt(m, NULL) : adopt(NULL, m);
}

/* The keywords that every producer is called with, made once. */
static PyObject *name_dlpack, *no_arguments, *newest_version;

static int dlpack_words(void)
{
    if (!name_dlpack)
        name_dlpack = PyUnicode_InternFromString("__dlpack__");
    if (!no_arguments)
        no_arguments = PyTuple_New(0);
    if (!newest_version)
        newest_version = Py_BuildValue("{s(ii)}", "max_version", 1, 1);
    return name_dlpack && no_arguments && newest_version ? 0 : -1;
}

/* The capsule of a producer.  One from before version 1 may not accept keywords; it then shares
 * its elements whatever copy says. */
static PyObject *ask(PyObject *o, PyObject *copy, bool *old)
{
    if (dlpack_words() < 0)
        return NULL;
    PyObject *method = PyObject_GetAttr(o, name_dlpack);
    PyObject *options = !method           ? NULL
                        : copy != Py_None ? PyDict_Copy(newest_version)
                                          : Py_NewRef(newest_version);
    if (options && options != newest_version && PyDict_SetItemString(options, "copy", copy) < 0)
        Py_CLEAR(options);
    PyObject *capsule = options ? PyObject_Call(method, no_arguments, options) : NULL;
    *old = options && !capsule && PyErr_ExceptionMatches(PyExc_TypeError);
    if (*old) {
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method);
    }
    Py_XDECREF(options);
    Py_XDECREF(method);
    if (capsule && !PyCapsule_IsValid(capsule, "dltensor_versioned") &&
        !PyCapsule_IsValid(capsule, "dltensor")) {
        Py_CLEAR(capsule);
        PyErr_Format(PyExc_BufferError, "from_dlpack: __dlpack__ of %R gave no DLPack capsule",
                     (PyObject *)Py_TYPE(o));
    }
    return capsule;
}

PyObject *tpy_from_dlpack(PyObject *o, PyObject *copy)
{
    tn_tensor t;
    DLManagedTensorVersioned *m;
    if (copy == Py_None && tpy_ndarray(&t, o))
        return checked(&t, o);
    if (copy == Py_None && tpy_exchange(&m, o))
        return adopt(m, NULL);
    bool old;
    PyObject *capsule = ask(o, copy, &old);
    PyObject *result = capsule ? adopt_capsule(capsule) : NULL;
    Py_XDECREF(capsule);
    if (result && old && copy == Py_True) {
        PyObject *made = tpy_cast(result, tensor_of(result)->dtype);
        Py_DECREF(result);
        return made;
    }
    return result;
}

/* ---- numbers ---- */

bool tpy_is_number(PyObject *o)
{
    return PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) ||
           PyComplex_CheckExact(o);
}

int tpy_weak_dtype(tn_dtype *out, PyObject *number, bool alone, tn_dtype dtype)
{
    char kind = alone ? 0 : tpy_kind(dtype);
    if (PyBool_Check(number))
        *out = alone ? TN_BOOL : dtype;
    else if (PyLong_Check(number))
        *out = alone || kind == 'b' ? TN_I64 : dtype;
    else if (PyFloat_Check(number))
        *out = alone ? TN_F64 : tpy_float_of(dtype);
    else {
        tn_dtype part = alone ? TN_F64 : tpy_float_of(dtype);
        *out = kind == 'c' ? dtype : part == TN_F64 ? TN_C128 : TN_C64;
    }
    return 0;
}

static int out_of_range(PyObject *number, tn_dtype dtype)
{
    PyErr_Format(PyExc_OverflowError, "Python integer %R is out of range for %s", number,
                 tpy_long_name(dtype));
    return -1;
}

static int write_integer(void *out, tn_dtype dtype, PyObject *number)
{
    size_t width = tn_dtype_size(dtype);
    if (dtype == TN_U64) {
        uint64_t u = PyLong_AsUnsignedLongLong(number);
        if (u == (uint64_t)-1 && PyErr_Occurred()) {
            PyErr_Clear();
            return out_of_range(number, dtype);
        }
        memcpy(out, &u, 8);
        return 0;
    }
    int overflow;
    int64_t i = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (i == -1 && !overflow && PyErr_Occurred())
        return -1;
    int64_t low = tpy_kind(dtype) == 'u' ? 0
                  : width == 8           ? INT64_MIN
                                         : -(1LL << (8 * width - 1));
    int64_t high =
        width == 8 ? INT64_MAX : (1LL << (8 * width - (tpy_kind(dtype) == 'u' ? 0 : 1))) - 1;
    if (overflow || i < low || i > high)
        return out_of_range(number, dtype);
    memcpy(out, &i, width); /* low bytes first */
    return 0;
}

int tpy_number(void *out, tn_dtype dtype, PyObject *number)
{
    char kind = tpy_kind(dtype);
    double z[2] = {0, 0};
    if (kind == 'b') {
        int truth = PyObject_IsTrue(number);
        *(uint8_t *)out = truth == 1;
        return truth < 0 ? -1 : 0;
    }
    if (kind == 'i' || kind == 'u') {
        if (PyLong_Check(number))
            return write_integer(out, dtype, number);
        tpy_raise_dtype("a Python %s does not fit %s; use astype",
                        PyFloat_Check(number) ? "float" : "complex", tpy_long_name(dtype));
        return -1;
    }
    if (PyComplex_Check(number)) {
        z[0] = PyComplex_RealAsDouble(number);
        z[1] = PyComplex_ImagAsDouble(number);
        if (kind != 'c') {
            tpy_raise_dtype("a Python complex does not fit %s; use astype",
                            tpy_long_name(dtype));
            return -1;
        }
    } else {
        z[0] = PyFloat_AsDouble(number);
    }
    if (z[0] == -1 && PyErr_Occurred())
        return -1;
    if (dtype == TN_F32) {
        float f = (float)z[0];
        memcpy(out, &f, 4);
        return 0;
    }
    if (dtype == TN_F64 || dtype == TN_C128) {
        memcpy(out, z, tn_dtype_size(dtype));
        return 0;
    }
    tn_tensor d, s;
    tn_status status = tn_init(&d, out, dtype, 0, NULL);
    if (status == TN_OK)
        status = tn_init(&s, z, kind == 'c' ? TN_C128 : TN_F64, 0, NULL);
    if (status == TN_OK)
        status = tn_cast(&d, &s);
    if (status == TN_OK)
        return 0;
    tpy_raise(status);
    return -1;
}

int tpy_settle(tpy_operand *op, bool alone, tn_dtype dtype)
{
    tn_dtype chosen;
    if (tpy_weak_dtype(&chosen, op->weak, alone, dtype) < 0 ||
        tpy_number(op->scratch, chosen, op->weak) < 0)
        return -1;
    op->t.data = op->scratch;
    op->t.dtype = chosen;
    op->t.ndim = 0;
    op->t.device = TN_CPU;
    op->t.flags = 0;
    return 0;
}

/* ---- operands ---- */

int tpy_take(tpy_operand *op, PyObject *o, bool numbers)
{
    op->held = NULL;
    op->weak = NULL;
    op->exported = false;
    if (tpy_is_tensor(o)) {
        tpy_widen(&op->t, o);
        return 0;
    }
    if (numbers && tpy_is_number(o)) {
        op->weak = o;
        return 0;
    }
    if (tpy_ndarray(&op->t, o)) {
        op->held = Py_NewRef(o);
        return 0;
    }
    if (PyObject_CheckBuffer(o)) {
        if (PyObject_GetBuffer(o, &op->view, PyBUF_STRIDES | PyBUF_FORMAT) == 0) {
            op->exported = true;
            if (describe_buffer(&op->t, &op->view) == 0) {
                tpy_ndarray_learn(o, &op->t);
                return 0;
            }
            op->exported = false;
            PyBuffer_Release(&op->view);
            return -1;
        }
        PyErr_Clear();
    }
    op->held = tpy_as_tensor(o);
    if (!op->held)
        return -1;
    tpy_widen(&op->t, op->held);
    return 0;
}

int tpy_take_out(tpy_operand *op, PyObject *o)
{
    op->held = NULL;
    op->weak = NULL;
    op->exported = false;
    if (tpy_is_tensor(o)) {
        tpy_widen(&op->t, o);
    } else if (tpy_ndarray(&op->t, o)) {
        op->held = Py_NewRef(o);
    } else if (PyObject_CheckBuffer(o) &&
               PyObject_GetBuffer(o, &op->view,
                                  PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) == 0) {
        op->exported = true;
        if (describe_buffer(&op->t, &op->view) < 0) {
            op->exported = false;
            PyBuffer_Release(&op->view);
            return -1;
        }
    } else {
        PyErr_Clear();
        if (tpy_is_number(o) || PyList_Check(o) || PyTuple_Check(o)) {
            PyErr_Format(PyExc_TypeError, "out is of type %R, expected a tensor or an array",
                         (PyObject *)Py_TYPE(o));
            return -1;
        }
        op->held = tpy_as_tensor(o);
        if (!op->held)
            return -1;
        tpy_widen(&op->t, op->held);
    }
    if (op->t.flags & TN_READONLY) {
        tpy_drop(op);
        op->exported = false;
        op->held = NULL;
        PyErr_SetString(PyExc_ValueError, "out is read-only");
        return -1;
    }
    return 0;
}

/* Objects whose memory can be shared; NULL without an exception: o is not one of them. */
static PyObject *shared(PyObject *o)
{
    tn_tensor said;
    if (tpy_is_tensor(o))
        return Py_NewRef(o);
    if (tpy_ndarray(&said, o))
        return checked(&said, o);
    if (PyObject_CheckBuffer(o)) {
        PyObject *t = from_buffer(o);
        if (t || PyErr_ExceptionMatches(PyExc_TypeError))
            return t;
        PyErr_Clear(); /* bfloat16 of ml_dtypes has no buffer */
    }
    DLManagedTensorVersioned *m;
    if (tpy_exchange(&m, o))
        return adopt(m, NULL);
    PyObject *interface = PyObject_GetAttrString(o, "__array_interface__");
    if (interface) {
        PyObject *f = tpy_python("from_interface");
        PyObject *t = f ? PyObject_CallFunctionObjArgs(f, o, interface, NULL) : NULL;
        Py_DECREF(interface);
        return t;
    }
    PyErr_Clear();
    if (PyObject_HasAttrString(o, "__dlpack__"))
        return tpy_from_dlpack(o, Py_None);
    if (!PyType_Check(o) && PyObject_HasAttrString(o, "__array__")) {
        PyObject *a = PyObject_CallMethod(o, "__array__", NULL);
        PyObject *t = NULL;
        if (a && a != o && PyObject_CheckBuffer(a))
            t = from_buffer(a);
        else if (a)
            PyErr_Format(PyExc_TypeError, "asarray: __array__ of %R gave no array",
                         (PyObject *)Py_TYPE(o));
        Py_XDECREF(a);
        return t;
    }
    return NULL;
}

PyObject *tpy_as_tensor(PyObject *o)
{
    PyObject *t = shared(o);
    if (t || PyErr_Occurred())
        return t;
    return tpy_from_sequence(o, false, TN_F64);
}
