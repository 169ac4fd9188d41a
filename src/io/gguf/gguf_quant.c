/* gguf_quant.c - decoding quantised tensors of .gguf: Q8_0, Q4_0, Q4_K, Q5_K, Q6_K.
 *
 * A block is a few scales and many small integers.  An element is their product, computed in
 * f32 in the order of ggml's reference code, and rounded once if dst is narrower. */
#include <string.h>

#include <tenon/copy.h>
#include <tenon/ops.h>

#include "io/io.h"

enum { SMALL = 32, LARGE = 256, STAGE_BLOCKS = 64 };

static float half_at(const uint8_t *at)
{
    uint16_t bits = (uint16_t)(at[0] | at[1] << 8);
    return tni_f32_of_f16(bits);
}

static void read_q8_0(const uint8_t *b, float *y)
{
    const float d = half_at(b);
    for (int i = 0; i < SMALL; i++)
        y[i] = d * (float)(int8_t)b[2 + i];
}

static void read_q4_0(const uint8_t *b, float *y)
{
    const float d = half_at(b);
    for (int i = 0; i < SMALL / 2; i++) {
        y[i] = d * (float)((b[2 + i] & 15) - 8);
        y[i + SMALL / 2] = d * (float)((b[2 + i] >> 4) - 8);
    }
}

/* Scale and minimum of part j of a K block: 6 bits each, packed into 12 bytes. */
static void k_scale(const uint8_t *s, int j, float *scale, float *least)
{
    int a = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
    int m = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | (s[j] >> 6) << 4;
    *scale = (float)a;
    *least = (float)m;
}

/* Decode Q4_K or, with the fifth bits at `high`, Q5_K. */
static void read_k(const uint8_t *b, const uint8_t *high, const uint8_t *low, float *y)
{
    const float d = half_at(b), dmin = half_at(b + 2);
    for (int part = 0; part < 8; part++) {
        float scale, least;
        k_scale(b + 4, part, &scale, &least);
        const float by = d * scale, minus = dmin * least;
        for (int i = 0; i < SMALL; i++) {
            int q = part % 2 ? low[part / 2 * SMALL + i] >> 4 : low[part / 2 * SMALL + i] & 15;
            q += high && high[i] >> part & 1 ? 16 : 0;
            const float product = by * (float)q;
            y[part * SMALL + i] = product - minus;
        }
    }
}

static void read_q4_k(const uint8_t *b, float *y)
{
    read_k(b, NULL, b + 16, y);
}

static void read_q5_k(const uint8_t *b, float *y)
{
    read_k(b, b + 16, b + 48, y);
}

static void read_q6_k(const uint8_t *b, float *y)
{
    const uint8_t *low = b, *high = b + 128, *scales = b + 192;
    const float d = half_at(b + 208);
    for (int i = 0; i < LARGE; i++) {
        int half = i / 128, at = i % 128, column = at % SMALL, row = at / SMALL;
        int nibble = low[half * 64 + column + row % 2 * SMALL];
        int bits = high[half * SMALL + column] >> 2 * row & 3;
        int q = (row < 2 ? nibble & 15 : nibble >> 4) | bits << 4;
        const float by = d * (float)(int8_t)scales[half * 8 + column / 16 + 2 * row];
        y[i] = by * (float)(q - 32);
    }
}

static const struct quant {
    const char *type;
    int block, bytes;
    void (*read)(const uint8_t *block, float *out);
} quants[] = {
    {"Q8_0", SMALL, 34, read_q8_0},  {"Q4_0", SMALL, 18, read_q4_0},
    {"Q4_K", LARGE, 144, read_q4_k}, {"Q5_K", LARGE, 176, read_q5_k},
    {"Q6_K", LARGE, 210, read_q6_k},
};

static tn_status find_quant(const tn_file *f, const tni_entry *e, const struct quant **q)
{
    for (int i = 0; i < COUNT(quants); i++)
        if (!strcmp(e->type, quants[i].type) && !e->swapped) { /* names of .gguf alone */
            *q = &quants[i];
            int64_t last = e->ndim ? e->shape[e->ndim - 1] : 1;
            return last % quants[i].block == 0
                       ? TN_OK
                       : tni_fail(TN_EFORMAT,
                                  "%s: tensor \"%.80s\": rows of %lld elements are not a "
                                  "multiple of the block size %d",
                                  f->path, e->name, (long long)last, quants[i].block);
        }
    return tni_fail(TN_EUNSUPPORTED, "%s: tensor \"%.80s\": type %s cannot be dequantised",
                    f->path, e->name, e->type);
}

