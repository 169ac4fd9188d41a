/* strip_small.c - a few elements of one op, computed without a plan. */
#include "plan/plan.h"
#include "runtime/runtime.h"

/* Elements that are computed in the time of a plan; measured on a Zen 4 server core. */
enum { SMALL = 4096 };

/* The number of elements when every operand is row-major and has the dtype of its kernel, else
 * -1.  A bool is read as 0 or 1, which is a conversion. */
static int64_t strip_row_major(const tni_strip_step *step, int nop, const tn_tensor *const *ts)
{
    const tn_tensor *d = ts[0];
    int64_t count = 1;
    if (d->dtype != (tn_dtype)step->dtype)
        return -1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        for (int k = 0; k < nop; k++)
            if (ts[k]->stride[i] != count * tni_width(ts[k]->dtype) && d->shape[i] != 1)
                return -1;
        count *= d->shape[i];
    }
    return count;
}

bool tni_strips_small(const tni_program *p, const tn_tensor *const *ts)
{
    const int64_t count = p->nstep == 1 ? strip_row_major(p->step, p->nsrc + 1, ts) : -1;
    if (count < 0 || count > SMALL)
        return false;
    const tni_strip_step *step = p->step;
    const tn_dtype compute = (tn_dtype)step->compute;
    tni_op_strip op;
    const char *from[TNI_MAX_ARITY];
    op.fn = tni_op_kernel(tni_isa_level(), (tn_op)step->op, compute);
    op.block = tni_op_block((tn_op)step->op, compute);
    op.nsrc = p->nsrc;
    for (int i = 0; i < TNI_MAX_PARAMS; i++)
        op.params[i] = step->params[i];
    for (int k = 0; k <= p->nsrc; k++)
        op.width[k] = (int8_t)tni_width(ts[k]->dtype);
    for (int k = 0; k < p->nsrc; k++)
        from[k] = ts[k + 1]->data;
    if (count)
        tni_op_run(&op, ts[0]->data, from, 0, count);
    return true;
}
