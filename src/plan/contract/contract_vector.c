/* contract_vector.c - products with few rows of dst: vectors times a matrix that is read once.
 *
 * The matrix is read along depth or along cols, whichever has the smaller step.  Halves are
 * widened in registers for one row, and for more rows a few strips at a time, in L1.  A block
 * of dst is summed in a buffer over all of depth, so that its bits do not depend on how blocks
 * are divided over threads. */
#include "contract_plan.h"

#include "plan/plan.h"

enum {
    VECTOR_ROWS = 6,        /* the most rows: 8 x 2048 x 2560 f32 were slower than by sgemm */
    VECTOR_MOST = 1024,     /* elements of a stretch of depth, and columns of a block */
    VECTOR_SCRATCH = 16384, /* bytes of all vectors' stretches, and of all sums: half of L1 */
    /* Strips of the matrix that a kernel reads at once, and the bytes of the scratch for
     * them. */
    VECTOR_STRIPS = 4,
    VECTOR_HOLD = 32 << 10
};

typedef void (*vector_fn)(char *acc, const char *x, const char *b, int64_t n, int64_t k,
                          int64_t b_n, int64_t b_k);

typedef struct vector_job {
    const tni_product_plan *s;
    const tni_contract_row *row;
    vector_fn gemv; /* reads the matrix in place; NULL: strips of the compute type are read */
    tni_strip_io left, right, addend, dst;
    tni_contract_axis rows, cols; /* rows, and the innermost axis of cols */
    char *at[TNI_SIDES];
    int64_t most;          /* elements of a stretch, columns of a block */
    int64_t blocks, outer; /* blocks of cols; the indices of the loops around them */
    int parts;
} vector_job;

/* The address of `count` strips of n elements, in place or in scratch, in the compute type.
 * *pitch, the bytes from one strip to the next, becomes that of the strips returned. */
static const char *vector_strips(const vector_job *j, char *scratch, const char *s,
                                 int64_t count, int64_t n, int64_t step, int64_t *pitch)
{
    const int64_t bytes = n * tni_width(j->s->p.compute);
    if (!j->right.cast.steps && step == j->right.width)
        return s;
    for (int64_t i = 0; i < count; i++) {
        const char *strip =
            tni_strip_read(&j->right, scratch + i * bytes, s + i * *pitch, n, step);
        if (strip != scratch + i * bytes)
            memcpy(scratch + i * bytes, strip, (size_t)bytes);
    }
    *pitch = bytes;
    return scratch;
}

/* acc += x * matrix, over one stretch of depth's innermost axis. */
static void vector_stretch(const vector_job *j, char *acc, const char *left, const char *right,
                           int64_t n, int64_t k, const tni_contract_axis *depth)
{
    _Alignas(64) char x_scratch[VECTOR_SCRATCH], scratch[VECTOR_HOLD];
    const int64_t b_n = j->cols.step[TNI_RIGHT], b_k = depth->step[TNI_RIGHT];
    const int64_t width = tni_width(j->s->p.compute), rows = j->rows.n;
    const char *x[VECTOR_ROWS];
    for (int64_t r = 0; r < rows; r++) {
        char *own = x_scratch + r * j->most * width;
        x[r] = tni_strip_read(&j->left, own, left + r * j->rows.step[TNI_LEFT], k,
                              depth->step[TNI_LEFT]);
        if ((uintptr_t)x[r] % 16) /* kernels read an aligned array of the compute type */
            x[r] = memcpy(own, x[r], (size_t)(k * width));
    }
    if (j->gemv) {
        j->gemv(acc, x[0], right, n, k, b_n, b_k);
        return;
    }
    const bool along = tni_abs_step(b_k) <= tni_abs_step(b_n) || j->cols.n == 1;
    const int64_t all = along ? n : k, inside = along ? k : n;
    int64_t each = VECTOR_HOLD / (inside * width);
    each = each < VECTOR_STRIPS ? each : VECTOR_STRIPS;
    for (int64_t i = 0; i < all; i += each) {
        const int64_t count = all - i < each ? all - i : each;
        int64_t pitch = along ? b_n : b_k;
        const char *strips = vector_strips(j, scratch, right + i * pitch, count, inside,
                                           along ? b_k : b_n, &pitch);
        for (int64_t r = 0; r < rows; r++)
            if (along)
                j->row->gemv(acc + (r * j->most + i) * width, x[r], strips, count, k, pitch,
                             width);
            else
                j->row->gemv(acc + r * j->most * width, x[r] + i * width, strips, n, count,
                             width, pitch);
    }
}

