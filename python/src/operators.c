/* operators.c - elementwise ops on any operands, and Python's operators built on them. */
#include <string.h>

#include "core.h"

/* True if this op reads its first source as a condition, which is not promoted. */
static bool has_condition(tn_op op)
{
    return op == TN_WHERE;
}

/* Give every weak number the dtype that the others determine, from left to right. */
static int settle(tn_op op, int n, tpy_operand *ops)
{
    bool seen = false, weak = false;
    int first = has_condition(op) ? 1 : 0;
    tn_dtype dtype = TN_BOOL;
    for (int k = 0; k < n; k++)
        weak |= ops[k].weak != NULL;
    if (!weak)
        return 0;
    for (int k = first; k < n; k++) {
        if (ops[k].weak)
            continue;
        tn_status status = seen ? tn_promote(&dtype, dtype, ops[k].t.dtype) : TN_OK;
        if (status != TN_OK) {
            tpy_raise(status);
            return -1;
        }
        if (!seen)
            dtype = ops[k].t.dtype;
        seen = true;
    }
    for (int k = first; k < n; k++)
        if (ops[k].weak) {
            tpy_weak_dtype(&dtype, ops[k].weak, !seen, dtype);
            seen = true;
        }
    if (op == TN_DIV) /* a number and an integer are divided in their float */
        dtype = tpy_float_of(dtype);
    for (int k = 0; k < n; k++)
        if (ops[k].weak && tpy_settle(&ops[k], k < first, dtype) < 0)
            return -1;
    return 0;
}

