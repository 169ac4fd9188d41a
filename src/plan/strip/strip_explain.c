/* strip_explain.c - the facts of an elementwise plan. */
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "runtime/runtime.h"

/* The operands of a plan without elements have not been classified. */
static const char *strip_way(const tni_strips *s)
{
    bool packs = false, transposes = false;
    if (s->nest.empty)
        return "nothing";
    for (int k = 0; k < s->nest.nop; k++) {
        packs |= s->operand[k].form == TNI_PACKED;
        transposes |= s->operand[k].transpose;
    }
    return s->map                   ? "strips"
           : transposes && !s->flat ? "transposed tiles"
           : packs                  ? "packed"
                                    : "dense";
}

static const char *strip_form(const tni_strips *s, int k)
{
    const tni_operand *o = &s->operand[k];
    return o->transpose            ? "transposed in tiles"
           : o->form == TNI_PACKED ? "packed into a buffer"
           : o->form == TNI_SPLAT  ? "one value for each strip"
           : k == 0 && s->stream   ? "streamed"
                                   : "dense, in place";
}

/* The bytes of operand k in memory: a broadcast axis adds none. */
static int64_t strip_bytes(const tni_strips *s, int k)
{
    int64_t bytes = s->operand[k].width;
    for (int i = 0; i < s->nest.ndim; i++)
        bytes *= s->nest.axis[i].step[k] ? s->nest.axis[i].n : 1;
    return bytes;
}

/* The number of consecutive conversions of operand k on its way in or out. */
static int strip_casts(const tni_strips *s, int k)
{
    int steps = 0;
    if (k == 0) {
        while (s->compute && s->instr[s->ninstr - 1 - steps].kind == TNI_DO_CAST)
            steps++;
        return steps;
    }
    int at = k;
    for (int i = 0; i < s->ninstr; i++) {
        const tni_instr *x = &s->instr[i];
        if (x->kind == TNI_DO_CAST && x->src[0] == at) {
            at = x->out;
            steps++;
        } else if (x->kind == TNI_DO_SPLAT && x->src[0] == at) {
            at = x->out;
        } else if (steps) {
            break;
        }
    }
    return steps;
}

static void strip_operands(const tni_strips *s, tn_facts *f)
{
    const char *own = s->text; /* the name of the next source follows it */
    for (int k = 0; k < s->nest.nop; k++) {
        const int steps = s->text ? 0 : strip_casts(s, k);
        char name[16] = "dst", cast[40] = "";
        if (own && k)
            own += strlen(own) + 1;
        if (own && k)
            snprintf(name, sizeof name, "src %.11s", own);
        else if (k)
            snprintf(name, sizeof name, "src %d", k - 1);
        if (steps)
            snprintf(cast, sizeof cast, ", converted in %d step%s", steps,
                     steps > 1 ? "s" : "");
        tni_facts_add(f, name, "%s%s%s%s",
                      s->text ? tn_dtype_name((tn_dtype)s->operand[k].dtype) : "",
                      s->text ? ", " : "", strip_form(s, k), cast);
    }
}

void tni_strips_facts(const tni_strips *s, tn_facts *f)
{
    FACT(f->way, "%s", strip_way(s));
    f->steps = s->text ? s->steps : 0;
    if (s->nest.empty)
        return;
    if (s->text) {
        tni_facts_add(f, "text", "%s", s->text);
        tni_facts_add(f, "steps", "%d%s%s; %d buffer%s", s->steps, s->steps ? ": " : "",
                      s->list, s->nreg, s->nreg == 1 ? "" : "s");
    } else if (s->compute) {
        tni_facts_add(f, "kernel", "%s in %s", s->name, tn_dtype_name(s->compute));
    }
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
