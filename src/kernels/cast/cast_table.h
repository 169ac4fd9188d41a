/* cast_table.h - conversions between dtypes: kernels on dense strips, and chains of them.
 *
 * Float to integer truncates, maps NaN to 0 and saturates; integer to integer keeps the low
 * bits; to bool is "not zero"; bool reads as 0 or 1; to a float rounds once to nearest even;
 * complex to real drops the imaginary part. */
#ifndef TNI_CAST_TABLE_H
#define TNI_CAST_TABLE_H

#include "core/core.h"

/* Convert n dense elements; d and s share no byte and have any alignment.  If ahead is not 0,
 * sources are prefetched `ahead` bytes before they are used.  If stream is set, d is a multiple
 * of 64, and whole lines are written with non-temporal stores where possible. */
typedef void (*tni_cast_fn)(char *d, const char *s, int64_t n, int64_t ahead, bool stream);

enum { TNI_CAST_STEPS = 3 };

/* The conversions from one dtype to another, applied in order.  There are none for equal
 * dtypes, except bool, which is normalised to 0 or 1.  width[i] is the width of an element
 * after step i. */
typedef struct tni_cast {
    int steps;
    tni_cast_fn fn[TNI_CAST_STEPS];
    int8_t width[TNI_CAST_STEPS];
} tni_cast;

tni_cast tni_cast_chain(int isa, tn_dtype from, tn_dtype to);

/* ---- the table of one instruction set (cast_isa.c) ---- */

enum {
    TNI_NATIVE = TNI_INT_SLOTS + 2, /* slots of bool, i8 … u64, f32, f64 */
    TNI_ODD = TNI_NATIVE            /* one more target slot: f32, rounded to odd */
};

typedef struct tni_cast_kernels {
    tni_cast_fn native[TNI_NATIVE][TNI_NATIVE + 1];
    tni_cast_fn widen[TNI_NARROW_SLOTS];  /* to f32 */
    tni_cast_fn narrow[TNI_NARROW_SLOTS]; /* from f32 */
    tni_cast_fn real[2];                  /* c64 to f32, c128 to f64 */
    tni_cast_fn pair[2];                  /* f32 to c64, f64 to c128 */
    tni_cast_fn truth[2];                 /* c64 to bool, c128 to bool */
    tni_cast_fn across[2];                /* c64 to c128, c128 to c64 */
} tni_cast_kernels;

#endif
