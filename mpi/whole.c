/* whole.c - moving a whole tensor from or to one rank, distributions of boxes, and loading
 * files. */
#include <stdlib.h>

#include "ranks.h"

/* Find the dtype of the parts, so that ranks without parts know it; a rank whose parts differ
 * fails. */
static tn_status parts_dtype(tnm_comm *c, const tn_dist *d, const tn_tensor *parts,
                             const char *call, tn_dtype *dtype)
{
    const int64_t n = tn_dist_parts(d, c->rank);
    int mine = n > 0 ? (int)parts[0].dtype : 0, most = 0;
    MPITRY(call, MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, c->comm));
    tn_status status = TN_OK;
    for (int64_t i = 0; i < n && status == TN_OK; i++)
        if ((int)parts[i].dtype != most)
            status = tnm_fail(TN_EDTYPE, "%s: part %lld is %s, another one is %s", call,
                              (long long)i, tn_dtype_name(parts[i].dtype),
                              tn_dtype_name((tn_dtype)most));
    *dtype = (tn_dtype)most;
    return tnm_agree(c, status, NULL, NULL);
}

static tn_status whole_check(tnm_comm *c, int root, const tn_tensor *whole, const tn_dist *d,
                             const tn_tensor *parts, const char *call)
{
    if (!d)
        return tnm_fail(TN_ENULL, "%s: d is NULL", call);
    if (root < 0 || root >= c->size)
        return tnm_fail(TN_EARG, "%s: root is %d, the communicator has %d ranks", call, root,
                        c->size);
    if (tn_dist_ranks(d) > c->size)
        return tnm_fail(TN_EARG, "%s: d has %d ranks, the communicator has %d", call,
                        tn_dist_ranks(d), c->size);
    if (!parts && tn_dist_parts(d, c->rank) > 0)
        return tnm_fail(TN_ENULL, "%s: parts is NULL", call);
    if (c->rank == root && !whole)
        return tnm_fail(TN_ENULL, "%s: whole is NULL on rank %d, the root", call, root);
    return TN_OK;
}

/* Gather or scatter: the dst of one is the src of the other. */
static tn_status whole_move(MPI_Comm comm, int root, const tn_tensor *whole, const tn_dist *d,
                            const tn_tensor *parts, bool gather, const char *call)
{
    tnm_comm *c;
    TRY(tnm_comm_of(&c, comm, call));
    tnm_notes notes = {0};
    tnm_note_text(&notes, "call", call);
    tnm_note_number(&notes, "root", root);
    tnm_note_dist(&notes, "d", d);
    TRY(tnm_agree(c, whole_check(c, root, whole, d, parts, call), &notes, NULL));
    tn_dtype dtype = TN_BOOL;
    TRY(parts_dtype(c, d, parts, call, &dtype));
    int other = c->rank == root ? (int)whole->dtype : 0;
    MPITRY(call, MPI_Bcast(&other, 1, MPI_INT, root, c->comm));
    tn_dist *one = NULL;
    tn_mpi_plan *plan = NULL;
    TRY(tnm_agree(c, tn_dist_whole(&one, tn_dist_ndim(d), tn_dist_shape(d), c->size, root),
                  NULL, NULL));
    const tn_tensor *own = c->rank == root ? whole : NULL;
    tn_status status =
        gather ? tn_mpi_plan_move(&plan, comm, one, (tn_dtype)other, d, dtype, NULL, NULL)
               : tn_mpi_plan_move(&plan, comm, d, dtype, one, (tn_dtype)other, NULL, NULL);
    if (status == TN_OK)
        status = tn_mpi_run(plan, gather ? own : parts, gather ? parts : own);
    tn_mpi_plan_free(plan);
    tn_dist_free(one);
    return status;
}

tn_status tn_mpi_gather(MPI_Comm comm, int root, const tn_tensor *whole, const tn_dist *d,
                        const tn_tensor *parts)
{
    return whole_move(comm, root, whole, d, parts, true, "mpi_gather");
}

