/* core.h - declarations shared by the files of the module: the Tensor object, operands,
 * failures.
 *
 * Only the limited API of CPython 3.11 is used, and only public headers of tenon. */
#ifndef TPY_CORE_H
#define TPY_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <tenon/reduce.h>
#include <tenon/tenon.h>

/* A tensor's header never changes after it is made, so objects need no lock and exports need no
 * count.  The elements belong to owner, or to the object itself if owner is NULL. */
typedef struct tpy_tensor {
    PyObject_VAR_HEAD PyObject
        *owner; /* the root that keeps the elements alive; NULL: this object does */
    PyObject *weak;
    _Atomic(PyObject *) shape; /* the tuple, made on first use */
    void *data;
    tn_dtype dtype;
    uint32_t flags;
    int64_t axes[]; /* shape, then strides in bytes */
} tpy_tensor;

#define tensor_of(object) ((tpy_tensor *)(object))

typedef struct tpy_dtype {
    PyObject_HEAD tn_dtype dtype;
} tpy_dtype;

extern PyTypeObject *tpy_Tensor, *tpy_DType, *tpy_Export, *tpy_Managed, *tpy_File, *tpy_Writer,
    *tpy_Plan;

static inline bool tpy_is_tensor(PyObject *o)
{
    return Py_TYPE(o) == tpy_Tensor;
}

static inline int tpy_ndim(PyObject *o)
{
    return (int)(Py_SIZE(o) / 2);
}

/* The description that the C library accepts. */
static inline void tpy_widen(tn_tensor *t, PyObject *o)
{
    const tpy_tensor *p = tensor_of(o);
    int ndim = tpy_ndim(o);
    t->data = p->data;
    t->dtype = p->dtype;
    t->ndim = ndim;
    t->device = TN_CPU;
    t->flags = p->flags;
    for (int i = 0; i < ndim; i++) {
        t->shape[i] = p->axes[i];
        t->stride[i] = p->axes[ndim + i];
    }
}

/* ---- tensor.c ---- */

/* A Tensor of t's elements, which owner keeps alive (a new reference is taken). */
PyObject *tpy_new(const tn_tensor *t, PyObject *owner);

/* A Tensor that takes ownership of the result of tn_alloc or a _copy call, which is freed on
 * failure. */
PyObject *tpy_adopt(tn_tensor *t);

/* A view of elements of a Tensor. */
PyObject *tpy_view(const tn_tensor *t, PyObject *of);

/* A new dense tensor. */
PyObject *tpy_empty(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape);

PyObject *tpy_shape_tuple(int n, const int64_t *extents);
int tpy_tensor_ready(PyObject *module);

/* ---- dtype.c ---- */

PyObject *tpy_dtype_object(tn_dtype dtype);     /* a new reference */
int tpy_dtype_from(tn_dtype *out, PyObject *o); /* 0; -1: an exception is set */
char tpy_kind(tn_dtype dtype);                  /* b i u f c */
tn_dtype tpy_float_of(tn_dtype dtype);  /* the float that an integer dtype promotes to */
const char *tpy_format(tn_dtype dtype); /* of the buffer protocol; NULL: none */
int tpy_dtype_from_buffer(tn_dtype *out, const Py_buffer *view);
const char *tpy_long_name(tn_dtype dtype); /* "float32" */
int tpy_dtype_ready(PyObject *module);

/* ---- errors.c ---- */

/* Raise the exception of a status with the library's sentence; returns NULL. */
void *tpy_raise(tn_status status);
void *tpy_raise_axis(const char *call, Py_ssize_t axis, int ndim);
void *tpy_raise_index(const char *fmt, ...);
void *tpy_raise_layout(const char *fmt, ...);
void *tpy_raise_shape(const char *fmt, ...);
void *tpy_raise_dtype(const char *fmt, ...);
int tpy_errors_ready(PyObject *module);

/* Bytes of operands from which a call releases the interpreter's lock. */
#define TPY_LARGE (32 << 10)

/* Pass the calling thread's number of threads to the library (work.c). */
void tpy_use_threads(void);

/* Run a call of the library, without the interpreter's lock if it is large enough. */
#define TPY_RUN(status, bytes, call)                                                           \
    do {                                                                                       \
        if ((bytes) >= TPY_LARGE) {                                                            \
            tpy_use_threads();                                                                 \
            PyThreadState *tpy_state = PyEval_SaveThread();                                    \
            status = (call);                                                                   \
            PyEval_RestoreThread(tpy_state);                                                   \
        } else {                                                                               \
            status = (call);                                                                   \
        }                                                                                      \
    } while (0)

/* ---- take_in.c ---- */

/* One operand of a call: a description, and the references that keep it valid until
 * tpy_drop. */
typedef struct tpy_operand {
    tn_tensor t;
    PyObject *held;      /* the owner of the elements: a new Tensor, an ndarray */
    PyObject *weak;      /* a Python number whose dtype the others decide; borrowed */
    bool exported;       /* view must be released */
    uint64_t scratch[2]; /* the element of a number */
    Py_buffer view;
} tpy_operand;

