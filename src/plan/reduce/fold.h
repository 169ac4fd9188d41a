/* fold.h - reductions: the elements of a sequence become states, and states become one result.
 *
 * The elements that are reduced to one result form a sequence, row-major over the fold axes; a
 * result is a function of that sequence alone.  Each block of 2048 elements becomes a state, states
 * are merged in pairs, and the last state becomes an element of dst.  A class says how; a way says
 * how memory is walked. */
#ifndef TNI_FOLD_H
#define TNI_FOLD_H

#include <tenon/reduce.h>

#include "kernels/kernels.h"

/* All memory of a reduction is on the stack of its threads, so most of these bound a stack frame.
 * Where no measurement is named, none of other values is recorded. */
enum {
    TNI_FOLD_SOURCES = 2, /* dot has two */
    /* words of the largest state: complex moments have a count, two means, two sums of squares */
    TNI_FOLD_WORDS = 5,
    /* columns side by side: 16 lanes of f64 for each are 128 KiB of stack */
    TNI_FOLD_WIDTH = 1024,
    /* bytes of a row of a strip: 8 of 32 KiB at a time are read at 0.89 of the speed of a pass in
     * order (Zen 4, "Columns: how memory is read" in docs/investigations/reductions.md) */
    TNI_FOLD_ROW = 8192,
    /* lanes that are kept when they are made one after the other: one for each of the four levels
     * in which 16 lanes meet, and the one being made */
    TNI_FOLD_DEEP = 5,
    /* columns whose terms are made at once: nine rows of 2 KiB stay in an L1 of 32 KiB */
    TNI_FOLD_TERMS = 256,
    /* short sequences that one call of a kernel reduces: their states take at most 10 KiB */
    TNI_FOLD_BATCH = 256,
    /* bytes that a class without order takes at once: the L1 of Zen 4 */
    TNI_FOLD_PIECE = 32768,
    /* results that are converted at once: 2 KiB of f64, which stay in the L1 */
    TNI_FOLD_STORED = 256,
    /* short sequences that are transposed at once: their states take at most 40 KiB of stack */
    TNI_FOLD_PACKED_WIDTH = 1024,
    /* states of one sequence that wait for a partner: 2^63 elements are 2^52 blocks */
    TNI_FOLD_LEVELS = 64,
    /* words of the waiting states of all columns, 48 KiB: six of one word for each of
     * TNI_FOLD_WIDTH columns */
    TNI_FOLD_STACK = 6144,
    /* words of the states that parts hand over, 32 KiB: four of one word for each of
     * TNI_FOLD_WIDTH columns */
    TNI_FOLD_RESULTS = 4096,
    /* parts of one sequence, which bounds arrays on the stack: more threads get none of it */
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

/* What is done to an element before the tree adds it; the tree adds f32 or f64. */
typedef enum tni_fold_term {
    TNI_TERM_SAME,
    TNI_TERM_WIDEN, /* as f64 */
    TNI_TERM_ABS,
    TNI_TERM_SQUARE, /* f64 */
    TNI_TERM_NONZERO,
    TNI_TERM_NUMBERS,       /* NaN is left out */
    TNI_TERM_NUMBERS_WIDEN, /* the same as f64, for products */
    TNI_TERM_POWER,         /* |x|^p, f64 */
    TNI_TERM_MUL,           /* the product of two sources, f64 */
    TNI_TERM_COMPLEX_SQUARE,
    TNI_TERM_COMPLEX_ABS,
    TNI_TERM_COMPLEX_POWER
} tni_fold_term;

typedef struct tni_fold tni_fold;
typedef struct tni_fold_scratch tni_fold_scratch;

/* `count` dense sequences of n <= 2048 elements (any n if the class chains), step bytes apart; `at`
 * is the index of their first element in the whole sequence.  For a single sequence of a class that
 * chains, `before` may point to the state of all elements before it. */
typedef struct tni_fold_sequences {
    const char *x[TNI_FOLD_SOURCES];
    int64_t step[TNI_FOLD_SOURCES], n, count, at;
    const tni_word *before;
} tni_fold_sequences;

/* w sequences side by side: row i, of n <= 2048, begins at row[i], or at x + i * step when row
 * is NULL.  Ordered classes can take a block in several calls: `begun` is the number of rows of
 * it that earlier calls took, a multiple of TNI_TILE; with `more` set, later calls take the
 * rest, and out is not written yet.  Accumulators begin at word `acc` of those in scratch; the
 * array `row` may be at the end of them.  With `fetch` set, rows are prefetched, and so are the
 * `follow` rows at x + n * step, which are read next. */
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
    int acc;      /* words of the accumulators of a column */
    bool ordered; /* whether the order of elements matters */
    bool chains;  /* whether states may be merged one after the other instead of in pairs */
    void (*sequence)(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                     tni_fold_scratch *scratch);
    void (*columns)(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                    tni_fold_scratch *scratch); /* NULL: only sequences */
    void (*merge)(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w); /* a = a, b */
    /* results of n <= TNI_FOLD_STORED states at s, whose words are w apart */
    void (*finish)(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w,
                   int64_t n);
} tni_fold_class;

