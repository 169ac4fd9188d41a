/* einsum.h - the parts of tenon einsum.
 *
 * Axes are those of the result, and behind them one for each name that is summed. */
#ifndef TENON_CLI_EINSUM_H
#define TENON_CLI_EINSUM_H

#include "cli.h"

enum { EINSUM_AXES = (1 + TN_EINSUM_SOURCES) * TN_MAX_NDIM };

/* One source. */
typedef struct factor {
    source s;
    input in;
    bool opened;
    int of[TN_MAX_NDIM];    /* which axis each of its own is; -1: extent 1, which repeats */
    tn_tensor window, tile; /* dense; tile is the part of window that one product takes */
    int64_t at[TN_MAX_NDIM], n[TN_MAX_NDIM]; /* what of the source window holds */
    bool held;
} factor;

typedef struct einsum_job {
    const char *spec;
    int n;
    factor f[TN_EINSUM_SOURCES];
    tn_tensor out; /* without data */
    int naxes;
    int64_t extent[EINSUM_AXES], tile[EINSUM_AXES];
    int along;              /* the axis that boxes are cut along; those before have 1 index */
    int64_t box;            /* tiles along that axis in a box */
    tn_tensor sums, addend; /* where sums are cut: of a box in f32, and of one tile */
    int64_t done;           /* bytes of windows, for progress */
} einsum_job;

/* Match axes by name.  out and the sources are known. */
int einsum_match(einsum_job *e);

/* Choose tiles by shapes alone, then boxes by max_mem. */
void einsum_cut(einsum_job *e, int64_t max_mem);

/* Bytes of all windows, each counted as often as it is used. */
int64_t einsum_work(const einsum_job *e);

double einsum_boxes(const einsum_job *e);

/* Compute a box of the result, as a source of the stream; user is the job. */
tn_status einsum_box(void *user, const tn_tensor *dst, const int64_t *at);

#endif
