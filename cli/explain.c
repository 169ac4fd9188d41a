/* explain.c - describing what a command would do, without moving any element. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { INFLATE = 300000000 }; /* bytes per second produced by decompression */

/* Totals over all tensors of a command. */
static struct {
    int64_t n, changed;
    double read, write, time;
} sum;

/* Bytes per second of a copy on this machine, measured briefly. */
static double copy_speed(void)
{
    enum { BYTES = 32 << 20, ROUNDS = 3 };
    static double best;
    if (best > 0)
        return best;
    char *from = malloc(BYTES), *to = malloc(BYTES);
    if (from && to) {
        memset(from, 1, BYTES);
        memset(to, 2, BYTES);
        for (int i = 0; i < ROUNDS; i++) {
            double start = seconds();
            memcpy(to, from, BYTES);
            from[i] = to[i + 1];
            double speed = (double)BYTES / (seconds() - start);
            best = speed > best ? speed : best;
        }
    }
    free(from);
    free(to);
    if (best <= 0)
        best = 1e9;
    return best;
}

/* Bytes of the index of a take, which is kept in memory. */
static double index_bytes(const recipe *r)
{
    return r->job.recipe == TN_STREAM_TAKE ? (double)tn_nbytes(r->take.index) : 0;
}

static void print_inputs(const recipe *r)
{
    char shape[512], bytes[32];
    const input *last = NULL;
    if (r->job.recipe == TN_STREAM_TAKE) {
        const tn_tensor *t = r->take.index;
        printf("  index   %s %s, %s, read into memory first\n", tn_dtype_name(t->dtype),
               shape_text(shape, t->ndim, t->shape), bytes_text(bytes, index_bytes(r)));
    }
    for (int i = 0; i < r->job.n; i++) {
        const input *in = r->inputs[i];
        if (in == last)
            continue;
        last = in;
        if (!in->from) {
            printf("  in      a number as %s\n", tn_dtype_name(in->t.dtype));
            continue;
        }
        const char *own = tn_file_name(in->from->f, in->i), *name = own ? own : "";
        printf("  in      ");
        print_name(in->from->path);
        print_name(*name ? ":" : "");
        print_name(name);
        printf(": %s %s, %s%s\n", tn_dtype_name(in->t.dtype),
               shape_text(shape, in->t.ndim, in->t.shape),
               bytes_text(bytes, (double)tn_nbytes(&in->t)),
               in->in_memory ? ", compressed: read into memory first"
               : in->spilled ? ", compressed: unpacked to a temporary file first"
                             : "");
    }
}

/* Print the first line of the plan of the job in memory and its reason; sort and take have
 * none. */
static void print_plan(const tn_stream *job)
{
    tn_plan *plan = NULL;
    tn_facts facts;
    char text[512];
    if (tn_stream_in_memory(&plan, job) != TN_OK)
        return;
    if (tn_plan_explain(plan, text, sizeof text) == TN_OK &&
        tn_plan_facts(&facts, plan) == TN_OK)
        printf("  plan    %.*s%s%s\n", (int)strcspn(text, "\n"), text, *facts.why ? ": " : "",
               facts.why);
    tn_plan_free(plan);
}

static bool casts(const recipe *r)
{
    return r->job.recipe == TN_STREAM_COPY && r->job.n &&
           r->sources[0].view.dtype != r->job.out.dtype;
}

static void print_boxes(const tn_stream_facts *facts)
{
    const bool reordered = !strcmp(facts->way, "reordered");
    printf("  recipe  %s: %lld box%s of up to %lld elements%s\n", facts->recipe,
           (long long)facts->boxes, facts->boxes == 1 ? "" : "es", (long long)facts->box,
           reordered                               ? ", the source in order in a temporary file"
           : !strcmp(facts->way, "temporary file") ? ", through a temporary file"
                                                   : "");
    printf("  way     %s: %s\n", facts->way, tn_stream_why(facts));
}

static void print_work(const recipe *r, const tn_stream *job, const tn_stream_facts *facts)
{
    int n = r->job.n;
    const char *s = n == 1 ? "" : "s";
    bool copy = r->job.recipe == TN_STREAM_COPY, ordered = !strcmp(facts->way, "in order");
    if (tn_numel(&r->job.out) == 0)
        printf("  recipe  nothing to do: no elements\n");
    else if (r->job.recipe == TN_STREAM_EVAL)
        printf("  recipe  %s over %d operand%s, block by block\n", r->op ? r->op : "eval", n,
               s);
    else if (!copy)
        print_boxes(facts);
    else if (ordered)
        printf("  recipe  a view: the elements are in order, read and written %s\n",
               casts(r) ? "block by block" : "as they are");
    else
        printf("  recipe  a copy: %d piece%s%s\n", n, s,
               r->fill.value ? " into a filled tensor" : "");
    if (casts(r))
        printf("  cast    %s to %s\n", tn_dtype_name(r->sources[0].view.dtype),
               tn_dtype_name(r->job.out.dtype));
    if (n && !ordered && r->job.recipe != TN_STREAM_EVAL)
        print_plan(job);
}