extern const tni_fold_class tni_fold_tree, tni_fold_tree_counted, tni_fold_moments,
    tni_fold_exact_moments, tni_fold_ends, tni_fold_logsumexp, tni_fold_wrap, tni_fold_wide,
    tni_fold_key, tni_fold_arg, tni_fold_count, tni_fold_count_pairs, tni_fold_complex_moments,
    tni_fold_complex_prod, tni_fold_complex_dot, tni_fold_extreme;

/* Merging the states of moments, and their results (fold_moments.c). */
void tni_fold_moments_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w);
void tni_fold_moments_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                             int64_t w, int64_t n);
double tni_fold_spread(const tni_fold *f, double n, double M);

/* ---- the list of reductions (reductions.def, fold_plan.c) ---- */

/* The dtype of a result. */
typedef enum tni_reduce_result {
    TNI_RESULT_SUM,     /* i64 or u64 for integers and bool, else src's dtype */
    TNI_RESULT_SQUARES, /* as SUM, but of complex numbers the real dtype */
    TNI_RESULT_MEAN,    /* f64 for integers and bool, else src's dtype */
    TNI_RESULT_SPREAD,  /* as MEAN, but of complex numbers the real dtype */
    TNI_RESULT_SAME,    /* src's dtype */
    TNI_RESULT_INDEX,   /* i64 */
    TNI_RESULT_BOOL,
    TNI_RESULT_COUNT, /* i64 */
    TNI_RESULT_SIZE   /* src's dtype, of complex numbers the real one */
} tni_reduce_result;

enum { TNI_TAKES_INT = 1, TNI_TAKES_FLOAT = 2, TNI_TAKES_COMPLEX = 4, TNI_TAKES_ANY = 7 };

/* Facts of a reduction. */
enum {
    TNI_FOLD_NONE = 0,
    TNI_FOLD_SKIP = 1,    /* NaN is left out */
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
    bool needs_one;                  /* an empty sequence has no result */
    void (*use)(struct tni_fold *f); /* choose class and term */
    double param;                    /* its default */
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
    int64_t count, outputs;              /* elements of a sequence, number of results */
    int64_t strip;                       /* columns of a strip; 0: the way has no strips */
    bool dense;                          /* a sequence is dense in memory */
    bool joined;                         /* several dense rows of columns are taken as one */
    bool fetch;    /* the sources exceed an L2: what is read next is prefetched */
    int64_t plane; /* > 0: states are stored instead of results, their words this far apart */
    int64_t first; /* index of the first element in the sequence */
    int64_t high;  /* minmax: bytes from the smallest element to the largest in dst */
    /* at the end, so that they need not be cleared: 4 KB, of which nfold and nmap are used */
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

/* Results of w states in rows (word k of result c is s[k * w + c]) are written to dst; finish
 * stores the states instead where the plan asks for them. */
void tni_fold_results(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w);
void tni_fold_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w);

