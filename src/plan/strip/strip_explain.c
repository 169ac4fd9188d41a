/* strip_explain.c - the facts of an elementwise plan. */
#include <stdio.h>

#include "plan/plan.h"
#include "runtime/runtime.h"

/* A plan without elements has no operands that were looked at. */
static const char *strip_way(const tni_strips *s)
{
    bool packs = false, transposes = false;
    if (s->nest.empty)
        return "nothing";
    for (int k = 0; k < s->nest.nop; k++) {
        packs |= s->operand[k].move;
        transposes |= s->operand[k].turn;
    }
    return s->map                   ? "strips"
           : transposes && !s->flat ? "transposed tiles"
           : packs                  ? "packed"
                                    : "dense";
}

static const char *strip_form(const tni_strips *s, int k)
{
    const tni_operand *o = &s->operand[k];
    return o->turn                 ? "transposed in tiles"
           : o->move               ? "packed into a buffer"
           : o->form == TNI_ONE    ? "one value for each strip"
           : k == 0 && s->stream   ? "streamed"
           : o->form == TNI_STAGED ? "dense"
                                   : "dense, in place";
}

/* Bytes that operand k has: an axis along which it repeats adds none. */
static int64_t strip_bytes(const tni_strips *s, int k)
{
    int64_t bytes = s->operand[k].width;
    for (int i = 0; i < s->nest.ndim; i++)
        bytes *= s->nest.axis[i].step[k] ? s->nest.axis[i].n : 1;
    return bytes;
}

static void strip_operands(const tni_strips *s, tn_facts *f)
{
    for (int k = 0; k < s->nest.nop; k++) {
        const int steps = s->operand[k].cast.steps;
        char name[16] = "dst", cast[40] = "";
        if (k)
            snprintf(name, sizeof name, "src %d", k - 1);
        if (steps)
            snprintf(cast, sizeof cast, ", converted in %d step%s", steps,
                     steps > 1 ? "s" : "");
        tni_facts_add(f, name, "%s%s", strip_form(s, k), cast);
    }
}

void tni_strips_facts(const tni_strips *s, tn_facts *f)
{
    FACT(f->way, "%s", strip_way(s));
    if (s->nest.empty)
        return;
    if (s->op.fn)
        tni_facts_add(f, "kernel", "%s in %s", s->name, tn_dtype_name(s->compute));
    if (!s->map)
        strip_operands(s, f);
    f->tile_ndim = s->nblock;
    for (int q = 0; q < s->nblock; q++)
        f->tile[q] = s->block[s->axis[q]];
    f->tiles = s->items;
    tni_facts_add(f, "strips", "%s",
                  s->flat || s->nblock == 1 ? "a whole tile" : "one for each row of a tile");
    for (int k = 1; k < s->nest.nop; k++)
        if (!tni_add(f->read, strip_bytes(s, k), &f->read))
            f->read = INT64_MAX;
    f->written = strip_bytes(s, 0);
    f->streams = s->stream;
    f->threads = tni_plan_parts(s->bytes, s->items);
}
