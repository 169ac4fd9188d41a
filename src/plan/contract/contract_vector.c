/* contract_vector.c - one row of dst: a vector times a matrix that is read once.
 *
 * The matrix is dense along deep or along cols where it can be; halves are widened in
 * registers.  A block of dst is summed in a buffer over all of deep, so that its bits do not
 * depend on how blocks are shared out. */
#include "contract_plan.h"

#include "plan/plan.h"

enum {
    VECTOR_DEEP = 1024, /* elements of the vector that are converted at a time: TNI_SUM_STRIP */
    VECTOR_COLS = 1024, /* sums of a block: 4 KiB of f32 stay in L1 beside the vector */
};

typedef void (*vector_fn)(char *acc, const char *x, const char *b, int64_t n, int64_t k,
                          int64_t b_n, int64_t b_k);

typedef struct vector_job {
    const tni_step *s;
    const tni_contract_row *row;
    vector_fn gemv; /* from the matrix as it is; NULL: through strips */
    tni_strip_io left, right, addend, dst;
    tni_contract_axis cols; /* the innermost axis of cols */
    char *at[TNI_SIDES];
    int64_t blocks, outer; /* blocks of cols; all else around them */
    int parts;
} vector_job;

/* Steps of everything around a block: batch, and the outer axes of cols. */
static void vector_place(const tni_product *p, int64_t index, char *const at[TNI_SIDES],
                         char *out[TNI_SIDES])
{
    for (int k = 0; k < TNI_SIDES; k++)
        out[k] = at[k];
    for (int c = TNI_COLS; c >= 0; c--)
        for (int i = p->count[c] - 1 - (c == TNI_COLS); i >= 0 && c != TNI_ROWS; i--) {
            const tni_contract_axis *x = &p->axis[c][i];
            const int64_t j = index % x->n;
            index /= x->n;
            for (int k = 0; k < TNI_SIDES; k++)
                if (out[k])
                    out[k] += j * x->step[k];
        }
}

/* acc += x times the matrix of one stretch of deep's innermost axis. */
static void vector_stretch(const vector_job *j, char *acc, const char *left, const char *right,
                           int64_t n, int64_t k, const tni_contract_axis *deep)
{
    _Alignas(64) char x_room[VECTOR_DEEP * 16], row_room[TNI_SUM_STRIP * 16];
    const int64_t b_n = j->cols.step[TNI_RIGHT], b_k = deep->step[TNI_RIGHT];
    const int64_t width = tni_width(j->s->p.meet);
    const char *x = tni_strip_read(&j->left, x_room, left, k, deep->step[TNI_LEFT]);
    if ((uintptr_t)x % 16) { /* kernels take vectors of the compute type */
        memcpy(x_room, x, (size_t)(k * width));
        x = x_room;
    }
    if (j->gemv) {
        j->gemv(acc, x, right, n, k, b_n, b_k);
        return;
    }
    const bool along = tni_magnitude(b_k) <= tni_magnitude(b_n) || n == 1;
    for (int64_t i = 0; i < (along ? n : k); i++) {
        const char *row = tni_strip_read(&j->right, row_room, right + i * (along ? b_n : b_k),
                                         along ? k : n, along ? b_k : b_n);
        if (along)
            j->row->gemv(acc + i * width, x, row, 1, k, 0, width);
        else
            j->row->gemv(acc, x + i * width, row, n, 1, width, 0);
    }
}

/* All of deep, its outer axes by their number. */
static void vector_sum(const vector_job *j, char *acc, const char *left, const char *right,
                       int64_t n)
{
    const tni_product *p = &j->s->p;
    const int count = p->count[TNI_DEEP];
    const tni_contract_axis one = {1, {0}};
    const tni_contract_axis *deep = count ? &p->axis[TNI_DEEP][count - 1] : &one;
    for (int64_t outer = p->size[TNI_DEEP] / deep->n, o = 0; o < outer; o++) {
        const char *l = left, *r = right;
        int64_t index = o;
        for (int i = count - 2; i >= 0; i--) {
            const tni_contract_axis *x = &p->axis[TNI_DEEP][i];
            l += index % x->n * x->step[TNI_LEFT];
            r += index % x->n * x->step[TNI_RIGHT];
            index /= x->n;
        }
        for (int64_t k = 0; k < deep->n; k += VECTOR_DEEP)
            vector_stretch(j, acc, l + k * deep->step[TNI_LEFT], r + k * deep->step[TNI_RIGHT],
                           n, deep->n - k < VECTOR_DEEP ? deep->n - k : VECTOR_DEEP, deep);
    }
}

