/* dtype.c - tenon.DType: one object for each element type. */
#include <string.h>

#include "core.h"

PyTypeObject *tpy_DType;

static PyObject *objects[32];

/* Python's names for a dtype, indexed by tn_dtype. */
static const struct {
    const char *name;   /* as NumPy and the Array API spell it */
    const char *format; /* of the buffer protocol */
    const char *str;    /* of __array_interface__, without the byte order */
    char kind;
} facts[] = {
    [TN_BOOL] = {"bool", "?", "b1", 'b'},
    [TN_I8] = {"int8", "b", "i1", 'i'},
    [TN_I16] = {"int16", "h", "i2", 'i'},
    [TN_I32] = {"int32", "i", "i4", 'i'},
    [TN_I64] = {"int64", "q", "i8", 'i'},
    [TN_U8] = {"uint8", "B", "u1", 'u'},
    [TN_U16] = {"uint16", "H", "u2", 'u'},
    [TN_U32] = {"uint32", "I", "u4", 'u'},
    [TN_U64] = {"uint64", "Q", "u8", 'u'},
    [TN_F8E4M3] = {"float8_e4m3fn", NULL, "V1", 'f'},
    [TN_F8E5M2] = {"float8_e5m2", NULL, "V1", 'f'},
    [TN_F16] = {"float16", "e", "f2", 'f'},
    [TN_BF16] = {"bfloat16", NULL, "V2", 'f'},
    [TN_F32] = {"float32", "f", "f4", 'f'},
    [TN_F64] = {"float64", "d", "f8", 'f'},
    [TN_C64] = {"complex64", "Zf", "c8", 'c'},
    [TN_C128] = {"complex128", "Zd", "c16", 'c'},
};

char tpy_kind(tn_dtype dtype)
{
    return facts[dtype].kind;
}

const char *tpy_format(tn_dtype dtype)
{
    return facts[dtype].format;
}

const char *tpy_long_name(tn_dtype dtype)
{
    return facts[dtype].name;
}

tn_dtype tpy_float_of(tn_dtype dtype)
{
    if (tpy_kind(dtype) == 'f' || tpy_kind(dtype) == 'c')
        return dtype;
    return tn_dtype_size(dtype) <= 2 ? TN_F32 : TN_F64;
}

PyObject *tpy_dtype_object(tn_dtype dtype)
{
    return Py_NewRef(objects[dtype]);
}

static int dtype_from_name(tn_dtype *out, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text)
        return -1;
    tn_status status = tn_dtype_parse(out, text);
    if (status != TN_OK) {
        tpy_raise(status);
        return -1;
    }
    return 0;
}

/* NumPy's scalar types (np.float32) and whatever else np.dtype accepts. */
static int dtype_from_numpy(tn_dtype *out, PyObject *o)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *numpy = PyDict_GetItemString(modules, "numpy");
    PyObject *made = numpy ? PyObject_CallMethod(numpy, "dtype", "O", o) : NULL;
    PyObject *name = made ? PyObject_GetAttrString(made, "name") : NULL;
    int result = -1;
    if (name && PyUnicode_Check(name))
        result = dtype_from_name(out, name);
    else {
        PyErr_Clear();
        tpy_raise_dtype("dtype: %R is not a dtype, expected a tenon dtype, its name, or bool, "
                        "int, float, complex",
                        o);
    }
    Py_XDECREF(name);
    Py_XDECREF(made);
    return result;
}

