/* pictures.c - histograms, heat maps and hashes, collected from boxes as they are read.
 *
 * Boxes arrive in any order from several threads; counts and sums are added under a lock.
 * Elements are counted by their high 16 bits: this needs no known range, distinguishes zeros,
 * subnormals and every power of two, and any 32 bins can be derived from it. */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The dtype in which elements are counted: integers of more than 16 bits as f32. */
static tn_dtype counted_as(tn_dtype dtype)
{
    return is_integer(dtype) && tn_dtype_size(dtype) > 2 ? TN_F32 : dtype;
}

static int64_t cells_of(int64_t n, int64_t *each)
{
    *each = n > PICTURE_SIDE ? (n + PICTURE_SIDE - 1) / PICTURE_SIDE : 1;
    return (n + *each - 1) / *each;
}

static tn_status read_and_look(void *user, const tn_tensor *dst, const int64_t *at);

int pictures_start(pictures *p, const tn_stream_source *of, double sample, bool hash)
{
    const tn_tensor *t = &of->view;
    *p = (pictures){.inner = *of, .sample = sample, .wants_hash = hash};
    pthread_mutex_init(&p->lock, NULL);
    p->source = (tn_stream_source){.read = read_and_look, .user = p};
    LIB(tn_init(&p->source.view, NULL, t->dtype, t->ndim, t->shape));
    bool any = t->ndim > 0 && tn_numel(t) > 0 && !is_complex(t->dtype);
    p->line = any && t->ndim == 1;
    p->heat = any && t->ndim > 1;
    p->counts = calloc(PICTURE_COUNTS, sizeof *p->counts);
    p->rows = p->heat ? cells_of(t->shape[t->ndim - 2], &p->cell_rows) : 1;
    p->columns = any ? cells_of(t->shape[t->ndim - 1], &p->cell_columns) : 1;
    p->sums = calloc((size_t)(p->rows * p->columns), sizeof *p->sums);
    p->cells = calloc((size_t)(p->rows * p->columns), sizeof *p->cells);
    return p->counts && p->sums && p->cells ? DONE : fail("out of memory");
}

void pictures_free(pictures *p)
{
    if (p->source.read)
        pthread_mutex_destroy(&p->lock);
    free(p->counts);
    free(p->sums);
    free(p->cells);
    *p = (pictures){0};
}

/* ---- hash ---- */

/* Hash words of up to 8 bytes with their positions; the sum does not depend on the order of
 * calls. */
static uint64_t hash_words(const char *at, int64_t n, size_t width, uint64_t first)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = 0;
        memcpy(&x, at + (size_t)i * width, width);
        x += (first + (uint64_t)i) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
        sum += x ^ x >> 32;
    }
    return sum;
}

static uint64_t hash_box(const pictures *p, const tn_tensor *t, const int64_t *at)
{
    const int last = t->ndim - 1;
    const int64_t line = last < 0 ? 1 : t->shape[last], lines = tn_numel(t) / (line ? line : 1);
    const size_t size = tn_dtype_size(t->dtype), width = size > 8 ? 8 : size;
    const int64_t words = (int64_t)(size / width);
    uint64_t sum = 0;
    for (int64_t k = 0; k < lines; k++) {
        int64_t first = 0, scale = 1, rest = k;
        for (int i = last; i >= 0; i--) {
            int64_t index = at[i];
            if (i < last) {
                index += rest % t->shape[i];
                rest /= t->shape[i];
            }
            first += index * scale;
            scale *= p->source.view.shape[i];
        }
        sum += hash_words((const char *)t->data + (size_t)(k * line) * size, line * words,
                          width, (uint64_t)(first * words));
    }
    return sum;
}

/* ---- counts ---- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { HIGH_LAST = 0 };
#else
enum { HIGH_LAST = 1 };
#endif

/* Count n elements by their high 16 bits, or all 8.  Neighbours use two tables, because
 * repeated increments of one counter would wait for each other's store. */
