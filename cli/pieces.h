/* pieces.h - tensors that exist only as a plan: which element of which input is each element.
 *
 * A virtual tensor is a set of pieces.  A piece is a nest of loops: each moves along one axis of
 * the virtual tensor by `step` indices and along the input, counted in elements of its dense
 * row-major order, by `in_step`.  No loop has one trip. */
#ifndef PIECES_H
#define PIECES_H

#include "cli.h"

enum { MOST_LOOPS = TN_MAX_NDIM, MOST_VIRTUAL_PIECES = 1 << 20 };

typedef struct loop {
    int axis;
    int64_t n, step, in_step;
} loop;

typedef struct nest_piece {
    int in; /* number of the input tensor */
    int64_t in_at;
    int64_t at[TN_MAX_NDIM];
    int nloops;
    loop loops[MOST_LOOPS];
} nest_piece;

typedef struct virtual
{
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    nest_piece *pieces;
    int64_t n, capacity;
}
virtual;

/* Each of these gives DONE, or FAILED having said why. */
int virtual_input(virtual *v, int in, const tn_tensor *desc);
int virtual_add(virtual *v, const nest_piece *p); /* loops of one trip are left out */
int virtual_copy(virtual *v, const virtual *from);
void virtual_free(virtual *v);

/* Put b behind a along an axis; b is left as it is. */
int virtual_join(virtual *a, const virtual *b, int axis);

/* Keep the indices [low, high) of an axis. */
int virtual_cut(virtual *v, int axis, int64_t low, int64_t high);

/* An axis of extent 1 before `axis`; drop one of extent 1. */
int virtual_unsqueeze(virtual *v, int axis);
int virtual_squeeze(virtual *v, int axis);

int virtual_permute(virtual *v, const int *axes);
int virtual_reshape(virtual *v, int ndim, const int64_t *shape);
int virtual_slice(virtual *v, const char *text);
int virtual_rearrange(virtual *v, const char *pattern, const char *sizes);

/* Axes in which every piece is a dense box: the same elements in the same order.  Pieces then
 * have steps of 1, and one loop for an axis at most. */
int virtual_refine(virtual *v);

/* Whether the pieces are disjoint and cover the tensor. */
bool virtual_covers(const virtual *v);

/* The same pieces seen from input `in`, of this shape: where its elements go. */
int virtual_inverse(virtual *v, const virtual *of, int in, int ndim, const int64_t *shape);

/* Elements of a piece. */
int64_t piece_count(const nest_piece *p);

#endif
