/* cast_table.c - the chain of conversions from one dtype to another.
 *
 * Narrow floats are converted through f32, which represents all their values.  On the way to a
 * narrow float, a dtype wider than f32 is rounded to odd first, so that only the last rounding
 * counts. */
#include "kernels/kernels.h"

/* The slot of a dtype among the native ones: bool, integers, f32 and f64. */
static int native_slot(tn_dtype t)
{
    const int slot = tni_dtypes[t].slot;
    return tni_is_float(t) ? TNI_INT_SLOTS + slot - TNI_NARROW_SLOTS : slot;
}

static void cast_add(tni_cast *c, tni_cast_fn fn, tn_dtype gives)
{
    ASSERT(fn && c->steps < TNI_CAST_STEPS);
    c->fn[c->steps] = fn;
    c->width[c->steps++] = (int8_t)tni_width(gives);
}

/* Can t hold numbers that f32 does not represent exactly? */
static bool wide(tn_dtype t)
{
    return t == TN_F64 || t == TN_I32 || t == TN_U32 || t == TN_I64 || t == TN_U64;
}

tni_cast tni_cast_chain(int isa, tn_dtype from, tn_dtype to)
{
    const tni_cast_kernels *k = tni_kernels_of(isa)->cast;
    const int at = tni_dtypes[from].slot;
    tni_cast c = {0};
    if (from == to && from != TN_BOOL)
        return c;
    if (tni_is_complex(from) && tni_is_complex(to)) {
        cast_add(&c, k->across[at], to);
        return c;
    }
    if (tni_is_complex(from)) {
        const tn_dtype part = tni_real_of(from);
        const bool truth = to == TN_BOOL;
        cast_add(&c, truth ? k->truth[at] : k->real[at], truth ? to : part);
        from = truth ? to : part;
    } else if (tni_is_narrow(from)) {
        cast_add(&c, k->widen[at], TN_F32);
        from = TN_F32;
    } else if (from == TN_BOOL && to == TN_BOOL) {
        cast_add(&c, k->native[0][0], to);
    }
    const tn_dtype aim = tni_real_of(to);
    const bool odd = tni_is_narrow(to) && wide(from);
    if (from != aim)
        cast_add(&c, k->native[native_slot(from)][odd ? TNI_ODD : native_slot(aim)], aim);
    if (tni_is_narrow(to))
        cast_add(&c, k->narrow[tni_dtypes[to].slot], to);
    else if (tni_is_complex(to))
        cast_add(&c, k->pair[tni_dtypes[to].slot], to);
    return c;
}