static void count_high(const char *at, int64_t n, size_t width, int64_t step, uint32_t *counts)
{
    const size_t pitch = width * (size_t)step;
    if (width == 1) {
        for (int64_t i = 0; i < n; i += step)
            counts[(i & 1) * PICTURE_COUNTS + (unsigned char)at[i]]++;
        return;
    }
    at += HIGH_LAST ? width - 2 : 0;
    for (int64_t i = 0; i < n; i += step, at += pitch) {
        uint16_t high;
        memcpy(&high, at, sizeof high);
        counts[(i & 1) * PICTURE_COUNTS + high]++;
    }
}

static tn_status count_box(const pictures *p, const tn_tensor *t, int64_t *counts)
{
    enum { AT_ONCE = 1 << 30 }; /* fits the 32-bit counters */
    const tn_dtype as = counted_as(t->dtype);
    const int64_t numel = tn_numel(t), step = p->sample < 1 ? (int64_t)(1 / p->sample) : 1;
    const int parts = is_complex(as) ? 2 : 1;
    const size_t width = tn_dtype_size(as) / (size_t)parts;
    uint32_t *tables = calloc(2 * PICTURE_COUNTS, sizeof *tables);
    tn_tensor flat, cast = {0};
    tn_status status = tables ? tn_init(&flat, t->data, t->dtype, 1, &numel)
                              : tn_set_error(TN_ENOMEM, "report: out of memory");
    if (status == TN_OK && as != t->dtype) {
        status = tn_alloc(&cast, as, 1, &numel);
        if (status == TN_OK)
            status = tn_cast(&cast, &flat);
    }
    const char *data = cast.data ? cast.data : t->data;
    for (int64_t done = 0, n; status == TN_OK && done < numel * parts; done += n) {
        n = numel * parts - done < AT_ONCE ? numel * parts - done : AT_ONCE;
        count_high(data + (size_t)done * width, n, width, step, tables);
        for (int i = 0; i < 2 * PICTURE_COUNTS; i++) {
            counts[i % PICTURE_COUNTS] += tables[i];
            tables[i] = 0;
        }
    }
    if (cast.data)
        tn_free(&cast);
    free(tables);
    return status;
}

/* ---- rows of zeros ---- */

static tn_status count_zero_rows(pictures *p, const tn_tensor *t, int64_t *found)
{
    const int last = t->ndim - 1;
    *found = 0;
    if (last < 1 || t->shape[last] == 0)
        return TN_OK;
    if (t->shape[last] != p->source.view.shape[last]) {
        p->cut_rows = true;
        return TN_OK;
    }
    tn_tensor any;
    int64_t some = 0;
    tn_tensor sum;
    tn_status status = tn_reduce_copy(&any, TN_REDUCE_ANY, NULL, t, 1, &last, false);
    if (status != TN_OK)
        return status;
    status = tn_init(&sum, &some, TN_I64, 0, NULL);
    if (status == TN_OK)
        status = tn_reduce(TN_REDUCE_COUNT_NONZERO, NULL, &sum, &any, TN_ALL_AXES, NULL);
    *found = tn_numel(&any) - some;
    tn_free(&any);
    return status;
}

/* ---- cells ---- */

/* Add a block of m2 to the cells it belongs to, as sums of |x| or of x; it consists of whole
 * cells, or is a part of one. */
