/* pieces.c - the elements of some operands of one shape, row-major, a piece at a time. */
#include "pieces.h"

#include "plan/reduce/fold_run.h"
#include "view/view.h"

bool tni_pieces_begin(tni_pieces *p, int n, const tn_tensor *const *ts, int64_t first,
                      int64_t last)
{
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
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
    if (n == 1 || (n <= tni_walk_left(&p->walk) && tni_pieces_step(p, k) == p->width[k]))
        return tni_pieces_at(p, k);
    tni_walk_gather(buffer, p->at[k], &p->walk, k, n, p->width[k], p->isa);
    return buffer;
}

bool tni_pieces_next(tni_pieces *p, int64_t n)
{
    p->left -= n;
    while (n > 0 && p->left > 0) {
        const int64_t row = tni_walk_left(&p->walk), by = n < row ? n : row;
        tni_walk_advance(&p->walk, by);
        n -= by;
    }
    return p->left > 0;
}
