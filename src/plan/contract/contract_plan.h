/* contract_plan.h - the plan of one product of two tensors, of which chains are made.
 *
 * A product is dst[batch, rows, cols] = alpha * sum over depth of left[batch, rows, depth] *
 * right[batch, depth, cols] + beta * addend[batch, rows, cols], where each of the four roles is
 * any number of axes.  Steps are in bytes, and 0 if an operand lacks the axis. */
#ifndef TNI_CONTRACT_PLAN_H
#define TNI_CONTRACT_PLAN_H

#include <tenon/contract.h>

#include "kernels/kernels.h"

enum { TNI_DST, TNI_LEFT, TNI_RIGHT, TNI_ADDEND, TNI_SIDES };
enum { TNI_BATCH, TNI_ROWS, TNI_COLS, TNI_DEPTH, TNI_ROLES };

typedef struct tni_contract_axis {
    int64_t n;
    int64_t step[TNI_SIDES];
} tni_contract_axis;

/* Advance the addresses that are not NULL to an index of these axes, the last of which is the
 * fastest; returns the rest of the index. */
static inline int64_t tni_contract_seek(char *at[TNI_SIDES], const tni_contract_axis *axis,
                                        int count, int64_t index)
{
    ASSERT(index >= 0);
    for (int i = count - 1; i >= 0; i--) {
        const int64_t j = index % axis[i].n;
        index /= axis[i].n;
        for (int k = 0; k < TNI_SIDES; k++)
            if (at[k])
                at[k] += j * axis[i].step[k];
    }
    return index;
}

typedef struct tni_product {
    int count[TNI_ROLES];
    int64_t size[TNI_ROLES];
    int64_t shift[TNI_SIDES]; /* bytes to the first address, if axes are reversed */
    tn_dtype dtype[TNI_SIDES];
    tn_dtype compute; /* dtype of sums, and of both operands in a kernel */
    tn_dtype take;    /* dtype of both operands in a gemm: compute, or bf16 */
    tni_sum sum;
    bool swapped;       /* left is the caller's right */
    bool alone;         /* the caller's right is the number 1: dst is a sum of left */
    double alpha, beta; /* addend is not read when beta is 0 */
    tni_contract_axis axis[TNI_ROLES][TN_MAX_NDIM];
} tni_product;

/* Begin a product: no axes, every role of size 1. */
void tni_product_begin(tni_product *p, const tn_dtype dtype[TNI_SIDES], tn_dtype compute);

/* Add an axis, unless its extent is 1.  Inline, so that steps are stored straight into the
 * axis. */
static inline void tni_product_add(tni_product *p, int role, int64_t n,
                                   const int64_t step[TNI_SIDES])
{
    ASSERT(role >= 0 && role < TNI_ROLES && n >= 0 && p->count[role] < TN_MAX_NDIM);
    p->size[role] *= n;
    if (n == 1)
        return;
    tni_contract_axis *x = &p->axis[role][p->count[role]++];
    x->n = n;
    for (int k = 0; k < TNI_SIDES; k++)
        x->step[k] = step[k];
}

/* Bring p to its normal form: steps of dst positive, axes of a role ordered by dst (depth: by
 * left), neighbours that every operand walks as one merged, dst's fastest axis in cols. */
void tni_product_normal(tni_product *p);

/* Transpose the product, which has the same result: left becomes right, rows become cols. */
void tni_product_swap(tni_product *p);

/* The dtype of a side in a gemm. */
static inline tn_dtype tni_product_inside(const tni_product *p, int side)
{
    return side == TNI_LEFT || side == TNI_RIGHT ? p->take : p->compute;
}

/* Whether this is a product of bf16 whose pairs this CPU multiplies into f32. */
bool tni_product_pairs(const tni_product *p);

/* Whether gemms go to a BLAS if there is one: those of floats, except of bf16. */
static inline bool tni_product_by_blas(const tni_product *p)
{
    return p->sum <= TNI_SUM_C128 && p->take == p->compute;
}

/* The type in which sums of a dtype are computed. */
tni_sum tni_sum_of(tn_dtype compute);

/* ---- tiles: products of panels by a gemm ---- */

enum { TNI_LOOP_MOST = TN_MAX_NDIM + 2, TNI_PANEL_AXES = 24 };

