/* index_load.c - loads integers of any dtype as indices, and finds those that are out of
 * range. */
#include <string.h>

#include "pieces.h"
#include "view/view.h"

int64_t tni_index_at(const char *p, tn_dtype dtype)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint16_t u16;
    uint32_t u32;
    switch (dtype) {
    case TN_I8:
        memcpy(&i8, p, sizeof i8);
        return i8;
    case TN_U8:
        return *(const uint8_t *)p;
    case TN_I16:
        memcpy(&i16, p, sizeof i16);
        return i16;
    case TN_U16:
        memcpy(&u16, p, sizeof u16);
        return u16;
    case TN_I32:
        memcpy(&i32, p, sizeof i32);
        return i32;
    case TN_U32:
        memcpy(&u32, p, sizeof u32);
        return u32;
    default:
        memcpy(&i64, p, sizeof i64);
        return dtype == TN_U64 && i64 < 0 ? INT64_MAX : i64;
    }
}

/* Fewer indices than a vector of AVX-512 holds are read one by one, which costs less than
 * choosing a kernel. */
enum { FEW = 8 };

void tni_index_load(int64_t *d, const char *s, tn_dtype dtype, int64_t n, int isa)
{
    if (n < FEW) {
        for (int64_t i = 0; i < n; i++)
            d[i] = tni_index_at(s + i * tni_width(dtype), dtype);
        return;
    }
    const tni_cast cast = tni_cast_chain(isa, dtype, TN_I64);
    if (cast.steps == 0)
        memcpy(d, s, (size_t)n * sizeof *d);
    else
        cast.fn[0]((char *)d, s, n, 0, false);
    for (int64_t i = 0; i < n && dtype == TN_U64; i++)
        d[i] = d[i] < 0 ? INT64_MAX : d[i];
}

/* Whether v is no index of n elements; v < -n wraps around. */
static bool is_outside(int64_t v, int64_t n)
{
    return (uint64_t)v + (uint64_t)n >= 2 * (uint64_t)n;
}

/* The first of elements [first, last) that is out of range, or -1. */
static int64_t outside_range(const tn_tensor *index, int64_t n, int64_t first, int64_t last)
{
    tni_pieces p;
    _Alignas(64) char raw[TNI_PIECE * 8];
    int64_t at[TNI_PIECE];
    if (!tni_pieces_begin(&p, 1, &index, first, last))
        return -1;
    for (bool more = true; more;) {
        const int64_t size = tni_pieces_size(&p);
        bool outside = false;
        tni_index_load(at, tni_pieces_dense(&p, 0, size, raw), index->dtype, size, p.isa);
        for (int64_t i = 0; i < size; i++)
            outside |= is_outside(at[i], n);
        for (int64_t i = 0; i < size && outside; i++)
            if (is_outside(at[i], n))
                return last - p.left + i;
        more = tni_pieces_next(&p, size);
    }
    return -1;
}

/* Most parts, which bounds an array on the stack; and the bytes that checking an element costs
 * as much as, for the number of parts: twice those of an index.  Neither was measured
 * finely. */
enum { OUTSIDE_PARTS = 16, OUTSIDE_COST = 16 };

typedef struct outside_job {
    const tn_tensor *index;
    int64_t n, all, found[OUTSIDE_PARTS];
    int parts;
} outside_job;

static void outside_part(void *arg, int part)
{
    outside_job *j = arg;
    int64_t first, last;
    tni_split_range(j->all, j->parts, part, &first, &last);
    j->found[part] = outside_range(j->index, j->n, first, last);
}

int64_t tni_index_outside(const tn_tensor *index, int64_t n)
{
    outside_job j = {.index = index, .n = n, .all = tni_numel(index)};
    if (index->ndim <= 1 && j.all < FEW) {
        for (int64_t i = 0; i < j.all; i++) {
            const char *x =
                (const char *)index->data + (index->ndim ? i * index->stride[0] : 0);
            if (is_outside(tni_index_at(x, index->dtype), n))
                return i;
        }
        return -1;
    }
    if (j.all == 0)
        return -1;
    j.parts = tni_run_parts(tni_mul_saturated(j.all, OUTSIDE_COST),
                            j.all < OUTSIDE_PARTS ? j.all : OUTSIDE_PARTS);
    tni_parallel(j.parts, outside_part, &j);
    for (int part = 0; part < j.parts; part++)
        if (j.found[part] >= 0)
            return j.found[part];
    return -1;
}
