/* fuzz_expr.c - bytes as one to four tensors and the text of an expression.
 *
 * Parse, result, eval and plan agree; a text that is refused has a column inside it and leaves
 * dst as it was. */
#include "operands.h"

enum { MOST_TEXT = 300 };

static void check_refused(const char *text, tn_status status)
{
    const int column = tn_error_column();
    MUST(*tn_error());
    MUST(column >= 0 && column <= (int)strlen(text) + 1);
    MUST(status != TN_EFORMAT || column >= 1);
}

/* The plan of the text gives the bytes of want. */
static void check_plan(const char *text, const operands *o, const tn_tensor *want)
{
    tn_expr *e;
    tn_plan *plan;
    tn_tensor got;
    const tn_tensor *srcs[MOST_TENSORS];
    const void *data[MOST_TENSORS];
    MUST(tn_expr_parse(&e, text) == TN_OK);
    MUST(tn_expr_count(e) <= o->n);
    for (int i = 0; i < tn_expr_count(e); i++) {
        srcs[i] = o->srcs[tn_expr_name(e, i)[0] - 'a'];
        data[i] = srcs[i]->data;
    }
    MUST(tn_alloc(&got, want->dtype, want->ndim, want->shape) == TN_OK);
    MUST(tn_plan_expr(&plan, e, &got, tn_expr_count(e), srcs) == TN_OK);
    tn_expr_free(e);
    MUST(tn_plan_run(plan, got.data, data) == TN_OK);
    MUST(!memcmp(got.data, want->data, (size_t)tn_nbytes(want)));
    tn_plan_free(plan);
    tn_free(&got);
}

static void run(const char *text, const operands *o)
{
    uint64_t before = 0x0123456789abcdefu, kept = before;
    tn_tensor out = {0}, into;
    tn_expr *e = NULL;
    const tn_status parsed = tn_expr_parse(&e, text);
    if (parsed != TN_OK)
        check_refused(text, parsed);
    tn_expr_free(e);
    const tn_status status = tn_eval_copy(&out, text, o->n, tensor_names, o->srcs);
    MUST(tn_init(&into, &before, TN_F64, 0, NULL) == TN_OK);
    if (status == TN_OK) {
        MUST(parsed == TN_OK);
        check_plan(text, o, &out);
        tn_free(&out);
    } else {
        check_refused(text, status);
        MUST(tn_eval(&into, text, o->n, tensor_names, o->srcs) != TN_OK);
        MUST(before == kept);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size};
    operands o;
    use_limit();
    const size_t len = b.left < MOST_TEXT ? b.left : MOST_TEXT;
    char *text = malloc(len + 1);
    MUST(text);
    size_t n = 0;
    while (n < len && b.at[n] && b.at[n] != '#') { /* the text ends here, tensors follow */
        text[n] = (char)b.at[n];
        n++;
    }
    text[n] = 0;
    b.at += n;
    b.left -= n;
    take(&b);
    operands_take(&o, &b, false);
    run(text, &o);
    operands_free(&o);
    free(text);
    return 0;
}
