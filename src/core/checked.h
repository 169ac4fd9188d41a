/* checked.h - 64-bit arithmetic that detects overflow.
 *
 * Plain C without builtins or pragmas: each test is a comparison or a division that cannot
 * itself overflow.  A function returns true with the exact result in *out, or false and leaves
 * *out unchanged.  The contracts are in ACSL, whose integers are unbounded;
 * tests/check/proof.sh proves them. */
#ifndef TNI_CHECKED_H
#define TNI_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/*@ predicate whole(integer x) = INT64_MIN <= x <= INT64_MAX;

    lemma above: \forall integer a, b, m; b > 0 && m >= 0 && a > m / b ==> a * b > m;
    lemma below: \forall integer a, b, m; b > 0 && m <= 0 && a < m / b ==> a * b < m; */

/*@ requires \valid(out);
    assigns *out;
    ensures \result <==> whole(a + b);
    ensures *out == (\result ? a + b : \old(*out)); */
static inline bool tni_add(int64_t a, int64_t b, int64_t *out)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return false;
    *out = a + b;
    return true;
}

/* Factors below 2^31 skip the division. */
/*@ requires \valid(out);
    assigns *out;
    ensures \result ==> whole(a * b) && *out == a * b;
    ensures !\result ==> !whole(a * b) && *out == \old(*out); */
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

/* tni_mul for two numbers that are not negative. */
/*@ requires \valid(out) && a >= 0 && b >= 0;
    assigns *out;
    ensures \result <==> whole(a * b);
    ensures *out == (\result ? a * b : \old(*out)); */
static inline bool tni_scale(int64_t a, int64_t b, int64_t *out)
{
    if ((a > INT32_MAX || b > INT32_MAX) && b > 0 && a > INT64_MAX / b)
        return false;
    *out = a * b;
    return true;
}

/* |a|; false for INT64_MIN, whose absolute value does not fit. */
/*@ requires \valid(out);
    assigns *out;
    ensures \result <==> a != INT64_MIN;
    ensures *out == (\result ? \abs(a) : \old(*out)); */
static inline bool tni_abs(int64_t a, int64_t *out)
{
    if (a == INT64_MIN)
        return false;
    *out = a < 0 ? -a : a;
    return true;
}

#endif