/* Read any array object.  numbers: Python numbers are accepted, as weak ones. */
int tpy_take(tpy_operand *op, PyObject *o, bool numbers);
int tpy_take_out(tpy_operand *op, PyObject *o); /* a destination: writable memory */
static inline void tpy_drop(tpy_operand *op)
{
    if (op->exported)
        PyBuffer_Release(&op->view);
    Py_XDECREF(op->held);
}

/* Give a weak number the dtype that it gets together with dtype, or its own if it is alone. */
int tpy_settle(tpy_operand *op, bool alone, tn_dtype dtype);

/* The dtype that a Python number gets together with another dtype. */
int tpy_weak_dtype(tn_dtype *out, PyObject *number, bool alone, tn_dtype dtype);

/* Write a Python number as one element of dtype. */
int tpy_number(void *out, tn_dtype dtype, PyObject *number);
bool tpy_is_number(PyObject *o);

/* asarray without a cast: a Tensor of o's elements, which shares memory if possible. */
PyObject *tpy_as_tensor(PyObject *o);
PyObject *tpy_from_sequence(PyObject *o, bool typed, tn_dtype dtype);
PyObject *tpy_from_dlpack(PyObject *o, PyObject *copy);
int tpy_take_in_ready(PyObject *module);

/* ---- ndarray.c ---- */

/* A NumPy array whose header can be read; false: use its buffer. */
bool tpy_ndarray(tn_tensor *t, PyObject *o);
void tpy_ndarray_learn(PyObject *o, const tn_tensor *t); /* t: as its buffer describes it */

/* ---- exchange.c ---- */

/* A tensor whose type has DLPack's C functions; false: call __dlpack__. */
bool tpy_exchange(DLManagedTensorVersioned **m, PyObject *o);

/* ---- hand_out.c ---- */

extern PyType_Slot tpy_buffer_slot;
PyObject *tpy_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *tpy_item_at(const void *p, tn_dtype dtype);
PyObject *tpy_tolist(PyObject *self, PyObject *unused);

/* ---- index.c ---- */

/* Apply a basic index to t: 1 done, 0 it is an advanced one, -1 an exception is set. */
int tpy_index(tn_tensor *t, PyObject *key);
PyObject *tpy_getitem(PyObject *self, PyObject *key);
int tpy_setitem(PyObject *self, PyObject *key, PyObject *value);
int tpy_assign(const tn_tensor *dst, PyObject *value);

/* ---- operators.c, functions.c ---- */

/* One op on n objects; out may be NULL.  binary: an object that is not an operand gives
 * NotImplemented. */
PyObject *tpy_apply(tn_op op, const double *params, int n, PyObject *const *args, PyObject *out,
                    bool binary);
PyObject *tpy_apply_into(tn_op op, PyObject *self, PyObject *other);
PyObject *tpy_cast(PyObject *x, tn_dtype dtype);
PyObject *tpy_dense(PyObject *x); /* a new reference to a dense row-major Tensor */
PyObject *tpy_method_reshape(PyObject *self, PyObject *const *args, Py_ssize_t n);
PyObject *tpy_method_permute(PyObject *self, PyObject *const *args, Py_ssize_t n);
PyObject *tpy_python(const char *name); /* a function of the Python side, borrowed */
extern PyMethodDef tpy_functions[];
extern PyMethodDef tpy_work_functions[];
extern PyMethodDef tpy_view_functions[];
extern PyType_Slot *tpy_operator_slots;
extern const int tpy_operator_count;

/* ---- shared parsing ---- */

int tpy_keyword(PyObject *names, Py_ssize_t k, const char *name); /* true if k is name */
int tpy_axis(const char *call, PyObject *o, int ndim, int *axis);
int tpy_shape_from(PyObject *o, int64_t *shape, const char *call); /* ndim, or -1 */
int tpy_unknown_keyword(const char *call, PyObject *names, Py_ssize_t k);

/* ---- files.c, plans.c ---- */
int tpy_files_ready(PyObject *module);
int tpy_plans_ready(PyObject *module);

/* A Plan object, which takes ownership of plan even on failure. */
PyObject *tpy_plan_wrap(tn_plan *plan, const tn_tensor *dst, int n,
                        const tn_tensor *const *srcs);
int tpy_plan_destination(tn_tensor *dst, PyObject *out, tn_dtype dtype, int ndim,
                         const int64_t *shape);

/* ---- reduce.c, choose.c, products.c, expressions.c ---- */

/* The given out, or a new tensor of shape; owned is the object that the call returns through
 * tpy_finish. */
int tpy_result(tpy_operand *dst, PyObject **owned, PyObject *out, tn_dtype dtype, int ndim,
               const int64_t *shape);
PyObject *tpy_finish(tn_status status, tpy_operand *dst, PyObject *owned);
bool tpy_reduces_into(tn_reduction op, tn_dtype natural, tn_dtype wanted);
extern PyMethodDef tpy_reduce_functions[], tpy_scan_functions[], tpy_choose_functions[],
    tpy_product_functions[], tpy_expr_functions[];

#endif
