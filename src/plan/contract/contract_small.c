/* contract_small.c - products that fit the registers, many of a batch in one kernel call.
 *
 * An operand that the kernel cannot use in place (of another dtype, or not dense along cols) is
 * packed on the stack, product by product. */
#include "contract_plan.h"

#include "plan/plan.h"

/* SMALL_MOST: multiplications of a matrix product that is computed without tiles, because
 * planning them takes longer.  SMALL_SIDE: elements of an operand, which is packed on the stack
 * in 8 KiB of f64. */
enum { SMALL_MOST = 16 * 16 * 16, SMALL_SIDE = 1024 };

typedef struct small_job {
    const tni_product *p;
    const tni_contract_row *row;
    tni_strip_io io[TNI_SIDES];
    bool packed[TNI_SIDES];
    tni_gemm g;
    const tni_contract_axis *rows, *cols, *depth, *batch; /* batch: its innermost axis */
    int64_t outer;                                        /* indices of its other axes */
    char *at[TNI_SIDES];
    int parts;
} small_job;

/* The innermost axis of a role, by address: copies of axes show in the profile of a 4 x 4
 * product. */
static const tni_contract_axis *small_axis(const tni_product *p, int role)
{
    static const tni_contract_axis one = {1, {0}};
    return p->count[role] ? &p->axis[role][p->count[role] - 1] : &one;
}

bool tni_small_fits(tni_product_plan *s)
{
    const tni_product *p = &s->p;
    const int64_t m = p->size[TNI_ROWS], n = p->size[TNI_COLS], k = p->size[TNI_DEPTH];
    if (p->sum == TNI_SUM_C64 || p->sum == TNI_SUM_C128 || !p->count[TNI_COLS])
        return false;
    if (p->count[TNI_ROWS] > 1 || p->count[TNI_COLS] > 1 || p->count[TNI_DEPTH] > 1)
        return false;
    if (m > SMALL_SIDE || n > SMALL_SIDE || k > SMALL_SIDE || m * n > SMALL_SIDE ||
        n * k > SMALL_SIDE || m * k > SMALL_SIDE || m * n * k > SMALL_MOST)
        return false;
    s->why = "each product fits the registers";
    return true;
}

/* Pack rows x cols elements as a dense matrix of the compute type. */
static const char *small_pack(const small_job *j, int side, char *scratch, const char *s,
                              const tni_contract_axis *rows, const tni_contract_axis *cols)
{
    const int64_t width = tni_width(j->p->compute);
    for (int64_t i = 0; i < rows->n; i++) {
        char *to = scratch + i * cols->n * width;
        const char *strip = tni_strip_read(&j->io[side], to, s + i * rows->step[side], cols->n,
                                           cols->step[side]);
        if (strip != to)
            memcpy(to, strip, (size_t)(cols->n * width));
    }
    return scratch;
}

/* Compute one product, with buffers for the operands that must be packed. */
static void small_one(const small_job *j, char *const at[TNI_SIDES])
{
    _Alignas(64) char scratch[3][SMALL_SIDE * 8];
    const int64_t width = tni_width(j->p->compute);
    tni_gemm g = j->g;
    g.a = at[TNI_LEFT];
    g.b = at[TNI_RIGHT];
    g.d = at[TNI_DST];
    if (j->packed[TNI_LEFT])
        g.a = small_pack(j, TNI_LEFT, scratch[0], g.a, j->rows, j->depth);
    if (j->packed[TNI_RIGHT])
        g.b = small_pack(j, TNI_RIGHT, scratch[1], g.b, j->depth, j->cols);
    if (j->packed[TNI_DST]) {
        if (g.beta != 0)
            small_pack(j, TNI_ADDEND, scratch[2], at[TNI_ADDEND], j->rows, j->cols);
        g.d = scratch[2];
    }
    j->row->small(&g, 1, 0, 0, 0);
    for (int64_t i = 0; j->packed[TNI_DST] && i < j->rows->n; i++)
        tni_strip_write(&j->io[TNI_DST], at[TNI_DST] + i * j->rows->step[TNI_DST],
                        scratch[2] + i * j->cols->n * width, j->cols->n,
                        j->cols->step[TNI_DST]);
}

