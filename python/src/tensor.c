/* tensor.c - tenon.Tensor: the object and its properties.
 *
 * The header of a Tensor never changes; its only reference is to the owner of the elements. */

#include "core.h"

#include <stdatomic.h>
#include <string.h>

#include <structmember.h>

PyTypeObject *tpy_Tensor;

static PyObject *make(const tn_tensor *t)
{
    tpy_tensor *p = PyObject_NewVar(tpy_tensor, tpy_Tensor, 2 * t->ndim);
    if (!p)
        return NULL;
    p->owner = NULL;
    p->weak = NULL;
    atomic_init(&p->shape, NULL);
    p->data = t->data;
    p->dtype = t->dtype;
    p->flags = t->flags;
    for (int i = 0; i < t->ndim; i++) {
        p->axes[i] = t->shape[i];
        p->axes[t->ndim + i] = t->stride[i];
    }
    return (PyObject *)p;
}

PyObject *tpy_new(const tn_tensor *t, PyObject *owner)
{
    PyObject *o = make(t);
    if (o)
        tensor_of(o)->owner = Py_NewRef(owner);
    return o;
}

PyObject *tpy_adopt(tn_tensor *t)
{
    PyObject *o = make(t);
    if (!o)
        tn_free(t);
    return o;
}

PyObject *tpy_view(const tn_tensor *t, PyObject *of)
{
    PyObject *owner = tensor_of(of)->owner;
    return tpy_new(t, owner ? owner : of);
}

PyObject *tpy_empty(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_status status = tn_alloc(t, dtype, ndim, shape);
    return status == TN_OK ? tpy_adopt(t) : tpy_raise(status);
}

static void tensor_dealloc(PyObject *self)
{
    tpy_tensor *p = tensor_of(self);
    PyTypeObject *type = Py_TYPE(self);
    if (p->weak)
        PyObject_ClearWeakRefs(self);
    Py_XDECREF(atomic_load_explicit(&p->shape, memory_order_relaxed));
    if (p->owner) {
        Py_DECREF(p->owner);
    } else {
        tn_tensor t;
        t.data = p->data;
        tn_free(&t);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject *tpy_shape_tuple(int n, const int64_t *extents)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *x = PyLong_FromLongLong(extents[i]);
        if (!x || PyTuple_SetItem(tuple, i, x) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* ---- properties ---- */

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    tpy_tensor *p = tensor_of(self);
    PyObject *shape = p->shape;
    if (!shape) {
        PyObject *made = tpy_shape_tuple(tpy_ndim(self), p->axes);
        if (made && !atomic_compare_exchange_strong(&p->shape, &shape, made))
            Py_DECREF(made); /* another thread was faster: use its tuple */
        else
            shape = made;
    }
    return Py_XNewRef(shape);
}

static PyObject *get_strides(PyObject *self, void *unused)
{
    (void)unused;
    return tpy_shape_tuple(tpy_ndim(self), tensor_of(self)->axes + tpy_ndim(self));
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return tpy_dtype_object(tensor_of(self)->dtype);
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(tpy_ndim(self));
}

static int64_t count(PyObject *self)
{
    int64_t n = 1;
    for (int i = 0; i < tpy_ndim(self); i++)
        n *= tensor_of(self)->axes[i];
    return n;
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(count(self));
}

static PyObject *get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(tn_dtype_size(tensor_of(self)->dtype));
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(count(self) * (int64_t)tn_dtype_size(tensor_of(self)->dtype));
}

static PyObject *get_readonly(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(tensor_of(self)->flags & TN_READONLY);
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString("cpu");
}

static PyObject *get_base(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *owner = tensor_of(self)->owner;
    return Py_NewRef(owner ? owner : Py_None);
}

static PyObject *get_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(tensor_of(self)->data);
}

static PyObject *get_T(PyObject *self, void *unused)
{
    (void)unused;
    const tpy_tensor *p = tensor_of(self);
    int n = tpy_ndim(self);
    tn_tensor t;
    t.data = p->data;
    t.dtype = p->dtype;
    t.ndim = n;
    t.flags = p->flags;
    for (int i = 0; i < n; i++) {
        t.shape[i] = p->axes[n - 1 - i];
        t.stride[i] = p->axes[2 * n - 1 - i];
    }
    return tpy_view(&t, self);
}

static PyObject *get_mT(PyObject *self, void *unused)
{
    (void)unused;
    tn_tensor t;
    int n = tpy_ndim(self);
    if (n < 2)
        return tpy_raise_axis("mT", -2, n);
    tpy_widen(&t, self);
    tn_status status = tn_transpose(&t, &t, n - 2, n - 1);
    return status == TN_OK ? tpy_view(&t, self) : tpy_raise(status);
}

