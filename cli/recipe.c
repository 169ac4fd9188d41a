/* recipe.c - how a result is put together: pieces that lie beside each other, or operands. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int recipe_start(recipe *r, tn_dtype dtype, int ndim, const int64_t *shape)
{
    *r = (recipe){.dtype = dtype, .ndim = ndim};
    memcpy(r->shape, shape, (size_t)ndim * sizeof *shape);
    LIB(tn_init(&r->out, NULL, dtype, ndim, shape));
    return DONE;
}

int recipe_add(recipe *r, const tn_tensor *view, const input *from, const int64_t *at)
{
    if (r->n == r->room) {
        int room = r->room ? 2 * r->room : 4;
        piece *more = realloc(r->pieces, (size_t)room * sizeof *more);
        if (!more)
            return fail("no memory for %d pieces", room);
        r->pieces = more;
        r->room = room;
    }
    piece *p = &r->pieces[r->n++];
    *p = (piece){.view = *view, .from = from};
    if (at)
        memcpy(p->at, at, (size_t)view->ndim * sizeof *at);
    return DONE;
}

int recipe_of_view(recipe *r, const tn_tensor *view, const input *from)
{
    TRY(recipe_start(r, view->dtype, view->ndim, view->shape));
    return recipe_add(r, view, from, NULL);
}

void recipe_free(recipe *r)
{
    free(r->pieces);
    r->pieces = NULL;
}

bool recipe_casts(const recipe *r)
{
    return !r->is_op && r->dtype != r->out.dtype;
}

int64_t recipe_element_bytes(const recipe *r)
{
    int64_t bytes = (int64_t)tn_dtype_size(r->out.dtype);
    if (recipe_casts(r))
        bytes += (int64_t)tn_dtype_size(r->dtype);
    for (int i = 0; r->is_op && i < r->n; i++)
        bytes += (int64_t)tn_dtype_size(r->pieces[i].view.dtype);
    return bytes;
}

/* ---- filling a block ---- */

static tn_status load(const tn_tensor *dst, const tn_tensor *view, const input *from)
{
    if (from->in_memory)
        return tn_rearrange(dst, view);
    return from->apart ? tn_file_fetch(from->unpacked, 0, dst, view)
                       : tn_file_fetch(from->from->f, from->i, dst, view);
}

/* The part of p that lies in the block goes to its place in dst. */
static tn_status load_piece(const tn_tensor *dst, const block *b, const piece *p)
{
    int64_t n[TN_MAX_NDIM], to[TN_MAX_NDIM], of[TN_MAX_NDIM];
    for (int i = 0; i < dst->ndim; i++) {
        int64_t low = p->at[i] > b->at[i] ? p->at[i] : b->at[i];
        int64_t high = p->at[i] + p->view.shape[i], end = b->at[i] + b->n[i];
        high = high < end ? high : end;
        if (low >= high)
            return TN_OK;
        n[i] = high - low;
        to[i] = low - b->at[i];
        of[i] = low - p->at[i];
    }
    tn_tensor d, s;
    tn_status status = tn_view(&d, dst, n, to, NULL, 0);
    if (status == TN_OK)
        status = tn_view(&s, &p->view, n, of, NULL, 0);
    return status == TN_OK ? load(&d, &s, p->from) : status;
}

/* One operand of an op for the block, its repeated axes read once; *memory moves on. */
static tn_status load_operand(tn_tensor *out, const block *b, const piece *p, char **memory)
{
    tn_tensor s, d;
    int64_t n[TN_MAX_NDIM], zero[TN_MAX_NDIM] = {0};
    tn_status status = tn_view(&s, &p->view, b->n, b->at, NULL, 0);
    for (int i = 0; i < p->view.ndim; i++)
        n[i] = p->view.stride[i] == 0 ? 1 : b->n[i];
    if (status == TN_OK)
        status = tn_view(&s, &s, n, zero, NULL, 0);
    if (status == TN_OK)
        status = tn_init(&d, *memory, s.dtype, s.ndim, s.shape);
    if (status == TN_OK)
        status = load(&d, &s, p->from);
    if (status != TN_OK)
        return status;
    *memory += (tn_nbytes(&d) + 63) & ~INT64_C(63);
    return tn_broadcast_to(out, &d, p->view.ndim, b->n);
}

static tn_status make_op(const recipe *r, const block *b, const tn_tensor *out, char *memory)
{
    tn_tensor operands[MOST_OPERANDS];
    const tn_tensor *srcs[MOST_OPERANDS] = {&operands[0], &operands[1], &operands[2]};
    for (int i = 0; i < r->n; i++) {
        tn_status status = load_operand(&operands[i], b, &r->pieces[i], &memory);
        if (status != TN_OK)
            return status;
    }
    return tn_apply(r->op, r->params, out, r->n, srcs);
}

tn_status recipe_make(const recipe *r, const block *b, const tn_tensor *out, char *memory)
{
    if (r->is_op)
        return make_op(r, b, out, memory);
    tn_tensor raw = *out;
    tn_status status = TN_OK;
    if (recipe_casts(r))
        status = tn_init(&raw, memory, r->dtype, r->ndim, b->n);
    if (status == TN_OK && r->filled)
        status = tn_fill(&raw, r->value);
    for (int i = 0; i < r->n && status == TN_OK; i++)
        status = load_piece(&raw, b, &r->pieces[i]);
    return status == TN_OK && recipe_casts(r) ? tn_cast(out, &raw) : status;
}
