/* row_narrow.h - short rows side by side: element j of row c is number c of line j, lines are pitch
 * bytes apart, and a vector has VF rows.
 *
 * A row has at most a tile, so that its tree is sixteen lanes of up to eight elements, which meet
 * by halves; lanes that are not there are -0.  The steps are those of long rows, with the same
 * bits. */
#ifndef TNI_ROW_NARROW_H
#define TNI_ROW_NARROW_H

enum { TERM_SELF, TERM_SQUARE, TERM_DISTANCE, TERM_DISTANCE_SQUARE };

typedef struct narrow_rows {
    const char *x;
    int64_t n, pitch;
    vd centre[2]; /* of distances */
} narrow_rows;

INLINE vf narrow_line(const narrow_rows *r, int64_t j)
{
    return load_vf(r->x + j * r->pitch);
}

/* What element j adds, in f64. */
INLINE vd narrow_term(const narrow_rows *r, int64_t j, int half, int term)
{
    const vf v = narrow_line(r, j);
    const vd x = half ? high_vd(v) : low_vd(v);
    const vd d = term == TERM_SQUARE ? x : x - r->centre[half];
    return term == TERM_DISTANCE ? d : d * d;
}

/* Lane l of the tile. */
INLINE void narrow_lane(vd *out, const narrow_rows *r, int64_t l, int term)
{
    out[0] = out[1] = splat_vd(-0.0);
    if (l >= r->n)
        return;
    if (term == TERM_SELF) {
        vf t = narrow_line(r, l);
        if (r->n > 16) {
            vf row[8];
            UNROLLED for (int k = 0; k < 8; k++) row[k] =
                16 * k + l < r->n ? narrow_line(r, 16 * k + l) : splat_vf(-0.0f);
            t = ((row[0] + row[1]) + (row[2] + row[3])) +
                ((row[4] + row[5]) + (row[6] + row[7]));
        }
        out[0] = low_vd(t);
        out[1] = high_vd(t);
        return;
    }
    for (int half = 0; half < 2; half++) {
        out[half] = narrow_term(r, l, half, term);
        if (r->n > 16) {
            vd row[8];
            UNROLLED for (int k = 0; k < 8; k++) row[k] =
                16 * k + l < r->n ? narrow_term(r, 16 * k + l, half, term) : splat_vd(-0.0);
            out[half] = ((row[0] + row[1]) + (row[2] + row[3])) +
                        ((row[4] + row[5]) + (row[6] + row[7]));
        }
    }
}

/* The tree of each row: both halves of a vector of them. */
INLINE void narrow_tree(vd *sum, const narrow_rows *r, int term)
{
    vd s[8][2];
    UNROLLED for (int l = 0; l < 8; l++)
    {
        vd other[2];
        narrow_lane(s[l], r, l, term);
        narrow_lane(other, r, l + 8, term);
        s[l][0] += other[0];
        s[l][1] += other[1];
    }
    UNROLLED for (int h = 0; h < 2; h++) sum[h] = ((s[0][h] + s[4][h]) + (s[2][h] + s[6][h])) +
                                                  ((s[1][h] + s[5][h]) + (s[3][h] + s[7][h]));
}

INLINE void put_line(char *x, int64_t at, vf v)
{
    memcpy(x + at, &v, V);
}

/* exp(x - max) into e, which may be x, and results into x. */
static void softmax_narrow(char *x, char *e, int64_t n, int64_t rows, int64_t pitch, bool logs)
{
    for (int64_t c = 0; c < rows; c += VF, x += V, e += V) {
        vf most = load_vf(x);
        for (int64_t j = 1; j < n; j++) {
            const vf v = load_vf(x + j * pitch);
            most = pick_vf((v > most) | (v != v), v, most);
        }
        for (int64_t j = 0; j < n; j++)
            put_line(e, j * pitch, exp_vf(load_vf(x + j * pitch) - most));
        vd sum[2];
        narrow_tree(sum, &(narrow_rows){.x = e, .n = n, .pitch = pitch}, TERM_SELF);
        const vf broken = most - most; /* NaN where the largest is not finite */
        if (logs) {
            vf l;
            for (int k = 0; k < VF; k++)
                l[k] = (float)log(sum[k / VD][k % VD]);
            for (int64_t j = 0; j < n; j++)
                put_line(x, j * pitch,
                         number_vf(((load_vf(x + j * pitch) - most) - l) + broken));
        } else {
            const vf by = narrow_vf(1.0 / sum[0], 1.0 / sum[1]) + broken;
            for (int64_t j = 0; j < n; j++)
                put_line(x, j * pitch, number_vf(load_vf(e + j * pitch) * by));
        }
    }
}

INLINE vd root_vd(vd v)
{
#if defined(__AVX512F__)
    return _mm512_sqrt_pd(v);
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(v);
#else
    for (int k = 0; k < VD; k++)
        v[k] = sqrt(v[k]);
    return v;
#endif
}

/* Number j of a weight, of any alignment. */
INLINE float number_at(const char *w, int64_t j)
{
    float x;
    memcpy(&x, w + 4 * j, sizeof x);
    return x;
}

static void rms_narrow(char *x, const char *w, int64_t n, int64_t rows, int64_t pitch,
                       double eps)
{
    for (int64_t c = 0; c < rows; c += VF, x += V) {
        vd by[2];
        narrow_tree(by, &(narrow_rows){.x = x, .n = n, .pitch = pitch}, TERM_SQUARE);
        for (int h = 0; h < 2; h++)
            by[h] = 1.0 / root_vd(by[h] / (double)n + eps);
        const vf r = narrow_vf(by[0], by[1]);
        for (int64_t j = 0; j < n; j++) {
            const vf v = load_vf(x + j * pitch) * r;
            put_line(x, j * pitch, number_vf(w ? v * number_at(w, j) : v));
        }
    }
}

static void layer_narrow(char *x, const char *w, const char *b, int64_t n, int64_t rows,
                         int64_t pitch, double eps)
{
    for (int64_t c = 0; c < rows; c += VF, x += V) {
        narrow_rows r = {.x = x, .n = n, .pitch = pitch};
        vd s[2], q[2], mean[2], by[2];
        r.centre[0] = low_vd(load_vf(x));
        r.centre[1] = high_vd(load_vf(x));
        narrow_tree(s, &r, TERM_DISTANCE);
        narrow_tree(q, &r, TERM_DISTANCE_SQUARE);
        for (int h = 0; h < 2; h++) {
            const vd part = s[h] / (double)n, m = q[h] - s[h] * part;
            mean[h] = r.centre[h] + part;
            by[h] = 1.0 / root_vd(pick_vd(m < 0, splat_vd(0), m) / (double)n + eps);
        }
        for (int64_t j = 0; j < n; j++) {
            const vf a = load_vf(x + j * pitch);
            vf v = narrow_vf((low_vd(a) - mean[0]) * by[0], (high_vd(a) - mean[1]) * by[1]);
            v = w ? v * number_at(w, j) : v;
            put_line(x, j * pitch, number_vf(b ? v + number_at(b, j) : v));
        }
    }
}

#endif