static tn_status add_cells(pictures *p, const tn_tensor *m2, const int64_t at[2],
                           const int64_t cells[2])
{
    const int64_t r = m2->shape[0] / cells[0], c = m2->shape[1] / cells[1];
    const int64_t shape[4] = {cells[0], r, cells[1], c};
    const int64_t used = p->sample < 1 ? (int64_t)ceil(p->sample * (double)r) : r;
    const int axes[2] = {1, 3};
    double part[PICTURE_SIDE * PICTURE_SIDE];
    const double order = 1;
    tn_tensor v, dst;
    tn_status status = tn_reshape(&v, m2, 4, shape);
    if (status == TN_OK)
        status = tn_slice(&v, &v, 1, 0, used, 1);
    if (status == TN_OK)
        status = tn_init(&dst, part, TN_F64, 2, cells);
    if (status == TN_OK)
        status = tn_reduce(p->line ? TN_REDUCE_SUM : TN_REDUCE_NORM, p->line ? NULL : &order,
                           &dst, &v, 2, axes);
    if (status != TN_OK)
        return status;
    pthread_mutex_lock(&p->lock);
    for (int64_t i = 0; i < cells[0]; i++)
        for (int64_t j = 0; j < cells[1]; j++) {
            const int64_t k =
                (at[0] / p->cell_rows + i) * p->columns + at[1] / p->cell_columns + j;
            p->sums[k] += part[i * cells[1] + j];
            p->cells[k] += used * c;
        }
    pthread_mutex_unlock(&p->lock);
    return TN_OK;
}

/* The next run of [at, end): the part of one cell, or as many whole cells as possible. */
static int64_t next_run(int64_t at, int64_t end, int64_t each, int64_t *cells)
{
    const int64_t left = each - at % each, whole = (end - at) / each * each;
    *cells = left == each && whole ? whole / each : 1;
    return left == each && whole ? whole : left < end - at ? left : end - at;
}

static tn_status add_matrix(pictures *p, const tn_tensor *m2, const int64_t at[2])
{
    const int64_t end[2] = {at[0] + m2->shape[0], at[1] + m2->shape[1]};
    int64_t cells[2];
    for (int64_t r = at[0], n; r < end[0]; r += n) {
        n = next_run(r, end[0], p->cell_rows, &cells[0]);
        for (int64_t c = at[1], m; c < end[1]; c += m) {
            m = next_run(c, end[1], p->cell_columns, &cells[1]);
            tn_tensor v;
            tn_status status = tn_slice(&v, m2, 0, r - at[0], r - at[0] + n, 1);
            if (status == TN_OK)
                status = tn_slice(&v, &v, 1, c - at[1], c - at[1] + m, 1);
            if (status == TN_OK)
                status = add_cells(p, &v, (int64_t[]){r, c}, cells);
            if (status != TN_OK)
                return status;
        }
    }
    return TN_OK;
}

/* Add the part of a box that is in the first matrix, or in the 1-D tensor. */
static tn_status add_picture(pictures *p, const tn_tensor *t, const int64_t *at)
{
    tn_tensor v = *t, as;
    int64_t from[2] = {0, 0};
    for (int i = 0; i < t->ndim - 2; i++) {
        if (at[i] != 0)
            return TN_OK;
        tn_status status = tn_select(&v, &v, 0, 0);
        if (status != TN_OK)
            return status;
    }
    if (t->ndim == 1) {
        tn_status status = tn_unsqueeze(&v, &v, 0);
        if (status != TN_OK)
            return status;
        p->cell_rows = 1;
        from[1] = at[0];
    } else {
        from[0] = at[t->ndim - 2];
        from[1] = at[t->ndim - 1];
    }
    if (v.dtype == TN_F32)
        return add_matrix(p, &v, from);
    tn_status status = tn_alloc(&as, TN_F32, 2, v.shape);
    if (status != TN_OK)
        return status;
    status = tn_cast(&as, &v);
    if (status == TN_OK)
        status = add_matrix(p, &as, from);
    tn_free(&as);
    return status;
}

/* ---- inspecting a box ---- */

