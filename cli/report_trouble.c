/* report_trouble.c - problems of the tensors of a report: of each tensor, between tensors, and
 * in comparison with other layers. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

const char *const trouble_words[TROUBLES] = {"NaN",
                                             "Inf",
                                             "all zero",
                                             "all equal",
                                             "rows of zeros",
                                             "beyond f16",
                                             "bf16 without spread",
                                             "shares bytes",
                                             "equal tensors",
                                             "other than its layers",
                                             "not read"};

static unsigned own_trouble(const subject *s)
{
    const tn_stats *x = &s->stats;
    unsigned t = s->read ? 0 : TROUBLE_UNREAD;
    if (!s->read || x->n == 0)
        return t;
    const bool flat = x->n > 1 && x->finite == x->n && x->min == x->max;
    const bool wide = s->dtype == TN_F32 || s->dtype == TN_F64 || s->dtype == TN_BF16;
    t |= x->nan ? TROUBLE_NAN : 0;
    t |= x->inf ? TROUBLE_INF : 0;
    t |= x->zeros == x->n ? TROUBLE_ZERO : flat ? TROUBLE_EQUAL : 0;
    t |= s->zero_rows > 0 && x->zeros < x->n ? TROUBLE_ROWS : 0;
    t |= wide && x->finite && fmax(fabs(x->min), fabs(x->max)) > 65504 ? TROUBLE_F16 : 0;
    t |= s->dtype == TN_BF16 && flat && x->zeros < x->n ? TROUBLE_BF16 : 0;
    return t;
}

/* ---- between tensors ---- */

/* A tensor with its sort keys. */
typedef struct entry {
    subject *s;
    const char *path;
    char *key; /* owned */
    int64_t from, to;
} entry;

static int by_bytes(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order ? order : x->from < y->from ? -1 : x->from > y->from;
}

static void find_shared(const report *r, entry *es)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->n; i++) {
        subject *s = &r->list[i];
        const tn_file *f = r->files[s->file].f;
        int64_t offset = -1;
        if (s->bytes <= 0 || tn_file_info(f, s->i, NULL, &(tn_tensor){0}, &offset) != TN_OK ||
            offset < 0)
            continue;
        es[n++] = (entry){s, tn_file_path(f, s->i), NULL, offset, offset + s->bytes};
    }
    qsort(es, (size_t)n, sizeof *es, by_bytes);
    for (int64_t i = 1, widest = 0; i < n; i++) {
        const entry *w = &es[widest];
        if (!strcmp(w->path, es[i].path) && es[i].from < w->to) {
            es[i].s->trouble |= TROUBLE_SHARED;
            w->s->trouble |= TROUBLE_SHARED;
        }
        if (strcmp(w->path, es[i].path) != 0 || es[i].to > w->to)
            widest = i;
    }
}

static int by_hash(const void *a, const void *b)
{
    const subject *x = *(subject *const *)a, *y = *(subject *const *)b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static bool same_kind(const subject *x, const subject *y)
{
    return x->ndim == y->ndim && !strcmp(x->type, y->type) &&
           !memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape);
}

static void find_twins(const report *r, subject **list)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->n; i++)
        if (r->list[i].read && r->list[i].params > 1 &&
            !(r->list[i].trouble & (TROUBLE_ZERO | TROUBLE_EQUAL)))
            list[n++] = &r->list[i];
    qsort(list, (size_t)n, sizeof *list, by_hash);
    for (int64_t i = 1; i < n; i++)
        if (list[i]->hash == list[i - 1]->hash && same_kind(list[i], list[i - 1])) {
            list[i]->trouble |= TROUBLE_TWIN;
            list[i - 1]->trouble |= TROUBLE_TWIN;
        }
}

/* ---- compared with other layers ---- */

/* The name with '#' for each numeric component; NULL: there is none, or out of memory. */
static char *layer_key(const char *name)
{
    char *key = malloc(strlen(name) + 1), *to = key;
    bool any = false;
    for (const char *p = name; key && *p;) {
        size_t n = strcspn(p, "."), digits = strspn(p, "0123456789");
        const bool number = n > 0 && digits == n;
        any = any || number;
        if (number)
            *to++ = '#';
        else
            memcpy(to, p, n), to += n;
        p += n;
        if (*p)
            *to++ = *p++;
    }
    if (key)
        *to = 0;
    if (!any) {
        free(key);
        return NULL;
    }
    return key;
}

static int by_kind(const subject *x, const subject *y)
{
    if (x->ndim != y->ndim)
        return x->ndim < y->ndim ? -1 : 1;
    for (int i = 0; i < x->ndim; i++)
        if (x->shape[i] != y->shape[i])
            return x->shape[i] < y->shape[i] ? -1 : 1;
    return strcmp(x->type, y->type);
}

static int by_layer(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : by_kind(x->s, y->s);
}

/* Among tensors of one key, mark those that differ from the most common dtype and shape. */
static void mark_odd(entry *es, int64_t n)
{
    int64_t best = 0, most = 0;
    for (int64_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && same_kind(es[i].s, es[j].s);)
            j++;
        if (j - i > most) {
            most = j - i;
            best = i;
        }
    }
    for (int64_t i = 0; i < n; i++)
        if (i < best || i >= best + most)
            es[i].s->trouble |= TROUBLE_LAYER;
}

static void find_odd_layers(const report *r, entry *es)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->n; i++) {
        char *key = layer_key(r->list[i].name);
        if (key)
            es[n++] = (entry){.s = &r->list[i], .key = key};
    }
    qsort(es, (size_t)n, sizeof *es, by_layer);
    for (int64_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && !strcmp(es[i].key, es[j].key);)
            j++;
        mark_odd(es + i, j - i);
    }
    for (int64_t i = 0; i < n; i++)
        free(es[i].key);
}

int find_trouble(report *r)
{
    entry *es = malloc((size_t)(r->n + 1) * sizeof *es);
    subject **list = malloc((size_t)(r->n + 1) * sizeof *list);
    int code =
        es && list ? DONE : fail("cannot allocate memory for %lld tensors", (long long)r->n);
    for (int64_t i = 0; i < r->n; i++)
        r->list[i].trouble = own_trouble(&r->list[i]);
    if (code == DONE) {
        find_shared(r, es);
        find_odd_layers(r, es);
        if (r->a->hash)
            find_twins(r, list);
    }
    free(list);
    free(es);
    return code;
}
