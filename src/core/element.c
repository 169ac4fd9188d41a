/* element.c - load and store single elements of any dtype as f64 or as integers. */
#include <math.h>
#include <string.h>

#include "core.h"

const tni_float_facts tni_floats[TNI_DTYPES] = {
#define FLOAT(ENUM, TYPE, DIGITS, LARGEST, QUIET, TO, FROM) [TN_##ENUM] = {DIGITS, LARGEST},
#include "floats.def"
#undef FLOAT
};

#define FLOAT(ENUM, TYPE, DIGITS, LARGEST, QUIET, TO, FROM)                                    \
    if (dtype == TN_##ENUM) {                                                                  \
        TYPE x;                                                                                \
        memcpy(&x, at, sizeof x);                                                              \
        return (double)TO(x);                                                                  \
    }
double tni_load_real(const char *at, tn_dtype dtype)
{
    ASSERT(tni_is_float(dtype));
#include "floats.def"
    return (double)NAN;
}
#undef FLOAT

#define FLOAT(ENUM, TYPE, DIGITS, LARGEST, QUIET, TO, FROM)                                    \
    if (dtype == TN_##ENUM) {                                                                  \
        const TYPE y = isnan(x) ? QUIET : FROM(x);                                             \
        memcpy(d, &y, sizeof y);                                                               \
    }
void tni_store_real(char *d, tn_dtype dtype, double x)
{
    ASSERT(tni_is_float(dtype));
#include "floats.def"
}
#undef FLOAT

void tni_store_integer(char *d, tn_dtype dtype, uint64_t x)
{
    const uint8_t u8 = (uint8_t)(dtype == TN_BOOL ? x != 0 : x);
    const uint16_t u16 = (uint16_t)x;
    const uint32_t u32 = (uint32_t)x;
    switch (tni_width(dtype)) {
    case 1:
        memcpy(d, &u8, sizeof u8);
        break;
    case 2:
        memcpy(d, &u16, sizeof u16);
        break;
    case 4:
        memcpy(d, &u32, sizeof u32);
        break;
    default:
        memcpy(d, &x, sizeof x);
    }
}
