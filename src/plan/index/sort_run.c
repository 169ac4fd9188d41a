/* sort_run.c - sorts the sequences of a tensor: many of them by a thread each, long ones by all
 * threads. */
#include <string.h>

#include "sort_run.h"
#include "view/view.h"

uint64_t tni_order_key(tn_dtype dtype, const char *x, bool descending)
{
    const int64_t width = tni_width(dtype);
    const int kind = tni_dtypes[dtype].kind;
    const int bits = (int)(8 * width);
    const uint64_t top = (uint64_t)1 << (bits - 1), all = top | (top - 1);
    uint64_t b = 0;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    switch (width) {
    case 1:
        memcpy(&u8, x, sizeof u8), b = u8;
        break;
    case 2:
        memcpy(&u16, x, sizeof u16), b = u16;
        break;
    case 4:
        memcpy(&u32, x, sizeof u32), b = u32;
        break;
    default:
        memcpy(&b, x, sizeof b);
    }
    if (kind == TNI_BOOL)
        b = b != 0;
    else if (kind == TNI_SIGNED)
        b ^= top;
    else if (kind == TNI_FLOAT) {
        const uint64_t size = b & (top - 1);
        if (size > (uint64_t)tni_floats[dtype].largest)
            b = all;
        else if (size == 0)
            b = top;
        else
            b = b & top ? all - b : b | top; /* negative numbers count backwards below top */
    }
    return descending ? all - b : b;
}

tni_order_rule tni_order_rule_of(tn_dtype dtype, bool descending)
{
    const int kind = tni_dtypes[dtype].kind;
    return (tni_order_rule){
        .kind = kind == TNI_BOOL    ? TNI_ORDER_BOOL
                : kind == TNI_FLOAT ? TNI_ORDER_FLOAT
                                    : TNI_ORDER_INTEGER,
        .top = kind == TNI_UNSIGNED ? (int64_t)((uint64_t)1 << (8 * tni_width(dtype) - 1)) : 0,
        .flip = descending ? -1 : 0,
        .largest = kind == TNI_FLOAT ? tni_floats[dtype].largest : 0};
}

/* ---- scratch: the elements of a sequence, dense; then two words for each ---- */

static size_t raw_bytes(int64_t n, int64_t width)
{
    return (size_t)(n * width + 63) / 64 * 64;
}

static size_t sort_scratch(const tn_tensor *src, int dim)
{
    const int64_t n = src->shape[dim];
    return raw_bytes(n, tni_width(src->dtype)) + 2 * (size_t)n * sizeof(int64_t) + 64;
}

/* Sequences with a stride are made dense in panels.  A panel has all sequences of PANEL_LINES
 * lines of memory, which the hardware's prefetcher follows (docs/investigations/reductions.md,
 * "All of a transposed array": from four lines of a row on, half of the limit and more is
 * read), but at most PANEL_BYTES, half of an L2 of 1 MiB. */
enum { PANEL_BYTES = 1 << 19, PANEL_LINES = 4 };

static int64_t sort_panel(const tn_tensor *src, int dim)
{
    const int64_t n = src->shape[dim], width = tni_width(src->dtype);
    ASSERT(n > 0);
    const int64_t lines = PANEL_BYTES / 64 / n;
    return src->stride[dim] == width || n < 2
               ? 0
               : (lines < PANEL_LINES ? lines : PANEL_LINES) * 64 / width;
}

static size_t part_scratch(const tn_tensor *src, int dim)
{
    return sort_scratch(src, dim) +
           (size_t)sort_panel(src, dim) * raw_bytes(src->shape[dim], tni_width(src->dtype));
}

/* ---- a sequence ---- */

typedef struct elements {
    char *d;
    const char *s;
} elements;

static void copy_piece(const sort_job *j, void *arg, int64_t first, int64_t n)
{
    const elements *e = arg;
    const int64_t step = j->src_step;
    tni_sort_copy(j, e->d + first * j->width, j->width, e->s + first * step, step, n);
}

static void sort_sequence(const sort_job *j, const char *s, char *value, char *index,
                          char *scratch)
{
    const int64_t n = j->n, w = j->width, wanted = j->first + j->k;
    const bool dense = j->src_step == w || n == 1;
    const bool few = w <= 4 && n >= 1024 && n < UINT32_MAX && wanted <= n / TNI_SORT_RARE;
    char *words = scratch + raw_bytes(n, w);
    if (!dense)
        tni_sort_each(j, n, copy_piece, &(elements){scratch, s});
    const char *raw = dense ? s : scratch;
    if (!few && !index && tni_sort_values(j, raw, value, words))
        return;
    if (value && raw == value) { /* raw is where values are written */
        tni_sort_each(j, n, copy_piece, &(elements){scratch, s});
        raw = scratch;
    }
    tni_sort_chosen(j, few, raw, value, index, words);
}

/* Sort neighbouring sequences: transpose them into dense ones, sort those, transpose them
 * back. */
static void sort_neighbours(const sort_job *j, int64_t rows, const char *s, char *value,
                            char *index, char *scratch)
{
    const tni_copy_kernels *copy = tni_kernels_of(j->isa)->copy;
    const int log2 = tni_log2_width(j->width);
    const int64_t pitch = (int64_t)raw_bytes(j->n, j->width);
    const int64_t next = j->index_op ? j->nest.axis[j->nest.ndim - 1].step[j->index_op] : 0;
    char *panel = scratch + j->bytes;
    sort_job dense = *j;
    dense.src_step = dense.value_step = j->width;
    copy->transpose[log2](panel, pitch, s, j->src_step, j->n, rows, 0);
    for (int64_t i = 0; i < rows; i++) {
        char *row = panel + i * pitch;
        sort_sequence(&dense, row, value ? row : NULL, index ? index + i * next : NULL,
                      scratch);
    }
    if (value)
        copy->transpose[log2](value, j->value_step, panel, pitch, rows, j->k, 0);
}

