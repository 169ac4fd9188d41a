/* fold.h - reductions: each block of a sequence is reduced to a state, the states are merged,
 * and the last state gives one result.
 *
 * The elements that are reduced to one result form a sequence, in row-major order over the fold
 * axes; a result is a function of that sequence alone.  A block is 2048 elements.  States of
 * blocks are merged in pairs.  A class (tni_fold_class) has the arithmetic; a way
 * (tni_fold_way) has the walk over memory. */
#ifndef TNI_FOLD_H
#define TNI_FOLD_H

#include <tenon/reduce.h>

#include "kernels/kernels.h"

/* All memory of a reduction is on the stack of its threads, so most of these numbers bound a
 * stack frame.  Unless a measurement is named, no other value was measured. */
enum {
    TNI_FOLD_SOURCES = 2, /* dot has two sources, the others one */
    /* words of the largest state: of complex moments a count, two means, two sums of squares */
    TNI_FOLD_WORDS = 5,
    /* columns of a strip for whose accumulators there is space: 16 lanes of f64 for each column
     * are 128 KiB of stack */
    TNI_FOLD_WIDTH = 1024,
    /* most bytes of a row of a strip: pieces of 8 KiB of rows of 32 KiB are read at 0.89 of the
     * speed of a sequential pass (Zen 4, "Columns: how memory is read" in
     * docs/investigations/reductions.md) */
    TNI_FOLD_ROW = 8192,
    /* accumulators of a column when its 16 lanes are computed one after the other: 16 lanes
     * merge in four levels, each of which has at most one waiting lane, and one lane is being
     * computed */
    TNI_FOLD_DEEP = 5,
    /* columns whose terms are computed at once: nine rows of 2 KiB stay in an L1 of 32 KiB */
    TNI_FOLD_TERMS = 256,
    /* short sequences that one call of a kernel reduces: their states take at most 10 KiB */
    TNI_FOLD_BATCH = 256,
    /* bytes that one call of a kernel takes where the class chains: the L1 of Zen 4 */
    TNI_FOLD_PIECE = 32768,
    /* results that are converted at once: 2 KiB of f64 stay in the L1 */
    TNI_FOLD_STORED = 256,
    /* short sequences that are transposed at once: their states take at most 40 KiB of stack */
    TNI_FOLD_PACKED_WIDTH = 1024,
    /* bound on the states of one sequence that wait for a partner: 2^63 elements are 2^52
     * blocks, which leave at most 53 states */
    TNI_FOLD_LEVELS = 64,
    /* words of the waiting states of all columns, 32 KiB: four states of one word for each of
     * TNI_FOLD_WIDTH columns.  With 48 KiB some calls took more than 256 KiB of stack. */
    TNI_FOLD_STACK = 4096,
    /* words of the states that parts return, 32 KiB: four states of one word for each of
     * TNI_FOLD_WIDTH columns */
    TNI_FOLD_RESULTS = 4096,
    /* most parts into which one sequence is divided; bounds arrays on the stack */
    TNI_FOLD_PARTS = 64,
    TNI_FOLD_SPACE = TNI_FOLD_STACK + 16 * TNI_FOLD_WIDTH /* waiting states and accumulators */
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

/* The term that the tree adds (or multiplies) for an element x; f32 or f64. */
typedef enum tni_fold_term {
    TNI_TERM_SAME,  /* x */
    TNI_TERM_WIDEN, /* x as f64 */
    TNI_TERM_ABS,
    TNI_TERM_SQUARE,        /* f64 */
    TNI_TERM_NONZERO,       /* 1, or 0 for zero; NaN stays */
    TNI_TERM_NUMBERS,       /* x; NaN becomes -0, which a sum ignores */
    TNI_TERM_NUMBERS_WIDEN, /* x as f64; NaN becomes 1, which a product ignores */
    TNI_TERM_POWER,         /* |x|^p, f64 */
    TNI_TERM_MUL,           /* the product of two sources, f64 */
    TNI_TERM_COMPLEX_SQUARE,
    TNI_TERM_COMPLEX_ABS,
    TNI_TERM_COMPLEX_POWER
} tni_fold_term;

typedef struct tni_fold tni_fold;
typedef struct tni_fold_scratch tni_fold_scratch;

/* `count` dense sequences of n <= 2048 elements (any n if the class chains), step bytes apart;
 * `at` is the index of their first element in the whole sequence.  If the class chains and
 * count is 1, `before` may point to the state of all elements before `at`. */
typedef struct tni_fold_sequences {
    const char *x[TNI_FOLD_SOURCES];
    int64_t step[TNI_FOLD_SOURCES], n, count, at;
    const tni_word *before;
} tni_fold_sequences;

/* w sequences side by side.  Row i of n <= 2048 rows begins at row[i], or at x + i * step if
 * row is NULL; it has an element of each sequence.  `at` is the index of the first row in the
 * sequences.
 *
 * Some classes can take a block in several calls: `begun` is the number of its rows that
 * earlier calls took, a multiple of TNI_TILE; if `more` is set, later calls take the rest, and
 * out is not written yet.  Accumulators begin at word `acc` of the accumulators in scratch; the
 * array `row` may occupy the last words of them.  If `fetch` is set, rows are prefetched, and
 * so are the `follow` rows from x + n * step on, which the next call reads.  If the class
 * chains, `before` may point to the states of all rows before `at`. */
typedef struct tni_fold_columns {
    const char *const *row;
    const char *x;
    int64_t step, n, w, at;
    int64_t begun, acc, follow;
    const tni_word *before;
    bool more, fetch;
    bool packed; /* the rows are in a buffer, fewer than TNI_SHORT of them */
} tni_fold_columns;

/* Kernels that reduce short dense sequences to results without states. */
typedef struct tni_fold_short {
    bool (*fits)(const tni_fold *f); /* whether this instruction set has a kernel for f */
    /* Write the results of `count` sequences, the first of which begins at x, to d. */
    void (*reduce)(const tni_fold *f, void *d, const char *x, int64_t count);
    bool elements; /* results are elements of src; otherwise of type int64_t */
    int word;      /* the latter are this word of a state, the only one that finish reads */
} tni_fold_short;

/* The arithmetic of a reduction.  The states of w sequences are one array of words: word k of
 * sequence c is s[k * w + c]. */
typedef struct tni_fold_class {
    const char *name;
    int words;  /* of a state */
    int acc;    /* words of the accumulators of a column */
    int widest; /* most columns of a strip; 0: as many as have space */
    /* elements of at most so many bytes: rows of up to NARROW_FREE columns are joined, not only
     * those of fewer than NARROW (fold_ways.c) */
    int joins_wide;
    bool ordered;   /* whether the order of the elements matters */
    bool chains;    /* whether states may be merged one after the other instead of in pairs */
    bool tree;      /* a state is one word, the sum or the product of the tree */
    bool index;     /* a state is a key of f->rule and the index of its first element */
    bool reads_src; /* columns reads absent rows as elements of src; otherwise as terms */
    bool packs;     /* columns has kernels for packed rows */
    bool tiles;     /* columns can take a block in several calls */
    bool tiles_numbers;               /* the same if NaNs are skipped */
    const tni_fold_short *short_rows; /* NULL: there are none */
    void (*sequence)(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                     tni_fold_scratch *scratch);
    void (*columns)(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                    tni_fold_scratch *scratch); /* NULL: the class has no kernels for columns */
    /* a[c] = the state of the elements of a[c] followed by those of b[c], for w sequences */
    void (*merge)(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w);
    /* Store the results of n <= TNI_FOLD_STORED states at s; word k of state c is
     * s[k * w + c]. */
    void (*finish)(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w,
                   int64_t n);
} tni_fold_class;

extern const tni_fold_class tni_fold_tree, tni_fold_tree_counted, tni_fold_moments,
    tni_fold_exact_moments, tni_fold_ends, tni_fold_logsumexp, tni_fold_wrap, tni_fold_wide,
    tni_fold_key, tni_fold_arg, tni_fold_count, tni_fold_count_pairs, tni_fold_complex_moments,
    tni_fold_complex_prod, tni_fold_complex_dot, tni_fold_magnitude;

/* merge and finish of moments, and the variance or standard deviation of n elements whose
 * squared distances from their mean have the sum M (fold_moments.c). */
void tni_fold_moments_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w);
void tni_fold_moments_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                             int64_t w, int64_t n);
double tni_fold_spread(const tni_fold *f, double n, double M);

