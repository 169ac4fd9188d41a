/* fuzz_reader.c - bytes as a file of one format: FUZZ_MAGIC stands at FUZZ_AT, the rest is
 * free.
 *
 * A file that opens is consistent: its tensors lie inside it, are found by their names, are the
 * same read, mapped and fetched backwards, and the same again after they were written.  Memory
 * is bounded by the size of the file, and all of it is given back. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

enum {
    MOST_TENSORS = 20,
    MOST_WRITTEN = 3,
    MOST_ELEMENTS = 2000,
    SLACK = 1 << 20,
    DEFLATE_RATIO = 1032
};

static int in_fd = -1, out_fd = -1;

static void rewrite(int fd, const uint8_t *data, size_t n)
{
    MUST(ftruncate(fd, 0) == 0);
    MUST(lseek(fd, 0, SEEK_SET) == 0);
    MUST(pwrite(fd, data, n, 0) == (ssize_t)n);
}

/* As .npy into another file, and back. */
static void round_trip(const tn_tensor *t)
{
    tn_writer *w = NULL;
    tn_file *f = NULL;
    tn_tensor got;
    rewrite(out_fd, NULL, 0);
    MUST(tn_writer_open_fd(&w, out_fd, "out", t) == TN_OK);
    MUST(tn_writer_put(w, t) == TN_OK);
    MUST(tn_writer_commit(w) == TN_OK);
    MUST(tn_file_open_fd(&f, out_fd, "out") == TN_OK);
    MUST(tn_file_read(f, 0, &got) == TN_OK);
    MUST(same_elements(&got, t));
    tn_free(&got);
    tn_file_close(f);
}

/* The last axis backwards, straight from the file. */
static void fetch_backwards(const tn_file *f, int64_t i, const tn_tensor *t)
{
    tn_tensor places, dst, transposed = *t;
    if (tn_file_places(f, i, &places) != TN_OK)
        return;
    if (t->ndim > 0) {
        MUST(tn_flip(&places, &places, t->ndim - 1) == TN_OK);
        MUST(tn_flip(&transposed, &transposed, t->ndim - 1) == TN_OK);
    }
    MUST(tn_alloc(&dst, t->dtype, t->ndim, t->shape) == TN_OK);
    MUST(tn_file_fetch(f, i, &dst, &places) == TN_OK);
    MUST(same_elements(&dst, &transposed));
    tn_free(&dst);
}

static void use_tensor(const tn_file *f, int64_t i, size_t size)
{
    tn_tensor desc, t, m;
    const char *name = NULL;
    char text[300];
    int64_t offset, found = -1;
    int ndim;
    MUST(tn_file_name(f, i) && tn_file_type(f, i));
    MUST(tn_file_find(f, tn_file_name(f, i), &found) == TN_OK && found == i);
    tn_status status = tn_file_info(f, i, &name, &desc, &offset);
    if (status != TN_OK) {
        /* a damaged member of .npz is listed */
        MUST(status == TN_EUNSUPPORTED ||
             (status == TN_EFORMAT && !strcmp(tn_file_type(f, i), "damaged")));
        MUST(tn_file_read(f, i, &t) == status);
        return;
    }
    MUST(tn_file_shape(f, i, &ndim) && ndim == desc.ndim);
    MUST(offset < 0 || offset + tn_nbytes(&desc) <= (int64_t)size);
    bool mapped = tn_file_map(f, i, &m) == TN_OK;
    status = tn_file_read(f, i, &t);
    MUST(status == TN_OK || status == TN_EFORMAT || status == TN_ENOMEM);
    if (status != TN_OK)
        return;
    if (tn_numel(&t) <= MOST_ELEMENTS) {
        MUST(!mapped || same_elements(&m, &t));
        fetch_backwards(f, i, &t);
    }
    if (tn_numel(&t) <= MOST_ELEMENTS && i < MOST_WRITTEN) {
        round_trip(&t);
        MUST(tn_print(&t, text, sizeof text) == TN_OK && memchr(text, 0, sizeof text));
    }
    tn_free(&t);
}

static void use_file(const char *name, size_t size)
{
    tn_file *f = NULL;
    most = held = 0;
    tn_status status = tn_file_open_fd(&f, in_fd, name);
    MUST(most <= 2 * size + SLACK);
    if (status != TN_OK) {
        MUST(!f && held == 0);
        MUST(status == TN_EFORMAT || status == TN_EUNSUPPORTED);
        MUST(!strncmp(tn_error(), "x: ", 3));
        return;
    }
    for (int64_t i = 0; i < tn_file_count(f) && i < MOST_TENSORS; i++)
        use_tensor(f, i, size);
    tn_file_close(f);
    MUST(held == 0);
    size_t ratio = strcmp(FUZZ_FORMAT, "npz") ? 2 : 2 + DEFLATE_RATIO;
    MUST(most <= ratio * size + 8 * SLACK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = FUZZ_MAGIC;
    if (size < FUZZ_AT + sizeof magic - 1)
        return 0;
    if (in_fd < 0) {
        in_fd = memfd_create("in", MFD_CLOEXEC);
        out_fd = memfd_create("out", MFD_CLOEXEC);
        MUST(in_fd >= 0 && out_fd >= 0);
        use_limit();
    }
    rewrite(in_fd, data, size);
    MUST(pwrite(in_fd, magic, sizeof magic - 1, FUZZ_AT) == sizeof magic - 1);
    use_file("x", size);
    return 0;
}
