/* bench_rearrange.c - tenon_bench_rearrange [--quick] [--all] [--json FILE] [--threads N]
 *                                           [--only WORDS] [--list]
 *
 * How close do copies come to the speed of memory?  Every case is interleaved with memcpy and a
 * streaming copy of the same bytes, with the same threads and pages; R is the better of the
 * two.  A case during which R changes is repeated, and marked unstable if R keeps changing.
 * --all measures every case of the long lists, even if time is short; bench/charts.py draws
 * them.  --wake is for internal use: the program runs itself with it for the group
 * "threads". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "report.h"
#include "wake.h"

/* A group of the report.  One core cannot use all of a fast memory: goal_fast, if not 0, is the
 * goal of the mean while R is above 60 GB/s. */
typedef struct setup {
    const char *key, *title;
    const copy_list *list;
    bool alone, small_pages;
    int offset; /* of dst and src from a line, in bytes; malloc and NumPy return 16 */
    double goal_mean, goal_fast, goal_worst;
    double full, quick; /* seconds */
} setup;

static const setup setups[] = {
    {"f32", "the 57, f32", &list_57_f32, false, false, 0, 0.82, 0.74, 0.55, 60, 4},
    {"f32+16", "the 57, f32, at + 16", &list_57_f32, false, false, 16, 0.74, 0.65, 0.45, 60, 4},
    {"f64", "the 57, f64", &list_57_f64, false, false, 0, 0.77, 0, 0.40, 80, 2.5},
    {"narrow", "narrow and wide elements", &list_narrow, false, false, 0, 0.60, 0, 0, 15, 2},
    {"others", "shapes not among the 57", &list_others, false, false, 0, 0.72, 0, 0, 30, 3},
    {"others+16", "others, at + 16", &list_others, false, false, 16, 0.68, 0, 0, 30, 3},
    {"alone", "the 57, f32", &list_57_f32, true, false, 0, 0.69, 0, 0, 40, 1.5},
    {"alone+16", "the 57, f32, at + 16", &list_57_f32, true, false, 16, 0, 0, 0, 20, 1},
    {"4k", "the 57, f32, 4K pages", &list_57_f32, false, true, 0, 0.80, 0.72, 0.52, 40, 1.5},
    {"4k+16", "the same at + 16", &list_57_f32, false, true, 16, 0, 0, 0, 20, 1},
    {"half", "the 57 of 0.5 MB", &list_57_half_mb, true, false, 0, 0.60, 0, 0, 6, 1},
    {"half+16", "the same at + 16", &list_57_half_mb, true, false, 16, 0, 0, 0, 3, 0.5},
    {"half-all", "the 57 of 0.5 MB", &list_57_half_mb, false, false, 0, 0.60, 0, 0, 6, 1},
    {"2mb", "the 57 of 2 MB", &list_57_2_mb, true, false, 0, 0.60, 0, 0, 6, 1},
    {"2mb-all", "the 57 of 2 MB", &list_57_2_mb, false, false, 0, 0.60, 0, 0, 6, 1},
    {"8mb", "the 57 of 8 MB", &list_57_8_mb, true, false, 0, 0.60, 0, 0, 6, 1},
    {"8mb-all", "the 57 of 8 MB", &list_57_8_mb, false, false, 0, 0.60, 0, 0, 6, 1},
    {"images", "3 channels in the cache", &list_images, true, false, 0, 0.88, 0, 0, 1, 0.3},
    {"cached", "in L1, L2 and L3", &list_cached, true, false, 0, 0, 0, 0, 3, 0.5},
};
enum { SETUPS = sizeof setups / sizeof *setups };

typedef struct options {
    bool quick, all, wake;
    int threads;
    const char *json, *only;
} options;

static double spare; /* seconds left for repeating unstable cases */

/* ---- one case ---- */

typedef struct copy_work {
    tn_tensor dst, src;
} copy_work;

static void run_copy(void *arg)
{
    const copy_work *w = arg;
    MUST(tn_rearrange(&w->dst, &w->src));
}

static copy_work make_work(const copy_case *c, const arena *a)
{
    copy_work w;
    tn_tensor dense;
    int64_t shape[6];
    MUST(tn_init(&dense, a->src, c->dtype, c->ndim, c->shape));
    MUST(tn_permute(&w.src, &dense, c->axes));
    for (int i = 0; i < c->ndim; i++)
        shape[i] = w.src.shape[i];
    MUST(tn_init(&w.dst, a->dst, c->dtype, c->ndim, shape));
    return w;
}

/* Check some elements of the result before it is measured. */
static void check(const copy_case *c, copy_work *w)
{
    run_copy(w);
    uint64_t x = 1;
    for (int i = 0; i < 1000; i++) {
        int64_t index[6];
        for (int k = 0; k < c->ndim; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            index[k] = (int64_t)((x >> 33) % (uint64_t)w->dst.shape[k]);
        }
        if (memcmp(tn_at(&w->dst, index), tn_at(&w->src, index), tn_dtype_size(c->dtype)))
            give_up(c->name, "a wrong element");
    }
}

