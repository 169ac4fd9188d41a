/* mask_run.c - selects elements by a mask, in row-major order.
 *
 * Parts have equal shares of the elements.  The set elements of each part are counted first, so
 * that a part knows where in the result it begins. */
#include <string.h>

#include "pieces.h"
#include "view/view.h"

/* The bits of an element that is not zero, of which at least one is set: all but signs, because
 * -0 is zero. */
static uint64_t kept_bits(tn_dtype dtype)
{
    const int kind = tni_dtypes[dtype].kind;
    const int bits = 8 * (int)tni_width(kind == TNI_COMPLEX ? tni_real_of(dtype) : dtype);
    if (kind != TNI_FLOAT && kind != TNI_COMPLEX)
        return UINT64_MAX;
    const uint64_t sign = (uint64_t)1 << (bits - 1);
    return dtype == TN_C64 ? ~(sign | sign << 32) : ~sign;
}

/* Load n elements of a mask, operand k, as bits. */
static void mask_bits(const tni_pieces *p, int k, tn_dtype dtype, int64_t n, uint64_t *bits)
{
    _Alignas(64) char raw[TNI_PIECE * 16];
    ASSERT(n <= TNI_PIECE && p->width[k] <= 16);
    tni_kernels_of(p->isa)->mask->bits[tni_log2_width(p->width[k])](
        bits, tni_pieces_dense(p, k, n, raw), n, kept_bits(dtype));
}

typedef struct mask_job mask_job;

/* Handle n elements from number `first` on.  Those that are set begin at element `at` of the
 * list, where the part has `capacity` elements left. */
typedef void (*mask_piece_fn)(const mask_job *j, const tni_pieces *p, int64_t first, int64_t n,
                              const uint64_t *bits, int64_t at, int64_t capacity);

struct mask_job {
    const tni_mask_counts *c;
    const tn_tensor *mask, *other, *list; /* list: the set elements, one after the other */
    int64_t n;
    int64_t *counts;
    mask_piece_fn piece;
};

/* ---- counting ---- */

static void count_part(void *arg, int part)
{
    const mask_job *j = arg;
    tni_pieces p;
    uint64_t bits[TNI_PIECE_WORDS];
    int64_t first, last, count = 0;
    tni_split_range(j->n, j->c->parts, part, &first, &last);
    if (tni_pieces_begin(&p, 1, &j->mask, first, last))
        for (bool more = true; more;) {
            const int64_t n = tni_pieces_size(&p);
            mask_bits(&p, 0, j->mask->dtype, n, bits);
            count += tni_kernels_of(p.isa)->mask->count(bits, n);
            more = tni_pieces_next(&p, n);
        }
    j->counts[part] = count;
}

int64_t tni_mask_count(tni_mask_counts *c, const tn_tensor *mask)
{
    mask_job j = {.c = c, .mask = mask, .n = tni_numel(mask), .counts = c->before + 1};
    const int64_t bytes = tni_mul_saturated(j.n, 4 + tni_width(mask->dtype));
    c->parts = tni_run_parts(bytes, j.n < TNI_MASK_PARTS ? j.n : TNI_MASK_PARTS);
    ASSERT(c->parts >= 1 && c->parts <= TNI_MASK_PARTS);
    c->before[0] = 0;
    tni_parallel(c->parts, count_part, &j);
    for (int i = 0; i < c->parts; i++)
        c->before[i + 1] += c->before[i];
    return c->before[c->parts];
}

/* ---- selecting ---- */

static void mask_part(void *arg, int part)
{
    const mask_job *j = arg;
    const tn_tensor *ts[2] = {j->mask, j->other};
    tni_pieces p;
    uint64_t bits[TNI_PIECE_WORDS];
    int64_t first, last, at = j->c->before[part];
    const int64_t end = j->c->before[part + 1];
    tni_split_range(j->n, j->c->parts, part, &first, &last);
    if (!tni_pieces_begin(&p, j->other ? 2 : 1, ts, first, last))
        return;
    while (at < end) {
        const int64_t n = tni_pieces_size(&p);
        mask_bits(&p, 0, j->mask->dtype, n, bits);
        j->piece(j, &p, last - p.left, n, bits, at, end - at);
        at += tni_kernels_of(p.isa)->mask->count(bits, n);
        ASSERT(at <= end); /* otherwise the counts are of another mask */
        tni_pieces_next(&p, n);
    }
}

static void mask_run(const tni_mask_counts *c, const tn_tensor *mask, const tn_tensor *other,
                     const tn_tensor *list, mask_piece_fn piece)
{
    mask_job j = {.c = c, .mask = mask, .other = other, .list = list, .piece = piece};
    j.n = tni_numel(mask);
    tni_parallel(c->parts, mask_part, &j);
}

