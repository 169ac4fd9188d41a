/* pieces.c - walks the elements of one or two operands of one shape, a piece at a time. */
#include "pieces.h"

#include "plan/reduce/fold_run.h"
#include "view/view.h"

bool tni_pieces_begin(tni_pieces *p, int n, const tn_tensor *const *ts, int64_t first,
                      int64_t last)
{
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    ASSERT((n == 1 || n == 2) && first >= 0);
    p->left = last - first;
    if (p->left <= 0)
        return false;
    tni_nest_build(&p->nest, n, ts, &rules);
    p->isa = tni_isa_level();
    for (int k = 0; k < n; k++) {
        p->width[k] = tni_width(ts[k]->dtype);
        p->at[k] = (char *)ts[k]->data + p->nest.shift[k];
    }
    p->one = (tni_axis){.n = 1};
    const bool single = p->nest.ndim == 0;
    tni_walk_seek(&p->walk, single ? &p->one : p->nest.axis, single ? 1 : p->nest.ndim, n,
                  first);
    return true;
}

const char *tni_pieces_dense(const tni_pieces *p, int k, int64_t n, char *buffer)
{
    ASSERT(n >= 1 && n <= tni_pieces_size(p));
    if (n == 1 || (n <= tni_walk_left(&p->walk) && tni_pieces_step(p, k) == p->width[k]))
        return tni_pieces_at(p, k);
    tni_walk_gather(buffer, p->at[k], &p->walk, k, n, p->width[k], p->isa);
    return buffer;
}

bool tni_pieces_next(tni_pieces *p, int64_t n)
{
    ASSERT(n >= 1 && n <= tni_pieces_size(p));
    p->left -= n;
    while (n > 0 && p->left > 0) {
        const int64_t row = tni_walk_left(&p->walk), by = n < row ? n : row;
        tni_walk_advance(&p->walk, by);
        n -= by;
    }
    return p->left > 0;
}

void tni_pieces_store(const tni_pieces *p, int k, int64_t n, const char *dense)
{
    const tni_tile_fn tile = tni_kernels_of(p->isa)->copy->tile[tni_log2_width(p->width[k])];
    const int last = p->walk.ndim - 1;
    const tni_axis *in = &p->walk.axis[last], *out = last > 0 ? in - 1 : NULL;
    const int64_t step[2] = {out ? out->step[k] : 0, in->step[k]};
    tni_walk w;
    ASSERT(n >= 1 && n <= tni_pieces_size(p));
    tni_walk_copy(&w, &p->walk);
    while (n > 0) {
        int64_t m = tni_walk_left(&w), rows = 1;
        m = m < n ? m : n;
        if (m == in->n && out) { /* whole rows, as many as follow one another */
            const int64_t follow = out->n - w.at[last - 1];
            rows = n / m < follow ? n / m : follow;
        }
        tile(p->at[k] + w.offset[k], step, dense,
             (const int64_t[2]){m * p->width[k], p->width[k]}, (const int64_t[2]){rows, m});
        dense += rows * m * p->width[k];
        n -= rows * m;
        w.ndim -= rows > 1;
        tni_walk_advance(&w, rows > 1 ? rows : m);
        w.ndim = last + 1;
    }
}
