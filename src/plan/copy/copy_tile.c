/* copy_tile.c - copies one tile by the kernel of the copy's kind. */
#include "copy_walk.h"

/* The buffer in which source rows are packed if their addresses share cache sets: 64 rows of
 * 256 bytes take 20 KB at this pitch and leave a third of an L1 of 32 KB to dst's lines.  The
 * extra line of pitch puts neighbouring rows into different sets. */
enum { PACK = 256, PACK_PITCH = PACK + 64, PACK_ROWS = 64 };

typedef void (*transpose_fn)(char *d, int64_t d_step, const char *s, int64_t s_step, int64_t na,
                             int64_t nb, int64_t ahead);

/* Transpose by way of the buffer; not inlined, so that other tiles do not pay for its stack. */
static __attribute__((noinline)) void packed_tile(const tni_copy_job *j, transpose_fn kernel,
                                                  char *d, int64_t d_step, const char *s,
                                                  const int64_t n[2], int64_t ahead)
{
    const tni_copy *c = j->c;
    const int64_t s_step = c->tile[TNI_DST_FAST].s, piece = PACK / c->unit;
    _Alignas(64) char side[PACK_ROWS][PACK_PITCH];
    for (int64_t b = 0; b < n[TNI_SRC_FAST]; b += piece)
        for (int64_t a = 0; a < n[TNI_DST_FAST]; a += PACK_ROWS) {
            int64_t nb = n[TNI_SRC_FAST] - b < piece ? n[TNI_SRC_FAST] - b : piece;
            int64_t na = n[TNI_DST_FAST] - a < PACK_ROWS ? n[TNI_DST_FAST] - a : PACK_ROWS;
            j->k->units(side[0], (int64_t[2]){PACK_PITCH, 0}, s + a * s_step + b * c->unit,
                        (int64_t[2]){s_step, 0}, (int64_t[2]){na, 1}, nb * c->unit, ahead);
            kernel(d + a * c->unit + b * d_step, d_step, side[0], PACK_PITCH, na, nb, 0);
        }
}

void tni_transpose_tile(const tni_copy_job *j, char *d, int64_t d_step, const char *s,
                        const int64_t n[2], int64_t ahead, bool lines)
{
    const tni_copy *c = j->c;
    const transpose_fn kernel =
        lines ? j->k->transpose_lines[c->log2_width] : j->k->transpose[c->log2_width];
    if (c->packs)
        packed_tile(j, kernel, d, d_step, s, n, ahead);
    else
        kernel(d, d_step, s, c->tile[TNI_DST_FAST].s, n[TNI_DST_FAST], n[TNI_SRC_FAST], ahead);
}

void tni_copy_tile(const tni_copy_job *j, char *d, const int64_t d_step[2], const char *s,
                   const int64_t n[2], int64_t ahead)
{
    const tni_copy *c = j->c;
    const int64_t s_step[2] = {c->tile[TNI_DST_FAST].s, c->tile[TNI_SRC_FAST].s};
    switch (c->way->kind) {
    case TNI_COPY_TRANSPOSE:
        tni_transpose_tile(j, d, d_step[TNI_SRC_FAST], s, n, ahead, false);
        break;
    case TNI_COPY_ROWS:
        j->k->units(d, d_step, s, s_step, n, c->unit, ahead);
        break;
    default:
        j->k->tile[c->log2_width](d, d_step, s, s_step, n);
    }
}

/* The most elements that one tile copies in less time than planning takes: 60 ns on Zen 4. */
enum { SMALL = 64 };

bool tni_copy_small(const tn_tensor *dst, const tn_tensor *src)
{
    const int64_t *n = dst->shape;
    if (dst->ndim != 2 || n[0] > SMALL || n[1] > SMALL || n[0] * n[1] > SMALL ||
        n[0] * n[1] < 2)
        return false;
    const tni_copy_kernels *kernels = tni_kernels_of(tni_isa_level())->copy;
    kernels->tile[tni_log2_width(tni_width(dst->dtype))](dst->data, dst->stride, src->data,
                                                         src->stride, n);
    return true;
}
