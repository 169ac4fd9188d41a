/* bench_dims.c - tenon_bench_dims [--quick] [--threads N] [--only WORD] [--json FILE]
 *
 * Pads, joins, dimension copies and patterns compared with memcpy and a streaming copy of as
 * many bytes; R is the better of the two.  A case during which R changes is repeated, and
 * marked unstable if R keeps changing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "measure.h"
#include "table.h"

enum { JOINED = 8 };

typedef struct options {
    bool quick;
    int threads;
    const char *only, *json;
} options;

/* A piece of work.  R copies the mean of the bytes that it reads and writes. */
typedef struct work {
    char name[80];
    double goal; /* of R; 0: none */
    tn_tensor dst, src[JOINED];
    void (*run)(void *work);
    int64_t width[4];
    int dim;
    tn_pad_mode mode;
    const char *pattern, *sizes;
} work;

static void run_pad(void *arg)
{
    const work *w = arg;
    MUST(tn_pad_into(&w->dst, &w->src[0], w->width, w->width, w->mode, NULL));
}

static void run_squeeze(void *arg)
{
    const work *w = arg;
    MUST(tn_squeeze_into(&w->dst, &w->src[0]));
}

static void run_concat(void *arg)
{
    const work *w = arg;
    const tn_tensor *list[JOINED];
    for (int k = 0; k < JOINED; k++)
        list[k] = &w->src[k];
    MUST(tn_concat(&w->dst, w->dim, JOINED, list));
}

static void run_pattern(void *arg)
{
    const work *w = arg;
    MUST(tn_pattern_into(&w->dst, &w->src[0], w->pattern, w->sizes));
}

static int64_t source_bytes(const work *w)
{
    int64_t bytes = 0;
    for (int k = 0; k < JOINED; k++)
        bytes += w->src[k].ndim > 0 ? tn_nbytes(&w->src[k]) : 0;
    return bytes;
}

/* Place all sources in the arena's src, one after the other. */
static void place(work *w, const arena *a)
{
    char *s = a->src;
    w->dst.data = a->dst;
    for (int k = 0; k < JOINED && w->src[k].ndim > 0; k++) {
        w->src[k].data = s;
        s += tn_nbytes(&w->src[k]);
    }
}

enum { LARGEST = 320 << 20 }; /* bytes */
static arena memory;

static void measure_work(work *w, const options *o)
{
    if (o->only && !strstr(w->name, o->only))
        return;
    const int64_t read = source_bytes(w), written = tn_nbytes(&w->dst);
    if (read > LARGEST || written > LARGEST)
        give_up(w->name, "is larger than its memory");
    place(w, &memory);
    contest k = {w->run,
                 w,
                 memory.dst,
                 memory.src,
                 (read + written) / 2,
                 o->threads,
                 o->quick ? 2 : 6,
                 o->quick ? 0.1 : 0.5};
    figures f = measure(&k);
    for (int again = 0; f.moved && again < (o->quick ? 1 : 4); again++)
        f = measure(&k);
    line l = {.gbs = f.work,
              .goal = w->goal,
              .reached = f.ratio,
              .peer = "R",
              .peer_gbs = f.limit,
              .moved = f.moved};
    snprintf(l.name, sizeof l.name, "%s", w->name);
    table_add(&l);
}

/* ---- cases ---- */