static PyObject *is_contiguous(PyObject *self, PyObject *unused)
{
    (void)unused;
    tn_tensor t;
    tpy_widen(&t, self);
    return PyBool_FromLong(tn_is_contiguous(&t));
}

static Py_ssize_t length(PyObject *self)
{
    if (tpy_ndim(self) == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of a tensor without axes");
        return -1;
    }
    return (Py_ssize_t)tensor_of(self)->axes[0];
}

/* x[i] for iteration; PySequence_GetItem has already made i non-negative. */
static PyObject *sequence_item(PyObject *self, Py_ssize_t i)
{
    tn_tensor t;
    tpy_widen(&t, self);
    if (t.ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "iteration over a tensor without axes");
        return NULL;
    }
    if (i < 0 || i >= t.shape[0])
        return tpy_raise_index("index %zd is out of range for axis 0 of extent %lld", i,
                               (long long)t.shape[0]);
    tn_status status = tn_select(&t, &t, 0, i);
    return status == TN_OK ? tpy_view(&t, self) : tpy_raise(status);
}

static PyObject *iterate(PyObject *self)
{
    if (tpy_ndim(self) == 0) {
        PyErr_SetString(PyExc_TypeError, "iteration over a tensor without axes");
        return NULL;
    }
    return PySeqIter_New(self);
}

/* ---- numbers ---- */

static PyObject *only_element(PyObject *self, const char *what)
{
    int64_t n = count(self);
    if (n != 1) {
        PyErr_Format(PyExc_TypeError, "%s: a tensor of %lld elements is not one number", what,
                     (long long)n);
        return NULL;
    }
    return tpy_item_at(tensor_of(self)->data, tensor_of(self)->dtype);
}

static int truth(PyObject *self)
{
    int64_t n = count(self);
    if (n != 1) {
        PyErr_Format(
            PyExc_ValueError,
            "the truth of a tensor of %lld elements is ambiguous; use all(x) or any(x)",
            (long long)n);
        return -1;
    }
    PyObject *x = tpy_item_at(tensor_of(self)->data, tensor_of(self)->dtype);
    int result = x ? PyObject_IsTrue(x) : -1;
    Py_XDECREF(x);
    return result;
}

static PyObject *as_int(PyObject *self)
{
    PyObject *x = only_element(self, "int"), *result = NULL;
    if (x && PyComplex_Check(x))
        PyErr_SetString(PyExc_TypeError, "int: the element is complex");
    else if (x)
        result = PyNumber_Long(x);
    Py_XDECREF(x);
    return result;
}

static PyObject *as_float(PyObject *self)
{
    PyObject *x = only_element(self, "float"), *result = NULL;
    if (x && PyComplex_Check(x))
        PyErr_SetString(PyExc_TypeError, "float: the element is complex");
    else if (x)
        result = PyNumber_Float(x);
    Py_XDECREF(x);
    return result;
}

static PyObject *as_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *x = only_element(self, "complex");
    PyObject *result =
        x ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, x, NULL) : NULL;
    Py_XDECREF(x);
    return result;
}

static PyObject *as_index(PyObject *self)
{
    char kind = tpy_kind(tensor_of(self)->dtype);
    if (tpy_ndim(self) != 0 || (kind != 'i' && kind != 'u')) {
        PyErr_SetString(PyExc_TypeError,
                        "only an integer tensor without axes can be used as an index");
        return NULL;
    }
    return only_element(self, "index");
}

static PyObject *item(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    if (n == 0) {
        if (count(self) != 1)
            return PyErr_Format(PyExc_ValueError,
                                "item: a tensor of %lld elements is not one number",
                                (long long)count(self));
        return only_element(self, "item");
    }
    PyObject *key = n == 1 ? Py_NewRef(args[0]) : PyTuple_New(n);
    for (Py_ssize_t i = 0; key && n > 1 && i < n; i++)
        PyTuple_SetItem(key, i, Py_NewRef(args[i]));
    PyObject *x = key ? tpy_getitem(self, key) : NULL;
    Py_XDECREF(key);
    PyObject *result = x ? only_element(x, "item") : NULL;
    Py_XDECREF(x);
    return result;
}

static PyObject *namespace(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"api_version", NULL};
    PyObject *version = Py_None;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O:__array_namespace__", names, &version))
        return NULL;
    if (version != Py_None) {
        static const char *const known[] = {"2021.12", "2022.12", "2023.12", "2024.12"};
        const char *text =
            PyUnicode_Check(version) ? PyUnicode_AsUTF8AndSize(version, NULL) : NULL;
        bool found = false;
        for (int i = 0; text && i < 4; i++)
            found |= strcmp(text, known[i]) == 0;
        if (!found)
            return PyErr_Format(PyExc_ValueError,
                                "__array_namespace__: version %R of the Array API is not "
                                "offered, 2024.12 is",
                                version);
    }
    return PyImport_ImportModule("tenon");
}

