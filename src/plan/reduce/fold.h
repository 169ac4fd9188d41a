/* fold.h - reductions: many elements of a sequence to one state, states to one result.
 *
 * The elements that meet in one result are a sequence, row-major over the fold axes; a result
 * is a function of that sequence alone.  Blocks of 2048 elements become states, states meet in
 * pairs, a state becomes an element of dst.  A class says how; a way says how memory is walked.
 */
#ifndef TNI_FOLD_H
#define TNI_FOLD_H

#include <tenon/reduce.h>

#include "kernels/kernels.h"

enum {
    TNI_FOLD_SOURCES = 2,
    TNI_FOLD_WORDS = 5,     /* of the largest state */
    TNI_FOLD_WIDTH = 1024,  /* columns side by side: 16 lanes of f64 are 128 KiB of stack */
    TNI_FOLD_ROW = 8192,    /* bytes of a row of a strip */
    TNI_FOLD_DEEP = 5,      /* lanes that wait when one is made after the other */
    TNI_FOLD_TERMS = 256,   /* columns whose terms are made at once, to stay in the L1 */
    TNI_FOLD_BATCH = 256,   /* short sequences that one call of a kernel reduces */
    TNI_FOLD_PIECE = 32768, /* bytes that a class without order takes at once: L1 */
    TNI_FOLD_STORED = 256,  /* results that are converted at once */
    TNI_FOLD_PACKED_WIDTH = 1024, /* short sequences that are transposed at once */
    TNI_FOLD_LEVELS = 64,         /* states that wait for their partner */
    TNI_FOLD_STACK = 6144,        /* words of waiting states, all columns */
    TNI_FOLD_RESULTS = 4096,      /* words of states of parts, all columns */
    TNI_FOLD_PARTS = 64,
    TNI_FOLD_SPACE = TNI_FOLD_STACK + 16 * TNI_FOLD_WIDTH /* waiting states, accumulators */
};

typedef union tni_word {
    double f;
    int64_t i;
    uint64_t u;
} tni_word;

typedef struct tni_fold_axis {
    int64_t n, dst;
    int64_t src[TNI_FOLD_SOURCES]; /* steps, bytes */
} tni_fold_axis;

/* What becomes of an element before the tree adds it; f32 and f64 are the tree's type. */
typedef enum tni_fold_term {
    TNI_TERM_SAME,
    TNI_TERM_WIDEN, /* as f64 */
    TNI_TERM_ABS,
    TNI_TERM_SQUARE, /* f64 */
    TNI_TERM_NONZERO,
    TNI_TERM_NUMBERS,       /* NaN is absent */
    TNI_TERM_NUMBERS_WIDEN, /* the same as f64, for products */
    TNI_TERM_POWER,         /* |x|^p, f64 */
    TNI_TERM_MUL,           /* of two sources, f64 */
    TNI_TERM_COMPLEX_SQUARE,
    TNI_TERM_COMPLEX_ABS,
    TNI_TERM_COMPLEX_POWER
} tni_fold_term;

typedef struct tni_fold tni_fold;
typedef struct tni_fold_scratch tni_fold_scratch;

/* count sequences of n <= 2048 elements (any n, if states of the class chain), each dense, step
 * bytes apart; at is the number of their first element in the whole sequence.  before, unless
 * NULL, is the state of what came before a single one, for classes that chain. */
typedef struct tni_fold_sequences {
    const char *x[TNI_FOLD_SOURCES];
    int64_t step[TNI_FOLD_SOURCES], n, count, at;
    const tni_word *before;
} tni_fold_sequences;

/* w sequences side by side: row i, of n <= 2048, begins at row[i], or at x + i * step when row
 * is NULL.  Ordered classes take the rows of a block in pieces: `begun` is the number of rows
 * consumed before, a multiple of TNI_TILE; with `more` others follow and out is not written
 * yet.  Accumulators are kept from word `acc` of scratch on; addresses of rows may be the last
 * ones of them.  fetch: rows are prefetched before they are read, and so are `follow` rows at
 * x + n * step, which are read next. */
