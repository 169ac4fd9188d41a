/* fuzz_fused.c - bytes as tensors and a program of ops, casts and reductions.
 *
 * The program as a text, fused, gives the bits of its ops called one after another. */
#include "operands.h"

enum { MOST_STEPS = 20, MOST_TEXT = 1500 };

typedef struct value {
    tn_tensor t;
    char text[MOST_TEXT];
} value;

static value values[MOST_TENSORS + MOST_STEPS];

/* One more value; false: the op does not take these. */
static bool add_step(bytes *b, int have)
{
    value *v = &values[have];
    char text[MOST_TEXT]; /* of v, apart from the texts that it is made of */
    const int what = take(b), x = take_below(b, have);
    if (what % 4 == 0) {
        const tn_dtype to = (tn_dtype)(TN_BOOL + what / 4 % (TN_C128 - TN_BOOL + 1));
        if (strlen(values[x].text) > MOST_TEXT - 16)
            return false;
        MUST(tn_alloc(&v->t, to, values[x].t.ndim, values[x].t.shape) == TN_OK);
        MUST(tn_cast(&v->t, &values[x].t) == TN_OK);
        sprintf(text, "%s(%s)", tn_dtype_name(to), values[x].text);
        strcpy(v->text, text);
        return true;
    }
    int count = 0;
    while (tn_op_name((tn_op)count))
        count++;
    const tn_op op = (tn_op)((what + 64 * x) % count);
    const tn_tensor *srcs[3];
    int of[3];
    size_t size = 40;
    for (int k = 0; k < tn_op_arity(op); k++) {
        of[k] = k ? take_below(b, have) : x;
        srcs[k] = &values[of[k]].t;
        size += strlen(values[of[k]].text) + 2;
    }
    if (size > MOST_TEXT || tn_apply_copy(&v->t, op, NULL, tn_op_arity(op), srcs) != TN_OK)
        return false;
    char *at = text + sprintf(text, "%s(", tn_op_name(op));
    for (int k = 0; k < tn_op_arity(op); k++)
        at += sprintf(at, "%s%s", k ? ", " : "", values[of[k]].text);
    sprintf(at, ")");
    strcpy(v->text, text);
    return true;
}

/* A reduction of the last value, at times. */
static bool add_reduction(bytes *b, int have)
{
    static const char *const names[] = {"sum", "prod", "mean", "min", "max", "any", "all"};
    const value *of = &values[have - 1];
    value *v = &values[have];
    char text[MOST_TEXT];
    const int what = take(b), axis = of->t.ndim ? what / 16 % of->t.ndim : 0;
    const char *name = names[what % 7];
    tn_reduction op;
    if (what < 128 || strlen(of->text) > MOST_TEXT - 32 || of->t.dtype == TN_BOOL)
        return false;
    MUST(tn_reduction_parse(&op, name) == TN_OK);
    const bool all = of->t.ndim == 0 || what & 8;
    if (tn_reduce_copy(&v->t, op, NULL, &of->t, all ? TN_ALL_AXES : 1, &axis, false) != TN_OK)
        return false;
    if (all)
        sprintf(text, "%s(%s)", name, of->text);
    else
        sprintf(text, "%s(%s, axis=%d)", name, of->text, axis);
    strcpy(v->text, text);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size};
    operands o;
    use_limit();
    operands_take(&o, &b, true);
    int have = o.n;
    for (int k = 0; k < o.n; k++) {
        values[k].t = o.t[k];
        strcpy(values[k].text, tensor_names[k]);
    }
    while (b.left && have < o.n + MOST_STEPS - 1) {
        const bool made = add_step(&b, have);
        have += made;
        if (!made && take(&b) == 0)
            break;
    }
    have += add_reduction(&b, have);
    const value *last = &values[have - 1];
    tn_tensor got;
    const tn_status status = tn_eval_copy(&got, last->text, o.n, tensor_names, o.srcs);
    MUST(status == TN_OK);
    MUST(got.dtype == last->t.dtype && got.ndim == last->t.ndim);
    tn_tensor want; /* a source may have another layout, and any byte as true */
    MUST(tn_alloc(&want, got.dtype, got.ndim, got.shape) == TN_OK);
    MUST(tn_cast(&want, &last->t) == TN_OK);
    if (memcmp(got.data, want.data, (size_t)tn_nbytes(&want))) {
        fprintf(stderr, "%s\n", last->text);
        for (int k = 0; k < o.n; k++)
            fprintf(stderr, "%s %s\n", tensor_names[k], tn_dtype_name(o.t[k].dtype));
    }
    MUST(!memcmp(got.data, want.data, (size_t)tn_nbytes(&want)));
    tn_free(&want);
    tn_free(&got);
    for (int k = o.n; k < have; k++)
        tn_free(&values[k].t);
    operands_free(&o);
    return 0;
}
