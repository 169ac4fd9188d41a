/* ndarray.c - NumPy arrays as operands, read from the header that NumPy's ABI fixes.
 *
 * The buffer protocol creates a format string for each export, which costs more than a small
 * call.  A header is read directly for a dtype once the buffer of an array of that dtype has
 * agreed with its header; every other object is read through its buffer. */
#include <stdatomic.h>
#include <string.h>

#include "core.h"

/* PyArrayObject_fields of NumPy's C API, the same since 1.7. */
typedef struct header {
    PyObject_HEAD char *data;
    int ndim;
    Py_ssize_t *shape, *stride;
    PyObject *base, *dtype;
    int flags;
} header;

enum {
    WRITEABLE = 0x400,
    WARNS = (int)0x80000000, /* when it is written to */
    MOST_KNOWN = 16,         /* native dtypes that both libraries have, twice where C has two */
};

static PyTypeObject *ndarray; /* the type, once it is known */
static struct {
    PyObject *dtype;
    tn_dtype is;
} known[MOST_KNOWN];
static atomic_int nknown;
static atomic_flag learning = ATOMIC_FLAG_INIT;

bool tpy_ndarray(tn_tensor *t, PyObject *o)
{
    if (Py_TYPE(o) != ndarray)
        return false;
    const header *h = (const header *)o;
    int k = 0, n = nknown;
    while (k < n && known[k].dtype != h->dtype)
        k++;
    if (k == n || h->ndim < 0 || h->ndim > TN_MAX_NDIM || h->flags & WARNS)
        return false;
    t->data = h->data;
    t->dtype = known[k].is;
    t->ndim = h->ndim;
    t->device = TN_CPU;
    t->flags = h->flags & WRITEABLE ? 0 : TN_READONLY;
    for (int i = 0; i < h->ndim; i++) {
        t->shape[i] = h->shape[i];
        t->stride[i] = h->stride[i];
    }
    return true;
}

/* True if the text of an attribute begins with this prefix. */
static bool begins(PyObject *o, const char *name, const char *text)
{
    PyObject *got = PyObject_GetAttrString(o, name);
    const char *chars = got ? PyUnicode_AsUTF8AndSize(got, NULL) : NULL;
    bool same = chars && strncmp(chars, text, strlen(text)) == 0;
    Py_XDECREF(got);
    PyErr_Clear();
    return same;
}

/* True for numpy.ndarray of a version with a known ABI and a header that has all fields. */
static bool is_ndarray(PyTypeObject *type)
{
    PyObject *o = (PyObject *)type;
    if (!begins(o, "__name__", "ndarray") || !begins(o, "__module__", "numpy"))
        return false;
    PyObject *module = PyImport_ImportModule("numpy");
    PyObject *real = module ? PyObject_GetAttrString(module, "ndarray") : NULL;
    PyObject *size = PyObject_GetAttrString(o, "__basicsize__");
    bool fits = real == o && size && begins(module, "__version__", "2.") &&
                PyLong_AsLong(size) >= (long)sizeof(header);
    Py_XDECREF(module);
    Py_XDECREF(real);
    Py_XDECREF(size);
    PyErr_Clear();
    return fits;
}

/* True if the header of an array agrees with its buffer and its attribute dtype. */
static bool agrees(PyObject *o, const tn_tensor *t)
{
    const header *h = (const header *)o;
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    bool same = dtype == h->dtype && h->data == t->data && h->ndim == t->ndim &&
                !(h->flags & WRITEABLE) == (t->flags == TN_READONLY);
    for (int i = 0; same && i < t->ndim; i++)
        same = h->shape[i] == t->shape[i] && h->stride[i] == t->stride[i];
    Py_XDECREF(dtype);
    PyErr_Clear();
    return same;
}

void tpy_ndarray_learn(PyObject *o, const tn_tensor *t)
{
    static _Thread_local const PyTypeObject *other; /* the last type that is not ndarray */
    if (nknown == MOST_KNOWN || Py_TYPE(o) == other)
        return;
    if (Py_TYPE(o) != ndarray && (ndarray || !is_ndarray(Py_TYPE(o)))) {
        other = Py_TYPE(o);
        return;
    }
    if (atomic_flag_test_and_set(&learning)) /* another thread does it: wait for the next */
        return;
    if (!ndarray)
        ndarray = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(o));
    int n = nknown;
    if (n < MOST_KNOWN && agrees(o, t)) {
        known[n].dtype = Py_NewRef(((const header *)o)->dtype);
        known[n].is = t->dtype;
        nknown = n + 1;
    }
    atomic_flag_clear(&learning);
}