/* Sum over all of depth, whose outer axes are walked by number. */
static void vector_sum(const vector_job *j, char *acc, char *left, char *right, int64_t n)
{
    const tni_product *p = &j->s->p;
    const int count = p->count[TNI_DEPTH];
    const tni_contract_axis one = {1, {0}};
    const tni_contract_axis *depth = count ? &p->axis[TNI_DEPTH][count - 1] : &one;
    for (int64_t outer = p->size[TNI_DEPTH] / depth->n, o = 0; o < outer; o++) {
        char *at[TNI_SIDES] = {[TNI_LEFT] = left, [TNI_RIGHT] = right};
        tni_contract_seek(at, p->axis[TNI_DEPTH], count - 1, o);
        for (int64_t k = 0; k < depth->n; k += j->most)
            vector_stretch(j, acc, at[TNI_LEFT] + k * depth->step[TNI_LEFT],
                           at[TNI_RIGHT] + k * depth->step[TNI_RIGHT], n,
                           depth->n - k < j->most ? depth->n - k : j->most, depth);
    }
}

/* Write one row of sums to dst. */
static void vector_finish(const vector_job *j, char *acc, char *const at[TNI_SIDES], int64_t r,
                          int64_t n)
{
    _Alignas(64) char c_scratch[VECTOR_SCRATCH];
    const tni_product *p = &j->s->p;
    const char *c = NULL;
    if (p->beta != 0)
        c = tni_strip_read(&j->addend, c_scratch, at[TNI_ADDEND] + r * j->rows.step[TNI_ADDEND],
                           n, j->cols.step[TNI_ADDEND]);
    if (p->alpha != 1 || c)
        j->row->finish(acc, acc, c, n, p->alpha, p->beta);
    tni_strip_write(&j->dst, at[TNI_DST] + r * j->rows.step[TNI_DST], acc, n,
                    j->cols.step[TNI_DST]);
}

static void vector_block(const vector_job *j, int64_t item, int64_t per_block)
{
    _Alignas(64) char acc[VECTOR_SCRATCH];
    const tni_product *p = &j->s->p;
    const int64_t width = tni_width(p->compute), first = item % j->blocks * per_block;
    const int64_t n = j->cols.n - first < per_block ? j->cols.n - first : per_block;
    char *at[TNI_SIDES];
    for (int k = 0; k < TNI_SIDES; k++)
        at[k] = j->at[k] ? j->at[k] + first * j->cols.step[k] : NULL;
    item = tni_contract_seek(at, p->axis[TNI_COLS], p->count[TNI_COLS] - 1, item / j->blocks);
    tni_contract_seek(at, p->axis[TNI_BATCH], p->count[TNI_BATCH], item);
    memset(acc, 0, (size_t)(((j->rows.n - 1) * j->most + n) * width));
    vector_sum(j, acc, at[TNI_LEFT], at[TNI_RIGHT], n);
    for (int64_t r = 0; r < j->rows.n; r++)
        vector_finish(j, acc + r * j->most * width, at, r, n);
}

/* The width of blocks, so narrow that every part has some; it does not affect bits. */
static int64_t vector_width(const vector_job *j)
{
    int64_t each = tni_ceil_div(j->cols.n, j->outer < j->parts ? 2 * j->parts : 1);
    each = tni_round_up(each, 64);
    return each < j->most ? each : j->most;
}

typedef struct vector_shared {
    const vector_job *job;
    int64_t items, width;
} vector_shared;

static void vector_part(void *arg, int part)
{
    const vector_shared *s = arg;
    int64_t first, last;
    tni_split_range(s->items, s->job->parts, part, &first, &last);
    for (int64_t i = first; i < last; i++)
        vector_block(s->job, i, s->width);
}

static vector_fn vector_kernel(const tni_product *p, const tni_contract_kernels *k)
{
    if (p->count[TNI_ROWS])
        return NULL;
    if (p->dtype[TNI_RIGHT] == p->compute && p->compute != TN_BOOL)
        return k->row[p->sum].gemv;
    if (p->compute == TN_F32 && p->dtype[TNI_RIGHT] == TN_F16)
        return k->gemv_f16;
    return p->compute == TN_F32 && p->dtype[TNI_RIGHT] == TN_BF16 ? k->gemv_bf16 : NULL;
}

