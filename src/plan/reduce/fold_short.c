/* fold_short.c - the way "short rows": kernels reduce short dense sequences to results without
 * states. */
#include <math.h>

#include "fold_run.h"
#include "runtime/runtime.h"

/* Fewest bytes of a row for argmin and argmax: half a vector of AVX2; not measured finely. */
enum { ARG_LEAST = 16 };

static const tni_key_short *kernels(const tni_fold *f)
{
    return tni_kernels_of(f->isa)->key_short;
}

bool tni_fold_short_rows(const tni_fold *f)
{
    const bool fits = f->nsrc == 1 && f->nmap && f->dense && f->count > 0 &&
                      f->count < TNI_SIDE && f->plane == 0 &&
                      f->map[f->nmap - 1].src[0] == f->count * f->width;
    const int log2 = tni_log2_width(f->width) % TNI_KEY_WIDTHS;
    if (!fits)
        return false;
    if (f->class == &tni_fold_key)
        return kernels(f)->max[log2];
    if (f->class == &tni_fold_arg) /* a short row costs as much as a whole vector */
        return f->count * f->width >= ARG_LEAST && kernels(f)->arg[log2];
    if (f->class == &tni_fold_count)
        return kernels(f)->nonzero[log2];
    return f->class == &tni_fold_wrap && !f->product && f->term == TNI_TERM_SAME &&
           kernels(f)->sum[tni_dtypes[f->src].slot];
}

/* Write the elements with the largest keys of count rows at x to d, as f->src. */
static void largest(const tni_fold *f, char *d, const char *x, int64_t count)
{
    int64_t quiet = 0;
    if (f->rule.kind == TNI_KEY_FLOAT)
        tni_store_real((char *)&quiet, f->src, (double)NAN);
    kernels(f)->max[tni_log2_width(f->width)](d, x, f->count, count, &f->rule, quiet);
}

/* Write the indices, counts or sums of count rows at x to d. */
static void numbers(const tni_fold *f, int64_t *d, const char *x, int64_t count)
{
    const int log2 = tni_log2_width(f->width);
    if (f->class == &tni_fold_arg)
        kernels(f)->arg[log2](d, x, f->count, count, &f->rule);
    else if (f->class == &tni_fold_count)
        kernels(f)->nonzero[log2](d, x, f->count, count, f->rule.mask);
    else
        kernels(f)->sum[tni_dtypes[f->src].slot](d, x, f->count, count);
}

/* Whether kernels can write results directly to dst. */
static bool as_made(const tni_fold *f, const char *dst)
{
    const int64_t step = f->map[f->nmap - 1].dst;
    if (f->class == &tni_fold_key)
        return f->dst == f->src && step == f->width;
    const bool words = f->dst == TN_I64 || f->dst == TN_U64;
    return words && step == 8 && !f->mean && (uintptr_t)dst % sizeof(int64_t) == 0;
}

static void rows_some(const tni_fold *f, char *dst, int64_t step, const char *x, int64_t count)
{
    tni_word made[2 * TNI_FOLD_STORED];
    if (f->class == &tni_fold_key) {
        largest(f, (char *)made, x, count);
        tni_fold_store(f, f->src, dst, step, (const char *)made, count);
    } else {
        /* arg_finish reads the index, word 1 of a state, and not the key */
        const int word = f->class == &tni_fold_arg;
        numbers(f, &made[word * count].i, x, count);
        f->class->finish(f, dst, step, made, count, count);
    }
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
        } else if (f->class == &tni_fold_key) {
            largest(f, to, x, m);
        } else {
            numbers(f, (int64_t *)(void *)to, x, m);
        }
    }
}

void tni_fold_run_short(fold_job *j, int threads)
{
    (void)threads; /* sequences are short, so threads only divide results */
    j->parts = tni_run_parts(j->bytes, j->f->outputs);
    tni_parallel(j->parts, rows_part, j);
}
