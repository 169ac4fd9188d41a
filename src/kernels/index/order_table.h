/* order_table.h - sorting words, and the keys of elements that words are made of.
 *
 * A key is a signed integer that orders as the caller asks.  A word is an integer to be sorted:
 * either a key alone, or a key above the index of its element, which makes all words distinct
 * and the sort stable. */
#ifndef TNI_ORDER_TABLE_H
#define TNI_ORDER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { TNI_ORDER_INTEGER, TNI_ORDER_FLOAT, TNI_ORDER_BOOL };

/* How an element becomes a key of its width.  Integers: b ^ top; bool: b != 0; floats: the
 * magnitude of negative ones is inverted, and a NaN is a magnitude above largest.  The result
 * is xored with flip. */
typedef struct tni_order_rule {
    int kind;
    int64_t top;     /* the highest bit of unsigned elements, or 0 */
    int64_t flip;    /* -1 for descending order, else 0 */
    int64_t largest; /* floats: the bits of the largest magnitude that is not NaN */
} tni_order_rule;

/* A word is ((key - least) >> cut) << shift | index. */
typedef struct tni_order_word {
    int64_t least;
    int cut, shift;
} tni_order_word;

/* n sorted elements, step bytes apart, to be searched.  sample holds the keys of every
 * interval-th element, beginning with the first; interval <= n. */
typedef struct tni_search {
    const char *sorted;
    int64_t n, step, samples, interval;
    const void *sample;
    const tni_order_rule *rule;
    bool or_equal;
} tni_search;

/* Dense elements of one width and any alignment; keys of up to 32 bits are int32_t, others
 * int64_t. */
typedef struct tni_order_elements {
    /* Invertible keys.  Returns false if some elements are equal but differ in bits (-0 and +0,
     * NaNs, bools above 1); the keys are then unusable. */
    bool (*keys)(void *key, const char *x, int64_t n, const tni_order_rule *rule);
    void (*back)(char *x, const void *key, int64_t n, const tni_order_rule *rule);
    /* The smallest and the largest key, where equal elements have equal keys; n >= 1. */
    void (*range)(int64_t *range, const char *x, int64_t n, const tni_order_rule *rule);
    /* Words made of such keys; at is the index of the first element.  Returns whether the keys
     * are invertible. */
    bool (*words32)(int32_t *word, const char *x, int64_t n, int64_t at,
                    const tni_order_word *form, const tni_order_rule *rule);
    bool (*words64)(int64_t *word, const char *x, int64_t n, int64_t at,
                    const tni_order_word *form, const tni_order_rule *rule);
    /* found[i] is the number of sorted elements less than element i of x, or equal to it if
     * or_equal. */
    void (*samples)(void *key, const tni_search *s);
    void (*search)(int64_t *found, const char *x, int64_t n, const tni_search *s);
    /* Bit i % 64 of word i / 64 is set if element i differs from element i - 1 (x[-1] exists)
     * or, with each, is a NaN. */
    void (*begins)(uint64_t *bits, const char *x, int64_t n, const tni_order_rule *rule,
                   bool each);
} tni_order_elements;

/* A run of n words at x to be sorted into `other` if moves is set, else into x; both have space
 * for n words.  Only positions [low, high) of the sorted order are needed; the other words may
 * be lost.  Words are already sorted by their bits below from. */
typedef struct tni_order_run {
    void *x, *other;
    int64_t n, low, high;
    int from;
    bool moves;
} tni_order_run;

/* Kernels for words of one width. */
typedef struct tni_order_words {
    void (*sort)(const tni_order_run *r);
    /* One partition step: *r becomes the run of lower words, *rest that of the others; n is 0
     * if none of a run's positions is needed or if all are in order. */
    void (*split)(tni_order_run *r, tni_order_run *rest);
} tni_order_words;

typedef struct tni_order_kernels {
    tni_order_elements elements[4]; /* elements of 1, 2, 4, 8 bytes */
    tni_order_words words[2];       /* words of 4 and 8 bytes */
    /* bin[i] is the index of the one of `bins` equal parts of [low, high] that contains x[i]:
     * trunc((x - low) * by), at most bins - 1; -1 outside the range. */
    void (*bins)(int64_t *bin, const double *x, int64_t n, double low, double high, double by,
                 int64_t bins);
} tni_order_kernels;

#endif