typedef struct stage {
    uint8_t raw[STAGE_BLOCKS * LARGE];
    float y[STAGE_BLOCKS * LARGE];
} stage;

/* Decode elements [first, first + n), which are inside e, to out, contiguously. */
static tn_status read_range(const tn_file *f, const tni_entry *e, const struct quant *q,
                            int64_t first, int64_t n, const tn_tensor *out, stage *s)
{
    const int64_t width = tni_width(out->dtype);
    for (int64_t done = 0; done < n;) {
        int64_t block = (first + done) / q->block, skip = (first + done) % q->block;
        int64_t blocks = tni_ceil_div(n - done + skip, q->block);
        blocks = blocks < STAGE_BLOCKS ? blocks : STAGE_BLOCKS;
        TRY(tni_file_bytes(f, s->raw, blocks * q->bytes, e->offset + block * q->bytes));
        for (int64_t i = 0; i < blocks; i++)
            q->read(s->raw + i * q->bytes, s->y + i * q->block);
        int64_t got = blocks * q->block - skip < n - done ? blocks * q->block - skip : n - done;
        tn_tensor from, to;
        TRY(TNI_NEVER(tn_init(&from, s->y + skip, TN_F32, 1, &got)));
        TRY(TNI_NEVER(tn_init(&to, (char *)out->data + done * width, out->dtype, 1, &got)));
        const bool same = out->dtype == TN_F32;
        TRY(TNI_NEVER(same ? tn_rearrange(&to, &from) : tn_cast(&to, &from)));
        done += got;
    }
    return TN_OK;
}

/* Entry i of f; it need not have a dtype.  *f becomes the file that holds it. */
static tn_status quant_entry(const tn_file **f, int64_t i, const tn_tensor *dst,
                             const tni_entry **e)
{
    if (!*f)
        return tni_fail(TN_ENULL, "file_dequantize: f is NULL");
    if (i < 0 || i >= (*f)->count)
        return tni_fail(TN_EARG, "%s: tensor index %lld is out of range [0, %lld)", (*f)->path,
                        (long long)i, (long long)(*f)->count);
    *e = &(*f)->entries[i];
    *f = (*e)->owner ? (*e)->owner : *f;
    TRY(tni_check_dst(dst, "file_dequantize: dst"));
    if (dst->dtype != TN_F32 && !tni_is_half(dst->dtype))
        return tni_fail(TN_EDTYPE, "file_dequantize: dst is %s, expected f32, f16 or bf16",
                        tn_dtype_name(dst->dtype));
    return tni_check_data(dst, "file_dequantize: dst");
}

tn_status tn_file_dequantize_range(const tn_file *f, int64_t i, int64_t first,
                                   const tn_tensor *dst)
{
    const tni_entry *e = NULL;
    const struct quant *q = NULL;
    TRY(quant_entry(&f, i, dst, &e));
    TRY(find_quant(f, e, &q));
    int64_t n = tni_numel(dst), all = tni_shape_count(e->ndim, e->shape);
    if (!tn_is_contiguous(dst))
        return tni_fail(TN_ESTRIDE, "file_dequantize_range: dst is not contiguous");
    if (first < 0 || first > all || n > all - first)
        return tni_fail(
            TN_EARG, "file_dequantize_range: range [%lld, %lld) of a tensor of %lld elements",
            (long long)first, (long long)first + (long long)n, (long long)all);
    stage *s = tni_alloc(sizeof *s);
    if (!s)
        return tni_no_memory(f->path, (int64_t)sizeof *s);
    tn_status status = read_range(f, e, q, first, n, dst, s);
    tni_free(s);
    return status;
}

tn_status tn_file_dequantize(const tn_file *f, int64_t i, const tn_tensor *dst)
{
    const tni_entry *e = NULL;
    const tn_file *owner = f;
    TRY(quant_entry(&owner, i, dst, &e));
    if (dst->ndim != e->ndim ||
        memcmp(dst->shape, e->shape, (size_t)e->ndim * sizeof *e->shape) != 0)
        return tni_fail(TN_ESHAPE,
                        "file_dequantize: dst does not have the shape of tensor \"%.80s\"",
                        e->name);
    if (tn_is_contiguous(dst))
        return tn_file_dequantize_range(f, i, 0, dst);
    tn_tensor dense;
    TRY(tn_alloc(&dense, dst->dtype, dst->ndim, dst->shape));
    tn_status status = tn_file_dequantize_range(f, i, 0, &dense);
    if (status == TN_OK)
        status = tn_rearrange(dst, &dense);
    tn_free(&dense);
    return status;
}
