/* pieces.h - virtual tensors: a plan that maps each element to an element of an input.
 *
 * A virtual tensor is a set of pieces.  A piece is a nest of loops.  Each loop steps along one
 * axis of the virtual tensor by `step` indices, and by `in_step` elements in the row-major
 * order of the input.  No loop has a single trip. */
#ifndef PIECES_H
#define PIECES_H

#include "cli.h"

enum { MOST_LOOPS = TN_MAX_NDIM, MOST_VIRTUAL_PIECES = 1 << 20 };

typedef struct loop {
    int axis;
    int64_t n, step, in_step;
} loop;

typedef struct nest_piece {
    int in; /* index of the input tensor */
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

/* These return DONE, or FAILED after printing the reason. */
int virtual_input(virtual *v, int in, const tn_tensor *desc);
int virtual_add(virtual *v, const nest_piece *p); /* drops loops of one trip */
int virtual_copy(virtual *v, const virtual *from);
void virtual_free(virtual *v);

/* Append b to a along an axis; b is not changed. */
int virtual_join(virtual *a, const virtual *b, int axis);

/* Keep the indices [low, high) of an axis. */
int virtual_cut(virtual *v, int axis, int64_t low, int64_t high);

/* Insert an axis of extent 1 before `axis`, or remove one. */
int virtual_unsqueeze(virtual *v, int axis);
int virtual_squeeze(virtual *v, int axis);

int virtual_permute(virtual *v, const int *axes);
int virtual_reshape(virtual *v, int ndim, const int64_t *shape);
int virtual_slice(virtual *v, const char *text);
int virtual_rearrange(virtual *v, const char *pattern, const char *sizes);

/* Reshape to axes in which every piece is a dense box: all steps are 1, and each axis has at
 * most one loop.  The order of elements does not change. */
int virtual_refine(virtual *v);

/* True if the pieces are disjoint and cover the tensor. */
bool virtual_covers(const virtual *v);

/* Invert the pieces of input `in`, which has this shape: v maps its elements to where they are
 * used. */
int virtual_inverse(virtual *v, const virtual *of, int in, int ndim, const int64_t *shape);

/* Number of elements of a piece. */
int64_t piece_count(const nest_piece *p);

#endif