static figures measure_case(const copy_case *c, const arena *a, int threads, double duration,
                            int least)
{
    copy_work w = make_work(c, a);
    contest k = {run_copy, &w, a->dst, a->src, case_bytes(c), threads, least, duration};
    check(c, &w);
    figures f = measure(&k);
    for (int again = 0; f.moved && again < 3 && spare > 0; again++) {
        double begin = seconds();
        f = measure(&k);
        spare -= seconds() - begin;
    }
    return f;
}

/* ---- groups ---- */

static int least_rounds(const options *o)
{
    return o->quick ? 2 : 4;
}

/* Select one case of every `every`, at changing positions. */
static bool taken(int i, int every)
{
    return i % every == i / every % every;
}

/* Less than 1 if the previous groups took longer than planned. */
static double pace(double planned)
{
    static double begin, before;
    double now = seconds(),
           late = begin > 0 && now - begin > before ? before / (now - begin) : 1;
    begin = begin > 0 ? begin : now;
    before += planned;
    return late;
}

/* Thin out a group to fit its time: 1 for all cases, or one of every 3, 6 or 12. */
static int thin_out(const setup *s, const options *o, const arena *a, int threads)
{
    copy_case c;
    double have = o->quick ? s->quick : s->full, all = 0, begin = seconds();
    have *= pace(have);
    plain_copy(a->dst, a->src, a->bytes, threads);
    double each = (seconds() - begin) / (double)a->bytes;
    for (int i = 0; i < s->list->count; i++) {
        s->list->get(i, &c);
        all += each * (double)case_bytes(&c) * (4 * least_rounds(o) + 2);
    }
    if (o->all || s->list->count < 57 || all < 1.2 * have)
        return 1;
    return all < 3.6 * have ? 3 : all < 7.2 * have ? 6 : 12;
}

static int64_t most_bytes(const copy_list *list)
{
    int64_t most = 0;
    copy_case c;
    for (int i = 0; i < list->count; i++) {
        list->get(i, &c);
        most = case_bytes(&c) > most ? case_bytes(&c) : most;
    }
    return most;
}

static void use_threads(tn_handle **h, int threads)
{
    tn_handle_destroy(*h);
    MUST(tn_handle_create(h, TN_CPU, 0, &(tn_config){.threads = threads}));
    MUST(tn_handle_use(*h));
}

static void run_group(const setup *s, const options *o, const arena *a, group *g)
{
    static tn_handle *handle;
    int threads = s->alone ? 1 : o->threads, every = thin_out(s, o, a, threads);
    use_threads(&handle, threads);
    const arena at = {a->dst + s->offset, a->src + s->offset, a->bytes - s->offset};
    *g = (group){.key = s->key,
                 .goal_mean = s->goal_mean,
                 .goal_fast = s->goal_fast > 0 ? s->goal_fast : s->goal_mean,
                 .goal_worst = s->goal_worst};
    snprintf(g->title, sizeof g->title, "%s, %d thread%s", s->title, threads,
             threads == 1 ? "" : "s");
    print_heading(g);
    double duration = (o->quick ? s->quick : s->full) * every / s->list->count;
    for (int i = 0; i < s->list->count; i++) {
        row *r = &g->rows[g->count];
        if (!taken(i, every))
            continue;
        s->list->get(i, &r->what);
        r->f = measure_case(&r->what, &at, threads, duration, least_rounds(o));
        print_row(r);
        g->count++;
    }
}

/* True if a group is among the comma-separated words of --only. */
static bool asked(const options *o, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = o->only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, key, n) && (at[n] == 0 || at[n] == ','))
            return true;
    return !o->only;
}

static void run_groups(const options *o, report *r)
{
    for (int small = 0; small < 2; small++) {
        int64_t bytes = 0;
        for (int i = 0; i < SETUPS; i++)
            if (setups[i].small_pages == small && asked(o, setups[i].key))
                bytes = most_bytes(setups[i].list) > bytes ? most_bytes(setups[i].list) : bytes;
        if (!bytes)
            continue;
        arena a = arena_make(bytes + 64, !small);
        for (int i = 0; i < SETUPS; i++)
            if (setups[i].small_pages == small && asked(o, setups[i].key))
                run_group(&setups[i], o, &a, &r->group[r->groups++]);
        arena_free(&a);
    }
}

/* ---- calls on 4 x 4 elements ---- */

static float from[16], into[16];
static tn_tensor small_dst, small_src, small_view;
static tn_plan *small_plan;

static void call_rearrange(void *arg)
{
    (void)arg;
    MUST(tn_rearrange(&small_dst, &small_src));
}

static void call_plan(void *arg)
{
    MUST(tn_plan_run(small_plan, into, arg));
}

static void call_unsqueeze(void *arg)
{
    (void)arg;
    MUST(tn_unsqueeze(&small_view, &small_src, 1));
}

static void add_fact(report *r, const char *name, const char *unit, double value, double goal)
{
    r->fact[r->facts++] = (fact){name, unit, value, goal, false};
}

