/* axes.c - which axes of an einsum's result and of its sources have the same name.
 *
 * The library has checked the text: what is here only splits it. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static bool has_words(const char *text)
{
    bool name = false, blank = false;
    for (; *text; text++) {
        if (*text == ',' || *text == '-')
            name = blank = false;
        else if (*text == ' ' || *text == '\t' || *text == '\n')
            blank = name;
        else if (is_name(*text)) {
            if (name && blank)
                return true;
            name = true;
            blank = false;
        }
    }
    return false;
}

typedef struct names {
    int n, dots; /* dots: how many stand before "..."; -1: none */
    const char *at[TN_MAX_NDIM];
    int len[TN_MAX_NDIM];
} names;

/* The names of one term, which ends at a ',' or '-' or with the text. */
static const char *read_term(names *t, const char *text, bool words)
{
    t->n = 0;
    t->dots = -1;
    while (*text && *text != ',' && *text != '-') {
        int len = 0;
        if (*text == '.') {
            t->dots = t->n;
            text += 3;
            continue;
        }
        while (is_name(text[len]) && (words || len < 1))
            len++;
        if (len) {
            t->at[t->n] = text;
            t->len[t->n++] = len;
        }
        text += len ? len : 1;
    }
    return text;
}

/* The name of axis i of a tensor, or the number of an axis of "..." counted from its end. */
static const char *axis_name(const names *t, int ndim, int i, int *len)
{
    const int more = ndim - t->n;
    *len = 0;
    if (t->dots >= 0 && i >= t->dots && i < t->dots + more) {
        *len = -(t->dots + more - i);
        return NULL;
    }
    const int k = t->dots >= 0 && i >= t->dots ? i - more : i;
    *len = t->len[k];
    return t->at[k];
}

static bool same_axis(const names *a, int a_ndim, int i, const names *b, int b_ndim, int k)
{
    int x, y;
    const char *p = axis_name(a, a_ndim, i, &x), *q = axis_name(b, b_ndim, k, &y);
    return x == y && (x < 0 || !memcmp(p, q, (size_t)x));
}

static int by_letter(const void *a, const void *b)
{
    return **(const char *const *)a - **(const char *const *)b;
}

/* Without "->": the letters that come once, in order. */
static void imply(names *right, int n, const names *left)
{
    *right = (names){.dots = -1};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < left[k].n; i++) {
            int times = 0;
            for (int o = 0; o < n; o++)
                for (int j = 0; j < left[o].n; j++)
                    times += *left[o].at[j] == *left[k].at[i];
            if (times == 1)
                right->at[right->n++] = left[k].at[i];
        }
    for (int k = 0; k < n; k++)
        right->dots = left[k].dots >= 0 ? 0 : right->dots;
    qsort(right->at, (size_t)right->n, sizeof *right->at, by_letter);
    for (int i = 0; i < right->n; i++)
        right->len[i] = 1;
}

void match_einsum_axes(const char *text, int n, const tn_tensor *const *srcs, int ndim,
                       int *const *of)
{
    names left[TN_EINSUM_SOURCES], right;
    const bool words = has_words(text);
    for (int k = 0; k < n; k++) {
        text = read_term(&left[k], text, words);
        text += *text == ',';
    }
    if (*text == '-')
        read_term(&right, text + 2, words);
    else
        imply(&right, n, left);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < srcs[k]->ndim; i++) {
            of[k][i] = -1;
            for (int o = 0; o < ndim && srcs[k]->shape[i] != 1; o++)
                if (same_axis(&left[k], srcs[k]->ndim, i, &right, ndim, o))
                    of[k][i] = o;
        }
}
