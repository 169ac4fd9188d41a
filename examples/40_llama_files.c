/* 40_llama_files.c - a small Llama over InfiniOp's C ABI, its weights in a .safetensors.
 *
 * The program writes random weights to a file, maps the file, and lets the model continue a
 * prompt.  Any other model of this shape works too: the program reads nothing but the file. */
#include <stdlib.h>
#include <unistd.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

#include "llama.h"

enum { NAMES = 32 };

static const llama_shape small = {.layers = 2,
                                  .hidden = 64,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .head = 16,
                                  .ffn = 96,
                                  .vocab = 97,
                                  .context = 32,
                                  .dtype = INFINI_DTYPE_BF16};

/* ---- writing: the model names the weights that it needs ---- */

typedef struct wanted {
    int n;
    char name[NAMES][32];
    tn_tensor t[NAMES];
} wanted;

/* Rotary position embedding: sine or cosine of the angles of each position. */
static void fill_angles(const tn_tensor *t, bool sine)
{
    const int64_t half = (int64_t)small.head / 2;
    float *at = t->data;
    for (int64_t i = 0; i < tn_numel(t); i++) {
        const double angle = (double)(i / half) * pow(1e4, -(double)(i % half) / (double)half);
        at[i] = (float)(sine ? sin(angle) : cos(angle));
    }
}

static const void *want(void *user, const char *name, size_t count)
{
    wanted *w = user;
    const int64_t n = (int64_t)count;
    tn_tensor wide, *t = &w->t[w->n];
    snprintf(w->name[w->n], sizeof w->name[0], "%s", name);
    TN_MUST(tn_alloc(&wide, TN_F32, 1, &n));
    TN_MUST(tn_alloc(t, TN_BF16, 1, &n));
    if (!strcmp(name, "sin") || !strcmp(name, "cos")) {
        fill_angles(&wide, name[0] == 's');
    } else {
        TN_MUST(tn_randn(&wide, (uint64_t)w->n));
        TN_MUST(tn_mul(&wide, &wide, TN_SCALAR_F32(0.12f)));
        if (strstr(name, "norm"))
            TN_MUST(tn_add(&wide, &wide, TN_SCALAR_F32(1)));
    }
    TN_MUST(tn_cast(t, &wide));
    tn_free(&wide);
    return w->t[w->n++].data;
}

static void write_weights(const char *path)
{
    wanted w = {.n = 0};
    const char *names[NAMES];
    const tn_tensor *ts[NAMES];
    llama m;
    llama_begin(&m, &small, want, &w);
    llama_end(&m);
    for (int i = 0; i < w.n; i++) {
        names[i] = w.name[i];
        ts[i] = &w.t[i];
    }
    TN_MUST(tn_save_many(path, w.n, names, ts, "{\"model\": \"a small random Llama\"}"));
    for (int i = 0; i < w.n; i++)
        tn_free(&w.t[i]);
}

/* ---- reading: a weight is a view of the file ---- */

static const void *find(void *user, const char *name, size_t count)
{
    const tn_file *f = user;
    int64_t i;
    tn_tensor t;
    TN_MUST(tn_file_find(f, name, &i));
    TN_MUST(tn_file_map(f, i, &t));
    TN_EXPECT(t.dtype == TN_BF16 && tn_numel(&t) == (int64_t)count);
    return t.data;
}

/* Twelve tokens after the prompt; the first one creates the operators, the others reuse
 * them. */
static void continue_prompt(llama *m, int64_t *out)
{
    static const int64_t prompt[] = {5, 41, 17, 63};
    m->length = 0;
    llama_run(m, prompt, 4);
    for (int i = 0; i < 12; i++) {
        out[i] = llama_choose(m, 0.5f, 1, 1, 1); /* the most likely one */
        llama_run(m, &out[i], 1);
    }
}

int main(void)
{
    char folder[] = "/tmp/tenon-example-XXXXXX", path[64];
    TN_EXPECT(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/llama.safetensors", folder);
    write_weights(path);

    tn_file *f;
    llama m;
    int64_t tokens[12], again[12];
    TN_MUST(tn_file_open(&f, path));
    printf("%lld weights of %s\n", (long long)tn_file_count(f), tn_file_metadata(f));
    llama_begin(&m, &small, find, f);
    continue_prompt(&m, tokens);
    continue_prompt(&m, again);
    printf("tokens:");
    for (int i = 0; i < 12; i++)
        printf(" %lld", (long long)tokens[i]);
    printf("\n");
    TN_EXPECT(!memcmp(tokens, again, sizeof tokens));
    llama_end(&m);
    tn_file_close(f);
    unlink(path);
    rmdir(folder);
    return 0;
}