tn_status tn_mpi_scatter(MPI_Comm comm, int root, const tn_dist *d, const tn_tensor *parts,
                         const tn_tensor *whole)
{
    return whole_move(comm, root, whole, d, parts, false, "mpi_scatter");
}

/* ---- boxes ---- */

static tn_status boxes_check(tn_dist **d, int ndim, const int64_t *shape, int64_t nboxes,
                             const int64_t *starts, const int64_t *extents)
{
    const char *call = "mpi_dist_boxes";
    if (!d || (ndim > 0 && !shape) || (nboxes > 0 && ndim > 0 && (!starts || !extents)))
        return tnm_fail(TN_ENULL, "%s: %s is NULL", call,
                        !d                   ? "d"
                        : ndim > 0 && !shape ? "shape"
                        : !starts            ? "starts"
                                             : "extents");
    if (ndim < 0 || ndim > TN_MAX_NDIM || nboxes < 0 || nboxes > INT32_MAX / 1024)
        return tnm_fail(TN_EARG, "%s: invalid ndim %d or number of boxes %lld", call, ndim,
                        (long long)nboxes);
    return TN_OK;
}

/* Collect the lists of all ranks in rank order: owners, starts, extents. */
static tn_status boxes_collect(tnm_comm *c, int ndim, int mine, const int *counts, int *begins,
                               int64_t total, const int64_t *const *own, int *owners,
                               int64_t **all)
{
    int *counts_in = begins + c->size;
    for (int r = 0, at = 0; r < c->size; r++) {
        begins[r] = at * ndim;
        counts_in[r] = counts[r] * ndim;
        for (int k = 0; k < counts[r]; k++)
            owners[at + k] = r;
        at += counts[r];
    }
    (void)total;
    for (int k = 0; k < 2; k++)
        MPITRY("mpi_dist_boxes", MPI_Allgatherv(own[k], mine * ndim, MPI_INT64_T, all[k],
                                                counts_in, begins, MPI_INT64_T, c->comm));
    return TN_OK;
}

tn_status tn_mpi_dist_boxes(tn_dist **d, MPI_Comm comm, int ndim, const int64_t *shape,
                            int64_t nboxes, const int64_t *starts, const int64_t *extents)
{
    tnm_comm *c;
    const char *call = "mpi_dist_boxes";
    TRY(tnm_comm_of(&c, comm, call));
    tn_status status = boxes_check(d, ndim, shape, nboxes, starts, extents);
    tnm_notes notes = {0};
    tnm_note_text(&notes, "call", call);
    if (status == TN_OK)
        tnm_note_shape(&notes, shape, ndim);
    TRY(tnm_agree(c, status, &notes, NULL));
    const int mine = (int)nboxes;
    int *counts = calloc((size_t)c->size * 3, sizeof *counts);
    TRY(tnm_agree(c, counts ? TN_OK : tnm_fail(TN_ENOMEM, "%s: out of memory", call), NULL,
                  NULL));
    MPITRY(call, MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, c->comm));
    int64_t total = 0;
    for (int r = 0; r < c->size; r++)
        total += counts[r];
    const size_t rows = (size_t)total + 1, width = (size_t)(ndim ? ndim : 1);
    int *owners = calloc(rows, sizeof *owners);
    int64_t *all[2] = {calloc(rows * width, 8), calloc(rows * width, 8)};
    const bool good = owners && all[0] && all[1] && total * ndim <= INT32_MAX;
    status =
        tnm_agree(c, good ? TN_OK : tnm_fail(TN_ENOMEM, "%s: out of memory", call), NULL, NULL);
    if (status == TN_OK)
        status = boxes_collect(c, ndim, mine, counts, counts + c->size, total,
                               (const int64_t *const[]){starts, extents}, owners, all);
    if (status == TN_OK) /* the result is the same on all ranks, so all fail alike */
        status =
            tnm_agree(c, tn_dist_boxes(d, ndim, shape, c->size, total, owners, all[0], all[1]),
                      NULL, NULL);
    free(counts);
    free(owners);
    free(all[0]);
    free(all[1]);
    return status;
}

