/* order_table.h - words put in order, and the keys of elements that words are made of.
 *
 * A key is a signed integer whose order is the one asked for.  A word is an integer that is sorted:
 * a key by itself, or a key above the index of its element, so that all words are different and
 * equal keys keep their order. */
#ifndef TNI_ORDER_TABLE_H
#define TNI_ORDER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { TNI_ORDER_INTEGER, TNI_ORDER_FLOAT, TNI_ORDER_BOOL };

/* How an element becomes a key of its width.  Integers: b ^ top; bool: b != 0; floats: magnitudes
 * of negative ones are inverted, NaN is a magnitude beyond largest.  Then ^ flip. */
typedef struct tni_order_rule {
    int kind;
    int64_t top;     /* the highest bit of unsigned elements, or 0 */
    int64_t flip;    /* -1: descending */
    int64_t largest; /* floats: the bits of the largest magnitude that is no NaN */
} tni_order_rule;

/* A word is (key - least >> cut) << shift | index. */
typedef struct tni_order_word {
    int64_t least;
    int cut, shift;
} tni_order_word;

/* n elements in order, step bytes apart, in which others are searched.  Samples are the keys of
 * every interval-th of them, from the first on; interval <= n. */
typedef struct tni_search {
    const char *sorted;
    int64_t n, step, samples, interval;
    const void *sample;
    const tni_order_rule *rule;
    bool or_equal;
} tni_search;

/* Elements of one width, dense, of any alignment; keys of up to 32 bits are int32_t, others
 * int64_t. */
typedef struct tni_order_elements {
    /* Keys that tell all bits; false: some elements are equal but not the same (-0 and +0, NaNs),
     * and the keys say nothing. */
    bool (*keys)(void *key, const char *x, int64_t n, const tni_order_rule *rule);
    void (*back)(char *x, const void *key, int64_t n, const tni_order_rule *rule);
    /* The smallest and the largest key, in which equal elements are the same; n >= 1. */
    void (*range)(int64_t *range, const char *x, int64_t n, const tni_order_rule *rule);
    /* Such keys as words; at is the index of the first element.  Whether they tell all bits. */
    bool (*words32)(int32_t *word, const char *x, int64_t n, int64_t at,
                    const tni_order_word *form, const tni_order_rule *rule);
    bool (*words64)(int64_t *word, const char *x, int64_t n, int64_t at,
                    const tni_order_word *form, const tni_order_rule *rule);
    /* found[i]: how many of those in order are less than element i of x, or equal. */
    void (*samples)(void *key, const tni_search *s);
    void (*search)(int64_t *found, const char *x, int64_t n, const tni_search *s);
    /* Bit i (of 64 in a word): element i differs from the one before it, which there is; each: or
     * is a NaN. */
    void (*begins)(uint64_t *bits, const char *x, int64_t n, const tni_order_rule *rule,
                   bool each);
} tni_order_elements;

/* Words that are being sorted: n of them at x, in order to `other` if they move, else to x; both
 * have n places.  Words [low, high) of the order take their places, the others are lost.  Words
 * are in order already by their bits below from. */
typedef struct tni_order_run {
    void *x, *other;
    int64_t n, low, high;
    int from;
    bool moves;
} tni_order_run;

/* For words of one width. */
typedef struct tni_order_words {
    void (*sort)(const tni_order_run *r);
    /* One partition: r becomes the run of lower words, rest that of others; n is 0 where none is
     * wanted or all are in order. */
    void (*split)(tni_order_run *r, tni_order_run *rest);
} tni_order_words;

typedef struct tni_order_kernels {
    tni_order_elements elements[4]; /* elements of 1, 2, 4, 8 bytes */
    tni_order_words words[2];       /* words of 4 and 8 bytes */
    /* The one of `bins` equal parts of [low, high] in which x[i] is: trunc((x - low) * by), at most
     * the last; -1 outside. */
    void (*bins)(int64_t *bin, const double *x, int64_t n, double low, double high, double by,
                 int64_t bins);
} tni_order_kernels;

#endif