static tni_strip_io vector_io(tn_dtype from, tn_dtype to, tn_dtype tensor)
{
    return (tni_strip_io){tni_cast_chain(tni_isa_level(), from, to), tni_width(tensor)};
}

void tni_vector_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace)
{
    (void)workspace;
    const tni_product *p = &s->p;
    const tni_contract_kernels *k = tni_kernels_of(tni_isa_level())->contract;
    const int cols = p->count[TNI_COLS];
    vector_job j = {.s = s, .row = &k->row[p->sum], .gemv = vector_kernel(p, k)};
    j.left = vector_io(p->dtype[TNI_LEFT], p->compute, p->dtype[TNI_LEFT]);
    j.right = vector_io(p->dtype[TNI_RIGHT], p->compute, p->dtype[TNI_RIGHT]);
    j.dst = vector_io(p->compute, p->dtype[TNI_DST], p->dtype[TNI_DST]);
    if (p->beta != 0)
        j.addend = vector_io(p->dtype[TNI_ADDEND], p->compute, p->dtype[TNI_ADDEND]);
    j.cols = cols ? p->axis[TNI_COLS][cols - 1] : (tni_contract_axis){1, {0}};
    j.rows = p->count[TNI_ROWS] ? p->axis[TNI_ROWS][0] : (tni_contract_axis){1, {0}};
    j.most = VECTOR_SCRATCH / (tni_width(p->compute) * j.rows.n) / 64 * 64;
    j.most = j.most < VECTOR_MOST ? j.most : VECTOR_MOST;
    for (int i = 0; i < TNI_SIDES; i++)
        j.at[i] = at[i];
    j.outer = p->size[TNI_BATCH] * (p->size[TNI_COLS] / j.cols.n);
    const int64_t count = tni_mul_saturated(p->size[TNI_BATCH], p->size[TNI_COLS]);
    const int64_t bytes = tni_mul_saturated(tni_mul_saturated(count, p->size[TNI_DEPTH] + 1),
                                            tni_width(p->dtype[TNI_RIGHT]));
    j.parts = tni_run_parts(bytes, count);
    vector_shared shared = {.job = &j, .width = vector_width(&j)};
    ASSERT(shared.width >= 1 && shared.width <= j.most);
    ASSERT(j.rows.n * j.most * tni_width(p->compute) <= VECTOR_SCRATCH);
    j.blocks = tni_ceil_div(j.cols.n, shared.width);
    shared.items = j.outer * j.blocks;
    if (j.parts > shared.items)
        j.parts = (int)shared.items;
    tni_parallel(j.parts, vector_part, &shared);
}

/* Whether several rows are worth it: only if the matrix comes from memory or has to be
 * converted.  On Zen 4, 6 x 2560 x 2048 f32 took 0.8 ms against 2.0 by sgemm, but 8 x 512 x 512
 * took 46 us against 20. */
static bool vector_rows_fit(const tni_product *p)
{
    enum { FAR = 4 << 20 }; /* bytes that two cores' L2 does not hold */
    const bool same = p->dtype[TNI_RIGHT] == p->compute && tni_product_by_blas(p);
    const int64_t bytes =
        tni_mul_saturated(tni_mul_saturated(p->size[TNI_COLS], p->size[TNI_DEPTH]),
                          tni_width(p->dtype[TNI_RIGHT]));
    return p->count[TNI_ROWS] == 1 && p->size[TNI_ROWS] <= VECTOR_ROWS &&
           p->sum != TNI_SUM_C64 && p->sum != TNI_SUM_C128 && !tni_product_pairs(p) &&
           (!same || bytes > FAR);
}

bool tni_vector_fits(tni_product_plan *s)
{
    tni_product *p = &s->p;
    if (!p->count[TNI_ROWS]) {
        s->why = p->count[TNI_COLS] ? "one row of dst: the matrix is read once, in place"
                                    : "one element of dst for each product";
        return true;
    }
    s->why = "few rows of dst: the matrix is read once, in place";
    const bool transposed = p->size[TNI_COLS] <= VECTOR_ROWS && p->size[TNI_ROWS] > VECTOR_ROWS;
    if (transposed)
        tni_product_swap(p);
    const bool fits = vector_rows_fit(p);
    if (transposed && !fits)
        tni_product_swap(p);
    return fits;
}
