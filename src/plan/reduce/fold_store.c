/* fold_store.c - stores results of reductions in dst: cast kernels convert them; copy kernels
 * write them if dst is strided or streamed. */
#include <string.h>

#include "plan/plan.h"

void tni_fold_store(const tni_fold *f, tn_dtype from, char *dst, int64_t step, const char *made,
                    int64_t n)
{
    const int64_t width = tni_width(f->dst);
    const tni_cast cast = tni_cast_chain(f->isa, from, f->dst);
    const tni_copy_kernels *copy = tni_kernels_of(f->isa)->copy;
    char between[TNI_CAST_STEPS][TNI_FOLD_STORED * 8];
    ASSERT(n <= TNI_FOLD_STORED);
    for (int i = 0; i < cast.steps; i++) {
        char *to = i == cast.steps - 1 && step == width && !f->stream ? dst : between[i];
        cast.fn[i](to, made, n, 0, false);
        made = to;
    }
    if (made == dst)
        return;
    ASSERT(!f->stream || step == width);
    if (f->stream)
        copy->stream(dst, made, n * width);
    else if (step == width)
        memcpy(dst, made, (size_t)(n * width));
    else
        copy->tile[tni_log2_width(width)](dst, (const int64_t[2]){0, step}, made,
                                          (const int64_t[2]){0, width},
                                          (const int64_t[2]){1, n});
}

void tni_fold_fence(const tni_fold *f)
{
    if (f->stream)
        tni_kernels_of(f->isa)->copy->fence();
}

void tni_fold_store_reals(const tni_fold *f, char *dst, int64_t step, double *y, int64_t n)
{
    tni_kernels_of(f->isa)->tree->results(y, y, n, -0.0, 1, NULL, false);
    tni_fold_store(f, TN_F64, dst, step, (const char *)y, n);
}
