/* mesh.c - distributions over a mesh of ranks, whose axes cut axes of the tensor or replicate
 * it. */
#include <limits.h>
#include <string.h>

#include "dist.h"

static tn_status mesh_placement(int i, const tn_placement *p, int extent, int ndim)
{
    if (p->axis == -1)
        return TN_OK;
    if (p->axis < -1 || p->axis >= ndim)
        return tni_fail(TN_EARG, "dist_mesh: placement %d cuts axis %d, the tensor has %d axes",
                        i, p->axis, ndim);
    if (p->cut != TN_CUT_BLOCK && p->cut != TN_CUT_EVEN && p->cut != TN_CUT_CYCLIC)
        return tni_fail(TN_EARG, "dist_mesh: placement %d has unknown cut %d", i, (int)p->cut);
    const bool cyclic = p->cut == TN_CUT_CYCLIC;
    if (cyclic ? p->block < 1 : p->block != 0)
        return tni_fail(TN_EARG, "dist_mesh: placement %d has block %lld, expected %s", i,
                        (long long)p->block, cyclic ? "at least 1" : "0 for this cut");
    if (p->first < 0 || p->first >= (cyclic ? extent : 1))
        return tni_fail(TN_EARG, "dist_mesh: placement %d has first %d, expected 0 to %d", i,
                        p->first, cyclic ? extent - 1 : 0);
    return TN_OK;
}

static tn_status mesh_shape(tn_dist *d, const int64_t *shape, const int *mesh,
                            const tn_placement *placements)
{
    int64_t size, ranks = 1;
    for (int i = 0; i < d->mesh_ndim; i++) {
        if (mesh[i] < 1)
            return tni_fail(TN_EARG,
                            "dist_mesh: axis %d of the mesh has extent %d, expected at least 1",
                            i, mesh[i]);
        TRY(mesh_placement(i, &placements[i], mesh[i], d->ndim));
    }
    for (int i = 0; i < d->ndim; i++)
        if (shape[i] < 0)
            return tni_fail(TN_ESHAPE,
                            "dist_mesh: axis %d has extent %lld, expected at least 0", i,
                            (long long)shape[i]);
    for (int i = d->mesh_ndim - 1; i >= 0; i--) {
        d->mesh[i] = mesh[i];
        d->placements[i] = placements[i];
        d->step[i] = ranks;
        ranks *= mesh[i];
        if (ranks > INT_MAX)
            return tni_fail(TN_EOVERFLOW, "dist_mesh: the mesh has more than %d ranks",
                            INT_MAX);
        if (placements[i].axis < 0)
            d->copies *= mesh[i];
    }
    if (!tni_shape_size(d->ndim, shape, 1, &size))
        return tni_fail(TN_EOVERFLOW, "dist_mesh: more than 2^63 - 1 elements");
    if (d->ndim)
        memcpy(d->shape, shape, (size_t)d->ndim * sizeof *shape);
    d->nranks = (int)ranks;
    return TN_OK;
}

static tn_status mesh_ranks(tn_dist *d, const int *ranks)
{
    const size_t bytes = (size_t)d->nranks * sizeof *ranks;
    d->ranks = tni_alloc(bytes);
    d->positions = tni_alloc(bytes);
    if (!d->ranks || !d->positions)
        return tni_list_full("dist_mesh");
    memcpy(d->ranks, ranks, bytes);
    memset(d->positions, -1, bytes);
    for (int i = 0; i < d->nranks; i++) {
        if (ranks[i] < 0 || ranks[i] >= d->nranks || d->positions[ranks[i]] >= 0)
            return tni_fail(TN_EARG,
                            "dist_mesh: ranks[%d] is %d, expected each of 0 to %d once", i,
                            ranks[i], d->nranks - 1);
        d->positions[ranks[i]] = i;
    }
    return TN_OK;
}

tn_status tn_dist_mesh(tn_dist **d, int ndim, const int64_t *shape, int mesh_ndim,
                       const int *mesh, const tn_placement *placements, const int *ranks)
{
    if (!d || (ndim > 0 && !shape) || (mesh_ndim > 0 && (!mesh || !placements)))
        return tni_fail(TN_ENULL, "dist_mesh: %s is NULL",
                        !d                   ? "d"
                        : ndim > 0 && !shape ? "shape"
                        : !mesh              ? "mesh"
                                             : "placements");
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "dist_mesh: ndim is %d, expected 0 to %d", ndim, TN_MAX_NDIM);
    if (mesh_ndim < 0 || mesh_ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "dist_mesh: mesh_ndim is %d, expected 0 to %d", mesh_ndim,
                        TN_MAX_NDIM);
    tn_dist made = {.ndim = ndim, .mesh_ndim = mesh_ndim, .whole = -1, .copies = 1};
    TRY(mesh_shape(&made, shape, mesh, placements));
    tn_status status = ranks ? mesh_ranks(&made, ranks) : TN_OK;
    tn_dist *box = status == TN_OK ? tni_alloc(sizeof *box) : NULL;
    if (!box) {
        tni_free(made.ranks);
        tni_free(made.positions);
        return status != TN_OK ? status : tni_list_full("dist_mesh");
    }
    *box = made;
    *d = box;
    return TN_OK;
}

tn_status tni_mesh_set(tni_set *out, const tn_dist *d, int64_t position, int axis)
{
    *out = tni_set_range(0, d->shape[axis]);
    for (int i = 0; i < d->mesh_ndim; i++) {
        if (d->placements[i].axis != axis)
            continue;
        tni_set outer = *out;
        tn_status status = tni_set_cut(out, &outer, &d->placements[i], d->mesh[i],
                                       tni_mesh_coordinate(d, position, i));
        tni_set_free(&outer);
        if (status != TN_OK) {
            *out = tni_set_range(0, 0);
            return status;
        }
    }
    return TN_OK;
}

void tni_mesh_copy(const tn_dist *d, int64_t position, int64_t *number, int64_t *zero)
{
    *number = 0;
    *zero = position;
    for (int i = 0; i < d->mesh_ndim; i++) {
        if (d->placements[i].axis >= 0)
            continue;
        const int c = tni_mesh_coordinate(d, position, i);
        *number = *number * d->mesh[i] + c;
        *zero -= c * d->step[i];
    }
}

int64_t tni_mesh_copy_step(const tn_dist *d, int64_t number)
{
    int64_t step = 0;
    for (int i = d->mesh_ndim - 1; i >= 0; i--) {
        if (d->placements[i].axis >= 0)
            continue;
        step += number % d->mesh[i] * d->step[i];
        number /= d->mesh[i];
    }
    return step;
}