int tpy_dtype_from(tn_dtype *out, PyObject *o)
{
    if (Py_TYPE(o) == tpy_DType) {
        *out = ((tpy_dtype *)o)->dtype;
        return 0;
    }
    if (PyUnicode_Check(o))
        return dtype_from_name(out, o);
    static const struct {
        PyTypeObject *type;
        tn_dtype dtype;
    } builtin[] = {
        {&PyBool_Type, TN_BOOL},
        {&PyLong_Type, TN_I64},
        {&PyFloat_Type, TN_F64},
        {&PyComplex_Type, TN_C128},
    };
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        if (o == (PyObject *)builtin[i].type) {
            *out = builtin[i].dtype;
            return 0;
        }
    if (!PyType_Check(o)) { /* np.dtype("f4") */
        PyObject *name = PyObject_GetAttrString(o, "name");
        int result = 1;
        if (name && PyUnicode_Check(name)) {
            PyObject *order = PyObject_GetAttrString(o, "isnative");
            if (order && order == Py_False)
                tpy_raise_dtype("dtype: %R is not in native byte order; use "
                                "x.astype(x.dtype.newbyteorder(\"=\"))",
                                o);
            else {
                PyErr_Clear();
                result = dtype_from_name(out, name);
            }
            if (result == 1)
                result = -1;
            Py_XDECREF(order);
        }
        Py_XDECREF(name);
        if (result != 1)
            return result;
        PyErr_Clear();
    }
    return dtype_from_numpy(out, o);
}

/* The element type of a foreign buffer; its width selects among C's integers. */
int tpy_dtype_from_buffer(tn_dtype *out, const Py_buffer *view)
{
    const char *f = view->format ? view->format : "B";
    if (*f == '>' || *f == '!') {
        tpy_raise_dtype("asarray: buffer format '%s' is not in native byte order; convert it "
                        "first, in NumPy with x.astype(x.dtype.newbyteorder(\"=\"))",
                        f);
        return -1;
    }
    if (*f == '@' || *f == '=' || *f == '<')
        f++;
    static const char kinds[128] = {
        ['b'] = 'i', ['h'] = 'i', ['i'] = 'i', ['l'] = 'i', ['q'] = 'i', ['n'] = 'i',
        ['B'] = 'u', ['H'] = 'u', ['I'] = 'u', ['L'] = 'u', ['Q'] = 'u', ['N'] = 'u',
        ['c'] = 'u', ['e'] = 'f', ['f'] = 'f', ['d'] = 'f', ['?'] = 'b',
    };
    /* by kind and by the logarithm of the width */
    static const tn_dtype found[128][5] = {
        ['b'] = {TN_BOOL},
        ['i'] = {TN_I8, TN_I16, TN_I32, TN_I64},
        ['u'] = {TN_U8, TN_U16, TN_U32, TN_U64},
        ['f'] = {0, TN_F16, TN_F32, TN_F64},
        ['c'] = {0, 0, 0, TN_C64, TN_C128},
    };
    char kind = 0;
    if (*f > 0 && !f[1])
        kind = kinds[(int)*f];
    else if (*f == 'Z' && (f[1] == 'f' || f[1] == 'd') && !f[2])
        kind = 'c';
    const Py_ssize_t width = view->itemsize;
    if (kind && width > 0 && width <= 16 && !(width & (width - 1))) {
        *out = found[(int)kind][__builtin_ctz((unsigned)width)];
        if (*out)
            return 0;
    }
    tpy_raise_dtype("asarray: buffer format '%s' with elements of %zd bytes is not supported",
                    view->format ? view->format : "B", view->itemsize);
    return -1;
}

/* ---- the object ---- */

static PyObject *dtype_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(facts[((tpy_dtype *)self)->dtype].name);
}

static PyObject *dtype_kind(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromStringAndSize(&facts[((tpy_dtype *)self)->dtype].kind, 1);
}

static PyObject *dtype_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(tn_dtype_size(((tpy_dtype *)self)->dtype));
}

static PyObject *dtype_str(PyObject *self, void *unused)
{
    (void)unused;
    tn_dtype d = ((tpy_dtype *)self)->dtype;
    return PyUnicode_FromFormat("%s%s", tn_dtype_size(d) == 1 ? "|" : "<", facts[d].str);
}

static PyObject *dtype_short(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(tn_dtype_name(((tpy_dtype *)self)->dtype));
}

static PyObject *dtype_numpy(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *f = tpy_python("numpy_dtype");
    return f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;
}

