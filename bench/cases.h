/* cases.h - the measured copies: a dense src, its axes permuted, into a dense dst. */
#ifndef CASES_H
#define CASES_H

#include <tenon/tenon.h>

typedef struct copy_case {
    char name[64];
    tn_dtype dtype;
    int ndim;
    int64_t shape[6]; /* of src, row-major */
    int axes[6];      /* axis i of dst is axis axes[i] of src */
} copy_case;

/* A list of cases; get stores case i in out. */
typedef struct copy_list {
    int count;
    void (*get)(int i, copy_case *out);
} copy_list;

extern const copy_list list_57_f32, list_57_f64; /* from the literature on transposition */
extern const copy_list list_57_half_mb, list_57_2_mb, list_57_8_mb; /* the same, cut */
extern const copy_list list_narrow; /* narrow and wide elements */
extern const copy_list list_others; /* shapes that are not among the 57 */
extern const copy_list list_cached; /* sizes for L1, L2 and L3 */
extern const copy_list list_images; /* 3 channels, in the cache */

int64_t case_bytes(const copy_case *c);

#endif