/* The axes of one role inside a tile, outermost first; the first one is split into blocks. */
typedef struct tni_panel_axes {
    int count;
    int64_t block;  /* of the first axis */
    int64_t inside; /* extents of the others, multiplied */
    tni_contract_axis axis[TNI_PANEL_AXES];
} tni_panel_axes;

/* The extent of the last axis. */
static inline int64_t tni_panel_inner(const tni_panel_axes *in)
{
    return in->count > 1 ? in->axis[in->count - 1].n : in->block;
}

/* A loop around the tiles: over an axis, or over the blocks of the first axis of a role. */
typedef struct tni_tile_loop {
    int64_t n, step[TNI_SIDES];
    int role;                  /* the role whose blocks it walks; -1: an axis */
    int64_t panel[TNI_ADDEND]; /* added to a side's panel number; 0: the same panel */
} tni_tile_loop;

typedef struct tni_panel {
    bool packed;     /* in a buffer: dense, in the compute type */
    bool whole;      /* all are packed before the first tile; else each part packs */
    bool transposed; /* if packed: dense along its first index, not its second */
    int role[2];     /* left: rows, depth; right: depth, cols; dst: rows, cols */
    int64_t step[2]; /* along these roles, if it is not packed */
    int64_t bytes;   /* of a buffer */
    int64_t count;   /* number of different panels */
    size_t at;       /* offset in the shared part of the workspace, or in a slot */
} tni_panel;

typedef struct tni_tiles {
    tni_panel_axes in[TNI_ROLES]; /* rows, cols, depth */
    int64_t tile[TNI_ROLES];      /* largest extents of one gemm */
    bool split;                   /* one gemm per index of the outer axes of rows and cols */
    bool depth_cut;               /* depth is summed in several gemms */
    int64_t items;
    tni_panel panel[TNI_ADDEND]; /* dst, left, right */
    int slots;                   /* parts that have buffers of their own */
    size_t slot, shared;         /* bytes of a part's buffers, and of the whole panels */
    double cost;                 /* nanoseconds of one thread, by the model */
    int nloop;
    tni_tile_loop loop[TNI_LOOP_MOST]; /* outermost first */
} tni_tiles;

/* Nanoseconds of one thread, by the model (contract_cost.c). */
double tni_tiles_cost(const tni_tiles *t, const tni_product *p);

/* ---- the plan of one product ---- */

typedef struct tni_product_plan tni_product_plan;

typedef struct tni_contract_way {
    const char *name;
    bool (*fits)(tni_product_plan *s);
    void (*run)(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace);
} tni_contract_way;

struct tni_product_plan {
    tni_product p;
    const tni_contract_way *way;
    const char *why;
    size_t workspace;
    int64_t flops;
    bool tiled; /* tiles are planned, for a way that runs them */
    tni_tiles tiles;
};

/* Choose the first way that fits; s->p is in normal form. */
void tni_product_choose(tni_product_plan *s);

/* at are the addresses of element (0, …, 0); workspace has s->workspace bytes. */
void tni_product_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace);

/* ---- ways ---- */

/* Plan tiles; false if no panel can hold the axes. */
bool tni_tiles_fit(tni_product_plan *s);
void tni_tiles_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace);
bool tni_vector_fits(tni_product_plan *s);
void tni_vector_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace);
bool tni_lanes_fit(tni_product_plan *s);
void tni_lanes_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace);
bool tni_small_fits(tni_product_plan *s);
void tni_small_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace);

/* Copy or convert s to d, whose layouts are those of src and dst. */
void tni_contract_copy(const tn_tensor *dst, char *d, const tn_tensor *src, const char *s);

/* ---- strips: up to TNI_SUM_STRIP elements, dense in the compute type ---- */

enum { TNI_SUM_STRIP = 1024 }; /* two factors and their sums, 24 KiB of f64, stay in L1 */

typedef struct tni_strip_io {
    tni_cast cast; /* between the tensor's dtype and the compute type */
    int64_t width; /* of an element in the tensor */
} tni_strip_io;

/* Read n elements at s as a dense strip of the compute type: returns s itself, or buffer. */
const char *tni_strip_read(const tni_strip_io *io, char *buffer, const char *s, int64_t n,
                           int64_t step);

/* Write a dense strip to n elements at d. */
void tni_strip_write(const tni_strip_io *io, char *d, const char *strip, int64_t n,
                     int64_t step);

#endif
