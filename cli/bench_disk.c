/* bench_disk.c - jobs on files larger than memory, compared with a direct copy of the same
 * file, as dd does with 8 MiB blocks.
 *
 * Every run begins with an input that is not cached and ends with a result that is on disk.
 * Rounds of copy and job are interleaved; the median of each counts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { BLOCK = 8 << 20, ALIGN = 4096, ROUNDS = 3 };

typedef struct disk {
    const args *a;
    char in[512], out[512];
    int64_t rows, columns; /* of the u32 matrix */
    char *block;           /* aligned */
} disk;

typedef struct disk_case {
    const char *name;
    double goal;
    int64_t max_mem;
    int axes[4]; /* permutation of (64, rows / 64, 32, columns / 32), or of the matrix */
    int ndim;
    tn_dtype to; /* dtype of a cast */
    bool pad;
} disk_case;

/* The goals are fractions of the copy's speed. */
static const disk_case cases[] = {
    {"transpose, 1G", 0.95, INT64_C(1) << 30, {1, 0}, 2, TN_U32, false},
    {"transpose, 256M", 0.80, 256 << 20, {1, 0}, 2, TN_U32, false},
    {"transpose, 64M", 0.60, 64 << 20, {1, 0}, 2, TN_U32, false},
    {"permute 0,2,1,3, 256M", 0.90, 256 << 20, {0, 2, 1, 3}, 4, TN_U32, false},
    {"permute 3,1,0,2, 256M", 0.60, 256 << 20, {3, 1, 0, 2}, 4, TN_U32, false},
    {"pad, 256M", 0.80, 256 << 20, {0, 1}, 2, TN_U32, true},
    {"cast to u64, 256M", 0.80, 256 << 20, {0, 1}, 2, TN_U64, false},
};

static int fail_errno(const char *path)
{
    return fail("%s: %s", path, strerror(errno));
}

/* Drop a file from the page cache. */
static int forget(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return fail_errno(path);
    (void)!fsync(fd);
    (void)!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return DONE;
}

static int copy_blocks(const disk *d, int from, int to)
{
    for (;;) {
        ssize_t n = read(from, d->block, BLOCK);
        if (n < 0)
            return fail_errno(d->in);
        if (n == 0)
            return DONE;
        /* the last block may be partial: switch O_DIRECT off */
        if (n % ALIGN != 0 && fcntl(to, F_SETFL, 0) != 0)
            return fail_errno(d->out);
        if (write(to, d->block, (size_t)n) != n)
            return fail_errno(d->out);
    }
}

static int copy_direct(const disk *d, double *time)
{
    TRY(forget(d->in));
    double start = seconds();
    int from = open(d->in, O_RDONLY | O_DIRECT), to = -1, code = DONE;
    if (from < 0)
        return fail("%s: the file system cannot bypass the page cache", d->in);
    to = open(d->out, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0666);
    code = to < 0 ? fail_errno(d->out) : copy_blocks(d, from, to);
    if (code == DONE && fsync(to) != 0)
        code = fail_errno(d->out);
    if (to >= 0)
        close(to);
    close(from);
    *time = seconds() - start;
    unlink(d->out);
    return code;
}

/* The view of the file's matrix that a case reads. */
static int view_of(const disk *d, const disk_case *c, const tn_file *f, tn_tensor *v)
{
    LIB(tn_file_places(f, 0, v));
    if (c->ndim == 4)
        LIB(tn_reshape(v, v, 4, (int64_t[]){64, d->rows / 64, 32, d->columns / 32}));
    LIB(tn_permute(v, v, c->axes));
    return DONE;
}

static int stream_case(const disk *d, const disk_case *c, const tn_file *f)
{
    static const uint32_t border = 7;
    tn_stream_fill fill = {TN_U32, &border};
    tn_stream_source in = {.file = f};
    tn_stream job = {.n = 1, .sources = &in, .max_mem = c->max_mem};
    TRY(view_of(d, c, f, &in.view));
    int64_t shape[4];
    for (int i = 0; i < c->ndim; i++) {
        shape[i] = in.view.shape[i] + (c->pad ? 2 : 0);
        in.at[i] = c->pad;
    }
    if (c->pad)
        job.args = &fill;
    LIB(tn_init(&job.out, NULL, c->to, c->ndim, shape));
    LIB(tn_writer_open(&job.writer, d->out, 1, NULL, (const tn_tensor *[]){&job.out}, NULL));
    if (tn_stream_run(&job) != TN_OK) {
        int code = fail("%s", tn_error());
        tn_writer_abort(job.writer);
        return code;
    }
    LIB(tn_writer_commit(job.writer));
    return DONE;
}