/* Compute products [first, last) of one row of the batch. */
static void small_row(const small_job *j, char *const at[TNI_SIDES], int64_t first,
                      int64_t last)
{
    const int64_t *step = j->batch->step;
    char *here[TNI_SIDES];
    for (int k = 0; k < TNI_SIDES; k++)
        here[k] = at[k] ? at[k] + first * step[k] : NULL;
    if (!j->packed[TNI_LEFT] && !j->packed[TNI_RIGHT] && !j->packed[TNI_DST]) {
        tni_gemm g = j->g;
        g.a = here[TNI_LEFT];
        g.b = here[TNI_RIGHT];
        g.d = here[TNI_DST];
        j->row->small(&g, last - first, step[TNI_LEFT], step[TNI_RIGHT], step[TNI_DST]);
        return;
    }
    for (int64_t i = first; i < last; i++) {
        small_one(j, here);
        for (int k = 0; k < TNI_SIDES; k++)
            here[k] = here[k] ? here[k] + step[k] : NULL;
    }
}

static void small_part(void *arg, int part)
{
    const small_job *j = arg;
    int64_t first, last;
    tni_split_range(j->outer * j->batch->n, j->parts, part, &first, &last);
    while (first < last) {
        const int64_t from = first % j->batch->n, left = last - first;
        const int64_t to = j->batch->n - from < left ? j->batch->n : from + left;
        char *at[TNI_SIDES];
        for (int k = 0; k < TNI_SIDES; k++)
            at[k] = j->at[k];
        tni_contract_seek(at, j->p->axis[TNI_BATCH], j->p->count[TNI_BATCH] - 1,
                          first / j->batch->n);
        small_row(j, at, from, to);
        first += to - from;
    }
}

/* Choose the operands that are packed, and describe the gemm. */
static void small_operands(small_job *j)
{
    const tni_product *p = j->p;
    const int64_t width = tni_width(p->compute);
    const bool many = j->cols->n > 1, add = p->beta != 0;
    for (int k = 0; k < TNI_SIDES; k++)
        j->packed[k] = p->dtype[k] != p->compute || p->compute == TN_BOOL;
    j->packed[TNI_RIGHT] |= many && j->cols->step[TNI_RIGHT] != width;
    j->packed[TNI_DST] |= add || (many && j->cols->step[TNI_DST] != width);
    j->packed[TNI_ADDEND] = add;
    for (int k = 0; k < TNI_SIDES; k++) {
        const tn_dtype t = p->dtype[k];
        if (j->packed[k])
            j->io[k] = (tni_strip_io){
                tni_cast_chain(tni_isa_level(), k ? t : p->compute, k ? p->compute : t),
                tni_width(t)};
    }
    tni_gemm *g = &j->g;
    *g = (tni_gemm){.m = j->rows->n, .n = j->cols->n, .k = j->depth->n};
    g->alpha = p->alpha;
    g->beta = p->beta;
    g->a_m = j->packed[TNI_LEFT] ? j->depth->n * width : j->rows->step[TNI_LEFT];
    g->a_k = j->packed[TNI_LEFT] ? width : j->depth->step[TNI_LEFT];
    g->b_k = j->packed[TNI_RIGHT] ? j->cols->n * width : j->depth->step[TNI_RIGHT];
    g->b_n = g->d_n = width;
    g->d_m = j->packed[TNI_DST] ? j->cols->n * width : j->rows->step[TNI_DST];
}

void tni_small_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace)
{
    (void)workspace;
    const tni_product *p = &s->p;
    small_job j; /* io is set only for packed operands */
    j.p = p;
    j.row = &tni_kernels_of(tni_isa_level())->contract->row[p->sum];
    j.rows = small_axis(p, TNI_ROWS);
    j.cols = small_axis(p, TNI_COLS);
    j.depth = small_axis(p, TNI_DEPTH);
    j.batch = small_axis(p, TNI_BATCH);
    j.outer = p->size[TNI_BATCH] / j.batch->n;
    for (int k = 0; k < TNI_SIDES; k++)
        j.at[k] = at[k];
    small_operands(&j);
    /* work is counted in flops, 4 of which stand for a byte copied */
    j.parts = tni_run_parts(s->flops / 4 + 1, p->size[TNI_BATCH]);
    tni_parallel(j.parts, small_part, &j);
}
