/* writer_put.c - passing elements to a writer, piece by piece.
 *
 * Contiguous pieces are written directly; others are packed into a stage of fixed size
 * first. */
#include <string.h>

#include <tenon/copy.h>

#include "write.h"

/* Write n elements of t along axis k, from index[k]: inner axes whole, outer axes at index. */
static tn_status put_block(tn_writer *w, const tn_tensor *t, int k, const int64_t *index,
                           int64_t n)
{
    tn_tensor s = *t, d;
    for (int i = 0; i <= k; i++)
        s.shape[i] = i < k ? 1 : n;
    s.data = (char *)t->data + tni_element_offset(t, index);
    TRY(TNI_NEVER(tn_init(&d, w->stage, s.dtype, s.ndim, s.shape)));
    TRY(TNI_NEVER(tn_rearrange(&d, &s)));
    int64_t numel = tni_numel(&d);
    ASSERT(numel * tni_width(t->dtype) <= tni_stage_bytes);
    if (TNI_NEVER(w->format->swaps))
        tni_swap(w->stage, numel, t->dtype);
    return w->format->bytes(w, w->stage, numel * tni_width(t->dtype));
}

/* Pack and write t stage by stage in row-major order: axis k is cut into pieces, and the axes
 * inside it stay whole. */
static tn_status put_staged(tn_writer *w, const tn_tensor *t)
{
    int64_t inside = tni_width(t->dtype), index[TN_MAX_NDIM] = {0};
    int k = t->ndim - 1;
    while (k > 0 && inside * t->shape[k] <= tni_stage_bytes)
        inside *= t->shape[k--];
    if (!w->stage)
        w->stage = tni_arena_take(&w->arena, (size_t)tni_stage_bytes);
    if (!w->stage)
        return tni_no_memory(w->path, tni_stage_bytes);
    if (TNI_NEVER(k < 0)) /* scalars are contiguous and never come here */
        return put_block(w, t, -1, index, 0);
    const int64_t piece = tni_stage_bytes / inside, outer = tni_shape_count(k, t->shape);
    for (int64_t item = 0; item < outer; item++) {
        tni_unravel(k, t->shape, item, index);
        for (index[k] = 0; index[k] < t->shape[k]; index[k] += piece) {
            const int64_t left = t->shape[k] - index[k];
            TRY(put_block(w, t, k, index, left < piece ? left : piece));
        }
    }
    return TN_OK;
}

tn_status tni_writer_took(tn_writer *w, int64_t numel)
{
    ASSERT(numel <= w->left);
    w->left -= numel;
    if (w->left > 0)
        return TN_OK;
    if (w->format->leave)
        TRY(w->format->leave(w, &w->slots[w->now]));
    w->now++;
    return tni_writer_enter(w);
}

static tn_status writer_put_one(tn_writer *w, const tn_tensor *t, int64_t numel)
{
    if (tn_is_contiguous(t) && !TNI_NEVER(w->format->swaps))
        TRY(w->format->bytes(w, t->data, numel * tni_width(t->dtype)));
    else
        TRY(put_staged(w, t));
    return tni_writer_took(w, numel);
}

tn_status tni_writer_expects(const tn_writer *w, tn_dtype dtype, int64_t numel)
{
    if (w->broken)
        return tni_fail(TN_EARG, "%s: an earlier write failed", w->path);
    if (w->now == w->n || numel > w->left)
        return tni_fail(TN_EARG, "%s: got %lld elements, expected at most %lld", w->path,
                        (long long)numel, (long long)(w->now == w->n ? 0 : w->left));
    if (dtype != w->slots[w->now].dtype)
        return tni_fail(TN_EDTYPE, "%s: tensor \"%.80s\" is %s, the piece is %s", w->path,
                        w->slots[w->now].name, tn_dtype_name(w->slots[w->now].dtype),
                        tn_dtype_name(dtype));
    return TN_OK;
}

tn_status tn_writer_put(tn_writer *w, const tn_tensor *piece)
{
    if (!w || !piece)
        return tni_fail(TN_ENULL, "writer_put: %s is NULL", w ? "piece" : "w");
    TRY(tni_check(piece, "writer_put: piece"));
    int64_t numel = tni_numel(piece);
    if (numel == 0)
        return TN_OK;
    TRY(tni_check_data(piece, "writer_put: piece"));
    TRY(tni_writer_expects(w, piece->dtype, numel));
    tn_status status = writer_put_one(w, piece, numel);
    w->broken = status != TN_OK;
    return status;
}
