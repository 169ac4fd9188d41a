/* model.h - a slow tensor: a list of byte offsets, one for each element in row-major order.
 *
 * Every view is made by walking the indices of its result and asking where each comes from. */
#ifndef MODEL_H
#define MODEL_H

#include "fuzz.h"

enum { AXES = 6, MOST = 700 };

typedef struct model {
    int ndim;
    int64_t shape[AXES + 1], n;
    int32_t at[MOST];
} model;

static inline int64_t model_count(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= shape[i];
    return n;
}

/* The offset of the element at index. */
static inline int32_t model_at(const model *m, const int64_t *index)
{
    int64_t flat = 0;
    for (int i = 0; i < m->ndim; i++)
        flat = flat * m->shape[i] + index[i];
    return m->at[flat];
}

static inline void model_dense(model *m, int ndim, const int64_t *shape, int width)
{
    m->ndim = ndim;
    memcpy(m->shape, shape, (size_t)ndim * sizeof *shape);
    m->n = model_count(ndim, shape);
    for (int64_t i = 0; i < m->n; i++)
        m->at[i] = (int32_t)(i * width);
}

/* What a view asks: where, in the source, is the element at index of the result? */
typedef struct question {
    int a, b;
    int64_t start, step;
    const int *axes;
} question;

typedef void where_fn(const question *q, int ndim, const int64_t *index, int64_t *from);

/* out, whose shape is set, from in; false: too many elements for a model. */
static inline bool model_view(model *out, const model *in, where_fn *where, const question *q)
{
    int64_t index[AXES + 1] = {0}, from[AXES + 1] = {0};
    if (out->ndim > AXES)
        return false;
    for (int i = 0, empty = 0; i < out->ndim; i++) {
        empty |= out->shape[i] == 0;
        if (!empty && model_count(i + 1, out->shape) > MOST)
            return false;
    }
    out->n = model_count(out->ndim, out->shape);
    if (out->n > MOST)
        return false;
    for (int64_t i = 0; i < out->n; i++) {
        where(q, out->ndim, index, from);
        out->at[i] = model_at(in, from);
        next_index(out->ndim, out->shape, index);
    }
    return true;
}

/* ---- the questions ---- */

static inline void where_permuted(const question *q, int ndim, const int64_t *index,
                                  int64_t *from)
{
    for (int i = 0; i < ndim; i++)
        from[q->axes[i]] = index[i];
}

static inline void where_sliced(const question *q, int ndim, const int64_t *index,
                                int64_t *from)
{
    memcpy(from, index, (size_t)ndim * sizeof *from);
    from[q->a] = q->start + q->step * index[q->a];
}

static inline void where_inserted(const question *q, int ndim, const int64_t *index,
                                  int64_t *from)
{
    for (int i = 0, k = 0; i < ndim; i++)
        if (i != q->a)
            from[k++] = index[i];
}

static inline void where_selected(const question *q, int ndim, const int64_t *index,
                                  int64_t *from)
{
    for (int i = 0; i <= ndim; i++)
        from[i] = i < q->a ? index[i] : i == q->a ? q->start : index[i - 1];
}

/* a new axes in front; axes of step 0 are repeated: axes[i] is 0 for them. */
static inline void where_broadcast(const question *q, int ndim, const int64_t *index,
                                   int64_t *from)
{
    for (int i = q->a; i < ndim; i++)
        from[i - q->a] = q->axes[i - q->a] ? index[i] : 0;
}

static inline void where_diagonal(const question *q, int ndim, const int64_t *index,
                                  int64_t *from)
{
    for (int i = 0, k = 0; i < ndim + 1; i++)
        from[i] = i == q->a || i == q->b ? index[ndim - 1] : index[k++];
}

static inline void where_windows(const question *q, int ndim, const int64_t *index,
                                 int64_t *from)
{
    memcpy(from, index, (size_t)(ndim - 1) * sizeof *from);
    from[q->a] = index[q->a] * q->step + index[ndim - 1];
}

/* ---- shared bytes ---- */

/* Whether two elements of a, or an element of a and one of b, share a byte.  mark has as many
 * bytes as the block. */
static inline bool model_shares(const model *a, const model *b, int width, uint8_t *mark,
                                size_t size)
{
    bool shared = false;
    memset(mark, 0, size);
    for (int64_t i = 0; b && i < b->n; i++)
        memset(mark + b->at[i], 1, (size_t)width);
    for (int64_t i = 0; i < a->n && !shared; i++)
        for (int k = 0; k < width && !shared; k++) {
            shared = mark[a->at[i] + k];
            mark[a->at[i] + k] = !b;
        }
    return shared;
}

#endif
