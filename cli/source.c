/* source.c - inputs: files, tensors in files, pipes.
 *
 * Elements stay in the file until a box of the result needs them; only compressed tensors are
 * unpacked beforehand. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* A seekable file with the contents of `from`: the file itself, or an unlinked copy. */
static int spool(int from, const char *who, int *fd)
{
    struct stat s;
    if (fstat(from, &s) == 0 && S_ISREG(s.st_mode)) {
        *fd = dup(from);
        return *fd < 0 ? fail("%s: %s", who, strerror(errno)) : DONE;
    }
    FILE *f = tmpfile();
    if (!f)
        return fail("%s: %s", who, strerror(errno));
    char *part = malloc(1 << 20);
    ssize_t n = part ? 1 : -1;
    while (n > 0) {
        n = read(from, part, 1 << 20);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0 && fwrite(part, 1, (size_t)n, f) != (size_t)n)
            n = -1;
    }
    int code = n == 0 && fflush(f) == 0 ? DONE : fail("%s: %s", who, strerror(errno));
    free(part);
    *fd = code == DONE ? dup(fileno(f)) : -1;
    fclose(f);
    return code;
}

/* True if the first len bytes of word name an existing file; *path becomes a copy of them. */
static bool is_file(const char *word, size_t len, char **path)
{
    struct stat s;
    char *copy = strndup(word, len);
    if (copy && stat(copy, &s) == 0) {
        *path = copy;
        return true;
    }
    free(copy);
    return false;
}

static int find_named(source *s, const char *name)
{
    if (tn_file_find(s->f, name, &s->which) == TN_OK)
        return DONE;
    int code = fail("%s", tn_error());
    close_source(s);
    return code;
}

static int open_pipe(source *s, int from, const char *who, const char *path)
{
    TRY(spool(from, who, &s->fd));
    s->path = strdup(path);
    if (tn_file_open_fd(&s->f, s->fd, who) == TN_OK)
        return DONE;
    int code = fail("%s", tn_error());
    close_source(s);
    return code;
}

/* Open a named pipe, such as the shell makes for <(command). */
static int open_named_pipe(source *s, const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return fail("%s: %s", path, strerror(errno));
    int code = open_pipe(s, from, path, path);
    close(from);
    return code;
}

int open_source(source *s, const char *word)
{
    *s = (source){.which = -1, .fd = -1};
    if (!strcmp(word, "-"))
        return open_pipe(s, STDIN_FILENO, "standard input", word);
    const char *name = NULL;
    struct stat about;
    if (stat(word, &about) == 0 && S_ISFIFO(about.st_mode))
        return open_named_pipe(s, word);
    if (!is_file(word, strlen(word), &s->path))
        for (const char *p = strchr(word, ':'); p && !name; p = strchr(p + 1, ':'))
            if (is_file(word, (size_t)(p - word), &s->path))
                name = p + 1;
    if (!s->path)
        s->path = strdup(word);
    if (tn_file_open(&s->f, s->path) != TN_OK) {
        int code = fail("%s", tn_error());
        close_source(s);
        return code;
    }
    return name ? find_named(s, name) : DONE;
}

void close_source(source *s)
{
    tn_file_close(s->f);
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    *s = (source){.which = -1, .fd = -1};
}

static int reinterpret(const args *a, input *in)
{
    tn_dtype dtype;
    if (!a->dtype)
        return DONE;
    if (tn_dtype_parse(&dtype, a->dtype) != TN_OK)
        return usage(a, "unknown dtype \"%s\"", a->dtype);
    if (tn_dtype_size(dtype) != tn_dtype_size(in->t.dtype))
        return fail("%s: elements are %s of %zu bytes and cannot be read as %s", in->from->path,
                    tn_dtype_name(in->t.dtype), tn_dtype_size(in->t.dtype), a->dtype);
    in->t.dtype = dtype;
    return DONE;
}

static int unpack(input *in)
{
    const source *s = in->from;
    if (in->in_memory) {
        LIB(tn_file_read(s->f, in->i, &in->t));
        return DONE;
    }
    FILE *f = tmpfile();
    in->fd = f ? dup(fileno(f)) : -1;
    int code = in->fd < 0 ? fail("%s: %s", s->path, strerror(errno)) : DONE;
    if (f)
        fclose(f);
    TRY(code);
    LIB(tn_file_unpack(s->f, in->i, in->fd));
    LIB(tn_file_open_fd(&in->unpacked, in->fd, s->path));
    LIB(tn_file_places(in->unpacked, 0, &in->t));
    return DONE;
}

/* True if a tensor without dtype can be dequantised; tested by reading no elements. */
static bool is_quantised(const source *s, int64_t i)
{
    tn_tensor none;
    float nothing;
    int64_t zero = 0;
    int ndim;
    bool is = tn_file_shape(s->f, i, &ndim) &&
              tn_init(&none, &nothing, TN_F32, 1, &zero) == TN_OK &&
              tn_file_dequantize_range(s->f, i, 0, &none) == TN_OK;
    /* restore the message about the type */
    return is || tn_file_info(s->f, i, NULL, &none, NULL) == TN_OK;
}

int open_input(const args *a, input *in, const source *s, int64_t i)
{
    *in = (input){.from = s, .i = i, .fd = -1};
    tn_status status = tn_file_places(s->f, i, &in->t);
    bool packed =
        status == TN_EUNSUPPORTED && tn_file_info(s->f, i, NULL, &in->t, NULL) == TN_OK;
    if (status == TN_EUNSUPPORTED && !packed && a->command->dequantises && is_quantised(s, i)) {
        in->quantised = true;
        int ndim = 0;
        const int64_t *shape = tn_file_shape(s->f, i, &ndim);
        LIB(tn_init(&in->t, NULL, TN_F32, ndim, shape));
        return reinterpret(a, in);
    }
    if (status != TN_OK && !packed)
        return fail("%s", tn_error());
    in->spilled = packed && tn_nbytes(&in->t) > tn_stream_budget(a->max_mem);
    in->in_memory = packed && !in->spilled;
    int code = packed && !a->explain ? unpack(in) : DONE;
    if (code == DONE)
        code = reinterpret(a, in);
    if (code != DONE)
        close_input(in);
    return code;
}

void close_input(input *in)
{
    if (in->in_memory)
        tn_free(&in->t);
    tn_file_close(in->unpacked);
    if (in->fd >= 0)
        close(in->fd);
    *in = (input){.fd = -1};
}

int chosen_tensors(const args *a, const source *s, int64_t **which, int64_t *n)
{
    int64_t count = tn_file_count(s->f);
    *n = 0;
    *which = malloc((size_t)(count ? count : 1) * sizeof **which);
    if (!*which)
        return fail("cannot allocate memory for %lld tensors", (long long)count);
    for (int64_t i = 0; i < count; i++)
        if (s->which >= 0 ? i == s->which
                          : !a->tensors || !fnmatch(a->tensors, tn_file_name(s->f, i), 0))
            (*which)[(*n)++] = i;
    if (!*n && a->tensors)
        return fail("%s: no tensor matches \"%s\"", s->path, a->tensors);
    return DONE;
}

int open_single(const args *a, source *s, input *in, const char *word)
{
    TRY(open_source(s, word));
    if (s->which < 0 && tn_file_count(s->f) != 1) {
        int code = fail("%s has %lld tensors; name one as %s:NAME", s->path,
                        (long long)tn_file_count(s->f), s->path);
        close_source(s);
        return code;
    }
    int code = open_input(a, in, s, s->which < 0 ? 0 : s->which);
    if (code != DONE)
        close_source(s);
    return code;
}