static void run_calls(report *r)
{
    const int64_t shape[] = {4, 4};
    const void *srcs[] = {from};
    MUST(tn_init(&small_dst, into, TN_F32, 2, shape));
    MUST(tn_init(&small_src, from, TN_F32, 2, shape));
    MUST(tn_transpose(&small_src, &small_src, 0, 1));
    MUST(tn_plan_rearrange(&small_plan, &small_dst, &small_src));
    add_fact(r, "tn_rearrange of 4x4 f32", "ns", call_time(call_rearrange, NULL), 70);
    add_fact(r, "tn_plan_run of 4x4 f32", "ns", call_time(call_plan, srcs), 22);
    add_fact(r, "tn_unsqueeze", "ns", call_time(call_unsqueeze, NULL), 0);
    tn_plan_free(small_plan);
}

/* ---- addresses ---- */

static void run_address(const options *o, report *r)
{
    static char worst[128];
    tn_handle *handle = NULL;
    if (!asked(o, "address"))
        return;
    arena a = arena_make(most_bytes(&list_57_f32) + 64, true);
    use_threads(&handle, o->threads);
    const address_result x =
        address_measure(&list_57_f32, o->all ? 1 : 3, &a, o->quick ? 4 : 8);
    snprintf(worst, sizeof worst, "worst of them: %s", x.what);
    r->fact[r->facts++] =
        (fact){"the 57, f32, at any address beside aligned ones, mean", "", x.mean, 0.90, true};
    r->fact[r->facts++] = (fact){worst, "", x.worst, 0.80, true};
    tn_handle_destroy(handle);
    arena_free(&a);
}

/* ---- one thread against several ---- */

static void run_wake(const options *o, report *r, const char *self)
{
    static const struct {
        const char *policy, *title;
    } policies[] = {{"", "as by default"}, {"active", "actively"}, {"passive", "passively"}};
    enum { POLICIES = sizeof policies / sizeof *policies };
    static char names[POLICIES][128];
    for (int i = 0; i < POLICIES && asked(o, "threads"); i++) {
        printf("\nworkers wait %-31s %8s %8s %7s\n", policies[i].title, "us, one", "several",
               "slower");
        const wake_worst w = wake_beside(self, policies[i].policy, o->threads, o->quick);
        snprintf(names[i], sizeof names[i], "slower than one thread, waiting %s: %s",
                 policies[i].title, w.what);
        add_fact(r, names[i], "times", w.ratio, 1.10);
    }
}

/* Compare sizes around a power of two, which should be equally fast. */
static void compare_neighbours(report *r)
{
    double least = 0, most = 0;
    for (int i = 0; i < r->groups; i++)
        for (int k = 0; k < r->group[i].count; k++) {
            const row *x = &r->group[i].rows[k];
            if (strcmp(r->group[i].key, "others") || strncmp(x->what.name, "f32 409", 7))
                continue;
            least = least == 0 || x->f.ratio < least ? x->f.ratio : least;
            most = x->f.ratio > most ? x->f.ratio : most;
        }
    if (least > 0)
        add_fact(r, "4095, 4096 and 4097 squared differ by", "%", 100 * (most / least - 1), 20);
}

/* ---- */

static void print_lists(void)
{
    copy_case c;
    for (int i = 0; i < list_57_f32.count; i++) {
        list_57_f32.get(i, &c);
        for (int k = 0; k < c.ndim; k++)
            printf("%s%lld", k ? "," : "", (long long)c.shape[k]);
        for (int k = 0; k < c.ndim; k++)
            printf("%s%d", k ? "," : " ", c.axes[k]);
        printf(" %s\n", c.name);
    }
}

static int usage(void)
{
    fputs("tenon_bench_rearrange [--quick] [--all] [--json FILE] [--threads N] [--only WORDS] "
          "[--list]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static report r;
    options o = {.threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = argv[i + 1];
        if (!strcmp(word, "--quick"))
            o.quick = true;
        else if (!strcmp(word, "--all"))
            o.all = true;
        else if (!strcmp(word, "--list"))
            return print_lists(), 0;
        else if (!strcmp(word, "--wake"))
            o.wake = true;
        else if (!value)
            return usage();
        else if (!strcmp(word, "--json"))
            o.json = argv[++i];
        else if (!strcmp(word, "--only"))
            o.only = argv[++i];
        else if (!strcmp(word, "--threads") && atoi(value) > 0)
            o.threads = atoi(argv[++i]);
        else
            return usage();
    }
    if (o.wake)
        return wake_measure(o.threads, o.quick), 0;
    r.threads = o.threads;
    spare = o.quick ? 1 : 30;
    cpu_name(r.cpu, sizeof r.cpu);
    printf("tenon %s, kernels %s, %d threads, %s\n", tn_version(), tn_isa(), o.threads, r.cpu);
    run_groups(&o, &r);
    run_address(&o, &r);
    run_calls(&r);
    run_wake(&o, &r, argv[0]);
    compare_neighbours(&r);
    print_summary(&r);
    if (o.json && !write_json(&r, o.json))
        give_up("cannot write", o.json);
    return 0;
}