static void pads(const options *o)
{
    static const struct {
        const char *name;
        tn_dtype dtype;
        int ndim;
        int64_t shape[4], width[4];
        bool transposed; /* src is dense along axis 1 */
        bool goal;
    } cases[] = {
        {"(64,64,56,56) f32 by 1", TN_F32, 4, {64, 64, 56, 56}, {0, 0, 1, 1}, false, true},
        {"(64,64,56,56) i8 by 1", TN_I8, 4, {64, 64, 56, 56}, {0, 0, 1, 1}, false, true},
        {"(8,3,224,224) f32 by 1", TN_F32, 4, {8, 3, 224, 224}, {0, 0, 1, 1}, false, true},
        {"(8,3,224,224) i8 by 1", TN_I8, 4, {8, 3, 224, 224}, {0, 0, 1, 1}, false, true},
        {"(8192,8192) f32 by 8", TN_F32, 2, {8192, 8192}, {8, 8}, false, true},
        {"(8,224,224,3) u8 by 3", TN_U8, 4, {8, 224, 224, 3}, {0, 3, 3, 0}, false, false},
        {"(32,56,56,64) f16 by 1", TN_F16, 4, {32, 56, 56, 64}, {0, 1, 1, 0}, false, false},
        {"(32,64,56,56) f32 transposed",
         TN_F32,
         4,
         {32, 64, 56, 56},
         {0, 0, 1, 1},
         true,
         false},
    };
    static const char *const modes[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int mode = 0; mode < 5; mode++) {
            work w = {.run = run_pad, .mode = (tn_pad_mode)mode};
            int64_t whole[4], shape[4];
            for (int i = 0; i < cases[c].ndim; i++) {
                w.width[i] = cases[c].width[i];
                shape[i] = cases[c].shape[i];
                whole[i] = shape[i] + 2 * w.width[i];
            }
            MUST(tn_init(&w.dst, NULL, cases[c].dtype, cases[c].ndim, whole));
            if (cases[c].transposed) {
                const int64_t last[4] = {shape[0], shape[2], shape[3], shape[1]};
                MUST(tn_init(&w.src[0], NULL, cases[c].dtype, 4, last));
                MUST(tn_permute(&w.src[0], &w.src[0], (int[]){0, 3, 1, 2}));
            } else {
                MUST(tn_init(&w.src[0], NULL, cases[c].dtype, cases[c].ndim, shape));
            }
            w.goal = !cases[c].goal ? 0 : mode == TN_PAD_CONSTANT ? 0.8 : 0.7;
            snprintf(w.name, sizeof w.name, "pad %s, %s", cases[c].name, modes[mode]);
            measure_work(&w, o);
        }
}

static void view_again(void *arg)
{
    tn_tensor view = *(const tn_tensor *)arg;
    MUST(tn_squeeze_inplace(&view, 0));
}

static void add_call(const char *name, double ns)
{
    line l = {.ns = ns, .reached = ns};
    snprintf(l.name, sizeof l.name, "%s", name);
    table_add(&l);
}

static void squeezes(const options *o)
{
    work w = {.name = "squeeze 1 M f32", .goal = 0.8, .run = run_squeeze};
    MUST(tn_init(&w.src[0], NULL, TN_F32, 2, (int64_t[]){1, 1 << 20}));
    MUST(tn_init(&w.dst, NULL, TN_F32, 1, (int64_t[]){1 << 20}));
    measure_work(&w, o);
    if (!o->only)
        add_call("squeeze as a view", call_time(view_again, &w.src[0]));
}

static void joins(const options *o)
{
    const int64_t shape[3] = {64, 128, 1024}; /* 32 MB of f32 */
    for (int dim = 0; dim < 3; dim++) {
        work w = {.goal = 0.8, .run = run_concat, .dim = dim};
        int64_t whole[3] = {shape[0], shape[1], shape[2]};
        whole[dim] *= JOINED;
        for (int k = 0; k < JOINED; k++)
            MUST(tn_init(&w.src[k], NULL, TN_F32, 3, shape));
        MUST(tn_init(&w.dst, NULL, TN_F32, 3, whole));
        snprintf(w.name, sizeof w.name, "concat 8 x 32 MB along axis %d", dim);
        measure_work(&w, o);
    }
}

static void patterns(const options *o)
{
    static const struct {
        const char *pattern, *sizes;
        int64_t shape[4];
    } cases[] = {
        {"b h w c -> b c h w", "", {16, 224, 224, 3}},
        {"b (h p) (w q) c -> b h w (p q c)", "p=16 q=16", {16, 224, 224, 3}},
        {"b c h w -> b c (h p) (w q)", "p=2 q=2", {8, 64, 56, 56}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        work w = {.run = run_pattern, .pattern = cases[c].pattern, .sizes = cases[c].sizes};
        int ndim;
        int64_t shape[TN_MAX_NDIM];
        MUST(tn_init(&w.src[0], NULL, TN_F32, 4, cases[c].shape));
        MUST(tn_pattern_shape(w.pattern, w.sizes, &w.src[0], &ndim, shape));
        MUST(tn_init(&w.dst, NULL, TN_F32, ndim, shape));
        snprintf(w.name, sizeof w.name, "%s", w.pattern);
        measure_work(&w, o);
    }
}

int main(int argc, char **argv)
{
    options o = {.threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            o.quick = true;
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            o.threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            o.only = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            o.json = argv[++i];
    tn_handle *h;
    MUST(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = o.threads}));
    MUST(tn_handle_use(h));
    printf("tenon %s, kernels %s, %d threads\n", tn_version(), tn_isa(), o.threads);
    table_begin("pads, joins, patterns");
    memory = arena_make(LARGEST, true);
    pads(&o);
    squeezes(&o);
    joins(&o);
    patterns(&o);
    arena_free(&memory);
    tn_handle_destroy(h);
    if (o.json && !table_json(o.json))
        give_up("cannot write", o.json);
    return 0;
}