static void sort_part(void *arg, int part)
{
    const sort_job *j = arg;
    const int64_t inner = j->nest.ndim ? j->nest.axis[j->nest.ndim - 1].n : 1;
    char *scratch = j->scratch + (size_t)part * j->stride;
    int64_t first, last;
    tni_walk w;
    tni_split_range(j->sequences, j->parts, part, &first, &last);
    tni_walk_seek(&w, j->nest.axis, j->nest.ndim, j->nest.nop, first);
    for (int64_t i = first, rows; i < last; i += rows) {
        const char *s = j->at[0] + w.offset[0];
        char *value = j->value_op ? j->at[j->value_op] + w.offset[j->value_op] : NULL;
        char *index = j->index_op ? j->at[j->index_op] + w.offset[j->index_op] : NULL;
        rows = inner - i % inner < j->panel ? inner - i % inner : j->panel;
        rows = rows < last - i ? rows : last - i;
        ASSERT(rows >= 1 && rows <= j->panel);
        if (j->panel > 1)
            sort_neighbours(j, rows, s, value, index, scratch);
        else
            sort_sequence(j, s, value, index, scratch);
        for (int64_t k = 0; k < rows; k++)
            tni_walk_next(&w);
    }
}

static int sort_parts(const tn_tensor *src, int dim)
{
    const int64_t count = tni_numel(src), n = src->shape[dim];
    return n && count ? tni_plan_parts(tni_mul_saturated(count, 16), count / n) : 1;
}

size_t tni_sort_least(const tn_tensor *src, int dim)
{
    return tni_numel(src) ? sort_scratch(src, dim) : 0;
}

size_t tni_sort_bytes(const tn_tensor *src, int dim)
{
    return tni_numel(src) ? part_scratch(src, dim) * (size_t)sort_parts(src, dim) : 0;
}

/* Build the nest over the sequences of src, and of values and indices if they are wanted. */
static void sort_operands(sort_job *j, const tn_tensor *values, const tn_tensor *indices,
                          const tn_tensor *src, int dim)
{
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    const tn_tensor *ts[3] = {src, values ? values : indices, indices}, *list[3];
    const int nop = 1 + (values != NULL) + (indices != NULL);
    tn_tensor sequences[3];
    j->value_op = values ? 1 : 0;
    j->index_op = indices ? nop - 1 : 0;
    for (int i = 0; i < nop; i++) {
        tni_drop_axis(&sequences[i], ts[i], dim, NULL);
        list[i] = &sequences[i];
    }
    tni_nest_build(&j->nest, nop, list, &rules);
    for (int i = 0; i < nop; i++)
        j->at[i] = (char *)ts[i]->data + j->nest.shift[i];
}

/* Whether neighbouring sequences are adjacent in src and in values. */
static bool sort_side_by_side(const sort_job *j)
{
    const tni_axis *in = j->nest.ndim ? &j->nest.axis[j->nest.ndim - 1] : NULL;
    return in && in->n > 1 && in->step[0] == j->width &&
           (!j->value_op || in->step[1] == j->width);
}

/* Use panels if there is scratch for them, and divide the threads: one for each sequence, or
 * all for a long one. */
static void sort_divide(sort_job *j, const tn_tensor *src, int dim, size_t size)
{
    const int threads = tni_plan_parts(tni_mul_saturated(tni_numel(src), 16), TNI_SORT_INNER);
    j->parts = sort_parts(src, dim);
    j->inner = 1;
    j->panel = 1;
    j->stride = j->bytes;
    if (sort_side_by_side(j) && sort_panel(src, dim) &&
        size >= part_scratch(src, dim) * (size_t)j->parts) {
        j->panel = sort_panel(src, dim);
        j->stride = part_scratch(src, dim);
    }
    if ((size_t)j->parts > size / j->stride)
        j->parts = (int)(size / j->stride);
    if (j->sequences < threads && j->n >= TNI_SORT_LONG) {
        j->inner = threads;
        j->parts = 1;
    }
    ASSERT(j->parts >= 1 && (size_t)j->parts * j->stride <= size);
    ASSERT(j->inner >= 1 && j->inner <= TNI_SORT_INNER);
}

void tni_sort_run(const tn_tensor *values, const tn_tensor *indices, const tn_tensor *src,
                  int dim, int64_t first, int64_t k, bool descending, void *scratch,
                  size_t size)
{
    if (tni_numel(src) == 0 || k == 0)
        return;
    sort_job j = {.dtype = src->dtype,
                  .index_dtype = indices ? indices->dtype : TN_I64,
                  .isa = tni_isa_level(),
                  .src_step = src->stride[dim],
                  .value_step = values ? values->stride[dim] : 0,
                  .index_step = indices ? indices->stride[dim] : 0,
                  .n = src->shape[dim],
                  .first = first,
                  .k = k,
                  .sequences = tni_numel(src) / src->shape[dim],
                  .width = tni_width(src->dtype),
                  .bytes = sort_scratch(src, dim),
                  .descending = descending,
                  .rule = tni_order_rule_of(src->dtype, descending),
                  .scratch = scratch};
    ASSERT(first >= 0 && k > 0 && first + k <= j.n && (uintptr_t)scratch % 64 == 0);
    while (j.shift < 62 && (j.n - 1) >> j.shift)
        j.shift++;
    sort_operands(&j, values, indices, src, dim);
    sort_divide(&j, src, dim, size);
    if (j.parts == 1)
        sort_part(&j, 0);
    else
        tni_parallel(j.parts, sort_part, &j);
}
