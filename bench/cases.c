/* cases.c - the lists of cases.
 *
 * The 57 are written as in the literature: the fastest axis first, and axis i of dst is axis
 * perm[i] of src. */
#include "cases.h"

#include <stdio.h>
#include <string.h>

int64_t case_bytes(const copy_case *c)
{
    int64_t bytes = (int64_t)tn_dtype_size(c->dtype);
    for (int i = 0; i < c->ndim; i++)
        bytes *= c->shape[i];
    return bytes;
}

/* ---- the 57 ---- */

typedef struct transposition {
    int ndim, perm[6];
    int64_t n[6];
} transposition;

/* clang-format off */
static const transposition fifty_seven[] = {
    {2, {1, 0}, {7264, 7264}},
    {2, {1, 0}, {43408, 1216}},
    {2, {1, 0}, {1216, 43408}},
    {3, {0, 2, 1}, {368, 384, 384}},
    {3, {0, 2, 1}, {2144, 64, 384}},
    {3, {0, 2, 1}, {368, 64, 2307}},
    {3, {1, 0, 2}, {384, 384, 355}},
    {3, {1, 0, 2}, {2320, 384, 59}},
    {3, {1, 0, 2}, {384, 2320, 59}},
    {3, {2, 1, 0}, {384, 355, 384}},
    {3, {2, 1, 0}, {2320, 59, 384}},
    {3, {2, 1, 0}, {384, 59, 2320}},
    {4, {0, 3, 2, 1}, {80, 96, 75, 96}},
    {4, {0, 3, 2, 1}, {464, 16, 75, 96}},
    {4, {0, 3, 2, 1}, {80, 16, 75, 582}},
    {4, {2, 1, 3, 0}, {96, 75, 96, 75}},
    {4, {2, 1, 3, 0}, {608, 12, 96, 75}},
    {4, {2, 1, 3, 0}, {96, 12, 608, 75}},
    {4, {2, 0, 3, 1}, {96, 75, 96, 75}},
    {4, {2, 0, 3, 1}, {608, 12, 96, 75}},
    {4, {2, 0, 3, 1}, {96, 12, 608, 75}},
    {4, {1, 0, 3, 2}, {96, 96, 75, 75}},
    {4, {1, 0, 3, 2}, {608, 96, 12, 75}},
    {4, {1, 0, 3, 2}, {96, 608, 12, 75}},
    {4, {3, 2, 1, 0}, {96, 75, 75, 96}},
    {4, {3, 2, 1, 0}, {608, 12, 75, 96}},
    {4, {3, 2, 1, 0}, {96, 12, 75, 608}},
    {5, {0, 4, 2, 1, 3}, {32, 48, 28, 28, 48}},
    {5, {0, 4, 2, 1, 3}, {176, 8, 28, 28, 48}},
    {5, {0, 4, 2, 1, 3}, {32, 8, 28, 28, 298}},
    {5, {3, 2, 1, 4, 0}, {48, 28, 28, 48, 28}},
    {5, {3, 2, 1, 4, 0}, {352, 4, 28, 48, 28}},
    {5, {3, 2, 1, 4, 0}, {48, 4, 28, 352, 28}},
    {5, {2, 0, 4, 1, 3}, {48, 28, 48, 28, 28}},
    {5, {2, 0, 4, 1, 3}, {352, 4, 48, 28, 28}},
    {5, {2, 0, 4, 1, 3}, {48, 4, 352, 28, 28}},
    {5, {1, 3, 0, 4, 2}, {48, 48, 28, 28, 28}},
    {5, {1, 3, 0, 4, 2}, {352, 48, 4, 28, 28}},
    {5, {1, 3, 0, 4, 2}, {48, 352, 4, 28, 28}},
    {5, {4, 3, 2, 1, 0}, {48, 28, 28, 28, 48}},
    {5, {4, 3, 2, 1, 0}, {352, 4, 28, 28, 48}},
    {5, {4, 3, 2, 1, 0}, {48, 4, 28, 28, 352}},
    {6, {0, 3, 2, 5, 4, 1}, {16, 32, 15, 32, 15, 15}},
    {6, {0, 3, 2, 5, 4, 1}, {48, 10, 15, 32, 15, 15}},
    {6, {0, 3, 2, 5, 4, 1}, {16, 10, 15, 103, 15, 15}},
    {6, {3, 2, 0, 5, 1, 4}, {32, 15, 15, 32, 15, 15}},
    {6, {3, 2, 0, 5, 1, 4}, {112, 5, 15, 32, 15, 15}},
    {6, {3, 2, 0, 5, 1, 4}, {32, 5, 15, 112, 15, 15}},
    {6, {2, 0, 4, 1, 5, 3}, {32, 15, 32, 15, 15, 15}},
    {6, {2, 0, 4, 1, 5, 3}, {112, 5, 32, 15, 15, 15}},
    {6, {2, 0, 4, 1, 5, 3}, {32, 5, 112, 15, 15, 15}},
    {6, {3, 2, 5, 1, 0, 4}, {32, 15, 15, 32, 15, 15}},
    {6, {3, 2, 5, 1, 0, 4}, {112, 5, 15, 32, 15, 15}},
    {6, {3, 2, 5, 1, 0, 4}, {32, 5, 15, 112, 15, 15}},
    {6, {5, 4, 3, 2, 1, 0}, {32, 15, 15, 15, 15, 32}},
    {6, {5, 4, 3, 2, 1, 0}, {112, 5, 15, 15, 15, 32}},
    {6, {5, 4, 3, 2, 1, 0}, {32, 5, 15, 15, 15, 112}},
};
/* clang-format on */
enum { FIFTY_SEVEN = sizeof fifty_seven / sizeof *fifty_seven };

