/* walk_gather.c - copies elements, in the order of a walk, to dense memory.
 *
 * Consecutive whole runs of the last loop are copied by one call of a kernel: as a tile, or by
 * a transpose if the runs are side by side in memory. */
#include "fold_run.h"

void tni_walk_gather(char *d, const char *s, const tni_walk *from, int k, int64_t n,
                     int64_t width, int isa)
{
    const tni_copy_kernels *kernels = tni_kernels_of(isa)->copy;
    const int last = from->ndim - 1, log2 = tni_log2_width(width);
    const tni_axis *in = &from->axis[last], *out = last > 0 ? in - 1 : NULL;
    const int64_t s_step[2] = {out ? out->step[k] : 0, in->step[k]};
    tni_walk w;
    tni_walk_copy(&w, from);
    while (n > 0) {
        int64_t m = tni_walk_left(&w), rows = 1;
        m = m < n ? m : n;
        if (m == in->n && out) { /* as many whole runs as the outer loop has left */
            const int64_t follow = out->n - w.at[last - 1];
            rows = n / m < follow ? n / m : follow;
        }
        const int64_t d_step[2] = {m * width, width};
        if (rows > 1 && s_step[0] == width)
            kernels->transpose[log2](d, d_step[0], s + w.offset[k], s_step[1], m, rows, 0);
        else
            kernels->tile[log2](d, d_step, s + w.offset[k], s_step,
                                (const int64_t[2]){rows, m});
        d += rows * m * width;
        n -= rows * m;
        w.ndim -= rows > 1;
        tni_walk_advance(&w, rows > 1 ? rows : m);
        w.ndim = last + 1;
    }
}