/* ---- the list of reductions (reductions.def, fold_plan.c) ---- */

/* The dtype of a result. */
typedef enum tni_reduce_result {
    TNI_RESULT_SUM,     /* i64 or u64 for integers and bool, otherwise src's dtype */
    TNI_RESULT_SQUARES, /* as SUM, but the real dtype for complex */
    TNI_RESULT_MEAN,    /* f64 for integers and bool, otherwise src's dtype */
    TNI_RESULT_SPREAD,  /* as MEAN, but the real dtype for complex */
    TNI_RESULT_SAME,    /* src's dtype */
    TNI_RESULT_INDEX,   /* i64 */
    TNI_RESULT_BOOL,
    TNI_RESULT_COUNT, /* i64 */
    TNI_RESULT_SIZE   /* src's dtype, the real dtype for complex */
} tni_reduce_result;

enum { TNI_TAKES_INT = 1, TNI_TAKES_FLOAT = 2, TNI_TAKES_COMPLEX = 4, TNI_TAKES_ANY = 7 };

/* What distinguishes reductions of one class: bits of tni_reduce_row.facts. */
enum {
    TNI_FOLD_NONE = 0,
    TNI_FOLD_SKIP = 1,    /* NaNs are skipped */
    TNI_FOLD_MEAN = 2,    /* the sum is divided by the number of elements */
    TNI_FOLD_PRODUCT = 4, /* elements are multiplied */
    TNI_FOLD_ROOT = 8,    /* the square root of the variance: std */
    TNI_FOLD_LEAST = 16,  /* the least element, not the greatest */
    TNI_FOLD_INDEX = 32,  /* the index of that element */
    TNI_FOLD_LEAST_INDEX = TNI_FOLD_LEAST | TNI_FOLD_INDEX
};