typedef struct tni_fold_columns {
    const char *const *row;
    const char *x;
    int64_t step, n, w, at;
    int64_t begun, acc, follow;
    bool more, fetch;
    bool packed; /* fewer than TNI_SIDE rows of one buffer */
} tni_fold_columns;

/* States are arrays of words: word k of sequence c is s[k * w + c]. */
typedef struct tni_fold_class {
    const char *name;
    int words;    /* of a state */
    int acc;      /* words in which a column of a whole block accumulates */
    bool ordered; /* whether elements meet in their order */
    bool chains;  /* whether states may meet one after the other */
    void (*sequence)(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                     tni_fold_scratch *scratch);
    void (*columns)(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                    tni_fold_scratch *scratch); /* NULL: only sequences */
    void (*merge)(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w); /* a = a, b */
    void (*finish)(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w);
} tni_fold_class;

extern const tni_fold_class tni_fold_tree, tni_fold_tree_counted, tni_fold_moments,
    tni_fold_exact_moments, tni_fold_ends, tni_fold_logsumexp, tni_fold_wrap, tni_fold_wide,
    tni_fold_key, tni_fold_arg, tni_fold_count, tni_fold_count_pairs, tni_fold_complex_moments,
    tni_fold_complex_prod, tni_fold_complex_dot, tni_fold_extreme;

/* How states of moments meet, and their results (fold_moments.c). */
void tni_fold_moments_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w);
void tni_fold_moments_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                             int64_t w);

/* ---- the list of reductions (reductions.def, fold_plan.c) ---- */

/* The dtype of a result. */
typedef enum tni_reduce_result {
    TNI_RESULT_SUM,     /* i64, u64, or the same */
    TNI_RESULT_SQUARES, /* of complex its real part */
    TNI_RESULT_MEAN,    /* f64 of integers */
    TNI_RESULT_SPREAD,  /* the same, of complex its real part */
    TNI_RESULT_SAME,
    TNI_RESULT_INDEX,
    TNI_RESULT_BOOL,
    TNI_RESULT_COUNT,
    TNI_RESULT_SIZE /* the same, of complex its real part */
} tni_reduce_result;

enum { TNI_TAKES_INT = 1, TNI_TAKES_FLOAT = 2, TNI_TAKES_COMPLEX = 4, TNI_TAKES_ANY = 7 };

/* Facts of a reduction. */
enum {
    TNI_FOLD_NONE = 0,
    TNI_FOLD_SKIP = 1,    /* NaN is no element */
    TNI_FOLD_MEAN = 2,    /* divided by the number of elements */
    TNI_FOLD_PRODUCT = 4, /* elements are multiplied */
    TNI_FOLD_ROOT = 8,    /* the square root of the spread */
    TNI_FOLD_LEAST = 16,  /* the least element, not the greatest */
    TNI_FOLD_INDEX = 32,  /* its index */
    TNI_FOLD_LEAST_INDEX = TNI_FOLD_LEAST | TNI_FOLD_INDEX
};

struct tni_fold;

typedef struct tni_reduce_row {
    const char *name;
    int8_t params, takes, result;
    bool needs_one;                  /* nothing is no result */
    void (*use)(struct tni_fold *f); /* choose class and term */
    double param;                    /* when none is given */
    int facts;
} tni_reduce_row;

enum {
#define REDUCTION(ENUM, ...) TNI_REDUCTION_##ENUM,
#include "core/reductions.def"
#undef REDUCTION
    TNI_REDUCTIONS
};
extern const tni_reduce_row tni_reductions[TNI_REDUCTIONS];

/* ---- a plan ---- */

typedef struct tni_fold_way tni_fold_way; /* how memory is walked: a row of fold_ways.c */