static int work(const disk *d, const disk_case *c, double *time)
{
    tn_file *f = NULL;
    TRY(forget(d->in));
    double start = seconds();
    LIB(tn_file_open(&f, d->in));
    int code = stream_case(d, c, f);
    tn_file_close(f);
    *time = seconds() - start;
    unlink(d->out);
    return code;
}

static int make_input(disk *d)
{
    tn_tensor t, rows;
    tn_writer *w;
    LIB(tn_init(&t, NULL, TN_U32, 2, (int64_t[]){d->rows, d->columns}));
    LIB(tn_writer_open(&w, d->in, 1, NULL, (const tn_tensor *[]){&t}, NULL));
    tn_status status = TN_OK;
    for (int64_t i = 0; i < d->rows && status == TN_OK;) {
        const int64_t n = BLOCK / 4 / d->columns;
        for (int64_t k = 0; k < BLOCK / 4; k++)
            ((uint32_t *)(void *)d->block)[k] = (uint32_t)(k * 40503 + i);
        status = tn_init(&rows, d->block, TN_U32, 2, (int64_t[]){n, d->columns});
        if (status == TN_OK)
            status = tn_writer_put(w, &rows);
        i += n;
    }
    if (status != TN_OK) {
        int code = fail("%s", tn_error());
        tn_writer_abort(w);
        return code;
    }
    LIB(tn_writer_commit(w));
    return DONE;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int measure_case(const disk *d, int i)
{
    const disk_case *c = &cases[i];
    const int rounds = d->a->quick ? 1 : ROUNDS;
    double copies[ROUNDS], times[ROUNDS];
    for (int k = 0; k < rounds; k++) {
        TRY(copy_direct(d, &copies[k]));
        TRY(work(d, c, &times[k]));
    }
    qsort(copies, (size_t)rounds, sizeof *copies, by_size);
    qsort(times, (size_t)rounds, sizeof *times, by_size);
    const double copy = copies[rounds / 2], time = times[rounds / 2], ratio = copy / time;
    if (d->a->json)
        printf("%s\n  {\"case\": \"%s\", \"goal\": %.2f, \"reached\": %.2f, \"seconds\": %.2f, "
               "\"copy_seconds\": %.2f}",
               i ? "," : "", c->name, c->goal, ratio, time, copy);
    else
        printf("%-24s %6.2f %8.2f %4s %9.2f %9.2f\n", c->name, c->goal, ratio,
               ratio >= c->goal ? "met" : "", time, copy);
    fflush(stdout);
    return DONE;
}

static int measure_disk(const disk *d)
{
    if (d->a->json)
        printf("{\"version\": \"%s\", \"bytes\": %lld, \"cases\": [", tn_version(),
               (long long)(d->rows * d->columns * 4));
    else
        printf("tenon %s, a file of %lld bytes; seconds, and those of a copy that bypasses the "
               "page cache\n%-24s %6s %8s %4s %9s %9s\n",
               tn_version(), (long long)(d->rows * d->columns * 4), "case", "goal", "reached",
               "", "tenon s", "copy s");
    for (int i = 0; i < COUNT(cases); i++)
        TRY(measure_case(d, i));
    if (d->a->json)
        printf("\n]}\n");
    return DONE;
}

int bench_disk(const args *a)
{
    disk d = {.a = a, .rows = a->quick ? 8192 : 32768, .columns = 16384};
    const int n = snprintf(d.in, sizeof d.in, "%s/tenon-bench-in.npy", a->disk);
    if (n < 0 || n >= (int)sizeof d.in)
        return fail("%s: the name is too long", a->disk);
    snprintf(d.out, sizeof d.out, "%s/tenon-bench-out.npy", a->disk);
    d.block = aligned_alloc(ALIGN, BLOCK);
    if (!d.block)
        return fail("cannot allocate %d bytes", BLOCK);
    int code = make_input(&d);
    if (code == DONE)
        code = measure_disk(&d);
    unlink(d.in);
    free(d.block);
    return code;
}
