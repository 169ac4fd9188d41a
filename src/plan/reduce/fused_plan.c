/* fused_plan.c - how the values of fused reductions are walked, and what is chosen for it. */
#include <string.h>

#include "plan/plan.h"

enum {
    GATHER = 32 * 1024, /* bytes of sources that are made dense for one strip: a half of L1 */
    ROWS = 64 * 1024,   /* bytes of a tile of rows in columns: it stays in a part of L2 */
    NARROW = 16         /* fewer columns are not worth a strip */
};

/* How many sources walk an axis densely. */
static int dense_sources(const tni_fused *u, const tni_axis *a)
{
    int n = 0;
    for (int k = 1; k < u->nest.nop; k++)
        n += a->step[k] == u->src_width[k - 1];
    return n;
}

/* Sequences side by side: the last map axis is denser than the last fold axis. */
static bool stands(const tni_fused *u)
{
    const int nmap = u->nest.ndim - u->nfold;
    if (nmap == 0 || u->nfold == 0 || u->nest.axis[nmap - 1].n < NARROW)
        return false;
    for (int t = 0; t < u->nterm; t++)
        if (!u->fold[t].class->columns)
            return false;
    return dense_sources(u, &u->nest.axis[nmap - 1]) >
           dense_sources(u, &u->nest.axis[u->nest.ndim - 1]);
}

/* Elements that follow each other in memory in the order of the nest. */
static int64_t dense_run(const tni_fused *u, int k)
{
    int64_t n = 1;
    for (int i = u->nest.ndim - 1; i >= 0; i--) {
        if (u->nest.axis[i].step[k + 1] != n * u->src_width[k])
            break;
        n *= u->nest.axis[i].n;
    }
    return n;
}

