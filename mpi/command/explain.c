/* explain.c - what many ranks would do, computed by one process.
 *
 * It makes the routes of a sample of ranks one after the other, as each rank would make its
 * own.  The prediction is a model: a message costs alpha, a node sends beta bytes per second, a
 * rank packs and unpacks PACK bytes per second; nothing overlaps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"

static const double PACK =
    /* Bytes per second of one rank, for copies that exceed the caches. */
    3e9;

/* CPU time of this thread, which excludes other processes. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct sample {
    tn_route_sum most; /* maximum over the ranks of the sample */
    double time;       /* of the slowest planning */
    int ranks;
} sample;

static int sample_ranks(sample *s, int ranks, const tn_dist *dst, tn_dtype dst_dtype,
                        const tn_dist *src, tn_dtype src_dtype, const int *axes)
{
    const int n = ranks < 16 ? ranks : 16;
    for (int i = 0; i < n; i++) {
        tn_route *r = NULL;
        tn_route_sum sum;
        /* All ranks if there are few, else some in a pattern that no mesh has. */
        const int rank = ranks <= 16 ? i : (int)((uint64_t)i * 2654435761u % (unsigned)ranks);
        double time = 1e9;
        for (int again = 0; again < 3; again++) { /* the first touches new memory */
            tn_route_free(r);
            r = NULL;
            const double start = cpu_seconds();
            LIB(tn_route_create(&r, rank, dst, dst_dtype, src, src_dtype, axes));
            const double now = cpu_seconds() - start;
            time = now < time ? now : time;
        }
        LIB(tn_route_info(r, &sum));
        tn_route_free(r);
        s->time = time > s->time ? time : s->time;
        if (sum.sends > s->most.sends)
            s->most.sends = sum.sends;
        if (sum.send_bytes > s->most.send_bytes)
            s->most.send_bytes = sum.send_bytes;
        if (sum.plan_bytes > s->most.plan_bytes)
            s->most.plan_bytes = sum.plan_bytes;
        if (sum.boxes > s->most.boxes)
            s->most.boxes = sum.boxes;
        if (sum.keep_bytes > s->most.keep_bytes)
            s->most.keep_bytes = sum.keep_bytes;
    }
    s->ranks = n;
    return DONE;
}

static void predict(const args *a, const sample *s, double *direct, double *two)
{
    const double alpha = a->alpha ? a->alpha : 2e-6, beta = a->beta ? a->beta : 25e9;
    const double near = (double)(a->per_node < a->ranks ? a->per_node : a->ranks);
    const double nodes = (double)a->ranks / near, bytes = (double)s->most.send_bytes;
    const double wire = nodes > 1 ? bytes * near / beta : 0;
    *direct = (double)s->most.sends * alpha + wire + 2 * bytes / PACK;
    *two = (nodes - 1) / near * alpha + wire + 4 * bytes / PACK;
}

static int print(const args *a, const sample *s, const tn_dist *dst, const tn_dist *src)
{
    char from[200], to[200], each[32], all[32], memory[32];
    double direct, two;
    LIB(tn_dist_print(src, from, sizeof from));
    LIB(tn_dist_print(dst, to, sizeof to));
    predict(a, s, &direct, &two);
    const double one = s->most.sends ? (double)s->most.send_bytes / (double)s->most.sends : 0;
    const bool predicts = a->alpha > 0 || a->beta > 0;
    if (a->json) {
        printf("{\"ranks\": %lld, \"src\": \"%s\", \"dst\": \"%s\", \"plan_seconds\": %.9f, "
               "\"plan_bytes\": %lld, \"messages\": %lld, \"message_bytes\": %.0f, "
               "\"send_bytes\": %lld, \"pieces\": %lld",
               (long long)a->ranks, from, to, s->time, (long long)s->most.plan_bytes,
               (long long)s->most.sends, one, (long long)s->most.send_bytes,
               (long long)s->most.boxes);
        if (predicts)
            printf(", \"direct_seconds\": %.6f, \"two_level_seconds\": %.6f", direct, two);
        printf("}\n");
        return DONE;
    }
    printf("src       %s\ndst       %s\n", from, to);
    printf("plan      %.3f ms, %s; the maximum over %d ranks\n", 1e3 * s->time,
           bytes_text(memory, (double)s->most.plan_bytes), s->ranks);
    printf("messages  %lld of %s from each rank, %s in all; %lld regular pieces\n",
           (long long)s->most.sends, bytes_text(each, one),
           bytes_text(all, (double)s->most.send_bytes), (long long)s->most.boxes);
    if (predicts)
        printf("time      %.4g s direct, %.4g s by two levels; a model, not measured\n", direct,
               two);
    return DONE;
}

/* Check that each axis is named once, because shapes are permuted before the library checks
 * them. */
static int explain_axes(const char *text, int ndim, int *axes)
{
    int n, times[TN_MAX_NDIM + 1] = {0};
    TRY(parse_axes("AXES", text, ndim, axes, &n));
    for (int i = 0; i < n; i++)
        if (axes[i] < 0 || axes[i] >= ndim || times[axes[i]]++)
            return fail("permute \"%s\": expected each axis of 0 to %d once", text, ndim - 1);
    return n == ndim ? DONE : fail("permute: got %d axes for a %d-d tensor", n, ndim);
}

int run_explain(const args *a)
{
    int64_t shape[TN_MAX_NDIM], to[TN_MAX_NDIM];
    int ndim = 0, axes[TN_MAX_NDIM];
    tn_dtype from = TN_F32, out;
    if (!a->shape || a->ranks < 1)
        return usage("explain needs --ranks and --shape");
    TRY(parse_numbers("--shape", a->shape, TN_MAX_NDIM, shape, &ndim));
    if (a->dtype)
        LIB(tn_dtype_parse(&from, a->dtype));
    out = from;
    for (int i = 0; i < ndim; i++)
        axes[i] = i;
    const char *word = a->n > 0 ? a->operands[0] : "convert";
    if (!strcmp(word, "permute") && a->n == 2)
        TRY(explain_axes(a->operands[1], ndim, axes));
    else if (!strcmp(word, "cast") && a->n == 2)
        LIB(tn_dtype_parse(&out, a->operands[1]));
    else if (strcmp(word, "convert") || a->n > 1)
        return usage("explain takes permute AXES, cast DTYPE or convert");
    for (int i = 0; i < ndim; i++)
        to[i] = shape[axes[i]];
    tn_dist *src = NULL, *dst = NULL;
    sample s = {0};
    int code = parse_dist(a->src ? a->src : "block:0", ndim, shape, (int)a->ranks, &src);
    if (code == DONE)
        code = parse_dist(a->dst ? a->dst : "block:0", ndim, to, (int)a->ranks, &dst);
    if (code == DONE)
        code = sample_ranks(&s, (int)a->ranks, dst, out, src, from, axes);
    if (code == DONE)
        code = print(a, &s, dst, src);
    tn_dist_free(src);
    tn_dist_free(dst);
    return code;
}
