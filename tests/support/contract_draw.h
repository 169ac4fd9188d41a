/* contract_draw.h - random contractions: letters, extents and dtypes. */
#ifndef CONTRACT_DRAW_H
#define CONTRACT_DRAW_H

#include "contract_oracle.h"
#include "draw.h"

/* Extents of letters from the sources; a source may have 1 where others have more. */
typedef struct draw_case {
    int n;
    char letters[1 + TN_EINSUM_SOURCES][16];
    int64_t extent[ORACLE_LETTERS];
    tn_dtype dtype[TN_EINSUM_SOURCES], met, dst;
} draw_case;

static inline tn_dtype accumulator(rng *r, tn_dtype met)
{
    static const tn_dtype wide[] = {TN_I16, TN_I32, TN_I64, TN_U32};
    if (met >= TN_F8E4M3 && met <= TN_BF16)
        return next(r) % 2 ? TN_F32 : met;
    tn_dtype to = wide[next(r) % 4], both;
    if (tni_dtypes[met].kind <= TNI_UNSIGNED && next(r) % 2 &&
        tn_promote(&both, met, to) == TN_OK && both == to)
        return to;
    return met;
}

static inline void draw_dtypes(rng *r, draw_case *c)
{
    for (;;) {
        const tn_dtype one = pick_dtype(r);
        c->met = c->dtype[0] = one;
        bool meets = true;
        for (int k = 1; k < c->n; k++) {
            c->dtype[k] = next(r) % 4 ? one : pick_dtype(r);
            tn_dtype with = c->met;
            meets = meets && tn_promote(&c->met, with, c->dtype[k]) == TN_OK;
        }
        if (meets)
            break;
    }
    c->dst = accumulator(r, c->met);
}

/* Letters of each source, some shared; dst gets about half of them.  At most `most` products. */
static inline void draw_letters(rng *r, draw_case *c, double most)
{
    static const int64_t usual[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
    const int letters = (int)pick(r, 1, 6);
    double work = 1;
    c->n = next(r) % 8 ? (int)pick(r, 1, 2) : (int)pick(r, 3, 5);
    for (int i = 0; i < letters; i++) {
        int64_t n = usual[next(r) % 10];
        while (n > 1 && work * (double)n > most)
            n /= 2;
        c->extent['a' + i] = n;
        work *= (double)n;
    }
    bool used[8] = {false};
    for (int k = 1; k <= c->n; k++) {
        int count = 0;
        for (int i = 0; i < letters; i++)
            if (next(r) % 2) {
                c->letters[k][count++] = (char)('a' + i);
                used[i] = true;
            }
        if (count && count < 8 && next(r) % 16 == 0) /* a diagonal */
            c->letters[k][count++] = c->letters[k][0];
        c->letters[k][count] = 0;
        for (int i = count - 1; i > 0; i--) {
            const int j = (int)pick(r, 0, i);
            const char was = c->letters[k][i];
            c->letters[k][i] = c->letters[k][j];
            c->letters[k][j] = was;
        }
    }
    int count = 0;
    for (int i = 0; i < letters; i++)
        if (used[i] && next(r) % 5 > 1)
            c->letters[0][count++] = (char)('a' + i);
    c->letters[0][count] = 0;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)pick(r, 0, i);
        const char was = c->letters[0][i];
        c->letters[0][i] = c->letters[0][j];
        c->letters[0][j] = was;
    }
}

static inline void spec_of(const draw_case *c, bool words, char *out)
{
    for (int k = 1; k <= c->n + 1; k++) {
        for (const char *p = c->letters[k % (c->n + 1)]; *p; p++)
            out += sprintf(out, words ? "%c%c " : "%c", *p, *p);
        out += sprintf(out, k < c->n ? ", " : k == c->n ? " -> " : "");
    }
}

/* The letters of a product by matmul's rule: up to two batch axes, of which either source may lack
 * the first ones, and sources of one axis. */
static inline void draw_matmul(rng *r, draw_case *c, double most)
{
    static const char batch[] = "xy";
    const int skip[2] = {(int)pick(r, 0, 2), (int)pick(r, 0, 2)};
    const bool flat[2] = {next(r) % 8 == 0, next(r) % 8 == 0};
    const int first = flat[0]             ? skip[1]
                      : flat[1]           ? skip[0]
                      : skip[0] < skip[1] ? skip[0]
                                          : skip[1];
    double work = 1;
    c->n = 2;
    for (const char *l = "jikyx"; *l; l++) {
        int64_t n = pick(r, next(r) % 16 != 0, next(r) % 4 ? 6 : 40);
        while (n > 1 && work * (double)n > most)
            n /= 2;
        c->extent[(int)*l] = n;
        work *= n ? (double)n : 1;
    }
    snprintf(c->letters[1], sizeof c->letters[1], "%s%s", flat[0] ? "" : batch + skip[0],
             flat[0] ? "k" : "ik");
    snprintf(c->letters[2], sizeof c->letters[2], "%s%s", flat[1] ? "" : batch + skip[1],
             flat[1] ? "k" : "kj");
    snprintf(c->letters[0], sizeof c->letters[0], "%s%s%s",
             flat[0] && flat[1] ? "" : batch + first, flat[0] ? "" : "i", flat[1] ? "" : "j");
}

#endif
