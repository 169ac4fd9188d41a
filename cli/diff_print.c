/* diff_print.c - the output of tenon diff: a line for each tensor that differs, and totals. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff.h"

static double cosine(const tn_difference *d)
{
    return d->aa > 0 && d->bb > 0 ? d->ab / sqrt(d->aa) / sqrt(d->bb) : d->aa == d->bb;
}

/* The index of element number `at` of a tensor of this shape: "[1, 0, 5]". */
static const char *index_text(char text[512], const tn_tensor *t, int64_t at)
{
    int64_t index[TN_MAX_NDIM];
    for (int i = t->ndim - 1; i >= 0; i--) {
        index[i] = at % t->shape[i];
        at /= t->shape[i];
    }
    int n = snprintf(text, 512, "[");
    for (int i = 0; i < t->ndim && n < 480; i++)
        n +=
            snprintf(text + n, (size_t)(512 - n), "%s%lld", i ? ", " : "", (long long)index[i]);
    snprintf(text + n, (size_t)(512 - n), "]");
    return text;
}

static void print_kind(const comparison *c, int which, int64_t i)
{
    tn_tensor t;
    char shape[512];
    if (diff_describe(&c->s[which], i, &t))
        printf("%s %s", tn_dtype_name(t.dtype), shape_text(shape, t.ndim, t.shape));
    else
        printf("%s", tn_file_type(c->s[which].f, i));
}

static void print_numbers(const comparison *c, const diff_row *r)
{
    char text[512];
    tn_tensor t;
    const tn_difference *d = &r->d;
    if (d->n == 0 || !diff_describe(&c->s[0], r->a, &t))
        return;
    printf(": %lld of %lld differ, max |a-b| %.6g", (long long)d->unequal, (long long)d->n,
           d->max_abs);
    if (d->at >= 0)
        printf(" at %s", index_text(text, &t, is_complex(t.dtype) ? d->at / 2 : d->at));
    printf(", max relative %.3g, mean %.3g, cosine %.9g", d->max_rel, d->sum_abs / (double)d->n,
           cosine(d));
    if (c->tolerant)
        printf(", %lld beyond", (long long)d->beyond);
    if (d->nan_a || d->nan_b)
        printf(", NaN only in A %lld, only in B %lld", (long long)d->nan_a,
               (long long)d->nan_b);
}

static void print_row(const comparison *c, const diff_row *r)
{
    static const char *const words[] = {"",          "",          "differs  ", "dtype    ",
                                        "shape    ", "only in A", "only in B", "renamed  "};
    printf("%s  ", words[r->what]);
    print_name(r->a >= 0 ? tn_file_name(c->s[0].f, r->a) : tn_file_name(c->s[1].f, r->b));
    printf("  ");
    if (r->what == RENAMED) {
        printf("to ");
        print_name(tn_file_name(c->s[1].f, r->b));
    } else if (r->what == OTHER_DTYPE || r->what == OTHER_SHAPE) {
        print_kind(c, 0, r->a);
        printf(" and ");
        print_kind(c, 1, r->b);
        print_numbers(c, r);
    } else if (r->what == DIFFERS) {
        print_kind(c, 0, r->a);
        print_numbers(c, r);
    } else {
        print_kind(c, r->what == ONLY_B, r->what == ONLY_B ? r->b : r->a);
    }
    printf("\n");
}

void diff_print_text(const comparison *c)
{
    for (int64_t i = 0; i < c->n; i++)
        if (c->rows[i].what > WITHIN)
            print_row(c, &c->rows[i]);
    printf("%lld %s", (long long)c->counts[SAME], c->a->structure ? "alike" : "equal");
    if (c->tolerant)
        printf(", %lld within tolerance", (long long)c->counts[WITHIN]);
    printf(", %lld different, %lld only in A, %lld only in B, %lld renamed\n",
           (long long)(c->counts[DIFFERS] + c->counts[OTHER_DTYPE] + c->counts[OTHER_SHAPE]),
           (long long)c->counts[ONLY_A], (long long)c->counts[ONLY_B],
           (long long)c->counts[RENAMED]);
}

static void print_finite(const char *name, double x)
{
    if (isfinite(x))
        printf(", \"%s\": %.17g", name, x);
    else
        printf(", \"%s\": null", name);
}

void diff_print_json(const comparison *c)
{
    static const char *const words[] = {"equal", "within", "differs", "dtype",
                                        "shape", "only_a", "only_b",  "renamed"};
    printf("{\"equal\": %lld, \"tensors\": [", (long long)c->counts[SAME]);
    for (int64_t i = 0, k = 0; i < c->n; i++) {
        const diff_row *r = &c->rows[i];
        if (r->what == SAME)
            continue;
        printf("%s\n  {\"what\": \"%s\", \"a\": ", k++ ? "," : "", words[r->what]);
        if (r->a >= 0)
            json_text(stdout, tn_file_name(c->s[0].f, r->a));
        else
            printf("null");
        printf(", \"b\": ");
        if (r->b >= 0)
            json_text(stdout, tn_file_name(c->s[1].f, r->b));
        else
            printf("null");
        if (r->d.n) {
            printf(
                ", \"elements\": %lld, \"unequal\": %lld, \"beyond\": %lld, \"nan_a\": %lld, "
                "\"nan_b\": %lld, \"at\": %lld",
                (long long)r->d.n, (long long)r->d.unequal, (long long)r->d.beyond,
                (long long)r->d.nan_a, (long long)r->d.nan_b, (long long)r->d.at);
            print_finite("max_abs", r->d.max_abs);
            print_finite("max_rel", r->d.max_rel);
            print_finite("mean_abs", r->d.sum_abs / (double)r->d.n);
            print_finite("cosine", cosine(&r->d));
        }
        printf("}");
    }
    printf("\n]}\n");
}
