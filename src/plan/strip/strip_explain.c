/* strip_explain.c - an elementwise plan in words. */
#include "plan/plan.h"
#include "runtime/runtime.h"

/* A plan without elements has no operands that were looked at. */
static const char *strategy(const tni_strips *s)
{
    bool move = false, turn = false;
    if (s->nest.empty)
        return "nothing";
    for (int k = 0; k < s->nest.nop; k++) {
        move |= s->operand[k].move;
        turn |= s->operand[k].turn;
    }
    return s->map ? "strips" : turn && !s->flat ? "turned tiles" : move ? "staged" : "dense";
}

static const char *form(const tni_strips *s, int k)
{
    const tni_operand *o = &s->operand[k];
    return o->turn                 ? "turned in tiles"
           : o->move               ? "moved through a buffer"
           : o->form == TNI_ONE    ? "one value for each strip"
           : k == 0 && s->stream   ? "streamed"
           : o->form == TNI_STAGED ? "dense"
                                   : "dense, in place";
}

/* Bytes that operand k has: an axis along which it repeats adds none. */
static int64_t bytes_of(const tni_strips *s, int k)
{
    int64_t bytes = s->operand[k].width;
    for (int i = 0; i < s->nest.ndim; i++)
        bytes *= s->nest.axis[i].step[k] ? s->nest.axis[i].n : 1;
    return bytes;
}

void tni_strips_explain(const tni_strips *s, const tn_tensor *dst, tni_text *text)
{
    tni_text_add(text, "%s %s (", s->name, tn_dtype_name(dst->dtype));
    for (int i = 0; i < dst->ndim; i++)
        tni_text_add(text, "%s%lld", i ? ", " : "", (long long)dst->shape[i]);
    tni_text_add(text, "): %s\n", strategy(s));
    if (s->nest.empty)
        return;
    if (s->op.fn)
        tni_text_add(text, "  kernel   %s in %s, %s\n", s->name, tn_dtype_name(s->compute),
                     tn_isa());
    for (int k = 0; k < s->nest.nop && !s->map; k++) {
        tni_text_add(text, k ? "  src %-4d %s" : "  dst%.0d      %s", k ? k - 1 : 0,
                     form(s, k));
        if (s->operand[k].cast.steps)
            tni_text_add(text, ", converted in %d step%s", s->operand[k].cast.steps,
                         s->operand[k].cast.steps > 1 ? "s" : "");
        tni_text_add(text, "\n");
    }
    tni_text_add(text, "  block    ");
    for (int q = 0; q < s->nblock; q++)
        tni_text_add(text, "%s%lld", q ? " x " : "", (long long)s->block[s->axis[q]]);
    tni_text_add(text, " elements, %s, %lld of them\n",
                 s->flat || s->nblock == 1 ? "one strip" : "a strip for each row",
                 (long long)s->items);
    int64_t read = 0;
    for (int k = 1; k < s->nest.nop; k++)
        if (!tni_add(read, bytes_of(s, k), &read))
            read = INT64_MAX;
    tni_text_add(text, "  bytes    %lld read, %lld written\n", (long long)read,
                 (long long)bytes_of(s, 0));
    tni_text_add(text, "  threads  %d\n", tni_plan_parts(s->bytes, s->items));
}
