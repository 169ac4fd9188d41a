/* contract_draw.h - random contractions: letters, extents and dtypes. */
#ifndef CONTRACT_DRAW_H
#define CONTRACT_DRAW_H

#include "contract_oracle.h"
#include "draw.h"

/* Notation in which a case is written. */
typedef enum draw_text {
    DRAW_LETTERS, /* "ij,jk->ik" */
    DRAW_WORDS,   /* "ii jj, jj kk -> ii kk" */
    DRAW_IMPLIED, /* "ij,jk": dst has the letters that occur once, in order */
    DRAW_DOTS     /* dst's first letters become "...", at the end of sources */
} draw_text;

/* A contraction: letters of dst and sources, extents by letter; a source may have 1 for a
 * larger extent. */
typedef struct draw_case {
    int n;
    char letters[1 + TN_EINSUM_SOURCES][16];
    int dots; /* DRAW_DOTS: the number of dst's letters that become "..." */
    int64_t extent[ORACLE_LETTERS];
    tn_dtype dtype[TN_EINSUM_SOURCES], met, dst;
} draw_case;

static inline tn_dtype accumulator(rng *r, tn_dtype met)
{
    static const tn_dtype wide[] = {TN_I16, TN_I32, TN_I64, TN_U32};
    if (tni_is_narrow(met))
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

/* Draw the letters of each source, some shared; dst gets about half of them.  At most `most`
 * products are computed. */
static inline void draw_letters(rng *r, draw_case *c, double most)
{
    static const int64_t usual[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
    const int letters = (int)pick(r, 1, 6);
    double work = 1;
    c->n = next(r) % 8 ? (int)pick(r, 1, 2) : (int)pick(r, 3, TN_EINSUM_SOURCES);
    char name[8];
    for (int i = 0; i < letters; i++) {
        int64_t n = usual[next(r) % 10];
        while (n > 1 && work * (double)n > most)
            n /= 2;
        name[i] = (char)((next(r) % 4 ? 'a' : 'A') + i);
        c->extent[(int)name[i]] = n;
        work *= (double)n;
    }
    bool used[8] = {false};
    for (int k = 1; k <= c->n; k++) {
        int count = 0;
        for (int i = 0; i < letters; i++)
            if (next(r) % 2) {
                c->letters[k][count++] = name[i];
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
            c->letters[0][count++] = name[i];
    c->letters[0][count] = 0;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)pick(r, 0, i);
        const char was = c->letters[0][i];
        c->letters[0][i] = c->letters[0][j];
        c->letters[0][j] = was;
    }
}

/* Set dst's letters as a spec without "->" implies them: those that occur once, capitals
 * first. */
static inline void draw_implied(draw_case *c)
{
    int count = 0;
    for (int letter = 'A'; letter <= 'z'; letter++) {
        int times = 0;
        for (int k = 1; k <= c->n; k++)
            for (const char *p = c->letters[k]; *p; p++)
                times += *p == letter;
        if (times == 1)
            c->letters[0][count++] = (char)letter;
    }
    c->letters[0][count] = 0;
}

/* Move dst's first letters to the end of the sources that have them, in dst's order and without
 * repetition. */
static inline void draw_dots(rng *r, draw_case *c)
{
    c->dots = (int)pick(r, 0, (int64_t)strlen(c->letters[0]));
    for (int k = 1; k <= c->n; k++) {
        char *const l = c->letters[k], all[16];
        int count = 0, ends = 0;
        memcpy(all, l, sizeof all);
        for (const char *p = all; *p; p++)
            if (!memchr(c->letters[0], *p, (size_t)c->dots))
                l[count++] = *p;
        for (int i = 0; i < c->dots; i++) {
            /* "..." is aligned at the end: a source that has one letter has all that follow. */
            if (strchr(all, c->letters[0][i]))
                ends = 1;
            if (ends)
                l[count++] = c->letters[0][i];
        }
        l[count] = 0;
    }
}

static inline char *spec_of_term(const draw_case *c, int k, draw_text how, char *out)
{
    const char *p = c->letters[k];
    const int ends = how == DRAW_DOTS ? c->dots : 0;
    bool said = false;
    for (; *p; p++) {
        const bool dotted = memchr(c->letters[0], *p, (size_t)ends) != NULL;
        if (dotted && !said)
            out += sprintf(out, "...");
        said |= dotted;
        if (!dotted)
            out += sprintf(out, how == DRAW_WORDS ? "%c%c_ " : "%c", *p, *p);
    }
    if (ends && !said && k == 0)
        out += sprintf(out, "...");
    return out;
}

static inline void spec_of(const draw_case *c, draw_text how, char *out)
{
    for (int k = 1; k <= c->n; k++) {
        out = spec_of_term(c, k, how, out);
        out += sprintf(out, k < c->n ? ", " : "");
    }
    *out = 0;
    if (how == DRAW_IMPLIED)
        return;
    out += sprintf(out, " -> ");
    *spec_of_term(c, 0, how, out) = 0;
}

/* Draw a product by matmul's rule: up to two batch axes, of which either source may lack the
 * first ones, and sources with a single axis. */
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
        const int64_t most_here = next(r) % 4 ? 6 : 40, least = next(r) % 16 != 0;
        int64_t n = pick(r, least, most_here);
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