static tn_status look(pictures *p, const tn_tensor *t, const int64_t *at)
{
    int64_t zero_rows = 0;
    uint64_t hash = p->wants_hash ? hash_box(p, t, at) : 0;
    int64_t *counts = calloc(PICTURE_COUNTS, sizeof *counts);
    tn_status status =
        counts ? count_box(p, t, counts) : tn_set_error(TN_ENOMEM, "report: out of memory");
    if (status == TN_OK)
        status = count_zero_rows(p, t, &zero_rows);
    if (status == TN_OK && (p->heat || p->line))
        status = add_picture(p, t, at);
    pthread_mutex_lock(&p->lock);
    for (int i = 0; status == TN_OK && i < PICTURE_COUNTS; i++)
        p->counts[i] += counts[i];
    p->zero_rows += zero_rows;
    p->hash += hash;
    pthread_mutex_unlock(&p->lock);
    free(counts);
    return status;
}

static tn_status read_inner(const pictures *p, const tn_tensor *dst, const int64_t *at)
{
    const tn_stream_source *s = &p->inner;
    tn_tensor v = s->view;
    if (!s->file && s->read)
        return s->read(s->user, dst, at);
    for (int i = 0; i < dst->ndim; i++) {
        tn_status status = tn_slice(&v, &v, i, at[i], at[i] + dst->shape[i], 1);
        if (status != TN_OK)
            return status;
    }
    return s->file ? tn_file_fetch(s->file, s->tensor, dst, &v) : tn_rearrange(dst, &v);
}

static tn_status read_and_look(void *user, const tn_tensor *dst, const int64_t *at)
{
    pictures *p = user;
    tn_tensor dense;
    tn_status status = read_inner(p, dst, at);
    if (status != TN_OK || tn_numel(dst) == 0)
        return status;
    if (tn_is_contiguous(dst))
        return look(p, dst, at);
    status = tn_alloc(&dense, dst->dtype, dst->ndim, dst->shape);
    if (status != TN_OK)
        return status;
    status = tn_rearrange(&dense, dst);
    if (status == TN_OK)
        status = look(p, &dense, at);
    tn_free(&dense);
    return status;
}

/* ---- rendering ---- */

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* The value that stands for all elements with these high bits: the middle of their range. */
static double value_of(tn_dtype dtype, int bits)
{
    double parts[2];
    uint64_t x = 0;
    for (int i = 0; i < 2; i++) {
        tn_dtype as = counted_as(dtype);
        as = as == TN_C64 ? TN_F32 : as == TN_C128 ? TN_F64 : as;
        const size_t width = tn_dtype_size(as);
        tn_tensor in, out;
        x = width == 1 ? (uint64_t)bits
                       : (uint64_t)bits << (8 * width - 16) |
                             (i ? (UINT64_C(1) << (8 * width - 16)) - 1 : 0);
        memcpy(&parts[i], &x, sizeof x);
        if (tn_init(&in, &x, as, 0, NULL) != TN_OK ||
            tn_init(&out, &parts[i], TN_F64, 0, NULL) != TN_OK || tn_cast(&out, &in) != TN_OK)
            return NAN;
    }
    return isfinite(parts[1]) ? (parts[0] + parts[1]) / 2 : parts[0];
}

/* x on a linear or signed log scale; on the latter values 20 octaves below the largest become
 * 0. */
static double scaled(double x, double most, bool log)
{
    if (!log)
        return x;
    const double y = x != 0 ? 20 + log2(fabs(x) / most) : 0;
    return y > 0 ? copysign(y, x) : 0;
}

/* A value and the number of its elements. */
typedef struct counted {
    double value;
    int64_t n;
} counted;

static int64_t fill_bins(const counted *list, int n, const tn_stats *s, bool log,
                         int64_t bins[PICTURE_BINS])
{
    const double most = fmax(fabs(s->min), fabs(s->max));
    const double a = scaled(s->min, most, log), b = scaled(s->max, most, log);
    int64_t fullest = 0;
    memset(bins, 0, PICTURE_BINS * sizeof *bins);
    for (int i = 0; i < n; i++) {
        const double x = fmin(fmax(list[i].value, s->min), s->max);
        const double at = b > a ? (scaled(x, most, log) - a) / (b - a) * PICTURE_BINS : 0;
        const int k = at < PICTURE_BINS - 1 ? (int)at : PICTURE_BINS - 1;
        bins[k] += list[i].n;
        fullest = bins[k] > fullest ? bins[k] : fullest;
    }
    return fullest;
}

