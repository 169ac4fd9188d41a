/* map.c - the caller's own op, on strips of any layout. */
#include "plan/plan.h"
#include "view/view.h"

enum { MOST = 8 };

/* The input and results of the hooks. */
typedef struct map_operands {
    int nsrc;
    const tn_tensor *ts[TNI_MAX_OPERANDS]; /* dst, and the sources broadcast to its shape */
    tn_tensor repeated[MOST];
} map_operands;

static tn_status map_count(const tni_call *call)
{
    const map_operands *o = call->own;
    if (o->nsrc < 0 || o->nsrc > MOST)
        return tni_fail(TN_EARG, "map: nsrc %d is out of range [0, %d]", o->nsrc, MOST);
    return TN_OK;
}

static tn_status map_shapes(const tni_call *call)
{
    map_operands *o = call->own;
    return tni_broadcast_operands(o->ts, o->repeated, call->name, call->dst, call->n,
                                  call->srcs);
}

tn_status tn_map(tn_strip_fn fn, void *user, const tn_tensor *dst, int nsrc,
                 const tn_tensor *const *srcs)
{
    if (!fn)
        return tni_fail(TN_ENULL, "map: fn is NULL");
    map_operands o;
    o.nsrc = nsrc;
    TRY(tni_check_call(&(tni_call){.name = "map",
                                   .flags = TNI_ALLOW_ALIAS,
                                   .dst = dst,
                                   .n = nsrc < MOST ? nsrc : MOST,
                                   .srcs = srcs,
                                   .args = map_count,
                                   .shapes = map_shapes,
                                   .own = &o}));
    if (tni_numel(dst) == 0)
        return TN_OK;

    const tni_program program = {.name = "map", .nsrc = nsrc, .map = fn, .user = user};
    const char *at[MOST];
    for (int k = 0; k < nsrc; k++)
        at[k] = srcs[k]->data;
    tni_strips strips;
    tni_instr instr[1];
    tni_strips_plan(&strips, instr, &program, o.ts);
    tni_strips_run(&strips, dst->data, at);
    return TN_OK;
}