struct tni_fold {
    tn_reduction op;
    const tni_fold_class *class;
    const tni_fold_way *way;
    const char *why;
    tn_dtype src, dst, elem; /* elem: f32 or f64, what terms are made of */
    tni_fold_term term;
    bool product, mean, skip, wide; /* skip: NaN is left out; wide: terms are f64 */
    double param;
    tni_key_rule rule;
    int64_t width; /* of an element of src */
    int isa, nsrc, nfold, nmap;
    int64_t shift[1 + TNI_FOLD_SOURCES]; /* from element (0, …, 0) to the first address */
    int64_t count, outputs;              /* elements of a sequence, results */
    int64_t strip;                       /* columns of a strip, 0: there are none */
    bool dense;                          /* a sequence is dense in memory */
    bool joined;                         /* rows of columns are dense: 16 are one row */
    bool fetch;    /* more than a core's L2: what is read next is fetched */
    int64_t plane; /* > 0: states are stored, their words so far apart */
    int64_t first; /* number of the first element in the sequence */
    int64_t high;  /* minmax: from a result to the largest's */
    /* behind all that is cleared: 4 KB, of which nfold and nmap are used */
    tni_fold_axis fold[TN_MAX_NDIM + 1], map[TN_MAX_NDIM + 1];
};

/* Plan a reduction of checked operands: dst has src's axes, 1 or any extent on those that
 * folded marks. */
void tni_fold_plan(tni_fold *f, tn_reduction op, const double *params, const tn_tensor *dst,
                   const tn_tensor *src, uint64_t folded);

/* The sum of a * b; both have the axes of dst. */
void tni_fold_plan_dot(tni_fold *f, const tn_tensor *dst, const tn_tensor *a,
                       const tn_tensor *b, uint64_t folded);

/* The smallest into low and the largest into high: tensors of the same strides. */
void tni_fold_plan_minmax(tni_fold *f, const tn_tensor *low, const tn_tensor *high,
                          const tn_tensor *src, uint64_t folded);

/* Addresses of element (0, …, 0). */
void tni_fold_run(const tni_fold *f, char *dst, const char *const *srcs);

/* ---- sequences that arrive in runs ---- */

/* The fold of one run of whole's sequences: elements [first, first + n) of each, along the
 * folded axes of piece.  dst has the axes of piece, stride 0 on folded ones, and takes word 0 of
 * the states, the others plane bytes after one another.  A run has a power of two of blocks and
 * begins at a multiple of it; the last one may be shorter. */
void tni_fold_plan_run(tni_fold *f, const tni_fold *whole, const tn_tensor *dst, int64_t plane,
                       const tn_tensor *piece, uint64_t folded, int64_t first);

/* The fold of a plan of tn_plan_reduce. */
const tni_fold *tni_fold_of(const tn_plan *plan);

/* Results of w states in rows (word k of result c is s[k * w + c]): written to dst, or stored. */
void tni_fold_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w);

/* ---- inside ---- */

/* n <= TNI_FOLD_STORED dense numbers of dtype from become elements of dst, step bytes apart; of
 * reals, which are changed, NaN becomes the positive one. */
void tni_fold_store(const tni_fold *f, tn_dtype from, char *dst, int64_t step, const char *made,
                    int64_t n);
void tni_fold_store_reals(const tni_fold *f, char *dst, int64_t step, double *y, int64_t n);

/* How many of n results from number at on are stored at once. */
static inline int64_t tni_fold_some(int64_t n, int64_t at)
{
    return n - at < TNI_FOLD_STORED ? n - at : TNI_FOLD_STORED;
}

