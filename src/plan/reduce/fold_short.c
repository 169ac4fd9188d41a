/* fold_short.c - the way "short rows": kernels reduce short dense sequences to results without
 * states. */
#include "fold_run.h"
#include "runtime/runtime.h"

bool tni_fold_short_rows(const tni_fold *f)
{
    return f->nsrc == 1 && f->nmap && f->dense && f->count > 0 && f->count < TNI_SHORT &&
           f->plane == 0 && f->map[f->nmap - 1].src[0] == f->count * f->width &&
           f->class->short_rows && f->class->short_rows->fits(f);
}

/* Whether kernels can write results directly to dst. */
static bool as_made(const tni_fold *f, const char *dst)
{
    const int64_t step = f->map[f->nmap - 1].dst;
    if (f->class->short_rows->elements)
        return f->dst == f->src && step == f->width;
    const bool words = f->dst == TN_I64 || f->dst == TN_U64;
    return words && step == 8 && !f->mean && (uintptr_t)dst % sizeof(int64_t) == 0;
}

static void rows_some(const tni_fold *f, char *dst, int64_t step, const char *x, int64_t count)
{
    enum { WORDS = 2 }; /* of the largest state of a class with such kernels */
    const tni_fold_short *k = f->class->short_rows;
    tni_word made[WORDS * TNI_FOLD_STORED];
    ASSERT(f->class->words <= WORDS);
    k->reduce(f, made + k->word * count, x, count);
    if (k->elements)
        tni_fold_store(f, f->src, dst, step, (const char *)made, count);
    else
        f->class->finish(f, dst, step, made, count, count);
}

static void rows_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    const int64_t step = f->map[f->nmap - 1].dst;
    int64_t first, last, m;
    tni_split_range(f->outputs, j->parts, part, &first, &last);
    for (int64_t i = first; i < last; i += m) {
        int64_t dst, src[TNI_FOLD_SOURCES];
        m = tni_fold_map(f, i, &dst, src);
        m = m < last - i ? m : last - i;
        const char *x = j->src[0] + src[0];
        char *to = j->dst + dst;
        if (!as_made(f, to)) {
            m = m < TNI_FOLD_STORED ? m : TNI_FOLD_STORED;
            rows_some(f, to, step, x, m);
        } else {
            f->class->short_rows->reduce(f, to, x, m);
        }
    }
}

void tni_fold_run_short(fold_job *j, int threads)
{
    (void)threads; /* sequences are short, so threads only divide results */
    j->parts = tni_run_parts(j->bytes, j->f->outputs);
    tni_parallel(j->parts, rows_part, j);
}
