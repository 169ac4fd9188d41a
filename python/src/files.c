/* files.c - tensors in files: the objects that tenon/_files.py is built on.
 *
 * A mapped Tensor holds a reference to the file object, so a file is closed when its last map
 * is freed. */
#include <string.h>
#include <unistd.h>

#include "core.h"

PyTypeObject *tpy_File, *tpy_Writer;

typedef struct file_object {
    PyObject_HEAD tn_file *f;
    int fd; /* the file reads from it until it is closed */
} file_object;

typedef struct writer_object {
    PyObject_HEAD tn_writer *w;
} writer_object;

static tn_file *file_of(PyObject *self)
{
    return ((file_object *)self)->f;
}

static PyObject *text_of(const char *s)
{
    return s ? PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "surrogateescape")
             : Py_NewRef(Py_None);
}

static void file_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    tn_file_close(file_of(self));
    close(((file_object *)self)->fd);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Takes ownership of the descriptor, even on failure. */
static PyObject *file_open(PyObject *self, PyObject *args)
{
    (void)self;
    int fd;
    const char *name;
    tn_file *f;
    tn_status status;
    if (!PyArg_ParseTuple(args, "is:open_file", &fd, &name))
        return NULL;
    TPY_RUN(status, TPY_LARGE, tn_file_open_fd(&f, fd, name));
    if (status != TN_OK) {
        close(fd);
        return tpy_raise(status);
    }
    file_object *o = PyObject_New(file_object, tpy_File);
    if (!o) {
        tn_file_close(f);
        close(fd);
        return NULL;
    }
    o->f = f;
    o->fd = fd;
    return (PyObject *)o;
}

static PyObject *file_format(PyObject *self, PyObject *unused)
{
    (void)unused;
    return text_of(tn_file_format(file_of(self)));
}

static PyObject *file_count(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong(tn_file_count(file_of(self)));
}

static PyObject *file_metadata(PyObject *self, PyObject *unused)
{
    (void)unused;
    return text_of(tn_file_metadata(file_of(self)));
}

static int index_of(PyObject *o, long long *i)
{
    *i = PyLong_AsLongLong(o);
    return *i == -1 && PyErr_Occurred() ? -1 : 0;
}

static PyObject *file_name(PyObject *self, PyObject *o)
{
    long long i;
    return index_of(o, &i) < 0 ? NULL : text_of(tn_file_name(file_of(self), i));
}

/* (type as the file spells it, dtype or None, shape, offset or None) */
static PyObject *file_info(PyObject *self, PyObject *o)
{
    long long i;
    int ndim;
    int64_t offset = -1;
    tn_tensor t;
    if (index_of(o, &i) < 0)
        return NULL;
    tn_status status = tn_file_info(file_of(self), i, NULL, &t, &offset);
    if (status != TN_OK && status != TN_EUNSUPPORTED)
        return tpy_raise(status);
    const int64_t *shape = tn_file_shape(file_of(self), i, &ndim);
    PyObject *extents = shape ? tpy_shape_tuple(ndim, shape) : Py_NewRef(Py_None);
    PyObject *dtype = status == TN_OK ? tpy_dtype_object(t.dtype) : Py_NewRef(Py_None);
    PyObject *at = offset >= 0 ? PyLong_FromLongLong(offset) : Py_NewRef(Py_None);
    return Py_BuildValue("(NNNN)", text_of(tn_file_type(file_of(self), i)), dtype, extents, at);
}

static PyObject *file_read(PyObject *self, PyObject *o)
{
    long long i;
    tn_tensor t;
    tn_status status;
    if (index_of(o, &i) < 0)
        return NULL;
    TPY_RUN(status, TPY_LARGE, tn_file_read(file_of(self), i, &t));
    return status == TN_OK ? tpy_adopt(&t) : tpy_raise(status);
}

static PyObject *file_map(PyObject *self, PyObject *o)
{
    long long i;
    tn_tensor t;
    tn_status status;
    if (index_of(o, &i) < 0)
        return NULL;
    TPY_RUN(status, TPY_LARGE, tn_file_map(file_of(self), i, &t));
    return status == TN_OK ? tpy_new(&t, self) : tpy_raise(status);
}