static PyObject *dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", 1, 0);
}

/* Printing, copying and rarely used protocols are on the Python side. */
static PyObject *by_python(PyObject *self, const char *name)
{
    PyObject *f = tpy_python(name);
    return f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;
}

static PyObject *tensor_repr(PyObject *self)
{
    return by_python(self, "repr_tensor");
}

static PyObject *tensor_str(PyObject *self)
{
    return by_python(self, "str_tensor");
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    PyObject *f = tpy_python("tensor");
    return f ? PyObject_Call(f, args, kwargs) : NULL;
}

static PyGetSetDef tensor_getset[] = {
    {"shape", get_shape, NULL, "Extents of the axes.", NULL},
    {"strides", get_strides, NULL, "Bytes from one index of an axis to the next.", NULL},
    {"dtype", get_dtype, NULL, "The element type.", NULL},
    {"ndim", get_ndim, NULL, "The number of axes.", NULL},
    {"size", get_size, NULL, "The number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of one element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"readonly", get_readonly, NULL, "True when the elements must not be written.", NULL},
    {"device", get_device, NULL, "Always \"cpu\".", NULL},
    {"base", get_base, NULL, "What keeps the elements alive; None: the tensor itself.", NULL},
    {"T", get_T, NULL, "A view with the axes in reverse order.", NULL},
    {"mT", get_mT, NULL, "A view with the last two axes exchanged.", NULL},
    {"_address", get_address, NULL, "The address of element (0, ...).", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef tensor_methods[] = {
    {"is_contiguous", is_contiguous, METH_NOARGS,
     "is_contiguous($self, /)\n--\n\nTrue when the elements are dense and in row-major order."},
    {"item", (PyCFunction)(void (*)(void))item, METH_FASTCALL,
     "item($self, /, *index)\n--\n\nThe only element, or the one at index, as a Python "
     "number."},
    {"tolist", tpy_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe elements as nested lists of Python numbers."},
    {"reshape", (PyCFunction)(void (*)(void))tpy_method_reshape, METH_FASTCALL,
     "reshape($self, /, *shape)\n--\n\nThe same elements under another shape: a view where "
     "strides can, else a copy."},
    {"permute", (PyCFunction)(void (*)(void))tpy_method_permute, METH_FASTCALL,
     "permute($self, /, *axes)\n--\n\nA view whose axis i is axis axes[i]."},
    {"__complex__", as_complex, METH_NOARGS, NULL},
    {"__array_namespace__", (PyCFunction)(void (*)(void)) namespace,
     METH_VARARGS | METH_KEYWORDS,
     "__array_namespace__($self, /, *, api_version=None)\n--\n\nThe module tenon."},
    {"__dlpack__", (PyCFunction)(void (*)(void))tpy_dlpack, METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule that shares the elements."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n(1, 0): the CPU."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(tpy_tensor, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot fact_slots[] = {
    {Py_tp_doc,
     "Tensor(data, dtype=None)\n--\n\nA CPU tensor: a header that never changes over "
     "elements that may."},
    {Py_tp_new, tensor_new},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_getset, tensor_getset},
    {Py_tp_methods, tensor_methods},
    {Py_tp_members, tensor_members},
    {Py_tp_repr, tensor_repr},
    {Py_tp_str, tensor_str},
    {Py_tp_iter, iterate},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_sq_length, length},
    {Py_mp_length, length},
    {Py_sq_item, sequence_item},
    {Py_mp_subscript, tpy_getitem},
    {Py_mp_ass_subscript, tpy_setitem},
    {Py_nb_bool, truth},
    {Py_nb_int, as_int},
    {Py_nb_float, as_float},
    {Py_nb_index, as_index},
};

int tpy_tensor_ready(PyObject *module)
{
    enum { FACTS = sizeof fact_slots / sizeof *fact_slots, MOST = 96 };
    static PyType_Slot slots[MOST];
    int n = 0;
    for (int i = 0; i < FACTS; i++)
        slots[n++] = fact_slots[i];
    slots[n++] = tpy_buffer_slot;
    for (int i = 0; i < tpy_operator_count; i++)
        slots[n++] = tpy_operator_slots[i];
    slots[n] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {
        .name = "tenon.Tensor",
        .basicsize = offsetof(tpy_tensor, axes),
        .itemsize = sizeof(int64_t),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    tpy_Tensor = (PyTypeObject *)PyType_FromSpec(&spec);
    return tpy_Tensor ? PyModule_AddObjectRef(module, "Tensor", (PyObject *)tpy_Tensor) : -1;
}