/* Bytes from one element of the list to the next: the stride of a single one has no meaning. */
static int64_t list_step(const tn_tensor *list)
{
    return list->ndim && list->shape[0] > 1 ? list->stride[0] : 0;
}

static void select_piece(const mask_job *j, const tni_pieces *p, int64_t first, int64_t n,
                         const uint64_t *bits, int64_t at, int64_t capacity)
{
    (void)first;
    const tni_kernels *kernels = tni_kernels_of(p->isa);
    const int64_t width = p->width[1], step = list_step(j->list);
    const int log2 = tni_log2_width(width);
    _Alignas(64) char raw[TNI_PIECE * 16];
    const char *s = tni_pieces_dense(p, 1, n, raw);
    char *d = (char *)j->list->data + at * step;
    if (step == width) {
        kernels->mask->pack[log2](d, s, bits, n, capacity);
        return;
    }
    _Alignas(64) char packed[TNI_PIECE * 16];
    const int64_t chosen = kernels->mask->count(bits, n);
    kernels->mask->pack[log2](packed, s, bits, n, TNI_PIECE);
    kernels->copy->tile[log2](d, (const int64_t[2]){0, step}, packed,
                              (const int64_t[2]){0, width}, (const int64_t[2]){1, chosen});
}

void tni_mask_select(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *src,
                     const tn_tensor *mask)
{
    mask_run(c, mask, src, dst, select_piece);
}

static void put_piece(const mask_job *j, const tni_pieces *p, int64_t first, int64_t n,
                      const uint64_t *bits, int64_t at, int64_t capacity)
{
    (void)first, (void)capacity;
    const int64_t step = list_step(j->list);
    const char *s = (const char *)j->list->data + at * step;
    if (n <= tni_walk_left(&p->walk)) {
        tni_kernels_of(p->isa)->mask->spread[tni_log2_width(p->width[1])](
            tni_pieces_at(p, 1), tni_pieces_step(p, 1), s, step, bits, n);
        return;
    }
    tni_walk w;
    tni_walk_copy(&w, &p->walk);
    for (int64_t i = 0, here = 0; i < n; i += 64)
        for (uint64_t b = bits[i / 64]; b; b &= b - 1, s += step) {
            const int64_t index = i + __builtin_ctzll(b);
            while (here < index) {
                const int64_t left = tni_walk_left(&w);
                const int64_t by = index - here < left ? index - here : left;
                tni_walk_advance(&w, by);
                here += by;
            }
            memcpy(p->at[1] + w.offset[1], s, (size_t)p->width[1]);
        }
}

void tni_mask_put(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *mask,
                  const tn_tensor *src)
{
    mask_run(c, mask, dst, src, put_piece);
}

/* ---- indices ---- */

/* Write the indices of the elements whose row-major numbers are at[0..n), rising, to rows of
 * dst. */
static void split_indices(const tn_tensor *dst, char *d, const tn_tensor *src,
                          const int64_t *at, int64_t n)
{
    const int64_t step = list_step(dst);
    const int last = src->ndim - 1;
    const int64_t row = src->shape[last];
    int64_t index[TN_MAX_NDIM], begun = -row; /* the number of the row's first element */
    for (int64_t k = 0; k < n; k++, d += step) {
        if (k == 0 || at[k] - begun >= row) {
            begun = at[k] / row * row;
            tni_unravel(last, src->shape, at[k] / row, index);
        }
        index[last] = at[k] - begun;
        for (int i = 0; i <= last; i++)
            memcpy(d + i * dst->stride[1], &index[i], sizeof index[i]);
    }
}

static void indices_piece(const mask_job *j, const tni_pieces *p, int64_t first, int64_t n,
                          const uint64_t *bits, int64_t at, int64_t capacity)
{
    const tni_mask_kernels *kernels = tni_kernels_of(p->isa)->mask;
    const tn_tensor *dst = j->list, *src = j->mask;
    const int64_t step = list_step(dst);
    char *d = (char *)dst->data + at * step;
    int64_t index[TNI_PIECE];
    if (src->ndim == 0)
        return;
    if (src->ndim == 1 && step == sizeof *index) {
        kernels->indices(d, bits, n, first, capacity);
        return;
    }
    kernels->indices((char *)index, bits, n, first, TNI_PIECE);
    split_indices(dst, d, src, index, kernels->count(bits, n));
}

void tni_mask_indices(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *src)
{
    mask_run(c, src, NULL, dst, indices_piece);
}
