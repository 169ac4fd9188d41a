/* image.c - a tensor as a picture: a matrix in grey or false colours, three channels as RGB.
 *
 * Elements are scaled from [min, max] of the finite ones to 0..255; u8 is not scaled, bool
 * becomes 0 or 255.  Lines are read one by one, so that a picture may be larger than memory. */
#include "image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TENON_PNG

int show_image(const args *a, const input *in)
{
    (void)in;
    return fail("%s: this build has no libpng", a->image);
}

#else

#include <png.h>

enum { MOST_PIXELS = 1000000 }; /* per side: libpng's default limit */

/* Every 16th of 256 colours, from dark to light; those between are interpolated.  Lightness
 * increases evenly. */
static const uint8_t stops[17][3] = {
    {68, 1, 84},    {72, 24, 106},  {71, 45, 123},  {66, 64, 134},  {59, 82, 139},
    {51, 99, 141},  {44, 114, 142}, {38, 130, 142}, {33, 145, 140}, {31, 160, 136},
    {40, 174, 128}, {63, 188, 115}, {94, 201, 98},  {132, 212, 75}, {173, 220, 48},
    {216, 226, 25}, {253, 231, 37}};

typedef struct image {
    const args *a;
    const input *in;
    tn_tensor v; /* (height, width) or (height, width, 3) */
    bool channels, colours, scaled;
    double low, scale;
    float *values;  /* one line */
    uint8_t *bytes; /* one line as the file stores it */
} image;

static int choose_axes(const input *in, image *m)
{
    const tn_tensor *t = &in->t;
    char shape[512];
    m->v = *t;
    m->channels = t->ndim == 3;
    if (t->ndim == 3 && t->shape[2] != 3 && t->shape[0] == 3)
        LIB(tn_permute(&m->v, t, (const int[]){1, 2, 0}));
    if ((t->ndim != 2 && t->ndim != 3) || (m->channels && m->v.shape[2] != 3))
        return fail(
            "%s: %s is not a picture; expected (height, width), (height, width, 3) or (3, "
            "height, width)",
            in->from->path, shape_text(shape, t->ndim, t->shape));
    if (is_complex(t->dtype))
        return fail("%s: complex numbers are not a picture", in->from->path);
    if (m->v.shape[0] < 1 || m->v.shape[1] < 1 || m->v.shape[0] > MOST_PIXELS ||
        m->v.shape[1] > MOST_PIXELS)
        return fail("%s: expected 1 to %d pixels on each side, got %s", in->from->path,
                    MOST_PIXELS, shape_text(shape, t->ndim, t->shape));
    return DONE;
}

static int choose_scale(image *m)
{
    recipe r = {0};
    tn_stats s = {0};
    const tn_dtype dtype = m->in->t.dtype;
    m->scaled = dtype != TN_U8;
    m->low = 0;
    m->scale = 255;
    if (!m->scaled || dtype == TN_BOOL)
        return DONE;
    int code = recipe_of_view(&r, &m->in->t, m->in);
    if (code == DONE) {
        tn_stream job = recipe_job(&r, m->a, NULL);
        if (tn_stream_stats(&job, &s, 0, NULL) != TN_OK)
            code = fail("%s", tn_error());
    }
    recipe_free(&r);
    m->low = s.finite ? s.min : 0;
    m->scale = s.finite && s.max > s.min ? 255 / (s.max - s.min) : 0;
    return code;
}

/* Read line y as f32. */
static tn_status read_line(const image *m, int64_t y)
{
    const input *in = m->in;
    const tn_file *f = in->spilled ? in->unpacked : in->from->f;
    tn_tensor line, raw, dst;
    int64_t n[2] = {m->v.shape[1], 3};
    tn_status status = tn_select(&line, &m->v, 0, y);
    if (status == TN_OK)
        status = tn_init(&dst, m->values, TN_F32, m->channels ? 2 : 1, n);
    if (status == TN_OK && in->quantised)
        return tn_file_dequantize_range(f, in->i, y * n[0] * (m->channels ? 3 : 1), &dst);
    if (status == TN_OK && in->in_memory)
        return tn_cast(&dst, &line);
    if (status == TN_OK)
        status = tn_alloc(&raw, line.dtype, line.ndim, line.shape);
    if (status != TN_OK)
        return status;
    line.dtype = in->t.dtype;
    status = tn_file_fetch(f, in->spilled ? 0 : in->i, &raw, &line);
    if (status == TN_OK)
        status = tn_cast(&dst, &raw);
    tn_free(&raw);
    return status;
}

/* NaN is black in grey and RGB, magenta in false colours. */
static void paint(const image *m, uint8_t *out, float x)
{
    double y = m->scaled ? ((double)x - m->low) * m->scale : (double)x;
    const bool none = isnan(y);
    y = none ? 0 : fmin(fmax(y, 0), 255);
    if (!m->colours) {
        *out = (uint8_t)lround(y);
        return;
    }
    const int k = (int)(y / 16) < 15 ? (int)(y / 16) : 15;
    const double share = (y - 16 * k) / (k == 15 ? 15 : 16);
    static const uint8_t magenta[3] = {216, 27, 140};
    for (int c = 0; c < 3; c++)
        out[c] = none ? magenta[c]
                      : (uint8_t)lround(stops[k][c] * (1 - share) + stops[k + 1][c] * share);
}

static void refuse(png_structp png, png_const_charp why)
{
    (void)why;
    longjmp(png_jmpbuf(png), 1);
}

static int write_lines(const image *m, png_structp png)
{
    const int64_t width = m->v.shape[1], values = width * (m->channels ? 3 : 1);
    const int each = m->colours ? 3 : 1;
    for (int64_t y = 0; y < m->v.shape[0]; y++) {
        if (read_line(m, y) != TN_OK)
            return fail("%s", tn_error());
        for (int64_t x = 0; x < values; x++)
            paint(m, m->bytes + x * each, m->values[x]);
        png_write_row(png, m->bytes);
        progress_at((y + 1) * values * (int64_t)tn_dtype_size(m->v.dtype));
    }
    return DONE;
}

static int print_image(void *out, const void *user)
{
    const image *m = user;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, refuse, refuse);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    volatile int code = info ? DONE : fail("out of memory");
    if (info && setjmp(png_jmpbuf(png)) != 0) {
        code = fail("%s: libpng cannot write the image", m->a->image);
    } else if (info) {
        const int type = m->channels || m->colours ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY;
        png_init_io(png, out);
        png_set_IHDR(png, info, (png_uint_32)m->v.shape[1], (png_uint_32)m->v.shape[0], 8, type,
                     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        code = write_lines(m, png);
        if (code == DONE)
            png_write_end(png, info);
    }
    png_destroy_write_struct(&png, &info);
    return code;
}

int show_image(const args *a, const input *in)
{
    image m = {.a = a, .in = in};
    if (a->colour && strcmp(a->colour, "grey") != 0 && strcmp(a->colour, "viridis") != 0)
        return usage(a, "--colour is grey or viridis, got \"%s\"", a->colour);
    TRY(choose_axes(in, &m));
    m.colours = !m.channels && a->colour && !strcmp(a->colour, "viridis");
    TRY(may_write(a, a->image));
    TRY(choose_scale(&m));
    const size_t values = (size_t)m.v.shape[1] * 3;
    m.values = malloc(values * sizeof *m.values);
    m.bytes = malloc(values);
    progress_start(a, tn_nbytes(&in->t));
    int code =
        m.values && m.bytes ? write_whole(a, a->image, print_image, &m) : fail("out of memory");
    progress_end();
    free(m.values);
    free(m.bytes);
    return code;
}

#endif