/* Bytes of compressed inputs that are unpacked as a whole to memory or to a temporary file. */
static double unpacked(const recipe *r, bool spilled)
{
    double all = 0;
    const input *last = NULL;
    for (int i = 0; i < r->job.n; last = r->inputs[i++]) {
        const input *in = r->inputs[i];
        if (in != last && in->from && (spilled ? in->spilled : in->in_memory))
            all += (double)tn_nbytes(&in->t);
    }
    return all;
}

/* Bytes read: broadcast axes count once, numbers not at all, compressed tensors as a whole. */
static double bytes_read(const recipe *r)
{
    double all = unpacked(r, false) + unpacked(r, true) + index_bytes(r);
    for (int i = 0; i < r->job.n; i++) {
        const tn_tensor *v = &r->sources[i].view;
        double n = (double)tn_dtype_size(v->dtype);
        for (int k = 0; k < v->ndim; k++)
            n *= v->stride[k] == 0 && v->shape[k] > 1 ? 1 : (double)v->shape[k];
        all += r->inputs[i]->in_memory ? 0 : n;
    }
    return all;
}

/* Bytes written to temporary files of the library, and read from them. */
static double temporary(const recipe *r, const tn_stream_facts *facts)
{
    static const struct {
        const char *way;
        int files;
    } ways[] = {{"two-pass", 1}, {"temporary file", 1}, {"reordered", 2}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(facts->way, ways[i].way))
            return 2.0 * ways[i].files * (double)tn_nbytes(&r->job.out);
    return 0;
}

/* Seconds that short reads of the sources take besides their bytes: a system call for each, or
 * the gap up to the next one if reading that is faster. */
static double short_reads(const recipe *r, const tn_stream_facts *facts)
{
    const double call = 1e-6, span = (double)facts->shortest_read;
    double time = 0;
    for (int i = 0; i < r->job.n && span > 0; i++) {
        const tn_tensor *v = &r->sources[i].view;
        double gap = r->inputs[i]->in_memory ? 0 : INFINITY;
        for (int k = 0; k < v->ndim; k++) {
            const double next = fabs((double)v->stride[k]) - span;
            if (v->shape[k] > 1 && next >= 0 && next < gap)
                gap = next;
        }
        if (isfinite(gap))
            time += (double)tn_nbytes(v) / span * fmin(call, gap / copy_speed());
    }
    return time;
}

/* Predicted seconds: each byte is copied out of the page cache, once in memory, and back into
 * the page cache. */
static double predicted(const recipe *r, const tn_stream_facts *facts)
{
    double out = (double)tn_nbytes(&r->job.out), spilled = unpacked(r, true);
    return (bytes_read(r) + temporary(r, facts) + 2 * out + spilled) / copy_speed() +
           (unpacked(r, false) + spilled) / INFLATE + short_reads(r, facts);
}

static void print_cost(double in, double out, double memory, double time)
{
    char text[32];
    printf("  read    %s\n", bytes_text(text, in));
    printf("  write   %s\n", bytes_text(text, out));
    if (memory > 0)
        printf("  memory  at most %s for elements\n", bytes_text(text, memory));
    printf("  time    about %.2g s from the page cache (memcpy here: %s/s)\n", time + 0.002,
           bytes_text(text, copy_speed()));
}

int explain_count(const args *a, const recipe *r, bool changed)
{
    const tn_stream job = recipe_job(r, a, NULL);
    tn_stream_facts facts;
    LIB(tn_stream_plan(&job, &facts));
    sum.n++;
    sum.changed += changed;
    sum.read += bytes_read(r);
    sum.write += (double)tn_nbytes(&r->job.out);
    sum.time += predicted(r, &facts);
    return DONE;
}

void explain_sum(const args *a)
{
    if (sum.n < 2 || a->json)
        return;
    printf("all %lld tensors, %lld of them as above\n", (long long)sum.n,
           (long long)sum.changed);
    print_cost(sum.read, sum.write, 0, sum.time);
}

int explain_expr(const args *a, const tn_expr *expr, const tn_tensor *out, int n,
                 const tn_tensor *const *ts)
{
    tn_plan *plan;
    tn_tensor bare[TN_EXPR_NAMES];
    const tn_tensor *srcs[TN_EXPR_NAMES];
    for (int k = 0; k < n; k++) {
        bare[k] = *ts[k];
        bare[k].data = NULL;
        srcs[k] = &bare[k];
    }
    LIB(tn_plan_expr(&plan, expr, out, n, srcs));
    char text[8192];
    const tn_status status = a->json ? tn_plan_json(plan, text, sizeof text)
                                     : tn_plan_explain(plan, text, sizeof text);
    tn_plan_free(plan);
    LIB(status);
    fputs(text, stdout);
    if (a->json)
        putchar('\n');
    return DONE;
}

