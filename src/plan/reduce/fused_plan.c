/* fused_plan.c - planning fused reductions: the order of the nest, buffers, strips and
 * batches. */
#include <string.h>

#include "fold_run.h"

enum {
    /* most bytes of the values of a tile of rows of a strip: half of the buffer, 64 KiB, less
     * than an L2; not measured finely */
    ROWS = TNI_FUSED_BYTES / 2,
    /* fewest columns that are reduced side by side: a line of f32; not measured finely */
    NARROW = 16
};

/* How many sources are dense along an axis. */
static int dense_sources(const tni_fused *u, const tni_axis *a)
{
    int n = 0;
    for (int k = 1; k < u->nest.nop; k++)
        n += a->step[k] == u->src_width[k - 1];
    return n;
}

/* Whether sequences are reduced side by side: more sources are dense along the last map axis
 * than along the last fold axis, and all classes have kernels for columns. */
static bool side_by_side(const tni_fused *u)
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

/* Elements of source k that are dense in the order of the nest. */
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

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The columns of a strip: as many as have space for accumulators, waiting states and a tile of
 * rows. */
static int64_t widest_strip(const tni_fused *u, int64_t bytes)
{
    /* states of a column that wait at once, including a new one */
    const int levels = 2 + tni_fold_height(tni_fold_blocks(u->count));
    int64_t w = least(TNI_FUSED_BATCH, ROWS / (TNI_TILE * bytes));
    w = least(w, TNI_FOLD_WIDTH / (2 * (u->nterm + 1)));
    for (int t = 0; t < u->nterm; t++)
        w = least(w, TNI_FOLD_STACK / u->nterm / (2 * u->fold[t].class->words * levels));
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
        u->fold[t].joined = u->fold[t].by_tiles = false;
        /* fold_rows gives ordered classes one word of accumulators for each lane of a column */
        ASSERT(!u->fold[t].class->ordered || !u->fold[t].class->columns ||
               u->fold[t].class->tree);
    }
}

/* Move the last map axis inside the fold axes, so that it is the innermost one. */
static void move_map_axis_innermost(tni_nest *nest, int nfold)
{
    const int at = nest->ndim - nfold - 1;
    const tni_axis map = nest->axis[at];
    memmove(&nest->axis[at], &nest->axis[at + 1], (size_t)nfold * sizeof map);
    nest->axis[nest->ndim - 1] = map;
}

/* Set the widths of the sources, which of them are broadcast, and the order of the nest.
 * Returns the bytes of an element of all sources together. */
static int64_t plan_sources(tni_fused *u, tn_dtype *dtype, int nsrc, const tn_tensor *const *ts)
{
    int64_t each = 0;
    u->nfold = 0;
    u->broadcast = 0;
    for (int i = 0; i < u->nest.ndim; i++)
        u->nfold += u->nest.axis[i].role == TNI_FOLD;
    for (int k = 0; k < nsrc; k++) {
        bool broadcast = true;
        dtype[k] = ts[k + 1]->dtype;
        u->src_width[k] = (int8_t)tni_width(dtype[k]);
        for (int i = 0; i < u->nest.ndim; i++)
            broadcast &= u->nest.axis[i].step[k + 1] == 0;
        u->broadcast |= (uint32_t)broadcast << k;
        each += tni_width(dtype[k]);
    }
    u->bytes = tni_mul_saturated(tni_mul_saturated(u->outputs, u->count ? u->count : 1), each);
    u->columns = u->count > 0 && side_by_side(u);
    if (u->columns)
        move_map_axis_innermost(&u->nest, u->nfold);
    for (int k = 0; k < nsrc; k++)
        u->dense[k] = dense_run(u, k);
    return each;
}

/* Place the values in the buffer.  Returns the bytes of an element of all values together. */
static int64_t plan_values(tni_fused *u, int nvalue)
{
    int64_t bytes = 0;
    u->nvalue = nvalue;
    for (int r = 0; r < nvalue; r++) {
        for (int t = 0; t < u->nterm; t++)
            if (u->term[t].value == r)
                u->width[r] = (int8_t)tni_width(u->term[t].dtype);
        u->value[r] = bytes;
        bytes += u->width[r];
    }
    ASSERT(bytes * TNI_TREE_BLOCK <= TNI_FUSED_BYTES);
    return bytes;
}

/* The sequences of a batch: their values fit a block of the buffer, their states the stack. */
static int64_t widest_batch(const tni_fused *u)
{
    int64_t w = u->count > 0 ? TNI_TREE_BLOCK / u->count : TNI_FOLD_BATCH;
    w = least(w > 1 ? w : 1, TNI_FOLD_BATCH);
    for (int t = 0; t < u->nterm; t++)
        w = least(w, TNI_FOLD_STACK / u->nterm / (4 * u->fold[t].class->words));
    return w;
}

void tni_fused_plan(tni_fused *u, tni_instr *instr, const tni_program *values,
                    const tni_program *around, int nterm, const tni_fused_term *term,
                    const tn_tensor *const *ts, uint64_t folded)
{
    tn_dtype dtype[TNI_MAX_SOURCES], given[TNI_MAX_RESULTS];
    tni_nest_build(&u->nest, values->nsrc + 1, ts,
                   &(tni_nest_rules){.fold = folded, .lead = 1});
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
    const int64_t each = plan_sources(u, dtype, values->nsrc, ts),
                  bytes = plan_values(u, values->nvalue);
    u->piece = least(tni_strips_plan_dense(&u->inside, instr, values, dtype, u->broadcast),
                     TNI_FUSED_GATHER / each);
    u->inside.prefetch = u->bytes >= TNI_PREFETCH_LEAST;
    for (int t = 0; t < nterm; t++)
        given[t] = term[t].gives;
    u->last =
        least(tni_strips_plan_dense(&u->around, instr + u->inside.ninstr, around, given, 0),
              TNI_FUSED_BATCH);
    u->strip = u->columns ? least(widest_strip(u, bytes), u->nest.axis[u->nest.ndim - 1].n)
                          : widest_batch(u);
    u->capacity = u->columns ? TNI_TILE * u->strip : TNI_TREE_BLOCK;
    ASSERT(u->strip > 0 && u->strip <= TNI_FUSED_BATCH);
    ASSERT(u->capacity * bytes <= TNI_FUSED_BYTES);
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