struct tni_fold;

typedef struct tni_reduce_row {
    const char *name;
    int8_t params, takes, result;
    bool needs_one;                  /* an empty sequence has no result */
    void (*use)(struct tni_fold *f); /* sets class and term */
    double param;                    /* the default of the parameter */
    int facts;
} tni_reduce_row;

extern const tni_reduce_row tni_reductions[TNI_REDUCTIONS];

/* ---- a plan ---- */

typedef struct tni_fold_way tni_fold_way; /* the walk over memory: a row of fold_ways.c */

struct tni_fold {
    tn_reduction op;
    const tni_fold_class *class;
    const tni_fold_way *way;
    const char *why;
    tn_dtype src, dst, elem; /* elem: f32 or f64, to which elements are converted */
    tni_fold_term term;
    bool product, mean, skip, wide; /* skip: NaNs are skipped; wide: terms are f64 */
    double param;
    tni_key_rule rule; /* of min, max, argmin, argmax and counts */
    int64_t width;     /* bytes of an element of src */
    int isa, nsrc, nfold, nmap;
    int64_t shift[1 + TNI_FOLD_SOURCES]; /* from element (0, …, 0) to the walk's first one */
    int64_t count, outputs;              /* elements of a sequence, number of results */
    int64_t strip;                       /* columns of a strip; 0: the way has no strips */
    bool dense;                          /* a sequence is dense in memory */
    bool joined;                         /* dense rows of columns are read as one */
    bool by_tiles;                       /* panels: a column is reduced tile by tile */
    bool stream;   /* streamed results: dense, beyond the caches, no smaller than the sources */
    bool fetch;    /* the sources exceed the L2, so what is read next is prefetched */
    int64_t plane; /* > 0: states are stored instead of results, their words this far apart */
    int64_t first; /* index of the first element in the sequence */
    int64_t high;  /* minmax: bytes from the address of low's data to that of high's */
    /* At the end, so as not to be cleared: 4 KB, of which nfold and nmap axes are used. */
    tni_fold_axis fold[TN_MAX_NDIM + 1], map[TN_MAX_NDIM + 1];
};

