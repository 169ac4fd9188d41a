/* cast_table.c - which conversions lead from one dtype to another.
 *
 * Small floats go through f32, which holds them; what is wider than f32 is rounded to odd on
 * the way, so that the last rounding is the only one. */
#include "kernels/kernels.h"

static bool small(tn_dtype t)
{
    return t >= TN_F8E4M3 && t <= TN_BF16;
}

static bool complex(tn_dtype t)
{
    return t == TN_C64 || t == TN_C128;
}

static int slot(tn_dtype t)
{
    return (int)(t <= TN_U64 ? t - TN_BOOL : t - TN_F32 + 9);
}

static void add(tni_cast *c, tni_cast_fn fn, tn_dtype gives)
{
    ASSERT(fn && c->steps < TNI_CAST_STEPS);
    c->fn[c->steps] = fn;
    c->width[c->steps++] = (int8_t)tni_width(gives);
}

/* Whether f32 may not hold a number of t. */
static bool wide(tn_dtype t)
{
    return t == TN_F64 || t == TN_I32 || t == TN_U32 || t == TN_I64 || t == TN_U64;
}

tni_cast tni_cast_chain(int isa, tn_dtype from, tn_dtype to)
{
    const tni_cast_kernels *k = tni_kernels_of(isa)->cast;
    tni_cast c = {0};
    if (from == to && from != TN_BOOL)
        return c;
    if (complex(from) && complex(to)) {
        add(&c, k->across[from - TN_C64], to);
        return c;
    }
    if (complex(from)) {
        const tn_dtype part = from == TN_C64 ? TN_F32 : TN_F64;
        const bool truth = to == TN_BOOL;
        add(&c, truth ? k->truth[from - TN_C64] : k->real[from - TN_C64], truth ? to : part);
        from = truth ? to : part;
    } else if (small(from)) {
        add(&c, k->widen[from - TN_F8E4M3], TN_F32);
        from = TN_F32;
    } else if (from == TN_BOOL && to == TN_BOOL) {
        add(&c, k->native[0][0], to);
    }
    const tn_dtype aim = small(to) || to == TN_C64 ? TN_F32 : to == TN_C128 ? TN_F64 : to;
    const bool odd = small(to) && wide(from);
    if (from != aim)
        add(&c, k->native[slot(from)][odd ? TNI_ODD : slot(aim)], aim);
    if (small(to))
        add(&c, k->narrow[to - TN_F8E4M3], to);
    else if (complex(to))
        add(&c, k->pair[to - TN_C64], to);
    return c;
}