/* Convert to row-major order, the last axis fastest. */
static void from_list(const transposition *t, tn_dtype dtype, copy_case *c)
{
    size_t used = 0;
    *c = (copy_case){.dtype = dtype, .ndim = t->ndim};
    for (int i = 0; i < t->ndim; i++) {
        c->shape[i] = t->n[t->ndim - 1 - i];
        c->axes[i] = t->ndim - 1 - t->perm[t->ndim - 1 - i];
        used += (size_t)snprintf(c->name + used, sizeof c->name - used, "%s%d", i ? " " : "",
                                 t->perm[i]);
    }
    for (int i = 0; i < t->ndim; i++)
        used += (size_t)snprintf(c->name + used, sizeof c->name - used, "%s%lld",
                                 i ? "x" : "  ", (long long)t->n[i]);
}

static void get_f32(int i, copy_case *out)
{
    from_list(&fifty_seven[i], TN_F32, out);
}

static void get_f64(int i, copy_case *out)
{
    from_list(&fifty_seven[i], TN_F64, out);
}

/* Halve the longest axis until the case has at most this many KB. */
static void get_cut(int i, int64_t kilobytes, copy_case *out)
{
    transposition t = fifty_seven[i];
    for (from_list(&t, TN_F32, out); case_bytes(out) > kilobytes << 10;
         from_list(&t, TN_F32, out)) {
        int longest = 0;
        for (int k = 1; k < t.ndim; k++)
            longest = t.n[k] > t.n[longest] ? k : longest;
        t.n[longest] = (t.n[longest] + 1) / 2;
    }
}

static void get_half_mb(int i, copy_case *out)
{
    get_cut(i, 600, out);
}

static void get_2_mb(int i, copy_case *out)
{
    get_cut(i, 2400, out);
}

static void get_8_mb(int i, copy_case *out)
{
    get_cut(i, 9600, out);
}

const copy_list list_57_f32 = {FIFTY_SEVEN, get_f32};
const copy_list list_57_f64 = {FIFTY_SEVEN, get_f64};
const copy_list list_57_half_mb = {FIFTY_SEVEN, get_half_mb};
const copy_list list_57_2_mb = {FIFTY_SEVEN, get_2_mb};
const copy_list list_57_8_mb = {FIFTY_SEVEN, get_8_mb};

/* ---- the others ---- */

/* clang-format off */
static const copy_case narrow[] = {
    {"u8  64x224x224x3, nhwc to nchw",       TN_U8,   4, {64, 224, 224, 3},  {0, 3, 1, 2}},
    {"u8  64x3x224x224, nchw to nhwc",       TN_U8,   4, {64, 3, 224, 224},  {0, 2, 3, 1}},
    {"u8  4096x4096 transposed",             TN_U8,   2, {4096, 4096},       {1, 0}},
    {"u8  8192x8192 transposed",             TN_U8,   2, {8192, 8192},       {1, 0}},
    {"u8  8191x8193 transposed",             TN_U8,   2, {8191, 8193},       {1, 0}},
    {"f16 4096x4096 transposed",             TN_F16,  2, {4096, 4096},       {1, 0}},
    {"f16 8192x8192 transposed",             TN_F16,  2, {8192, 8192},       {1, 0}},
    {"f16 8x512x32x128, b s h d to b h s d", TN_F16,  4, {8, 512, 32, 128},  {0, 2, 1, 3}},
    {"f16 8x512x32x128, b s h d to b h d s", TN_F16,  4, {8, 512, 32, 128},  {0, 2, 3, 1}},
    {"c128 3000x3000 transposed",            TN_C128, 2, {3000, 3000},       {1, 0}},
    {"c128 200x210x220 reversed",            TN_C128, 3, {200, 210, 220},    {2, 1, 0}},
};