/* Plan a reduction of checked operands: dst has src's axes, with any extent on those that
 * folded marks. */
void tni_fold_plan(tni_fold *f, tn_reduction op, const double *params, const tn_tensor *dst,
                   const tn_tensor *src, uint64_t folded);

/* Plan the sum of a * b; both have the axes of dst. */
void tni_fold_plan_dot(tni_fold *f, const tn_tensor *dst, const tn_tensor *a,
                       const tn_tensor *b, uint64_t folded);

/* Plan the minimum into low and the maximum into high, which have the same strides. */
void tni_fold_plan_minmax(tni_fold *f, const tn_tensor *low, const tn_tensor *high,
                          const tn_tensor *src, uint64_t folded);

/* Run the plan; dst and srcs are the addresses of element (0, …, 0). */
void tni_fold_run(const tni_fold *f, char *dst, const char *const *srcs);

/* ---- sequences that arrive in runs ---- */

/* Plan the reduction of one run of whole's sequences to states: elements [first, first + n) of
 * each sequence, which are the folded axes of piece.  dst has the axes of piece, with stride 0
 * on the folded ones; word k of a state is stored k * plane bytes after its place in dst.  The
 * number of blocks of a run is a power of two, and the run begins at a multiple of it; the last
 * run may be shorter. */
void tni_fold_plan_run(tni_fold *f, const tni_fold *whole, const tn_tensor *dst, int64_t plane,
                       const tn_tensor *piece, uint64_t folded, int64_t first);

/* The fold of a plan that tn_plan_reduce made. */
const tni_fold *tni_fold_of(const tn_plan *plan);

/* Write the results of w states (word k of state c is s[k * w + c]) to dst, step bytes apart.
 * tni_fold_finish stores the states themselves if f->plane is set. */
void tni_fold_results(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w);
void tni_fold_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w);

/* ---- inside ---- */

/* Convert n <= TNI_FOLD_STORED dense numbers of dtype `from` to elements of dst, step bytes
 * apart.  tni_fold_store_reals overwrites y and stores the positive quiet NaN for every NaN.
 * If f->stream is set, tni_fold_fence must follow the last call of each thread. */
void tni_fold_store(const tni_fold *f, tn_dtype from, char *dst, int64_t step, const char *made,
                    int64_t n);
void tni_fold_fence(const tni_fold *f); /* waits for the streaming stores of this thread */
void tni_fold_store_reals(const tni_fold *f, char *dst, int64_t step, double *y, int64_t n);

/* The buffers of one part: for gathered sequences and their terms, or for the accumulators of
 * columns; the last member of `columns`, absent, is a row of elements that change no result. */
