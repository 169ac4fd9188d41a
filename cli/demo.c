/* demo.c - a tour with files that it creates itself; every line is a command that can be
 * typed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Lines are split at blanks; '_' in a word stands for a blank. */
static const char *const tour[] = {
    "info images.npy",
    "explain rearrange b_h_w_c_->_b_c_h_w images.npy -o chw.npy",
    "rearrange b_h_w_c_->_b_c_h_w images.npy -o chw.npy",
    "cast f32 chw.npy -o wide.npy",
    "op mul wide.npy 0.00392157 -o unit.npy",
    "pad --before 0,0,1,1 --after 0,0,1,1 --mode reflect unit.npy -o padded.npy",
    "slice [0,_:,_:3,_:3] padded.npy -o corner.npy",
    "convert model.safetensors -o model.npz",
    "cast bf16 model.safetensors --tensors *.weight -o small.safetensors",
    "info padded.npy small.safetensors model.npz",
};

static int make_files(void)
{
    int64_t images[] = {8, 224, 224, 3}, w[] = {512, 256}, b[] = {512};
    tn_tensor t, u, v;
    LIB(tn_alloc(&t, TN_U8, 4, images));
    int code = tn_randint(&t, 1, 0, 256) || tn_save("images.npy", &t);
    tn_free(&t);
    if (code)
        return fail("%s", tn_error());
    LIB(tn_alloc(&u, TN_F32, 2, w));
    LIB(tn_alloc(&v, TN_F32, 1, b));
    const char *names[] = {"layer.weight", "layer.bias"};
    const tn_tensor *ts[] = {&u, &v};
    code = tn_randn(&u, 2) || tn_randn(&v, 3) ||
           tn_save_many("model.safetensors", 2, names, ts, "{\"made_by\": \"tenon demo\"}");
    tn_free(&u);
    tn_free(&v);
    return code ? fail("%s", tn_error()) : DONE;
}

static int run_line(const char *line)
{
    char copy[256], *argv[16];
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    printf("\n$ tenon");
    for (char *word = strtok(copy, " "); word && argc < 15; word = strtok(NULL, " ")) {
        for (char *p = word; *p; p++)
            *p = *p == '_' ? ' ' : *p;
        bool quote = strpbrk(word, " >*[") != NULL;
        printf(quote ? " \"%s\"" : " %s", word);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    printf("\n");
    fflush(stdout);
    double start = seconds();
    int code = run_command(argc, argv);
    if (code == DONE && strncmp(line, "info", 4) != 0 && strncmp(line, "explain", 7) != 0)
        printf("(%.1f ms)\n", 1e3 * (seconds() - start));
    return code;
}

/* The padded corner is reflected: elements of the border equal their mirror images. */
static int check(void)
{
    tn_file *f;
    tn_tensor t;
    char text[512];
    LIB(tn_file_open(&f, "corner.npy"));
    if (tn_file_read(f, 0, &t) != TN_OK) {
        tn_file_close(f);
        return fail("%s", tn_error());
    }
    tn_file_close(f);
    bool good = t.ndim == 3;
    for (int64_t c = 0; good && c < t.shape[0]; c++)
        for (int64_t i = 0; i < 3; i++) {
            const float *edge = tn_at(&t, (int64_t[]){c, 0, i});
            const float *inner = tn_at(&t, (int64_t[]){c, 2, i});
            good = good && *edge == *inner;
        }
    if (tn_print(&t, text, sizeof text) == TN_OK)
        printf("\ncorner.npy, reflected at its edges: %s\n%s\n", good ? "yes" : "NO", text);
    tn_free(&t);
    return good ? DONE : fail("the demo's result is wrong");
}

static int tour_in(const char *folder)
{
    if (chdir(folder) != 0)
        return fail("%s: cannot enter folder", folder);
    TRY(make_files());
    for (int i = 0; i < COUNT(tour); i++)
        TRY(run_line(tour[i]));
    return check();
}

int run_demo(const args *a)
{
    char folder[] = "/tmp/tenon-demo-XXXXXX", remove_it[64];
    TRY(need_operands(a, 0));
    if (!mkdtemp(folder))
        return fail("%s: cannot create folder", folder);
    printf("In a temporary folder, %s:\n", folder);
    int code = tour_in(folder);
    snprintf(remove_it, sizeof remove_it, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(remove_it) != 0)
        code = fail("%s: cannot remove folder", folder);
    return code;
}