static const copy_case others[] = {
    {"f32 7263x7265 transposed",       TN_F32,  2, {7263, 7265},             {1, 0}},
    {"f64 5001x4999 transposed",       TN_F64,  2, {5001, 4999},             {1, 0}},
    {"f32 4095x4095 transposed",       TN_F32,  2, {4095, 4095},             {1, 0}},
    {"f32 4096x4096 transposed",       TN_F32,  2, {4096, 4096},             {1, 0}},
    {"f32 4097x4097 transposed",       TN_F32,  2, {4097, 4097},             {1, 0}},
    {"f32 7168x7168 transposed",       TN_F32,  2, {7168, 7168},             {1, 0}},
    {"f32 8192x8192 transposed",       TN_F32,  2, {8192, 8192},             {1, 0}},
    {"f64 4096x4096 transposed",       TN_F64,  2, {4096, 4096},             {1, 0}},
    {"u8  3 channels to planes",       TN_U8,   3, {4000, 3000, 3},          {2, 0, 1}},
    {"u8  3 planes to channels",       TN_U8,   3, {3, 4000, 3000},          {1, 2, 0}},
    {"f16 3 channels to planes",       TN_F16,  3, {4000, 3000, 3},          {2, 0, 1}},
    {"f16 3 planes to channels",       TN_F16,  3, {3, 4000, 3000},          {1, 2, 0}},
    {"f32 3 channels to planes",       TN_F32,  3, {4000, 3000, 3},          {2, 0, 1}},
    {"f32 3 planes to channels",       TN_F32,  3, {3, 4000, 3000},          {1, 2, 0}},
    {"f64 3 channels to planes",       TN_F64,  3, {2000, 3000, 3},          {2, 0, 1}},
    {"f64 3 planes to channels",       TN_F64,  3, {3, 2000, 3000},          {1, 2, 0}},
    {"c128 3 channels to planes",      TN_C128, 3, {1000, 3000, 3},          {2, 0, 1}},
    {"c128 3 planes to channels",      TN_C128, 3, {3, 1000, 3000},          {1, 2, 0}},
    {"f32 rows of 64 bytes",           TN_F32,  3, {1500, 1700, 16},         {1, 0, 2}},
    {"u8  rows of 64 bytes",           TN_U8,   3, {1100, 1300, 64},         {1, 0, 2}},
    {"f32 33x27x29x31x35 reversed",    TN_F32,  5, {33, 27, 29, 31, 35},     {4, 3, 2, 1, 0}},
    {"f64 24x25x26x27x28 reversed",    TN_F64,  5, {24, 25, 26, 27, 28},     {4, 3, 2, 1, 0}},
    {"f32 17x19x18x17x20x16 reversed", TN_F32, 6, {17, 19, 18, 17, 20, 16}, {5, 4, 3, 2, 1, 0}},
    {"f32 7x13x5x11x61x97 reversed",   TN_F32,  6, {7, 13, 5, 11, 61, 97},   {5, 4, 3, 2, 1, 0}},
};

static const copy_case cached[] = {
    {"L1  f32 48x48 transposed",      TN_F32, 2, {48, 48},         {1, 0}},
    {"L1  f32 47x49 transposed",      TN_F32, 2, {47, 49},         {1, 0}},
    {"L1  f64 33x35 transposed",      TN_F64, 2, {33, 35},         {1, 0}},
    {"L1  u8  96x96 transposed",      TN_U8,  2, {96, 96},         {1, 0}},
    {"L1  f32 8x9x10x11 reversed",    TN_F32, 4, {8, 9, 10, 11},   {3, 2, 1, 0}},
    {"L1  u8  63x65x3 to planes",     TN_U8,  3, {63, 65, 3},      {2, 0, 1}},
    {"L1  u8  3x63x65 to channels",   TN_U8,  3, {3, 63, 65},      {1, 2, 0}},
    {"L2  f32 200x200 transposed",    TN_F32, 2, {200, 200},       {1, 0}},
    {"L2  f32 256x256 transposed",    TN_F32, 2, {256, 256},       {1, 0}},
    {"L2  f16 16x64x128, rows moved", TN_F16, 3, {16, 64, 128},    {1, 0, 2}},
    {"L2  f32 17x16x15x14 reversed",  TN_F32, 4, {17, 16, 15, 14}, {3, 2, 1, 0}},
    {"L3  f32 1000x1000 transposed",  TN_F32, 2, {1000, 1000},     {1, 0}},
    {"L3  f32 1024x1024 transposed",  TN_F32, 2, {1024, 1024},     {1, 0}},
    {"L3  f32 100x101x102 reversed",  TN_F32, 3, {100, 101, 102},  {2, 1, 0}},
};

static const copy_case images[] = {
    {"u8  224x224x3 to planes",   TN_U8,  3, {224, 224, 3},   {2, 0, 1}},
    {"u8  3x224x224 to channels", TN_U8,  3, {3, 224, 224},   {1, 2, 0}},
    {"f16 224x224x3 to planes",   TN_F16, 3, {224, 224, 3},   {2, 0, 1}},
    {"f16 3x224x224 to channels", TN_F16, 3, {3, 224, 224},   {1, 2, 0}},
    {"f32 224x224x3 to planes",   TN_F32, 3, {224, 224, 3},   {2, 0, 1}},
    {"f32 3x224x224 to channels", TN_F32, 3, {3, 224, 224},   {1, 2, 0}},
};
/* clang-format on */

#define LIST(NAME)                                                                             \
    static void get_##NAME(int i, copy_case *out)                                              \
    {                                                                                          \
        *out = NAME[i];                                                                        \
    }                                                                                          \
    const copy_list list_##NAME = {sizeof NAME / sizeof *NAME, get_##NAME};
LIST(narrow)
LIST(others)
LIST(cached)
LIST(images)