struct tni_fold_scratch {
    union {
        tni_word space[TNI_FOLD_SPACE]; /* stack and u.columns.acc as one array */
        struct {
            tni_word stack[TNI_FOLD_STACK];
            union {
                struct {
                    /* a panel of columns, or a block of each source */
                    char gather[TNI_FOLD_SOURCES][TNI_TREE_BLOCK * 24];
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
    const char *begin[TNI_FOLD_SOURCES]; /* the first element of the sequence */
    tni_walk walk;
    tni_axis axis[TN_MAX_NDIM + 1]; /* f->fold as axes of a nest over the sources */
} tni_fold_cursor;
_Static_assert(sizeof(tni_fold_cursor) <= 12 * 1024, "cursors are on the stack");

/* Position c at element number `at` of the sequence that begins at x. */
void tni_fold_seek(tni_fold_cursor *c, const tni_fold *f, const char *const *x, int64_t at);

/* The address of element number `at` in source 0.  Unlike a cursor, which is 12 KiB, it takes
 * no stack from what follows. */
const char *tni_fold_address(const tni_fold *f, const char *const *x, int64_t at);

/* The address of the current element in source k. */
static inline const char *tni_fold_at(const tni_fold_cursor *c, int k)
{
    return c->begin[k] + c->walk.offset[k];
}

/* The next n elements of source k as dense memory: in place if they are dense, otherwise copied
 * to buf.  The cursor does not move; tni_fold_skip advances it by n elements. */
const char *tni_fold_take(tni_fold_cursor *c, int k, int64_t n, char *buf);
void tni_fold_skip(tni_fold_cursor *c, int64_t n);

/* Write the addresses of the next n elements of the first source to row, and advance by n. */
void tni_fold_rows(tni_fold_cursor *c, const char **row, int64_t n);

/* Set f's axes in normal form: fold axes in the order of the sequence if the class is ordered,
 * map axes by descending steps.  as_parts adds a map axis over the real and the imaginary
 * part. */
void tni_fold_axes(tni_fold *f, const tn_tensor *dst, const tn_tensor *const *srcs,
                   uint64_t folded, bool as_parts);

/* n dense elements as f->elem: in place if they need no conversion (complex numbers are never
 * converted), otherwise in buf. */
const char *tni_fold_elems(const tni_fold *f, const char *x, int64_t n, char *buf);

/* The terms of n dense elements: in place, in elems or in terms; `more` is the buffer of a
 * second source.  If NaNs are skipped, *numbers is set to the number of elements that are no
 * NaN. */
const char *tni_fold_terms(const tni_fold *f, const char *const *x, int64_t n, char *elems,
                           char *more, char *terms, int64_t *numbers);

/* The lane that is computed as number j when lanes are computed one by one: j with its four
 * bits reversed.  Lanes that are 8, 4, 2 and 1 apart are then merged as early as possible:
 * after number j, as many merges follow as j has trailing one bits. */
static inline int tni_fold_lane(int j)
{
    return (j & 1) << 3 | (j & 2) << 1 | (j & 4) >> 1 | (j & 8) >> 3;
}

/* The states of subtrees that wait for their partner, in the order of the sequence.  `state`
 * holds `depth` of them, words * w words each, and has space for one more.  They cover blocks
 * [first, blocks). */
typedef struct tni_fold_pairs {
    tni_word *state;
    int depth;
    int64_t first, blocks;
} tni_fold_pairs;

/* Add the state of the next block, which the caller has written after the waiting ones, and
 * merge all subtrees that are complete. */
void tni_fold_push(const tni_fold *f, tni_fold_pairs *p, int64_t w);

/* The number of blocks of the largest complete subtree that begins at block `at` and does not
 * extend past block end: a power of two that divides `at`. */
int64_t tni_fold_node(int64_t at, int64_t end);

/* Add the states that wait in q, whose blocks follow those of p.  They may be in p's own
 * memory, after p's states. */
void tni_fold_append(const tni_fold *f, tni_fold_pairs *p, const tni_fold_pairs *q, int64_t w);

/* Merge all waiting states into state[0]. */
void tni_fold_close(const tni_fold *f, tni_fold_pairs *p, int64_t w);

/* Reduce n elements of one sequence, from element `first` on, to one state. */
void tni_fold_sequence_run(const tni_fold *f, tni_word *out, const char *const *x,
                           int64_t first, int64_t n, tni_fold_scratch *scratch);

#endif
