/* checked.h - arithmetic on sizes that says when it does not fit.
 *
 * Plain C without builtins or pragmas: each test is a comparison or a division that cannot
 * itself overflow.  true means *out holds the exact result; false leaves *out alone. */
#ifndef TNI_CHECKED_H
#define TNI_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool tni_add(int64_t a, int64_t b, int64_t *out)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *out = a + b;
    return true;
}

/* Factors below 2^31 skip the division. */
static inline bool tni_mul(int64_t a, int64_t b, int64_t *out)
{
    if (a > INT32_MAX || a < INT32_MIN || b > INT32_MAX || b < INT32_MIN) {
        if (a > 0) {
            if (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
                return false;
        } else if (a < 0) {
            if (b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a)
                return false;
        }
    }
    *out = a * b;
    return true;
}

/* The same of two numbers that are not negative. */
static inline bool tni_scale(int64_t a, int64_t b, int64_t *out)
{
    if ((a > INT32_MAX || b > INT32_MAX) && b > 0 && a > INT64_MAX / b)
        return false;
    *out = a * b;
    return true;
}

/* |a|, which INT64_MIN does not have. */
static inline bool tni_abs(int64_t a, int64_t *out)
{
    if (a == INT64_MIN)
        return false;
    *out = a < 0 ? -a : a;
    return true;
}

#endif