/* ---- inside ---- */

/* Convert n <= TNI_FOLD_STORED dense numbers of dtype `from` to elements of dst, step bytes apart.
 * store_reals overwrites y and stores every NaN as the positive one. */
void tni_fold_store(const tni_fold *f, tn_dtype from, char *dst, int64_t step, const char *made,
                    int64_t n);
void tni_fold_store_reals(const tni_fold *f, char *dst, int64_t step, double *y, int64_t n);

/* The memory of one part: sequences are gathered there and made into terms, columns accumulate. */
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

/* Move to element number `at` of the sequence that begins at x. */
void tni_fold_seek(tni_fold_cursor *c, const tni_fold *f, const char *const *x, int64_t at);

/* The address of the present element in source k. */
static inline const char *tni_fold_at(const tni_fold_cursor *c, int k)
{
    return c->begin[k] + c->walk.offset[k];
}

/* The next n elements as dense memory: in place where they are dense, otherwise in buf. */
const char *tni_fold_take(tni_fold_cursor *c, int k, int64_t n, char *buf);
void tni_fold_skip(tni_fold_cursor *c, int64_t n);

/* The addresses of the next n elements. */
void tni_fold_rows(tni_fold_cursor *c, const char **row, int64_t n);

/* Set the axes in normal form: fold axes in the order of the sequence unless order is free, map
 * axes by descending steps.  as_parts adds a map axis over the two parts of complex numbers. */
void tni_fold_axes(tni_fold *f, const tn_tensor *dst, const tn_tensor *const *srcs,
                   uint64_t folded, bool as_parts);

/* n dense elements as elem: in place where src is elem, otherwise in buf. */
const char *tni_fold_elems(const tni_fold *f, const char *x, int64_t n, char *buf);

/* n dense elements as terms: in place, in elems or in terms.  Where NaN is left out, *numbers
 * is the number of other elements. */
const char *tni_fold_terms(const tni_fold *f, const char *const *x, int64_t n, char *elems,
                           char *more, char *terms, int64_t *numbers);

/* The order in which lanes are made one by one, so that halves are merged as early as possible:
 * after lane number j, as many merges follow as j has trailing ones. */
static inline int tni_fold_lane(int j)
{
    return (j & 1) << 3 | (j & 2) << 1 | (j & 4) >> 1 | (j & 8) >> 3;
}

/* States of nodes of the tree that wait for a partner, in the order of the sequence: `state` holds
 * `depth` of them, words * w each, and has space for one more.  Blocks [first, blocks) are in. */
typedef struct tni_fold_pairs {
    tni_word *state;
    int depth;
    int64_t first, blocks;
} tni_fold_pairs;

/* Add the state of the next block, which the caller has written behind the waiting ones. */
void tni_fold_push(const tni_fold *f, tni_fold_pairs *p, int64_t w);

/* The blocks from `at` on, up to end, that are one node of the tree: a power of two of them. */
int64_t tni_fold_node(int64_t at, int64_t end);

/* Add the states that wait in q, which are those of the next blocks.  They may be in p's own
 * memory, behind its states. */
void tni_fold_append(const tni_fold *f, tni_fold_pairs *p, const tni_fold_pairs *q, int64_t w);

/* Merge all waiting states into state[0]. */
void tni_fold_close(const tni_fold *f, tni_fold_pairs *p, int64_t w);

/* Reduce n elements of one sequence, from `first` on, to one state. */
void tni_fold_sequence_run(const tni_fold *f, tni_word *out, const char *const *x,
                           int64_t first, int64_t n, tni_fold_scratch *scratch);

#endif