void pictures_histogram(const pictures *p, const tn_stats *s, char text[PICTURE_BINS + 1],
                        bool *log)
{
    int64_t bins[PICTURE_BINS], all = 0;
    int n = 0;
    text[0] = 0;
    *log = false;
    counted *list = malloc(PICTURE_COUNTS * sizeof *list);
    if (s->finite == 0 || isnan(s->min) || !list) {
        free(list);
        return;
    }
    for (int i = 0; i < PICTURE_COUNTS; i++) {
        const double value = p->counts[i] ? value_of(p->source.view.dtype, i) : NAN;
        if (!isfinite(value))
            continue;
        list[n++] = (counted){value, p->counts[i]};
        all += p->counts[i];
    }
    int64_t fullest = fill_bins(list, n, s, false, bins);
    *log = s->max > s->min && (double)fullest > 0.9 * (double)all;
    if (*log)
        fullest = fill_bins(list, n, s, true, bins);
    free(list);
    for (int i = 0; i < PICTURE_BINS && fullest; i++)
        text[i] = letters[(int)ceil(63 * (double)bins[i] / (double)fullest)];
    text[fullest ? PICTURE_BINS : 0] = 0;
}

int64_t pictures_subnormal(const pictures *p, const tn_stats *s)
{
    static const struct {
        tn_dtype dtype;
        int high; /* high bits below this are subnormal: the exponent is 0 */
        int sign;
    } rows[] = {{TN_F16, 1 << 10, 1 << 15},  {TN_BF16, 1 << 7, 1 << 15},
                {TN_F32, 1 << 7, 1 << 15},   {TN_F64, 1 << 4, 1 << 15},
                {TN_F8E4M3, 1 << 3, 1 << 7}, {TN_F8E5M2, 1 << 2, 1 << 7}};
    const tn_dtype dtype = p->source.view.dtype;
    if (is_integer(dtype) || dtype == TN_BOOL)
        return 0;
    for (int k = 0; k < COUNT(rows); k++) {
        int64_t n = 0;
        if (rows[k].dtype != dtype || p->sample < 1)
            continue;
        for (int i = 0; i < rows[k].high; i++)
            n += p->counts[i] + p->counts[rows[k].sign + i];
        return n - s->zeros;
    }
    return -1;
}

static double cell_mean(const pictures *p, int64_t k)
{
    return p->cells[k] ? p->sums[k] / (double)p->cells[k] : 0;
}

void pictures_line(const pictures *p, char text[PICTURE_SIDE + 1])
{
    double low = INFINITY, high = -INFINITY;
    text[0] = 0;
    if (!p->line)
        return;
    for (int64_t k = 0; k < p->columns; k++) {
        const double x = cell_mean(p, k);
        if (!isfinite(x))
            return;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    for (int64_t k = 0; k < p->columns; k++)
        text[k] = letters[high > low ? (int)(63 * (cell_mean(p, k) - low) / (high - low)) : 31];
    text[p->columns] = 0;
}

uint8_t *pictures_heat(const pictures *p)
{
    double most = 0;
    if (!p->heat)
        return NULL;
    uint8_t *levels = malloc((size_t)(p->rows * p->columns));
    for (int64_t k = 0; k < p->rows * p->columns; k++)
        if (isfinite(cell_mean(p, k)))
            most = fmax(most, cell_mean(p, k));
    for (int64_t k = 0; levels && k < p->rows * p->columns; k++) {
        const double x = cell_mean(p, k);
        levels[k] = !isfinite(x) ? 0 : (uint8_t)(1 + (most > 0 ? (int)(14 * x / most) : 0));
    }
    return levels;
}