/* ---- JSON ---- */

void json_tensor(const char *path, const char *name, const tn_tensor *t)
{
    printf("{\"path\": ");
    json_text(stdout, path ? path : "");
    if (name) {
        printf(", \"name\": ");
        json_text(stdout, name);
    }
    printf(", \"dtype\": \"%s\", \"shape\": [", tn_dtype_name(t->dtype));
    for (int i = 0; i < t->ndim; i++)
        printf("%s%lld", i ? ", " : "", (long long)t->shape[i]);
    printf("], \"bytes\": %lld}", (long long)tn_nbytes(t));
}

static void json_inputs(const recipe *r)
{
    const input *last = NULL;
    printf(", \"in\": [");
    for (int i = 0; i < r->job.n; i++) {
        const input *in = r->inputs[i];
        if (in == last)
            continue;
        fputs(last ? ", " : "", stdout);
        const char *name = in->from ? tn_file_name(in->from->f, in->i) : "";
        json_tensor(in->from ? in->from->path : "", name ? name : "", &in->t);
        last = in;
    }
    printf("]");
}

/* One object on one line: the facts of the stream, and the plan of the job in memory or
 * null. */
static int explain_json(const args *a, const recipe *r, const tn_stream *job,
                        const tn_stream_facts *facts)
{
    char stream[1024], text[8192] = "null";
    tn_plan *plan = NULL;
    LIB(tn_stream_facts_json(facts, stream, sizeof stream));
    if (job && tn_stream_in_memory(&plan, job) == TN_OK) {
        const tn_status status = tn_plan_json(plan, text, sizeof text);
        tn_plan_free(plan);
        LIB(status);
    }
    printf("{\"command\": \"%s\"", a->command->name);
    json_inputs(r);
    if (job) {
        printf(", \"out\": ");
        json_tensor(a->out, NULL, &r->job.out);
    }
    printf(", \"stream\": %s, \"plan\": %s}\n", stream, text);
    return DONE;
}

/* ---- a job ---- */

static void print_head(const args *a, const char *name)
{
    printf("%s%s", a->command->name, *name ? " of " : "");
    print_name(name);
    printf("\n");
}

static int print_disk(const tn_stream *job, const tn_stream_facts *facts)
{
    char all[1024], text[32];
    LIB(tn_stream_explain(job, all, sizeof all));
    const char *time = strstr(all, "about ");
    printf("  disk    %s: reads of %s, %lld in flight, %s%s%s", facts->way,
           bytes_text(text, (double)facts->shortest_read), (long long)facts->queue,
           !strcmp(facts->way, "two-pass") ? "through a temporary file of the input's size"
           : facts->buffers > 1            ? "two boxes"
                                           : "one box",
           time ? "; at 1.4 GB/s " : "", time ? time : "\n");
    return DONE;
}

int explain_recipe(const args *a, const recipe *r, const char *name, const char *path)
{
    char shape[512], text[32];
    tn_stream job = recipe_job(r, a, NULL);
    tn_stream_facts facts;
    LIB(tn_stream_plan(&job, &facts));
    if (a->json)
        return explain_json(a, r, &job, &facts);
    bool there = path && !a->force && strcmp(path, "-") != 0 && access(path, F_OK) == 0;
    print_head(a, name);
    print_inputs(r);
    printf("  out     ");
    print_name(path ? path : "(no -o)");
    printf(": %s %s, %s%s\n", tn_dtype_name(r->job.out.dtype),
           shape_text(shape, r->job.out.ndim, r->job.out.shape),
           bytes_text(text, (double)tn_nbytes(&r->job.out)),
           there ? "; already exists, needs -f" : "");
    print_work(r, &job, &facts);
    if (facts.queue)
        TRY(print_disk(&job, &facts));
    print_cost(bytes_read(r), (double)tn_nbytes(&r->job.out),
               (double)facts.memory + unpacked(r, false) + index_bytes(r),
               predicted(r, &facts));
    return DONE;
}

int explain_stats(const args *a, const recipe *r, const char *name)
{
    const tn_stream job = recipe_job(r, a, NULL);
    tn_stream_facts facts;
    LIB(tn_stream_stats_plan(&job, a->bins, &facts));
    if (a->json)
        return explain_json(a, r, NULL, &facts);
    const double read = facts.read ? (double)facts.read : bytes_read(r);
    print_head(a, name);
    print_inputs(r);
    print_boxes(&facts);
    print_cost(read, 0, (double)facts.memory + unpacked(r, false),
               read / copy_speed() + short_reads(r, &facts));
    return DONE;
}
