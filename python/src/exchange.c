/* exchange.c - imports tensors of a library that has DLPack's table of C functions (version 1.3
 * of the protocol, __dlpack_c_exchange_api__), without a call into Python.
 *
 * The table describes memory only: tensors that a producer's __dlpack__ rejects because they
 * have more state (a gradient, a pending conjugate) are left to __dlpack__. */
#include <string.h>

#include "core.h"

/* DLPackExchangeAPI: the first fields do not change in later versions. */
typedef struct functions {
    DLPackVersion version;
    struct functions *previous;
    void *allocate;
    int (*export_tensor)(void *object, DLManagedTensorVersioned **out);
} functions;

/* The functions of a type itself, not of a base of it; NULL: none. */
static const functions *offered(PyTypeObject *type)
{
    static _Thread_local PyTypeObject *last;   /* the last type looked up, */
    static _Thread_local const functions *its; /* and its functions */
    if (type == last)
        return its;
    PyObject *words = PyObject_GetAttrString((PyObject *)type, "__dict__");
    PyObject *capsule =
        words ? PyMapping_GetItemString(words, "__dlpack_c_exchange_api__") : NULL;
    const functions *f = capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api")
                             ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
                             : NULL;
    while (f && f->version.major > 1)
        f = f->previous;
    its = f && f->version.major == 1 ? f : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(words);
    PyErr_Clear();
    PyObject *before = (PyObject *)last;
    last = (PyTypeObject *)Py_NewRef((PyObject *)type);
    Py_XDECREF(before);
    return its;
}

bool tpy_exchange(DLManagedTensorVersioned **m, PyObject *o)
{
    static PyObject *gradient;
    const functions *f = offered(Py_TYPE(o));
    if (!f || (!gradient && !(gradient = PyUnicode_InternFromString("requires_grad"))))
        return false;
    PyObject *wanted = PyObject_GetAttr(o, gradient);
    bool plain = !wanted || wanted == Py_False;
    Py_XDECREF(wanted);
    PyErr_Clear();
    bool done = plain && f->export_tensor(o, m) == 0;
    PyErr_Clear();
    if (done && ((*m)->version.major != 1 || (*m)->dl_tensor.dtype.code == 5)) { /* complex */
        if ((*m)->deleter)
            (*m)->deleter(*m);
        return false;
    }
    return done;
}
