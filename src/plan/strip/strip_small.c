/* strip_small.c - computes a few elements of one op without a plan; plans and runs a
 * conversion. */
#include <string.h>

#include "plan/plan.h"
#include "runtime/runtime.h"

/* The number of elements that takes as long to compute as planning does, measured on a Zen 4
 * server core. */
enum { SMALL = 4096 };

/* The number of elements if dst is row-major and every source is row-major or a single element,
 * whose bit is then set in *one; else -1. */
static int64_t strip_row_major(int nop, const tn_tensor *const *ts, unsigned *one)
{
    const tn_tensor *d = ts[0];
    unsigned moves = 1, stays = 0; /* bits of operands; dst always moves */
    int64_t count = 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        if (d->shape[i] == 1)
            continue;
        for (int k = 0; k < nop; k++) {
            if (ts[k]->stride[i] == count * tni_width(ts[k]->dtype))
                moves |= 1u << k;
            else if (ts[k]->stride[i] == 0)
                stays |= 1u << k;
            else
                return -1;
        }
        count *= d->shape[i];
    }
    *one = stays >> 1;
    return moves & stays ? -1 : count;
}

void tni_op_elements(tn_op op, const double *params, tn_dtype compute, const int8_t *width,
                     char *d, const char *const *srcs, unsigned one, int64_t n)
{
    tni_op_strip strip;
    const char *from[TNI_MAX_ARITY];
    _Alignas(64) char splat[TNI_MAX_ARITY][TNI_SPLAT_BYTES];
    strip.fn = tni_op_kernel(tni_isa_level(), op, compute);
    strip.block = tni_op_block(op, compute);
    strip.nsrc = tni_ops[op].arity;
    for (int i = 0; i < TNI_MAX_PARAMS; i++)
        strip.params[i] =
            params && i < tni_ops[op].params ? params[i] : tni_ops[op].defaults[i];
    strip.width[0] = width[0];
    for (int k = 0; k < strip.nsrc; k++) {
        strip.width[k + 1] = width[k + 1];
        from[k] = srcs[k];
        if (one >> k & 1) {
            tni_op_splat(splat[k], from[k], width[k + 1]);
            from[k] = splat[k];
        }
    }
    ASSERT(strip.fn);
    tni_op_run(&strip, d, from, one, n);
}

bool tni_strips_small(tn_op op, const double *params, tn_dtype compute,
                      const tn_tensor *const *ts)
{
    const int nsrc = tni_ops[op].arity;
    unsigned one;
    const int64_t count = strip_row_major(nsrc + 1, ts, &one);
    int8_t width[TNI_MAX_ARITY + 1];
    const char *from[TNI_MAX_ARITY];
    if (count < 0 || count > SMALL)
        return false;
    for (int k = 0; k <= nsrc; k++)
        width[k] = (int8_t)tni_width(ts[k]->dtype);
    for (int k = 0; k < nsrc; k++)
        from[k] = ts[k + 1]->data;
    if (count)
        tni_op_elements(op, params, compute, width, ts[0]->data, from, one, count);
    return true;
}

void tni_cast_element(void *d, tn_dtype to, const void *s, tn_dtype from)
{
    const tni_cast c = tni_cast_chain(tni_isa_level(), from, to);
    char in[16], out[16];
    memcpy(in, s, (size_t)tni_width(from));
    for (int i = 0; i < c.steps; i++) {
        c.fn[i](out, in, 1, 0, false);
        memcpy(in, out, sizeof in);
    }
    memcpy(d, in, (size_t)tni_width(to));
}

void tni_strips_cast(const tn_tensor *dst, char *d, const tn_tensor *src, const char *s)
{
    const tni_strip_step step = tni_cast_step(dst->dtype);
    const tni_program program = tni_cast_program(&step);
    tni_strips strips;
    tni_instr instr[TNI_OP_INSTRS];
    tni_strips_plan(&strips, instr, &program, (const tn_tensor *const[]){dst, src});
    ASSERT(strips.nest.empty || strips.ninstr <= TNI_OP_INSTRS);
    tni_strips_run(&strips, d, &s);
}