/* ---- loading ---- */

static tn_status load_find(const tn_file *f, const char *path, const char *name, int64_t *i)
{
    if (name)
        return tn_file_find(f, name, i);
    if (tn_file_count(f) != 1)
        return tnm_fail(TN_EARG, "mpi_load: %.200s has %lld tensors, expected a name", path,
                        (long long)tn_file_count(f));
    *i = 0;
    return TN_OK;
}

/* The file is represented by an additional rank, after the others, that has the whole
 * tensor. */
static tn_status load_route(tn_route **route, tnm_comm *c, const tn_dist *d,
                            const tn_tensor *parts, const tn_tensor *stored, const int *axes)
{
    tn_dist *file = NULL;
    const int64_t n = tn_dist_parts(d, c->rank);
    for (int64_t k = 0; k < n; k++)
        if (parts[k].dtype != stored->dtype)
            return tnm_fail(TN_EDTYPE, "mpi_load: part %lld is %s, the file has %s",
                            (long long)k, tn_dtype_name(parts[k].dtype),
                            tn_dtype_name(stored->dtype));
    TRY(tn_dist_whole(&file, stored->ndim, stored->shape, c->size + 1, c->size));
    tn_status status =
        tn_route_create(route, c->rank, d, stored->dtype, file, stored->dtype, axes);
    tn_dist_free(file);
    if (status == TN_OK)
        status = tn_route_check(*route, parts, NULL);
    return status;
}

static tn_status load_read(const tn_file *f, int64_t i, const tn_route *route,
                           const tn_tensor *parts, const tn_tensor *places)
{
    tn_route_sum sum;
    TRY(tn_route_info(route, &sum));
    for (int64_t k = 0; k < sum.boxes && sum.receives > 0; k++) {
        tn_tensor dst, src;
        TRY(tn_route_piece(route, 0, k, parts, places, &dst, &src));
        TRY(tn_file_fetch(f, i, &dst, &src));
    }
    return TN_OK;
}

tn_status tn_mpi_load(MPI_Comm comm, const char *path, const char *name, const tn_dist *d,
                      const tn_tensor *parts, const int *axes)
{
    tnm_comm *c;
    tn_file *f = NULL;
    tn_route *route = NULL;
    tn_tensor places;
    int64_t i = 0;
    TRY(tnm_comm_of(&c, comm, "mpi_load"));
    tn_status status = TN_OK;
    if (!path || !d || (!parts && tn_dist_parts(d, c->rank) > 0))
        status = tnm_fail(TN_ENULL, "mpi_load: %s is NULL",
                          !path ? "path"
                          : !d  ? "d"
                                : "parts");
    if (status == TN_OK && tn_dist_ranks(d) > c->size)
        status = tnm_fail(TN_EARG, "mpi_load: d has %d ranks, the communicator has %d",
                          tn_dist_ranks(d), c->size);
    if (status == TN_OK)
        status = tn_file_open(&f, path);
    if (status == TN_OK)
        status = load_find(f, path, name, &i);
    if (status == TN_OK)
        status = tn_file_places(f, i, &places);
    if (status == TN_OK)
        status = load_route(&route, c, d, parts, &places, axes);
    tnm_notes notes = {0};
    tnm_note_text(&notes, "call", "mpi_load");
    tnm_note_text(&notes, "path", path);
    tnm_note_text(&notes, "name", name);
    tnm_note_dist(&notes, "d", d);
    tnm_note_axes(&notes, status == TN_OK ? axes : NULL, tn_dist_ndim(d));
    status = tnm_agree(c, status, &notes, NULL);
    if (status == TN_OK)
        status = tnm_agree(c, load_read(f, i, route, parts, &places), NULL, NULL);
    tn_route_free(route);
    tn_file_close(f);
    return status;
}