static bool same_shape(const tn_tensor *a, const tn_tensor *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

/* Shapes that do not broadcast: all of them, and the axis (from the end) where two differ. */
static void raise_shapes(tn_op op, int n, const tn_tensor *const *srcs)
{
    PyObject *list = PyList_New(0);
    int axis = 0;
    int64_t a = 1, b = 1;
    for (int k = 0; list && k < n; k++) {
        PyObject *shape = tpy_shape_tuple(srcs[k]->ndim, srcs[k]->shape);
        if (!shape || PyList_Append(list, shape) < 0)
            Py_CLEAR(list);
        Py_XDECREF(shape);
    }
    for (int i = 1; i <= TN_MAX_NDIM && !axis; i++) {
        a = 1;
        for (int k = 0; k < n && !axis; k++) {
            b = i <= srcs[k]->ndim ? srcs[k]->shape[srcs[k]->ndim - i] : 1;
            if (a != 1 && b != 1 && a != b)
                axis = -i;
            else if (a == 1)
                a = b;
        }
    }
    if (list)
        tpy_raise_shape("%s: shapes %R do not broadcast: axis %d has extents %lld and %lld",
                        tn_op_name(op), list, axis, (long long)a, (long long)b);
    Py_XDECREF(list);
}

/* The shape that the sources broadcast to; 0 or -1 with an exception. */
static int result_shape(tn_op op, int n, const tn_tensor *const *srcs, int *ndim,
                        const int64_t **shape, int64_t *scratch)
{
    bool same = true;
    for (int k = 1; k < n; k++)
        same &= same_shape(srcs[0], srcs[k]);
    *ndim = srcs[0]->ndim;
    *shape = srcs[0]->shape;
    if (same)
        return 0;
    tn_status status = tn_broadcast_shape(n, srcs, ndim, scratch);
    *shape = scratch;
    if (status == TN_OK)
        return 0;
    if (status == TN_ESHAPE)
        raise_shapes(op, n, srcs);
    else
        tpy_raise(status);
    return -1;
}

/* Extents of a foreign array may have any value: a number that does not fit counts as large. */
static int64_t bytes_touched(int n, const tn_tensor *dst)
{
    int64_t bytes = (n + 1) * (int64_t)tn_dtype_size(dst->dtype);
    for (int i = 0; i < dst->ndim; i++)
        if (__builtin_mul_overflow(bytes, dst->shape[i], &bytes))
            return INT64_MAX;
    return bytes;
}

/* out shares memory with a source: compute beside it, then copy. */
static tn_status through_temporary(tn_op op, const double *params, const tn_tensor *dst, int n,
                                   const tn_tensor *const *srcs)
{
    tn_tensor made;
    tn_status status = tn_alloc(&made, dst->dtype, dst->ndim, dst->shape);
    if (status != TN_OK)
        return status;
    int64_t bytes = bytes_touched(n, dst);
    TPY_RUN(status, bytes, tn_apply(op, params, &made, n, srcs));
    if (status == TN_OK)
        TPY_RUN(status, bytes, tn_rearrange(dst, &made));
    tn_free(&made);
    return status;
}

static PyObject *run(tn_op op, const double *params, int n, const tn_tensor *const *srcs,
                     PyObject *out)
{
    tn_status status;
    if (out) {
        tpy_operand dst;
        if (tpy_take_out(&dst, out) < 0)
            return NULL;
        TPY_RUN(status, bytes_touched(n, &dst.t), tn_apply(op, params, &dst.t, n, srcs));
        if (status == TN_EOVERLAP)
            status = through_temporary(op, params, &dst.t, n, srcs);
        tpy_drop(&dst);
        return status == TN_OK ? Py_NewRef(out) : tpy_raise(status);
    }
    tn_dtype in[3] = {TN_F32, TN_F32, TN_F32}, dtype = TN_F32;
    for (int k = 0; k < n; k++)
        in[k] = srcs[k]->dtype;
    status = tn_op_result(op, in, n, &dtype);
    if (status != TN_OK)
        return tpy_raise(status);
    int ndim;
    const int64_t *shape;
    int64_t scratch[TN_MAX_NDIM];
    if (result_shape(op, n, srcs, &ndim, &shape, scratch) < 0)
        return NULL;
    tn_tensor made;
    status = tn_alloc(&made, dtype, ndim, shape);
    if (status != TN_OK)
        return tpy_raise(status);
    TPY_RUN(status, bytes_touched(n, &made), tn_apply(op, params, &made, n, srcs));
    if (status == TN_OK)
        return tpy_adopt(&made);
    tn_free(&made);
    return tpy_raise(status);
}

/* The types that an operator accepts; for others Python tries the other operand. */
static bool is_operand(PyObject *o)
{
    return tpy_is_tensor(o) || tpy_is_number(o) || PyObject_CheckBuffer(o) ||
           PyObject_HasAttrString(o, "__dlpack__") ||
           PyObject_HasAttrString(o, "__array_interface__");
}

/* The hook of an object that records operations (tenon.fuse); NULL: an ordinary object. */
static PyObject *traced(PyObject *o)
{
    static _Thread_local PyObject
        *without; /* the last type without a hook: the lookup is slow */
    PyObject *type = (PyObject *)Py_TYPE(o);
    if (tpy_is_tensor(o) || tpy_is_number(o) || PyObject_CheckBuffer(o) || type == without)
        return NULL;
    PyObject *hook = PyObject_GetAttrString(o, "__tenon_function__");
    if (!hook) {
        PyErr_Clear();
        PyObject *before = without;
        without = Py_NewRef(type);
        Py_XDECREF(before);
    }
    return hook;
}

static PyObject *call_traced(PyObject *hook, tn_op op, const double *params, int n,
                             PyObject *const *args, PyObject *out)
{
    PyObject *result = NULL, *list = PyTuple_New(n), *numbers = PyTuple_New(0);
    if (out && out != Py_None) {
        PyErr_SetString(PyExc_TypeError, "fuse: out= inside a traced function");
    } else if (list && numbers) {
        for (int k = 0; k < n; k++)
            PyTuple_SetItem(list, k, Py_NewRef(args[k]));
        if (params) {
            Py_DECREF(numbers);
            numbers = tn_op_params(op) == 1 ? Py_BuildValue("(d)", params[0])
                                            : Py_BuildValue("(dd)", params[0], params[1]);
        }
        if (numbers)
            result = PyObject_CallFunction(hook, "sOO", tn_op_name(op), list, numbers);
    }
    Py_XDECREF(numbers);
    Py_XDECREF(list);
    Py_DECREF(hook);
    return result;
}

PyObject *tpy_apply(tn_op op, const double *params, int n, PyObject *const *args, PyObject *out,
                    bool binary)
{
    tpy_operand ops[3];
    const tn_tensor *srcs[3];
    int taken = 0;
    PyObject *result = NULL;
    for (; taken < n; taken++) {
        PyObject *hook = traced(args[taken]);
        if (hook) {
            result = call_traced(hook, op, params, n, args, out);
            goto done;
        }
        if (binary && !is_operand(args[taken])) {
            result = Py_NewRef(Py_NotImplemented);
            goto done;
        }
        if (tpy_take(&ops[taken], args[taken], true) < 0)
            goto done;
        srcs[taken] = &ops[taken].t;
    }
    if (settle(op, n, ops) == 0)
        result = run(op, params, n, srcs, out == Py_None ? NULL : out);
done:
    for (int k = 0; k < taken; k++)
        tpy_drop(&ops[k]);
    return result;
}

/* self op= other: the elements change, the dtype does not. */
PyObject *tpy_apply_into(tn_op op, PyObject *self, PyObject *other)
{
    if (!is_operand(other))
        return Py_NewRef(Py_NotImplemented);
    tpy_operand ops[2];
    const tn_tensor *srcs[2] = {&ops[0].t, &ops[1].t};
    if (tpy_take(&ops[0], self, false) < 0)
        return NULL;
    if (ops[0].t.flags & TN_READONLY)
        return PyErr_Format(PyExc_ValueError, "%s: the tensor is read-only", tn_op_name(op));
    if (tpy_take(&ops[1], other, true) < 0)
        return NULL;
    PyObject *result = NULL;
    tn_dtype dtype = TN_F32;
    if (settle(op, 2, ops) == 0) {
        tn_status status =
            tn_op_result(op, (tn_dtype[]){ops[0].t.dtype, ops[1].t.dtype}, 2, &dtype);
        if (status != TN_OK) {
            tpy_raise(status);
        } else if (dtype == ops[0].t.dtype) {
            result = run(op, NULL, 2, srcs, self);
        } else {
            PyObject *made = run(op, NULL, 2, srcs, NULL);
            if (made && tpy_assign(&ops[0].t, made) == 0)
                result = Py_NewRef(self);
            Py_XDECREF(made);
        }
    }
    tpy_drop(&ops[1]);
    tpy_drop(&ops[0]);
    return result;
}

/* ---- slots ---- */

#define BINARY(name, op)                                                                       \
    static PyObject *name(PyObject *a, PyObject *b)                                            \
    {                                                                                          \
        return tpy_apply(op, NULL, 2, (PyObject *[]){a, b}, NULL, true);                       \
    }
#define INPLACE(name, op)                                                                      \
    static PyObject *name(PyObject *a, PyObject *b)                                            \
    {                                                                                          \
        return tpy_apply_into(op, a, b);                                                       \
    }
#define UNARY(name, op)                                                                        \
    static PyObject *name(PyObject *a)                                                         \
    {                                                                                          \
        return tpy_apply(op, NULL, 1, (PyObject *[]){a}, NULL, false);                         \
    }

BINARY(op_add, TN_ADD)
BINARY(op_sub, TN_SUB)
BINARY(op_mul, TN_MUL)
BINARY(op_div, TN_DIV)
BINARY(op_floordiv, TN_FLOOR_DIVIDE)
BINARY(op_mod, TN_REMAINDER)
BINARY(op_and, TN_BIT_AND)
BINARY(op_or, TN_BIT_OR)
BINARY(op_xor, TN_BIT_XOR)
BINARY(op_shl, TN_SHL)
BINARY(op_shr, TN_SHR)
INPLACE(op_iadd, TN_ADD)
INPLACE(op_isub, TN_SUB)
INPLACE(op_imul, TN_MUL)
INPLACE(op_idiv, TN_DIV)
INPLACE(op_ifloordiv, TN_FLOOR_DIVIDE)
INPLACE(op_imod, TN_REMAINDER)
INPLACE(op_iand, TN_BIT_AND)
INPLACE(op_ior, TN_BIT_OR)
INPLACE(op_ixor, TN_BIT_XOR)
INPLACE(op_ishl, TN_SHL)
INPLACE(op_ishr, TN_SHR)
UNARY(op_neg, TN_NEG)
UNARY(op_abs, TN_ABS)
UNARY(op_invert, TN_BIT_NOT)

static PyObject *op_pow(PyObject *a, PyObject *b, PyObject *mod)
{
    if (mod != Py_None)
        return Py_NewRef(Py_NotImplemented);
    return tpy_apply(TN_POW, NULL, 2, (PyObject *[]){a, b}, NULL, true);
}

static PyObject *op_ipow(PyObject *a, PyObject *b, PyObject *mod)
{
    if (mod != Py_None)
        return Py_NewRef(Py_NotImplemented);
    return tpy_apply_into(TN_POW, a, b);
}

static PyObject *op_pos(PyObject *a)
{
    tn_tensor t;
    tpy_widen(&t, a);
    if (t.dtype == TN_BOOL)
        return tpy_raise_dtype("positive: got bool, expected any dtype but bool");
    tn_status status;
    TPY_RUN(status, bytes_touched(1, &t), tn_contiguous(&t, &t));
    t.flags = 0;
    return status == TN_OK ? tpy_adopt(&t) : tpy_raise(status);
}

static PyObject *op_divmod(PyObject *a, PyObject *b)
{
    PyObject *q = op_floordiv(a, b);
    if (!q || q == Py_NotImplemented)
        return q;
    PyObject *r = op_mod(a, b);
    PyObject *pair = r ? Py_BuildValue("(OO)", q, r) : NULL;
    Py_DECREF(q);
    Py_XDECREF(r);
    return pair;
}

static PyObject *op_matmul(PyObject *a, PyObject *b)
{
    if (!is_operand(a) || !is_operand(b))
        return Py_NewRef(Py_NotImplemented);
    PyObject *f = tpy_python("matmul");
    return f ? PyObject_CallFunctionObjArgs(f, a, b, NULL) : NULL;
}

static PyObject *op_imatmul(PyObject *a, PyObject *b)
{
    PyObject *made = op_matmul(a, b);
    if (!made || made == Py_NotImplemented)
        return made;
    tn_tensor t;
    tpy_widen(&t, a);
    int done = tpy_assign(&t, made);
    Py_DECREF(made);
    return done == 0 ? Py_NewRef(a) : NULL;
}

static PyObject *op_compare(PyObject *a, PyObject *b, int how)
{
    static const tn_op ops[] = {
        [Py_LT] = TN_LT, [Py_LE] = TN_LE, [Py_EQ] = TN_EQ,
        [Py_NE] = TN_NE, [Py_GT] = TN_GT, [Py_GE] = TN_GE,
    };
    return tpy_apply(ops[how], NULL, 2, (PyObject *[]){a, b}, NULL, true);
}

static int op_contains(PyObject *self, PyObject *value)
{
    PyObject *f = tpy_python("contains");
    PyObject *r = f ? PyObject_CallFunctionObjArgs(f, self, value, NULL) : NULL;
    int truth = r ? PyObject_IsTrue(r) : -1;
    Py_XDECREF(r);
    return truth;
}

static PyType_Slot slots[] = {
    {Py_nb_add, op_add},
    {Py_nb_subtract, op_sub},
    {Py_nb_multiply, op_mul},
    {Py_nb_true_divide, op_div},
    {Py_nb_floor_divide, op_floordiv},
    {Py_nb_remainder, op_mod},
    {Py_nb_divmod, op_divmod},
    {Py_nb_power, op_pow},
    {Py_nb_and, op_and},
    {Py_nb_or, op_or},
    {Py_nb_xor, op_xor},
    {Py_nb_lshift, op_shl},
    {Py_nb_rshift, op_shr},
    {Py_nb_matrix_multiply, op_matmul},
    {Py_nb_inplace_add, op_iadd},
    {Py_nb_inplace_subtract, op_isub},
    {Py_nb_inplace_multiply, op_imul},
    {Py_nb_inplace_true_divide, op_idiv},
    {Py_nb_inplace_floor_divide, op_ifloordiv},
    {Py_nb_inplace_remainder, op_imod},
    {Py_nb_inplace_power, op_ipow},
    {Py_nb_inplace_and, op_iand},
    {Py_nb_inplace_or, op_ior},
    {Py_nb_inplace_xor, op_ixor},
    {Py_nb_inplace_lshift, op_ishl},
    {Py_nb_inplace_rshift, op_ishr},
    {Py_nb_inplace_matrix_multiply, op_imatmul},
    {Py_nb_negative, op_neg},
    {Py_nb_positive, op_pos},
    {Py_nb_absolute, op_abs},
    {Py_nb_invert, op_invert},
    {Py_tp_richcompare, op_compare},
    {Py_sq_contains, op_contains},
};

PyType_Slot *tpy_operator_slots = slots;
const int tpy_operator_count = sizeof slots / sizeof *slots;