static void vector_block(const vector_job *j, int64_t item, int64_t per_block)
{
    _Alignas(64) char acc[VECTOR_COLS * 16], c_room[VECTOR_COLS * 16];
    const tni_product *p = &j->s->p;
    const int64_t width = tni_width(p->meet), first = item % j->blocks * per_block;
    const int64_t n = j->cols.n - first < per_block ? j->cols.n - first : per_block;
    char *at[TNI_SIDES];
    vector_place(p, item / j->blocks, j->at, at);
    for (int k = 0; k < TNI_SIDES; k++)
        if (at[k])
            at[k] += first * j->cols.step[k];
    memset(acc, 0, (size_t)(n * width));
    vector_sum(j, acc, at[TNI_LEFT], at[TNI_RIGHT], n);
    const char *c = NULL;
    if (p->beta != 0)
        c = tni_strip_read(&j->addend, c_room, at[TNI_ADDEND], n, j->cols.step[TNI_ADDEND]);
    if (p->alpha != 1 || c)
        j->row->finish(acc, acc, c, n, p->alpha, p->beta);
    tni_strip_write(&j->dst, at[TNI_DST], acc, n, j->cols.step[TNI_DST]);
}

/* Blocks narrow enough that every part has some; their width is no part of the bits. */
static int64_t vector_width(const vector_job *j)
{
    int64_t each = tni_pieces(j->cols.n, j->outer < j->parts ? 2 * j->parts : 1);
    each = (each + 63) / 64 * 64;
    return each < VECTOR_COLS ? each : VECTOR_COLS;
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
    if (p->dtype[TNI_RIGHT] == p->meet && p->meet != TN_BOOL)
        return k->row[p->sum].gemv;
    if (p->meet == TN_F32 && p->dtype[TNI_RIGHT] == TN_F16)
        return k->gemv_f16;
    return p->meet == TN_F32 && p->dtype[TNI_RIGHT] == TN_BF16 ? k->gemv_bf16 : NULL;
}

static tni_strip_io vector_io(tn_dtype from, tn_dtype to, tn_dtype tensor)
{
    return (tni_strip_io){tni_cast_chain(tni_isa_level(), from, to), tni_width(tensor)};
}

void tni_vector_run(const tni_step *s, char *const at[TNI_SIDES], char *workspace)
{
    (void)workspace;
    const tni_product *p = &s->p;
    const tni_contract_kernels *k = tni_kernels_of(tni_isa_level())->contract;
    const int cols = p->count[TNI_COLS];
    vector_job j = {.s = s, .row = &k->row[p->sum], .gemv = vector_kernel(p, k)};
    j.left = vector_io(p->dtype[TNI_LEFT], p->meet, p->dtype[TNI_LEFT]);
    j.right = vector_io(p->dtype[TNI_RIGHT], p->meet, p->dtype[TNI_RIGHT]);
    j.dst = vector_io(p->meet, p->dtype[TNI_DST], p->dtype[TNI_DST]);
    if (p->beta != 0)
        j.addend = vector_io(p->dtype[TNI_ADDEND], p->meet, p->dtype[TNI_ADDEND]);
    j.cols = cols ? p->axis[TNI_COLS][cols - 1] : (tni_contract_axis){1, {0}};
    for (int i = 0; i < TNI_SIDES; i++)
        j.at[i] = at[i];
    j.outer = p->size[TNI_BATCH] * (p->size[TNI_COLS] / j.cols.n);
    const int64_t count = tni_times(p->size[TNI_BATCH], p->size[TNI_COLS]);
    const int64_t bytes =
        tni_times(tni_times(count, p->size[TNI_DEEP] + 1), tni_width(p->dtype[TNI_RIGHT]));
    j.parts = tni_plan_parts(bytes, count);
    vector_shared shared = {.job = &j, .width = vector_width(&j)};
    j.blocks = tni_pieces(j.cols.n, shared.width);
    shared.items = j.outer * j.blocks;
    if (j.parts > shared.items)
        j.parts = (int)shared.items;
    tni_parallel(j.parts, vector_part, &shared);
}

bool tni_vector_fits(tni_step *s)
{
    if (s->p.count[TNI_ROWS])
        return false;
    s->why = s->p.count[TNI_COLS] ? "one row of dst: the matrix is read once, where it is"
                                  : "one element of dst for each product";
    return true;
}
