/* hand_out.c - exports of elements: the buffer protocol, DLPack, Python numbers and lists.
 *
 * An export keeps a reference to the Tensor, and so to the elements; headers never change, so
 * exports are not counted. */
#include <math.h>
#include <string.h>

#include "core.h"

/* ---- buffer protocol ---- */

/* True if the elements are dense with the first axis fastest. */
static bool fortran(const tn_tensor *t)
{
    int64_t want = (int64_t)tn_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        if (t->shape[i] == 0)
            return true;
        if (t->shape[i] != 1 && t->stride[i] != want)
            return tn_numel(t) == 0;
        want *= t->shape[i];
    }
    return true;
}

static int refuse(Py_buffer *view, const char *text)
{
    view->obj = NULL;
    PyErr_SetString(PyExc_BufferError, text);
    return -1;
}

/* The bits of requests for an order. */
enum {
    ANY_ORDER =
        (PyBUF_C_CONTIGUOUS | PyBUF_F_CONTIGUOUS | PyBUF_ANY_CONTIGUOUS) & ~PyBUF_STRIDES
};

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    tpy_tensor *p = tensor_of(self);
    int ndim = tpy_ndim(self);
    const char *format = tpy_format(p->dtype);
    bool readonly = p->flags & TN_READONLY;
    bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES, c = false;
    tn_tensor t;
    if (!strided || flags & ANY_ORDER) { /* NumPy and memoryview do not set them */
        tpy_widen(&t, self);
        c = tn_is_contiguous(&t);
    }
    if ((flags & PyBUF_WRITABLE) && readonly)
        return refuse(view, "the tensor is read-only");
    if (!format)
        return refuse(view, "this dtype has no buffer format; use DLPack, or "
                            ".view(tenon.uint16) for bfloat16, .view(tenon.uint8) for float8");
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c)
        return refuse(view, "the tensor is not dense in row-major order; use .contiguous()");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !fortran(&t))
        return refuse(view, "the tensor is not dense in column-major order");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !fortran(&t))
        return refuse(view, "the tensor is not dense; use .contiguous()");
    if (!strided && !c)
        return refuse(view, "the tensor is not dense in row-major order; use .contiguous()");
    view->buf = p->data;
    view->obj = Py_NewRef(self);
    view->itemsize = (Py_ssize_t)tn_dtype_size(p->dtype);
    view->len = view->itemsize;
    for (int i = 0; i < ndim; i++)
        view->len *= p->axes[i];
    view->readonly = readonly;
    view->ndim = ndim;
    view->format = (flags & PyBUF_FORMAT) ? (char *)format : NULL;
    view->shape = (flags & PyBUF_ND) && ndim ? (Py_ssize_t *)p->axes : NULL;
    view->strides = strided && ndim ? (Py_ssize_t *)(p->axes + ndim) : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    if (!(flags & PyBUF_ND))
        view->ndim = 1;
    return 0;
}

PyType_Slot tpy_buffer_slot = {Py_bf_getbuffer, get_buffer};

/* ---- DLPack ---- */

/* A consumer may call its deleter on a thread of its own, or after the interpreter is gone:
 * then the reference is never released. */
static void release_owner(void *owner)
{
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)owner);
    PyGILState_Release(state);
}

static void capsule_unused(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        DLManagedTensor *m = PyCapsule_GetPointer(capsule, "dltensor");
        m->deleter(m);
    }
}

/* The reference is taken before the call and released by the deleter, or here on failure. */
static PyObject *export_capsule(PyObject *self, bool versioned, bool copied)
{
    tn_tensor t;
    DLManagedTensorVersioned *m = NULL;
    DLManagedTensor *old = NULL;
    tpy_widen(&t, self);
    Py_INCREF(self);
    tn_status status = versioned ? tn_to_dlpack(&m, &t, release_owner, self,
                                                copied ? DLPACK_FLAG_BITMASK_IS_COPIED : 0)
                                 : tn_to_dlpack_old(&old, &t, release_owner, self);
    if (status != TN_OK) {
        Py_DECREF(self);
        PyErr_SetString(status == TN_ENOMEM ? PyExc_MemoryError : PyExc_BufferError,
                        tn_error());
        return NULL;
    }
    PyObject *capsule = versioned ? PyCapsule_New(m, "dltensor_versioned", capsule_unused)
                                  : PyCapsule_New(old, "dltensor", capsule_unused);
    if (!capsule) {
        if (m)
            m->deleter(m);
        else
            old->deleter(old);
    }
    return capsule;
}