/* Only the elements that key names are read. */
static PyObject *file_fetch(PyObject *self, PyObject *args)
{
    long long i;
    PyObject *key;
    tn_tensor places, dst;
    if (!PyArg_ParseTuple(args, "LO:fetch", &i, &key))
        return NULL;
    tn_status status = tn_file_places(file_of(self), i, &places);
    if (status != TN_OK)
        return tpy_raise(status);
    int done = tpy_index(&places, key);
    if (done <= 0)
        return done < 0 ? NULL
                        : tpy_raise_index("a part of a file is named by integers, slices, ... "
                                          "and None, got %R",
                                          key);
    PyObject *made = tpy_empty(&dst, places.dtype, places.ndim, places.shape);
    if (!made)
        return NULL;
    TPY_RUN(status, TPY_LARGE, tn_file_fetch(file_of(self), i, &dst, &places));
    if (status == TN_OK)
        return made;
    Py_DECREF(made);
    return tpy_raise(status);
}

static PyMethodDef file_methods[] = {
    {"format", file_format, METH_NOARGS, NULL},
    {"count", file_count, METH_NOARGS, NULL},
    {"metadata", file_metadata, METH_NOARGS, NULL},
    {"name", file_name, METH_O, NULL},
    {"info", file_info, METH_O, NULL},
    {"read", file_read, METH_O, NULL},
    {"map", file_map, METH_O, NULL},
    {"fetch", file_fetch, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- writing ---- */

typedef struct targets {
    int n;
    tn_tensor *t;
    const tn_tensor **at;
    const char **names;
} targets;

static void targets_free(targets *g)
{
    PyMem_Free(g->t);
    PyMem_Free(g->at);
    PyMem_Free(g->names);
}

static int targets_alloc(targets *g, Py_ssize_t n)
{
    size_t count = (size_t)(n > 0 ? n : 1);
    *g = (targets){.n = (int)n,
                   .t = PyMem_Malloc(sizeof *g->t * count),
                   .at = PyMem_Malloc(sizeof *g->at * count),
                   .names = PyMem_Malloc(sizeof *g->names * count)};
    if (g->t && g->at && g->names)
        return 0;
    targets_free(g);
    PyErr_NoMemory();
    return -1;
}

/* save(path, names or None, [Tensor], metadata or None): names are bytes. */
static PyObject *file_save(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *path, *names, *list, *metadata;
    targets g;
    if (!PyArg_ParseTuple(args, "SOO!O:save", &path, &names, &PyList_Type, &list, &metadata) ||
        targets_alloc(&g, PyList_Size(list)) < 0)
        return NULL;
    tn_status status = TN_OK;
    int64_t bytes = TPY_LARGE;
    for (int k = 0; k < g.n; k++) {
        tpy_widen(&g.t[k], PyList_GetItem(list, k));
        g.at[k] = &g.t[k];
        g.names[k] = names == Py_None ? NULL : PyBytes_AsString(PyList_GetItem(names, k));
    }
    const char *where = PyBytes_AsString(path);
    const char *meta = metadata == Py_None ? NULL : PyBytes_AsString(metadata);
    if (!PyErr_Occurred()) {
        if (names == Py_None)
            TPY_RUN(status, bytes, tn_save(where, g.at[0]));
        else
            TPY_RUN(status, bytes, tn_save_many(where, g.n, g.names, g.at, meta));
    }
    targets_free(&g);
    if (PyErr_Occurred())
        return NULL;
    return status == TN_OK ? Py_NewRef(Py_None) : tpy_raise(status);
}

/* writer(path, [(name, shape, dtype)], metadata or None, sync) */
static PyObject *writer_open(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *path, *list, *metadata;
    int sync;
    targets g;
    if (!PyArg_ParseTuple(args, "SO!Op:writer", &path, &PyList_Type, &list, &metadata, &sync) ||
        targets_alloc(&g, PyList_Size(list)) < 0)
        return NULL;
    writer_object *o = NULL;
    for (int k = 0; k < g.n; k++) {
        PyObject *name, *shape_given, *dtype_given;
        tn_dtype dtype;
        int64_t shape[TN_MAX_NDIM];
        int ndim;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "SOO", &name, &shape_given,
                              &dtype_given) ||
            tpy_dtype_from(&dtype, dtype_given) < 0 ||
            (ndim = tpy_shape_from(shape_given, shape, "writer")) < 0)
            goto done;
        g.names[k] = PyBytes_AsString(name);
        g.at[k] = &g.t[k];
        tn_status status = tn_init(&g.t[k], NULL, dtype, ndim, shape);
        if (status != TN_OK) {
            tpy_raise(status);
            goto done;
        }
    }
    tn_write_options options = {
        .metadata = metadata == Py_None ? NULL : PyBytes_AsString(metadata), .no_sync = !sync};
    tn_writer *w;
    tn_status status = tn_writer_open(&w, PyBytes_AsString(path), g.n, g.names, g.at, &options);
    if (status != TN_OK) {
        tpy_raise(status);
        goto done;
    }
    o = PyObject_New(writer_object, tpy_Writer);
    if (o)
        o->w = w;
    else
        tn_writer_abort(w);
done:
    targets_free(&g);
    return (PyObject *)o;
}