static int levels_of(int64_t count)
{
    int levels = 2;
    for (int64_t blocks = (count - 1) / TNI_TREE_BLOCK + 1; blocks > 1; blocks /= 2)
        levels++;
    return levels;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Columns of a strip: accumulators, waiting states and the tile of rows have space. */
static int64_t widest_strip(const tni_fused *u, int64_t bytes)
{
    int64_t w = least(TNI_FUSED_BATCH, ROWS / (TNI_TILE * bytes));
    w = least(w, TNI_FOLD_WIDTH / (2 * (u->nterm + 1)));
    for (int t = 0; t < u->nterm; t++)
        w = least(w, TNI_FOLD_STACK / u->nterm /
                         (2 * u->fold[t].class->words * levels_of(u->count)));
    return w > 16 ? w / 16 * 16 : w > 1 ? w : 1;
}

static void plan_terms(tni_fused *u, int nterm, const tni_fused_term *term)
{
    u->nterm = nterm;
    for (int t = 0; t < nterm; t++) {
        u->term[t] = term[t];
        tn_tensor src = {.dtype = term[t].dtype, .device = TN_CPU, .ndim = 1};
        src.shape[0] = u->count;
        src.stride[0] = tni_width(src.dtype);
        tn_tensor dst = src;
        dst.dtype = term[t].gives;
        dst.stride[0] = 0;
        tni_fold_plan(&u->fold[t], term[t].op, NULL, &dst, &src, 1);
        u->fold[t].joined = false;
    }
}

/* The last map axis goes behind the fold axes. */
static void turn_axes(tni_nest *nest, int nfold)
{
    const int at = nest->ndim - nfold - 1;
    const tni_axis map = nest->axis[at];
    memmove(&nest->axis[at], &nest->axis[at + 1], (size_t)nfold * sizeof map);
    nest->axis[nest->ndim - 1] = map;
}

void tni_fused_plan(tni_fused *u, tni_instr *instr, const tni_program *values,
                    const tni_program *around, int nterm, const tni_fused_term *term,
                    const tn_tensor *const *ts, uint64_t folded)
{
    const int nsrc = values->nsrc;
    tn_dtype dtype[TNI_MAX_SOURCES], given[TNI_MAX_RESULTS];
    tni_nest_build(&u->nest, nsrc + 1, ts, &(tni_nest_rules){.fold = folded, .lead = 1});
    u->dtype = ts[0]->dtype;
    u->instr = instr;
    u->outputs = u->count = 1;
    for (int i = 0; i < ts[0]->ndim; i++)
        *(folded >> i & 1 ? &u->count : &u->outputs) *= ts[1]->shape[i];
    plan_terms(u, nterm, term);
    u->inside.steps = values->nstep;
    u->around.steps = around->nstep;
    u->inside.ninstr = u->around.ninstr = 0;
    if (u->outputs == 0)
        return;
    u->nfold = 0;
    u->still = 0;
    for (int i = 0; i < u->nest.ndim; i++)
        u->nfold += u->nest.axis[i].role == TNI_FOLD;
    int64_t each = 0;
    for (int k = 0; k < nsrc; k++) {
        bool still = true;
        dtype[k] = ts[k + 1]->dtype;
        u->src_width[k] = (int8_t)tni_width(dtype[k]);
        for (int i = 0; i < u->nest.ndim; i++)
            still &= u->nest.axis[i].step[k + 1] == 0;
        u->still |= (uint32_t)still << k;
        each += tni_width(dtype[k]);
    }
    u->bytes = tni_mul_saturated(tni_mul_saturated(u->outputs, u->count ? u->count : 1), each);
    u->columns = u->count > 0 && stands(u);
    if (u->columns)
        turn_axes(&u->nest, u->nfold);
    for (int k = 0; k < nsrc; k++)
        u->dense[k] = dense_run(u, k);
    u->nvalue = values->nvalue;
    int64_t bytes = 0;
    for (int r = 0; r < u->nvalue; r++) {
        for (int t = 0; t < nterm; t++)
            if (term[t].value == r)
                u->width[r] = (int8_t)tni_width(term[t].dtype);
        u->value[r] = bytes;
        bytes += u->width[r];
    }
    ASSERT(bytes * TNI_TREE_BLOCK <= TNI_FUSED_BYTES);
    u->piece =
        least(tni_strips_plan_dense(&u->inside, instr, values, dtype, u->still), GATHER / each);
    u->inside.prefetch = u->bytes >= TNI_PREFETCH_LEAST;
    for (int t = 0; t < nterm; t++)
        given[t] = term[t].gives;
    u->last =
        least(tni_strips_plan_dense(&u->around, instr + u->inside.ninstr, around, given, 0),
              TNI_FUSED_BATCH);
    int64_t fits = u->count > 0 ? TNI_TREE_BLOCK / u->count : TNI_FOLD_BATCH;
    fits = least(fits > 1 ? fits : 1, TNI_FOLD_BATCH);
    for (int t = 0; t < nterm; t++)
        fits = least(fits, TNI_FOLD_STACK / nterm / (4 * u->fold[t].class->words));
    u->strip =
        u->columns ? least(widest_strip(u, bytes), u->nest.axis[u->nest.ndim - 1].n) : fits;
    u->capacity = u->columns ? TNI_TILE * u->strip : TNI_TREE_BLOCK;
}

void tni_fused_facts(const tni_fused *u, tn_facts *f)
{
    FACT(f->way, "%s", !u->outputs ? "nothing" : u->columns ? "columns" : "line");
    f->steps = u->inside.steps + u->around.steps;
    if (!u->outputs)
        return;
    FACT(f->why, "%s",
         u->columns ? "results are dense in memory" : "a sequence is computed block by block");
    tni_facts_add(f, "reduced", "%d value%s, by %d reduction%s", u->nvalue,
                  u->nvalue == 1 ? "" : "s", u->nterm, u->nterm == 1 ? "" : "s");
    tni_facts_add(f, "results", "%lld of %lld elements each", (long long)u->outputs,
                  (long long)u->count);
    tni_facts_add(f, "strips", "of %lld elements, %d buffer%s", (long long)u->piece,
                  u->inside.nreg, u->inside.nreg == 1 ? "" : "s");
    f->read = u->count ? u->bytes : 0;
    f->written = u->outputs * tni_width(u->dtype);
    f->threads = tni_plan_parts(u->bytes, INT64_MAX);
}