static PyObject *dtype_type(PyObject *self, void *unused)
{
    PyObject *dtype = dtype_numpy(self, unused);
    PyObject *type = dtype ? PyObject_GetAttrString(dtype, "type") : NULL;
    Py_XDECREF(dtype);
    return type;
}

static PyObject *dtype_repr(PyObject *self)
{
    return PyUnicode_FromFormat("tenon.%s", facts[((tpy_dtype *)self)->dtype].name);
}

/* A dtype equals its name and NumPy's type of it, as in NumPy. */
static PyObject *dtype_compare(PyObject *self, PyObject *other, int how)
{
    tn_dtype d;
    if (how != Py_EQ && how != Py_NE)
        return Py_NewRef(Py_NotImplemented);
    bool same = self == other;
    if (!same && (PyUnicode_Check(other) || PyType_Check(other))) {
        same = tpy_dtype_from(&d, other) == 0 && d == ((tpy_dtype *)self)->dtype;
        PyErr_Clear();
    } else if (!same && Py_TYPE(other) != tpy_DType) {
        return Py_NewRef(Py_NotImplemented);
    }
    return PyBool_FromLong(same == (how == Py_EQ));
}

static Py_hash_t dtype_hash(PyObject *self)
{
    return 7919 * (Py_hash_t)((tpy_dtype *)self)->dtype;
}

static PyObject *dtype_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *module = PyImport_ImportModule("tenon._core");
    PyObject *f = module ? PyObject_GetAttrString(module, "dtype") : NULL;
    Py_XDECREF(module);
    return f ? Py_BuildValue("N(s)", f, facts[((tpy_dtype *)self)->dtype].name) : NULL;
}

static PyObject *dtype_hash_token(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("ss", "tenon.dtype", facts[((tpy_dtype *)self)->dtype].name);
}

static PyGetSetDef dtype_getset[] = {
    {"name", dtype_name, NULL, "The name, as NumPy spells it: \"float32\".", NULL},
    {"short", dtype_short, NULL, "The short name of the C library: \"f32\".", NULL},
    {"kind", dtype_kind, NULL, "b, i, u, f or c.", NULL},
    {"itemsize", dtype_itemsize, NULL, "Bytes of an element.", NULL},
    {"str", dtype_str, NULL, "The type string of __array_interface__.", NULL},
    {"__numpy_dtype__", dtype_numpy, NULL, "The same dtype in NumPy.", NULL},
    {"type", dtype_type, NULL, "The scalar type of the same dtype in NumPy.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, NULL},
    {"__dask_tokenize__", dtype_hash_token, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot dtype_slots[] = {
    {Py_tp_doc, "An element type; there is one object for each."},
    {Py_tp_getset, dtype_getset},
    {Py_tp_methods, dtype_methods},
    {Py_tp_repr, dtype_repr},
    {Py_tp_richcompare, dtype_compare},
    {Py_tp_hash, dtype_hash},
    {0, NULL},
};

static PyType_Spec dtype_spec = {
    .name = "tenon.DType",
    .basicsize = sizeof(tpy_dtype),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = dtype_slots,
};

int tpy_dtype_ready(PyObject *module)
{
    tpy_DType = (PyTypeObject *)PyType_FromSpec(&dtype_spec);
    if (!tpy_DType || PyModule_AddObjectRef(module, "DType", (PyObject *)tpy_DType) < 0)
        return -1;
    for (int d = TN_BOOL; d <= TN_C128; d++) {
        tpy_dtype *o = PyObject_New(tpy_dtype, tpy_DType);
        if (!o)
            return -1;
        o->dtype = (tn_dtype)d;
        objects[d] = (PyObject *)o;
        if (PyModule_AddObjectRef(module, facts[d].name, objects[d]) < 0 ||
            PyModule_AddObjectRef(module, tn_dtype_name((tn_dtype)d), objects[d]) < 0)
            return -1;
    }
    return 0;
}
