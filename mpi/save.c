/* save.c - saving one file by several ranks, atomically.
 *
 * The file is cut into ranges at multiples of 4 MiB.  Each range is written by one rank: the
 * first of a node, round-robin over the nodes.  The elements arrive in rounds; a round is one
 * range of every writer.  The file has a temporary name until all ranks have synced it. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ranks.h"

/* Cluster file systems lock and stripe in units of up to 4 MiB.  A range has at least four of
 * them, and is long enough that a writer has at most 256 ranges. */
enum { GRAIN = 4 << 20, LEAST_RANGE = 16 << 20, MOST_RANGES = 256 };

typedef struct saver {
    tnm_comm *c;
    const char *path;
    char target[PATH_MAX]; /* rank 0 only: path with symbolic links followed */
    char temp[PATH_MAX + 64];
    int fd;
    int n;
    const tn_dist **ds;
    const tn_tensor **parts; /* this rank's parts of each tensor */
    const char **names;
    tn_tensor *ts; /* dtype and shape of each tensor */
    const tn_tensor **list;
    int64_t *offsets;
    int64_t header_bytes, end;
    tn_status late; /* error while writing, reported once all ranks are done */
    char late_words[512];
} saver;

static tn_status system_fail(const saver *s)
{
    return tnm_fail(TN_EIO, "%.300s: %s", s->path, strerror(errno));
}

/* ---- the order of tensors, and what all ranks must know ---- */

typedef struct save_item {
    int index;
    tn_dtype dtype;
} save_item;

