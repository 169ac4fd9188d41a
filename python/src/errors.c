/* errors.c - the exception of each status, with the library's sentence and the Python name of
 * the call. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "core.h"

enum { AXIS = 32, INDEX, PATTERN, RAISED };

/* The classes are in tenon/_errors.py; these are their names by status. */
static const struct {
    int status;
    const char *name;
} rows[] = {
    {TN_EARG, "ArgumentError"},
    {TN_EDTYPE, "DTypeError"},
    {TN_ESHAPE, "ShapeError"},
    {TN_ESTRIDE, "LayoutError"},
    {TN_EOVERLAP, "OverlapError"},
    {TN_EOVERFLOW, "SizeError"},
    {TN_ENOMEM, "OutOfMemoryError"},
    {TN_EDEVICE, "DeviceError"},
    {TN_EIO, "FileError"},
    {TN_EFORMAT, "FormatError"},
    {TN_EUNSUPPORTED, "UnsupportedError"},
    {AXIS, "AxisError"},
    {INDEX, "IndexingError"},
    {PATTERN, "PatternError"},
};

static PyObject *classes[RAISED];

/* The length of the word that a C name has after a Python one: matmul_shape, eval_copy. */
static size_t c_suffix(const char *name, size_t length)
{
    static const char *const words[] = {"_copy", "_into", "_parse", "_shape"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (length > n && memcmp(name + length - n, words[i], n) == 0)
            return n;
    }
    return 0;
}

/* A sentence may contain bytes of a file name: bytes that are not UTF-8 are escaped. */
static PyObject *sentence(const char *text)
{
    char name[48] = "";
    size_t length = strcspn(text, ": "), drop = c_suffix(text, length);
    if (drop && length < sizeof name) {
        memcpy(name, text, length - drop);
        text += length;
    }
    PyObject *rest = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
    PyObject *s = rest ? PyUnicode_FromFormat("%s%U", name, rest) : NULL;
    Py_XDECREF(rest);
    return s;
}

static void raise_text(PyObject *class, const char *text)
{
    PyObject *s = sentence(text);
    if (s) {
        PyErr_SetObject(class, s);
        Py_DECREF(s);
    }
}

void *tpy_raise(tn_status status)
{
    int error = errno;
    const char *text = tn_error();
    if (status == TN_EIO) {
        PyObject *s = sentence(text);
        PyObject *args = s ? Py_BuildValue("(iN)", error, s) : NULL;
        if (args) {
            PyErr_SetObject(classes[TN_EIO], args);
            Py_DECREF(args);
        }
        return NULL;
    }
    PyObject *class = (int)status < RAISED ? classes[status] : NULL;
    if (status == TN_EFORMAT && strncmp(text, "pattern", 7) == 0)
        class = classes[PATTERN];
    raise_text(class ? class : PyExc_SystemError, text);
    return NULL;
}

static void *raise_formatted(int which, const char *fmt, va_list args)
{
    PyObject *s = PyUnicode_FromFormatV(fmt, args);
    if (s) {
        PyErr_SetObject(classes[which], s);
        Py_DECREF(s);
    }
    return NULL;
}

void *tpy_raise_axis(const char *call, Py_ssize_t axis, int ndim)
{
    PyErr_Format(classes[AXIS], "%s: axis %zd is out of range for a tensor of %d axes", call,
                 axis, ndim);
    return NULL;
}

#define RAISE(name, which)                                                                     \
    void *name(const char *fmt, ...)                                                           \
    {                                                                                          \
        va_list args;                                                                          \
        va_start(args, fmt);                                                                   \
        raise_formatted(which, fmt, args);                                                     \
        va_end(args);                                                                          \
        return NULL;                                                                           \
    }
RAISE(tpy_raise_index, INDEX)
RAISE(tpy_raise_layout, TN_ESTRIDE)
RAISE(tpy_raise_shape, TN_ESHAPE)
RAISE(tpy_raise_dtype, TN_EDTYPE)

int tpy_errors_ready(PyObject *module)
{
    PyObject *python = PyImport_ImportModule("tenon._errors");
    if (!python)
        return -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PyObject *class = PyObject_GetAttrString(python, rows[i].name);
        if (!class) {
            Py_DECREF(python);
            return -1;
        }
        classes[rows[i].status] = class;
    }
    Py_DECREF(python);
    (void)module;
    return 0;
}
