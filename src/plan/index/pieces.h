/* pieces.h - walks the elements of one or two operands of one shape, row-major, a piece at a
 * time.
 *
 * A piece of an operand is dense: used in place, or gathered into a buffer. */
#ifndef TNI_PIECES_H
#define TNI_PIECES_H

#include "plan/plan.h"

enum {
    /* Elements of a piece: buffers of two operands of 16 bytes take 64 KiB of the stack, and of
     * 8 bytes all of L1. */
    TNI_PIECE = 2048,
    TNI_PIECE_WORDS = TNI_PIECE / 64
};

typedef struct tni_pieces {
    int isa;
    int64_t left; /* elements from here on */
    int64_t width[2];
    char *at[2];
    tni_axis one; /* the axis of a single element */
    tni_walk walk;
    tni_nest nest;
} tni_pieces;

/* Begin at the first of elements [first, last) of n operands, 1 or 2; false if there are
 * none. */
bool tni_pieces_begin(tni_pieces *p, int n, const tn_tensor *const *ts, int64_t first,
                      int64_t last);

/* The elements of the next piece: TNI_PIECE, or what is left. */
static inline int64_t tni_pieces_size(const tni_pieces *p)
{
    return p->left < TNI_PIECE ? p->left : TNI_PIECE;
}

/* The elements of the next piece that are in one row of the operands, described by an address
 * and a step. */
static inline int64_t tni_pieces_row(const tni_pieces *p)
{
    const int64_t n = tni_pieces_size(p), row = tni_walk_left(&p->walk);
    return n < row ? n : row;
}

static inline char *tni_pieces_at(const tni_pieces *p, int k)
{
    return p->at[k] + p->walk.offset[k];
}

static inline int64_t tni_pieces_step(const tni_pieces *p, int k)
{
    return p->walk.axis[p->walk.ndim - 1].step[k];
}

/* n elements of operand k as a dense piece; buffer has room for them. */
const char *tni_pieces_dense(const tni_pieces *p, int k, int64_t n, char *buffer);

/* Store n dense elements to operand k. */
void tni_pieces_store(const tni_pieces *p, int k, int64_t n, const char *dense);

/* Advance by n elements, at most tni_pieces_size; false if none are left. */
bool tni_pieces_next(tni_pieces *p, int64_t n);

#endif