static int wider_first(const void *a, const void *b)
{
    const save_item *x = a, *y = b;
    const size_t v = tn_dtype_size(x->dtype), w = tn_dtype_size(y->dtype);
    return v != w ? (v > w ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

static tn_status save_check(tnm_comm *c, const char *path, int n, const char *const *names,
                            const tn_dist *const *ds, const tn_tensor *const *parts)
{
    if (!path || n < 1 || !ds || !parts)
        return tnm_fail(path && ds && parts ? TN_EARG : TN_ENULL,
                        path && ds && parts ? "mpi_save: %sinvalid number of tensors %d"
                                            : "mpi_save: %s is NULL",
                        !path    ? "path"
                        : !ds    ? "ds"
                        : !parts ? "parts"
                                 : "",
                        n);
    for (int i = 0; i < n; i++) {
        if (!ds[i] || (names && !names[i]) || (n > 1 && !names))
            return tnm_fail(TN_ENULL, "mpi_save: %s %d is NULL", ds[i] ? "name" : "d", i);
        if (tn_dist_ranks(ds[i]) > c->size)
            return tnm_fail(TN_EARG, "mpi_save: d %d has %d ranks, the communicator has %d", i,
                            tn_dist_ranks(ds[i]), c->size);
        if (!parts[i] && tn_dist_parts(ds[i], c->rank) > 0)
            return tnm_fail(TN_ENULL, "mpi_save: parts %d is NULL", i);
    }
    return TN_OK;
}

static tn_status save_agree(tnm_comm *c, const char *path, int n, const char *const *names,
                            const tn_dist *const *ds, const tn_tensor *const *parts,
                            const char *metadata)
{
    tnm_notes notes = {0};
    const tn_status status = save_check(c, path, n, names, ds, parts);
    tnm_note_text(&notes, "call", "mpi_save");
    tnm_note_text(&notes, "path", path);
    tnm_note_number(&notes, "n", n);
    tnm_note_text(&notes, "metadata", metadata);
    if (status == TN_OK) {
        uint64_t all = 1;
        tnm_note_dist(&notes, "the first d", ds[0]);
        for (int i = 0; i < n; i++) {
            all = tnm_mix(all, tn_dist_hash(ds[i]));
            for (const char *s = names ? names[i] : ""; *s; s++)
                all = tnm_mix(all, (unsigned char)*s);
        }
        tnm_note_number(&notes, "the hash of names and distributions", (int64_t)all);
    }
    return tnm_agree(c, status, &notes, NULL);
}

/* Find the dtypes of all tensors, so that ranks without parts know them. */
static tn_status save_dtypes(saver *s, const tn_dist *const *ds, const tn_tensor *const *parts,
                             save_item *items)
{
    tnm_comm *c = s->c;
    tn_status status = TN_OK;
    int *mine = calloc((size_t)s->n * 2, sizeof *mine), *most = mine + s->n;
    TRY(tnm_agree(c, mine ? TN_OK : tnm_fail(TN_ENOMEM, "mpi_save: out of memory"), NULL,
                  NULL));
    for (int i = 0; i < s->n; i++)
        mine[i] = tn_dist_parts(ds[i], c->rank) > 0 ? (int)parts[i][0].dtype : 0;
    MPITRY("mpi_save", MPI_Allreduce(mine, most, s->n, MPI_INT, MPI_MAX, c->comm));
    for (int i = 0; i < s->n; i++) {
        const tn_dtype dtype = (tn_dtype)most[i];
        items[i] = (save_item){i, dtype};
        for (int64_t k = 0; k < tn_dist_parts(ds[i], c->rank) && status == TN_OK; k++)
            if (parts[i][k].dtype != dtype || tn_dtype_size(dtype) == 0)
                status = tnm_fail(TN_EDTYPE, "mpi_save: tensor %d is %s here and %s elsewhere",
                                  i, tn_dtype_name(parts[i][k].dtype), tn_dtype_name(dtype));
    }
    free(mine);
    return tnm_agree(c, status, NULL, NULL);
}

/* ---- the temporary file ---- */

/* The file that a write to path replaces: symbolic links are followed, as in tenon. */
static tn_status target_find(saver *s)
{
    struct stat old;
    const int n = snprintf(s->target, sizeof s->target, "%s", s->path);
    errno = ENAMETOOLONG;
    if (n >= (int)sizeof s->target)
        return system_fail(s);
    if (lstat(s->path, &old) != 0)
        return errno == ENOENT ? TN_OK : system_fail(s);
    if (S_ISLNK(old.st_mode) && (!realpath(s->path, s->target) || stat(s->target, &old) != 0))
        return system_fail(s);
    if (!S_ISREG(old.st_mode))
        return tnm_fail(TN_EIO, "%.300s: not a regular file", s->path);
    return TN_OK;
}

static tn_status temp_make(saver *s, const void *header)
{
    TRY(target_find(s));
    const char *slash = strrchr(s->target, '/');
    const int folder = slash ? (int)(slash - s->target) + 1 : 0;
    snprintf(s->temp, sizeof s->temp, "%.*s.tenon-%ld-%.200s.tmp", folder, s->target,
             (long)getpid(), s->target + folder); /* a name has at most 255 bytes */
    s->fd = open(s->temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (s->fd < 0) {
        s->temp[0] = 0;
        return system_fail(s);
    }
    if (ftruncate(s->fd, s->end) != 0)
        return system_fail(s);
    for (int64_t at = 0; at < s->header_bytes;) {
        ssize_t n =
            pwrite(s->fd, (const char *)header + at, (size_t)(s->header_bytes - at), at);
        if (n < 0 && errno != EINTR)
            return system_fail(s);
        at += n > 0 ? n : 0;
    }
    return TN_OK;
}

/* The first rank of each node writes for it. */
static int writer(const saver *s, int node)
{
    return s->c->members[s->c->node_first[node]];
}

static bool writes(const saver *s)
{
    return s->c->rank == writer(s, s->c->node_of[s->c->rank]);
}

static tn_status temp_open(saver *s)
{
    MPITRY("mpi_save", MPI_Bcast(s->temp, sizeof s->temp, MPI_BYTE, 0, s->c->comm));
    tn_status status = TN_OK;
    if (s->c->rank != 0 && writes(s)) {
        s->fd = open(s->temp, O_WRONLY | O_CLOEXEC);
        if (s->fd < 0)
            status = system_fail(s);
    }
    return tnm_agree(s->c, status, NULL, NULL);
}

/* Write a range, and start its write-back while the ranks move the next one, so that little is
 * left for the final sync. */
static void range_write(saver *s, const char *data, int64_t n, int64_t at)
{
    const int64_t first = at;
    while (n > 0 && s->late == TN_OK) {
        ssize_t k = pwrite(s->fd, data, n < 1 << 30 ? (size_t)n : (size_t)1 << 30, at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            s->late = system_fail(s);
            snprintf(s->late_words, sizeof s->late_words, "%s", tn_error());
            return;
        }
        data += k;
        n -= k;
        at += k;
    }
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(s->fd, first, at - first, SYNC_FILE_RANGE_WRITE); /* only a hint */
#else
    (void)first;
#endif
}

/* ---- ranges as boxes ---- */

/* Express elements [first, last) of a row-major shape as exactly `most` boxes; unused ones are
 * empty. */
static void flat_boxes(int ndim, const int64_t *shape, int64_t first, int64_t last, int most,
                       int64_t *starts, int64_t *extents)
{
    int n = 0;
    memset(starts, 0, (size_t)(most * ndim) * sizeof *starts);
    memset(extents, 0, (size_t)(most * ndim) * sizeof *extents);
    while (first < last) {
        int64_t inner = 1, rest, *start = starts + n * ndim, *extent = extents + n * ndim;
        int level = ndim - 1;
        while (level > 0 && first % (inner * shape[level]) == 0 &&
               last - first >= inner * shape[level])
            inner *= shape[level--];
        rest = first / inner;
        for (int i = ndim - 1; i >= 0; i--) {
            start[i] = i > level ? 0 : rest % shape[i];
            extent[i] = i > level ? shape[i] : 1;
            rest = i > level ? rest : rest / shape[i];
        }
        if (ndim) {
            const int64_t left = shape[level] - start[level];
            extent[level] = (last - first) / inner < left ? (last - first) / inner : left;
            inner *= extent[level];
        }
        first += inner;
        n++;
    }
}

/* The ranges of the file that one tensor occupies: range k is [k, k + 1) * range of the file;
 * round j consists of ranges base + j * writers and up. */
typedef struct rounds {
    int64_t range, base, count;
    int boxes; /* per range */
} rounds;

static rounds rounds_of(const saver *s, const tn_tensor *t, int64_t offset)
{
    const int64_t bytes = tn_nbytes(t);
    rounds b = {.range = LEAST_RANGE, .boxes = 2 * (t->ndim ? t->ndim : 1)};
    const int64_t each = bytes / s->c->nodes / MOST_RANGES;
    if (each > b.range)
        b.range = (each + GRAIN - 1) / GRAIN * GRAIN;
    b.base = offset / b.range / s->c->nodes * s->c->nodes;
    const int64_t last = bytes ? (offset + bytes - 1) / b.range : b.base;
    b.count = (last - b.base) / s->c->nodes + 1;
    return b;
}

/* The elements of a tensor in range k. */
static void range_elements(const tn_tensor *t, int64_t offset, const rounds *b, int64_t k,
                           int64_t *first, int64_t *last)
{
    const int64_t width = (int64_t)tn_dtype_size(t->dtype), n = tn_numel(t);
    *first = (k * b->range - offset) / width;
    *last = ((k + 1) * b->range - offset) / width;
    *first = *first < 0 || k * b->range < offset ? 0 : *first < n ? *first : n;
    *last = *last < 0 ? 0 : *last < n ? *last : n;
}

static tn_status file_dist(const saver *s, const tn_tensor *t, int64_t offset, const rounds *b,
                           tn_dist **d)
{
    const int ndim = t->ndim;
    const int64_t n = b->count * s->c->nodes * b->boxes;
    int *owners = malloc((size_t)n * sizeof *owners);
    int64_t *starts = malloc((size_t)(n * (ndim ? ndim : 1)) * 8);
    int64_t *extents = malloc((size_t)(n * (ndim ? ndim : 1)) * 8);
    tn_status status = TN_OK;
    if (!owners || !starts || !extents)
        status = tnm_fail(TN_ENOMEM, "mpi_save: cannot allocate memory for %lld ranges",
                          (long long)n);
    for (int64_t k = 0, at = 0; status == TN_OK && k < b->count * s->c->nodes; k++) {
        int64_t first, last;
        range_elements(t, offset, b, b->base + k, &first, &last);
        flat_boxes(ndim, t->shape, first, last, b->boxes, starts + at * ndim,
                   extents + at * ndim);
        for (int i = 0; i < b->boxes; i++)
            owners[at++] = writer(s, (int)(k % s->c->nodes));
    }
    if (status == TN_OK && ndim == 0) /* all boxes without extents would hold it */
        status = tn_dist_whole(d, 0, NULL, s->c->size, 0);
    else if (status == TN_OK)
        status = tn_dist_boxes(d, ndim, t->shape, s->c->size, n, owners, starts, extents);
    free(owners);
    free(starts);
    free(extents);
    return status;
}

/* ---- round by round ---- */

/* Describe this writer's boxes of round j, one after the other in the buffer. */
static tn_status round_tensors(const tn_dist *d, int rank, const rounds *b, int64_t j,
                               const tn_tensor *t, char *buffer, tn_tensor *parts)
{
    const int64_t n = tn_dist_parts(d, rank);
    for (int64_t k = j * b->boxes; k < (j + 1) * b->boxes && k < n; k++) {
        int64_t extents[TN_MAX_NDIM];
        TRY(tn_dist_part(d, rank, k, extents));
        TRY(tn_init(&parts[k], buffer, t->dtype, t->ndim, extents));
        buffer += tn_nbytes(&parts[k]);
    }
    return TN_OK;
}

static tn_status round_run(saver *s, tn_mpi_plan *p, const tn_dist *d, const rounds *b, int i,
                           char *buffer, tn_tensor *parts)
{
    const tn_tensor *t = &s->ts[i];
    const bool own = tn_dist_parts(d, s->c->rank) > 0;
    const int own_index = s->c->node_of[s->c->rank];
    for (int64_t j = 0; j < b->count; j++) {
        int64_t first, last;
        p->part_low = j * b->boxes;
        p->part_high = (j + 1) * b->boxes;
        if (own)
            TRY(round_tensors(d, s->c->rank, b, j, t, buffer, parts));
        TRY(tnm_start(p, parts, s->parts[i]));
        if (own)
            TRY(tn_route_keep_parts(p->route, p->part_low, p->part_high, parts, s->parts[i]));
        TRY(tnm_finish(p));
        range_elements(t, s->offsets[i], b, b->base + j * s->c->nodes + own_index, &first,
                       &last);
        if (t->ndim == 0)
            first = 0, last = own && j == 0;
        const int64_t width = (int64_t)tn_dtype_size(t->dtype);
        if (own)
            range_write(s, buffer, (last - first) * width, s->offsets[i] + first * width);
    }
    return TN_OK;
}

static tn_status save_tensor(saver *s, int i)
{
    const tn_tensor *t = &s->ts[i];
    const rounds b = rounds_of(s, t, s->offsets[i]);
    const tn_mpi_options options = {.way = TN_MPI_P2P};
    tn_dist *d = NULL;
    tn_route *route = NULL;
    tn_mpi_plan *plan = NULL;
    tn_tensor buffer = {0};
    tn_status status = file_dist(s, t, s->offsets[i], &b, &d);
    if (status == TN_OK)
        status = tn_route_create(&route, s->c->rank, d, t->dtype, s->ds[i], t->dtype, NULL);
    if (status == TN_OK)
        status = tn_route_keep_parts(route, 0, 0, NULL, s->parts[i]); /* checks src only */
    const int64_t n = tn_dist_parts(d, s->c->rank);
    tn_tensor *parts = calloc((size_t)n + 1, sizeof *parts);
    if (status == TN_OK && !parts)
        status = tnm_fail(TN_ENOMEM, "mpi_save: cannot allocate memory for %lld parts",
                          (long long)n);
    if (status == TN_OK && n > 0)
        status = tn_alloc(&buffer, TN_U8, 1, &b.range);
    status = tnm_agree(s->c, status, NULL, NULL);
    if (status == TN_OK) {
        tnm_about about = {"mpi_save", t->dtype, tn_dist_parts(s->ds[i], s->c->rank), t->ndim,
                           ""};
        status = tnm_plan_make(&plan, s->c, route, &about, &options, tnm_max_bytes(NULL));
    }
    if (status == TN_OK)
        status = round_run(s, plan, d, &b, i, buffer.data, parts);
    if (plan)
        tn_mpi_plan_free(plan);
    else
        tn_route_free(route);
    tn_free(&buffer);
    free(parts);
    tn_dist_free(d);
    return status;
}

/* ---- saving ---- */

/* Sync what this rank has written; then rank 0 renames the file. */
static tn_status save_publish(saver *s)
{
    if (s->fd >= 0 && s->late == TN_OK && fsync(s->fd) != 0) {
        s->late = system_fail(s);
        snprintf(s->late_words, sizeof s->late_words, "%s", tn_error());
    }
    tn_status status = s->late == TN_OK ? TN_OK : tn_set_error(s->late, s->late_words);
    TRY(tnm_agree(s->c, status, NULL, NULL));
    if (s->c->rank == 0) {
        if (rename(s->temp, s->target) != 0) {
            status = system_fail(s);
        } else {
            s->temp[0] = 0;
            char folder[PATH_MAX];
            memcpy(folder, s->target, sizeof folder);
            const int fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (fd >= 0) {
                (void)!fsync(fd);
                close(fd);
            }
        }
    }
    return tnm_agree(s->c, status, NULL, NULL);
}

static tn_status save_layout(saver *s, const char *metadata, void **header)
{
    const tn_write_options options = {.metadata = metadata};
    for (int i = 0; i < s->n; i++) {
        TRY(tn_init(&s->ts[i], NULL, s->ts[i].dtype, tn_dist_ndim(s->ds[i]),
                    tn_dist_shape(s->ds[i])));
        s->list[i] = &s->ts[i];
    }
    TRY(tn_writer_layout(s->path, s->n, s->names, s->list, &options, NULL, 0, &s->header_bytes,
                         s->offsets));
    *header = malloc((size_t)s->header_bytes + 1);
    if (!*header)
        return tnm_fail(TN_ENOMEM, "mpi_save: cannot allocate memory for the header");
    TRY(tn_writer_layout(s->path, s->n, s->names, s->list, &options, *header,
                         (size_t)s->header_bytes, &s->header_bytes, s->offsets));
    s->end = s->offsets[s->n - 1] + tn_nbytes(&s->ts[s->n - 1]);
    return TN_OK;
}

static tn_status save_run(saver *s, const char *metadata)
{
    void *header = NULL;
    tn_status status = save_layout(s, metadata, &header);
    if (status == TN_OK && s->c->rank == 0)
        status = temp_make(s, header);
    free(header);
    TRY(tnm_agree(s->c, status, NULL, NULL));
    TRY(temp_open(s));
    for (int i = 0; i < s->n; i++)
        TRY(save_tensor(s, i));
    return save_publish(s);
}

tn_status tn_mpi_save(MPI_Comm comm, const char *path, int n, const char *const *names,
                      const tn_dist *const *ds, const tn_tensor *const *parts,
                      const char *metadata)
{
    tnm_comm *c;
    TRY(tnm_comm_of(&c, comm, "mpi_save"));
    TRY(save_agree(c, path, n, names, ds, parts, metadata));
    saver s = {.c = c, .path = path, .fd = -1, .n = n};
    const size_t rows = (size_t)n, length = strlen(path);
    save_item *order = malloc(rows * sizeof *order);
    s.ds = malloc(rows * sizeof *s.ds);
    s.parts = malloc(rows * sizeof *s.parts);
    s.names = names ? malloc(rows * sizeof *s.names) : NULL;
    s.ts = malloc(rows * sizeof *s.ts);
    s.list = malloc(rows * sizeof *s.list);
    s.offsets = malloc(rows * sizeof *s.offsets);
    const bool good =
        order && s.ds && s.parts && (s.names || !names) && s.ts && s.list && s.offsets;
    tn_status status =
        tnm_agree(c, good ? TN_OK : tnm_fail(TN_ENOMEM, "mpi_save: out of memory"), NULL, NULL);
    if (status == TN_OK)
        status = save_dtypes(&s, ds, parts, order);
    if (status == TN_OK)
        status = tnm_comm_nodes(c, "mpi_save");
    if (status == TN_OK) {
        if (length > 12 && !strcmp(path + length - 12, ".safetensors"))
            qsort(order, rows, sizeof *order, wider_first);
        for (int i = 0; i < n; i++) {
            s.ds[i] = ds[order[i].index];
            s.parts[i] = parts[order[i].index];
            s.ts[i].dtype = order[i].dtype;
            if (names)
                s.names[i] = names[order[i].index];
        }
        status = save_run(&s, metadata);
    }
    if (s.fd >= 0)
        close(s.fd);
    if (c->rank == 0 && s.temp[0])
        unlink(s.temp);
    free(order);
    free(s.ds);
    free(s.parts);
    free(s.names);
    free(s.ts);
    free(s.list);
    free(s.offsets);
    return status;
}
