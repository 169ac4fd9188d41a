/* show.c - printing the elements of tensors; long axes are abbreviated. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "image.h"

enum { CAPACITY = 1 << 20 };

/* Print a tensor, mapped if possible: only the elements shown are read. */
static int show(const source *s, const input *in, char *text)
{
    char shape[512];
    tn_tensor t;
    const tn_file *f = in->spilled ? in->unpacked : s->f;
    int64_t i = in->spilled ? 0 : in->i;
    bool mapped = !in->in_memory && tn_file_map(f, i, &t) == TN_OK;
    if (in->in_memory)
        t = in->t;
    else if (!mapped)
        LIB(tn_file_read(f, i, &t));
    t.dtype = in->t.dtype;
    int code = tn_print(&t, text, CAPACITY) == TN_OK ? DONE : fail("%s", tn_error());
    if (code == DONE) {
        print_name(s->path);
        print_name(s->which < 0 ? "" : ":");
        print_name(s->which < 0 ? "" : tn_file_name(s->f, in->i));
        printf(": %s %s\n%s\n", tn_dtype_name(t.dtype), shape_text(shape, t.ndim, t.shape),
               text);
    }
    if (!mapped && !in->in_memory)
        tn_free(&t);
    return code;
}

/* Show the tensors that --tensors chooses, or the only one. */
static int show_word(const args *a, const char *word, char *text)
{
    source s;
    input in;
    int64_t *which = NULL, n = 0;
    TRY(open_source(&s, word));
    int code = chosen_tensors(a, &s, &which, &n);
    if (code == DONE && !a->tensors && n != 1)
        code = fail("%s has %lld tensors; name one as %s:NAME, or choose some with --tensors",
                    s.path, (long long)n, s.path);
    bool named = s.which >= 0 || a->tensors;
    for (int64_t i = 0; i < n && code == DONE; i++) {
        s.which = named ? which[i] : -1;
        code = open_input(a, &in, &s, which[i]);
        if (code == DONE)
            code = a->image ? show_image(a, &in) : show(&s, &in, text);
        close_input(&in);
    }
    free(which);
    close_source(&s);
    return code;
}

int run_show(const args *a)
{
    char *text = malloc(CAPACITY);
    int code = text ? DONE : fail("out of memory");
    if (code == DONE && a->n == 0)
        code = usage(a, "missing argument: FILE");
    if (code == DONE && a->image && (a->n > 1 || a->tensors))
        code = usage(a, "--image takes one tensor");
    if (code == DONE && a->image && fnmatch("*.png", a->image, FNM_CASEFOLD) != 0)
        code = usage(a, "--image writes a .png, got %s", a->image);
    for (int i = 0; i < a->n && code == DONE; i++)
        code = show_word(a, a->operands[i], text);
    free(text);
    return code;
}
