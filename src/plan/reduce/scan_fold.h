/* scan_fold.h - running reductions along an axis. */
#ifndef TNI_SCAN_FOLD_H
#define TNI_SCAN_FOLD_H

#include <tenon/reduce.h>

#include "kernels/kernels.h"
#include "nest/nest.h"

typedef enum tni_scan_type { /* what runs */
                             TNI_SCAN_REAL,
                             TNI_SCAN_SIGNED,
                             TNI_SCAN_UNSIGNED,
                             TNI_SCAN_COMPLEX
} tni_scan_type;

/* What runs from block to block of a sequence. */
typedef struct tni_scan_state {
    union {
        double f; /* what came before the block; of logsumexp the largest, and chain the sum */
        int64_t i;
    };
    double im, chain, chain_im; /* chain: of the groups of the block */
} tni_scan_state;

typedef struct tni_scan {
    tn_scan_op op;
    tni_scan_type type;
    tn_dtype src, dst, wide; /* wide: the dtype that runs */
    int isa;
    bool initial, columns;
    bool direct; /* f32 from memory to memory */
    bool half;   /* the same of f16 or bf16 */
    bool keyed;  /* running maxima of keys, by rule; state.i is a key */
    tni_scan_rule rule;
    bool stream;  /* its results go past the caches */
    bool carries; /* sequences begin and end with a state each: arrive in parts */
    int64_t at;   /* elements of each sequence that came before, a multiple of a group */
    int64_t n, width[2], step[2], count; /* dst, src: of an element, along dim */
    tni_nest nest;                       /* over the sequences */
} tni_scan;

/* dst may be longer by one along dim; operands are checked. */
void tni_scan_plan(tni_scan *s, tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                   int dim, bool carries, int64_t at);

/* carry: a state for each sequence, in the row-major order of dst without dim, and two of them,
 * side by side, for sums of complex numbers. */
void tni_scan_run(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
/* ---- one block (scan_block.c) ---- */

typedef union tni_scan_block {
    double f[2 * TNI_TREE_BLOCK];
    int64_t i[TNI_TREE_BLOCK];
    uint64_t u[TNI_TREE_BLOCK];
    char bytes[2 * TNI_TREE_BLOCK * 8];
} tni_scan_block;

/* n elements in place, of one block: at came before in the sequence, a multiple of a group. */
void tni_scan_one_block(const tni_scan *s, tni_scan_block *b, int64_t n, int64_t at,
                        tni_scan_state *run);
double tni_scan_absent(const tni_scan *s); /* of sums and products: what changes nothing */

/* A computed NaN has one bit pattern, a sum that is zero one sign. */
void tni_scan_settle(double *x, int64_t n, bool sum);

/* One sequence; carry: its state before and after, or NULL. */
void tni_scan_sequence(const tni_scan *s, char *d, const char *p, tni_scan_state *carry);

/* n dense elements of another dtype. */
void tni_scan_cast(int isa, tn_dtype from, tn_dtype to, char *d, const char *s, int64_t n);

/* Columns side by side (scan_strip.c): as many as eight rows of f64 stay in the L1 with; where only a
 * number or two of each are kept, strips are as wide as threads allow. */
enum { TNI_SCAN_COLUMNS = 512, TNI_SCAN_WIDEST = 2048 };

/* w <= TNI_SCAN_WIDEST dense columns; carry: their states before and after, or NULL. */
void tni_scan_strip(const tni_scan *s, char *d, const char *p, int64_t w,
                    tni_scan_state *carry);

/* Whether sequences are short and dense and there are many, and all of them, the first of which are at
 * dst and src (scan_narrow.c). */
bool tni_scan_narrow(const tni_scan *s);
void tni_scan_narrow_run(const tni_scan *s, char *dst, const char *src);

/* The element in front of a sequence that is longer by one. */
void tni_scan_initial(const tni_scan *s, char *d);

/* Whether sequences are divided: they are fewer than threads, and their blocks meet by a chain. */
bool tni_scan_divides(const tni_scan *s, int64_t sequences);
void tni_scan_rounds(const tni_scan *s, char *d, const char *p);

tn_plan *tni_scan_new(const tni_scan *s, const char *call, const tn_tensor *dst,
                      const tn_tensor *src);

#endif