static void writer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    tn_writer_abort(((writer_object *)self)->w);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Take the writer out of the object while it is in use: another thread finds none. */
static tn_writer *writer_take(PyObject *self)
{
    tn_writer *w = ((writer_object *)self)->w;
    ((writer_object *)self)->w = NULL;
    if (!w)
        PyErr_SetString(PyExc_ValueError, "the writer is closed or in use by another thread");
    return w;
}

static PyObject *writer_put(PyObject *self, PyObject *o)
{
    tpy_operand op;
    if (tpy_take(&op, o, false) < 0)
        return NULL;
    tn_writer *w = writer_take(self);
    tn_status status = TN_OK;
    if (w) {
        TPY_RUN(status, TPY_LARGE, tn_writer_put(w, &op.t));
        ((writer_object *)self)->w = w;
    }
    tpy_drop(&op);
    if (!w)
        return NULL;
    return status == TN_OK ? Py_NewRef(Py_None) : tpy_raise(status);
}

static PyObject *writer_commit(PyObject *self, PyObject *unused)
{
    (void)unused;
    tn_writer *w = writer_take(self);
    tn_status status;
    if (!w)
        return NULL;
    TPY_RUN(status, TPY_LARGE, tn_writer_commit(w));
    return status == TN_OK ? Py_NewRef(Py_None) : tpy_raise(status);
}

static PyObject *writer_abort(PyObject *self, PyObject *unused)
{
    (void)unused;
    tn_writer *w = ((writer_object *)self)->w;
    ((writer_object *)self)->w = NULL;
    tn_writer_abort(w);
    Py_RETURN_NONE;
}

static PyMethodDef writer_methods[] = {
    {"put", writer_put, METH_O, NULL},
    {"commit", writer_commit, METH_NOARGS, NULL},
    {"abort", writer_abort, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"open_file", file_open, METH_VARARGS, NULL},
    {"save_file", file_save, METH_VARARGS, NULL},
    {"open_writer", writer_open, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot file_slots[] = {
    {Py_tp_dealloc, file_dealloc},
    {Py_tp_methods, file_methods},
    {0, NULL},
};
static PyType_Slot writer_slots[] = {
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_methods, writer_methods},
    {0, NULL},
};
static PyType_Spec file_spec = {
    .name = "tenon._core.File",
    .basicsize = sizeof(file_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = file_slots,
};
static PyType_Spec writer_spec = {
    .name = "tenon._core.Writer",
    .basicsize = sizeof(writer_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = writer_slots,
};

int tpy_files_ready(PyObject *module)
{
    tpy_File = (PyTypeObject *)PyType_FromSpec(&file_spec);
    tpy_Writer = (PyTypeObject *)PyType_FromSpec(&writer_spec);
    if (!tpy_File || !tpy_Writer)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