static int want_version(PyObject *o, long *major)
{
    *major = 0;
    if (!o || o == Py_None)
        return 0;
    PyObject *first = PySequence_GetItem(o, 0);
    *major = first ? PyLong_AsLong(first) : -1;
    Py_XDECREF(first);
    return *major == -1 && PyErr_Occurred() ? -1 : 0;
}

static int want_cpu(PyObject *o)
{
    if (!o || o == Py_None)
        return 0;
    PyObject *here = Py_BuildValue("(ii)", 1, 0);
    int same = here ? PyObject_RichCompareBool(o, here, Py_EQ) : -1;
    Py_XDECREF(here);
    if (same == 0)
        PyErr_Format(PyExc_BufferError, "__dlpack__: dl_device is %R, expected (1, 0), the CPU",
                     o);
    return same == 1 ? 0 : -1;
}

PyObject *tpy_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    if (n != 0) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__ takes keyword arguments only");
        return NULL;
    }
    Py_ssize_t nk = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < nk; k++) {
        if (tpy_keyword(names, k, "stream"))
            stream = args[k];
        else if (tpy_keyword(names, k, "max_version"))
            version = args[k];
        else if (tpy_keyword(names, k, "dl_device"))
            device = args[k];
        else if (tpy_keyword(names, k, "copy"))
            copy = args[k];
        else {
            tpy_unknown_keyword("__dlpack__", names, k);
            return NULL;
        }
    }
    if (stream && stream != Py_None) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__: the CPU has no streams, expected None");
        return NULL;
    }
    long major;
    if (want_cpu(device) < 0 || want_version(version, &major) < 0)
        return NULL;
    if (copy == Py_True) {
        tn_tensor t;
        tpy_widen(&t, self);
        tn_status status;
        TPY_RUN(status, tn_nbytes(&t), tn_contiguous(&t, &t));
        PyObject *made = status == TN_OK ? tpy_adopt(&t) : tpy_raise(status);
        if (made)
            tensor_of(made)->flags = 0;
        PyObject *capsule = made ? export_capsule(made, major >= 1, true) : NULL;
        Py_XDECREF(made);
        return capsule;
    }
    return export_capsule(self, major >= 1, false);
}

/* ---- numbers ---- */

PyObject *tpy_item_at(const void *p, tn_dtype dtype)
{
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f[2];
        double d[2];
    } x;
    memcpy(&x, p, tn_dtype_size(dtype));
    switch (dtype) {
    case TN_BOOL:
        return PyBool_FromLong(x.u8);
    case TN_I8:
        return PyLong_FromLong(x.i8);
    case TN_I16:
        return PyLong_FromLong(x.i16);
    case TN_I32:
        return PyLong_FromLong(x.i32);
    case TN_I64:
        return PyLong_FromLongLong(x.i64);
    case TN_U8:
        return PyLong_FromLong(x.u8);
    case TN_U16:
        return PyLong_FromLong(x.u16);
    case TN_U32:
        return PyLong_FromUnsignedLong(x.u32);
    case TN_U64:
        return PyLong_FromUnsignedLongLong(x.u64);
    case TN_F32:
        return PyFloat_FromDouble((double)x.f[0]);
    case TN_F64:
        return PyFloat_FromDouble(x.d[0]);
    case TN_C64:
        return PyComplex_FromDoubles((double)x.f[0], (double)x.f[1]);
    case TN_C128:
        return PyComplex_FromDoubles(x.d[0], x.d[1]);
    default: {
        double wide;
        tn_tensor d, s;
        tn_status status = tn_init(&d, &wide, TN_F64, 0, NULL);
        if (status == TN_OK)
            status = tn_init_const(&s, p, dtype, 0, NULL, NULL);
        if (status == TN_OK)
            status = tn_cast(&d, &s);
        return status == TN_OK ? PyFloat_FromDouble(wide) : tpy_raise(status);
    }
    }
}

static PyObject *list_of(const tn_tensor *t, int axis, const char *p)
{
    if (axis == t->ndim)
        return tpy_item_at(p, t->dtype);
    PyObject *list = PyList_New((Py_ssize_t)t->shape[axis]);
    for (int64_t i = 0; list && i < t->shape[axis]; i++) {
        PyObject *x = list_of(t, axis + 1, p + i * t->stride[axis]);
        if (!x || PyList_SetItem(list, (Py_ssize_t)i, x) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *tpy_tolist(PyObject *self, PyObject *unused)
{
    (void)unused;
    tn_tensor t;
    tpy_widen(&t, self);
    return list_of(&t, 0, t.data);
}