/* What one part works in.  Sequences are gathered and made terms; columns accumulate. */
struct tni_fold_scratch {
    union {
        tni_word space[TNI_FOLD_SPACE]; /* the stack and the accumulators of columns */
        struct {
            tni_word stack[TNI_FOLD_STACK];
            union {
                struct {
                    char gather[TNI_FOLD_SOURCES][TNI_TREE_BLOCK * 24]; /* or a panel */
                    char elems[TNI_FOLD_SOURCES][TNI_TREE_BLOCK * 8], terms[TNI_TREE_BLOCK * 8];
                } sequence;
                struct {
                    union {
                        double f[TNI_LANES * TNI_FOLD_WIDTH];
                        int32_t i32[TNI_LANES * TNI_FOLD_WIDTH * 2];
                        int64_t i[TNI_LANES * TNI_FOLD_WIDTH];
                        uint64_t u[TNI_LANES * TNI_FOLD_WIDTH];
                        tni_word w[TNI_LANES * TNI_FOLD_WIDTH];
                        char bytes[TNI_LANES * TNI_FOLD_WIDTH * 8];
                    } acc;
                    char elems[TNI_FOLD_TERMS * 8], terms[TNI_TILE_ROWS][TNI_FOLD_TERMS * 8];
                    union {
                        double f64[TNI_FOLD_ROW / 8];
                        float f32[TNI_FOLD_ROW / 4];
                        char bytes[TNI_FOLD_ROW];
                    } absent;
                } columns;
            } u;
        };
    };
};

/* A walk over the elements of one sequence. */
typedef struct tni_fold_cursor {
    const tni_fold *f;
    const char *begin[TNI_FOLD_SOURCES]; /* of the sequence */
    tni_walk walk;
    tni_axis axis[TN_MAX_NDIM + 1]; /* f->fold with the steps of its sources */
} tni_fold_cursor;

/* Stand at element number at of the sequence that begins at x. */
void tni_fold_seek(tni_fold_cursor *c, const tni_fold *f, const char *const *x, int64_t at);

/* Where the cursor stands in source k. */
static inline const char *tni_fold_at(const tni_fold_cursor *c, int k)
{
    return c->begin[k] + c->walk.offset[k];
}

/* The next n elements, dense: where they are, or in buf. */
const char *tni_fold_take(tni_fold_cursor *c, int k, int64_t n, char *buf);
void tni_fold_skip(tni_fold_cursor *c, int64_t n);

/* The addresses of the next n elements. */
void tni_fold_rows(tni_fold_cursor *c, const char **row, int64_t n);

/* Normal form: fold axes in sequence order unless free, map axes by falling steps; as_parts
 * adds a map axis over the two parts of complex numbers. */
void tni_fold_axes(tni_fold *f, const tn_tensor *dst, const tn_tensor *const *srcs,
                   uint64_t folded, bool as_parts);

/* n dense elements as elem, where they are or in buf. */
const char *tni_fold_elems(const tni_fold *f, const char *x, int64_t n, char *buf);

/* n dense elements as terms: where they are, or in elems or terms; *numbers counts what is not
 * NaN when NaN is left out. */
const char *tni_fold_terms(const tni_fold *f, const char *const *x, int64_t n, char *elems,
                           char *more, char *terms, int64_t *numbers);

/* The lanes of a block, so that they meet by halves as soon as they are made: lane number j is
 * merged with those before as often as j ends in ones. */
static inline int tni_fold_lane(int j)
{
    return (j & 1) << 3 | (j & 2) << 1 | (j & 4) >> 1 | (j & 8) >> 3;
}

/* States of runs of blocks that wait for their partner, in the order of the sequence; state holds
 * depth of them, words * w each, and one more fits.  Blocks [first, blocks) have come. */
typedef struct tni_fold_pairs {
    tni_word *state;
    int depth;
    int64_t first, blocks;
} tni_fold_pairs;

/* The state behind the waiting ones is that of the next block. */
void tni_fold_push(const tni_fold *f, tni_fold_pairs *p, int64_t w);

/* The blocks from `at` on, up to end, that are one node of the tree: a power of two of them. */
int64_t tni_fold_node(int64_t at, int64_t end);

/* The states that wait in q are those of the next blocks; they may lie in p's own memory, behind its
 * states. */
void tni_fold_append(const tni_fold *f, tni_fold_pairs *p, const tni_fold_pairs *q, int64_t w);

/* All that wait become one, in state[0]. */
void tni_fold_close(const tni_fold *f, tni_fold_pairs *p, int64_t w);

/* n elements from first on of one sequence, into one state. */
void tni_fold_sequence_run(const tni_fold *f, tni_word *out, const char *const *x,
                           int64_t first, int64_t n, tni_fold_scratch *scratch);

#endif
