/* pattern.h - an einops pattern: its text parsed to axes, and the axes fitted to a tensor.
 *
 * Both are values without pointers to tensors; positions in error messages count from 1. */
#ifndef TNI_PATTERN_H
#define TNI_PATTERN_H

#include <tenon/pattern.h>

#include "core/core.h"

enum { TNI_PATTERN_TEXT = 1024, TNI_PATTERN_AXES = TN_MAX_NDIM };

/* A name, number or "..." on one side; "1" and "()" are dimensions without axes. */
typedef struct tni_name {
    int at, len;   /* offset in the text */
    int dim;       /* the dimension of its side to which it belongs */
    int from;      /* on the right: its index on the left; -1: a new axis */
    bool reversed; /* on the left: traversed backwards */
    int64_t size;  /* extent; -1: to be inferred */
} tni_name;

typedef struct tni_side {
    int ndim; /* dimensions; "..." outside a group counts as one */
    /* Number of names; on the right, reduced names come last, as dimension ndim. */
    int n;
    int ellipsis; /* index of "..."; -1: none */
    bool grouped; /* "..." is in a group, or is reduced */
    tni_name name[TNI_PATTERN_AXES];
} tni_side;

typedef struct tni_pattern {
    const char *call; /* begins error messages */
    const char *text;
    tni_side left, right;
} tni_pattern;

/* Parse pattern and sizes.  On success each name of the left has its index on the right, each
 * new name of the right has a size, and no dimension of the left has two unknown sizes.  With
 * reduces, the left may have numbers, and names that the right lacks: these are reduced.
 *
 * TN_EFORMAT    the text is malformed TN_EOVERFLOW  a number in it is too large */
tn_status tni_pattern_parse(tni_pattern *p, const char *call, const char *text,
                            const char *sizes, bool reduces);

/* An axis of the result before merging: its extent, the step of src along it, and the dimension
 * of the result into which it is merged. */
typedef struct tni_piece {
    int64_t n, step;
    int dim;
} tni_piece;

/* A pattern fitted to one tensor.  Pieces are outermost first; pieces of extent 1 are left out;
 * reduced pieces come last, as dimension ndim.  If a piece is empty, steps are arbitrary. */
typedef struct tni_fit {
    int ndim, n;
    bool empty;
    int64_t shape[TN_MAX_NDIM + 1];
    int64_t shift; /* offset in bytes from src's element (0, …, 0) to the first element of the
                      result */
    tni_piece piece[2 * TN_MAX_NDIM];
} tni_fit;

/* Parse a text, of which reduces is as in tni_pattern_parse, and fit it to src, a checked
 * tensor.  Beyond the failures of tni_pattern_parse:
 *
 * TN_EARG       the result has more than TN_MAX_NDIM dimensions
 * TN_ESHAPE     the pattern does not fit src's shape
 * TN_EOVERFLOW  the result's size does not fit */
tn_status tni_pattern_fit(tni_fit *fit, const char *call, const tn_tensor *src,
                          const char *text, const char *sizes, bool reduces);

/* A text as quoted in error messages: truncated, without control characters. */
typedef struct tni_quote {
    char text[161];
} tni_quote;
tni_quote tni_quoted(const char *text);

#endif
