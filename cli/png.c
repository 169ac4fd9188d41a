/* png.c - small pictures as base64-encoded PNG: 16 colours, 4 bits each, uncompressed.
 *
 * A heat map of 48 x 48 takes 1.8 KB and needs no library. */
#include <stdio.h>
#include <stdlib.h>

#include "pictures.h"

/* A stream that computes the checksum of a chunk. */
typedef struct chunked {
    FILE *f;
    uint32_t crc;
} chunked;

static void put(chunked *c, int byte)
{
    fputc(byte, c->f);
    c->crc ^= (uint32_t)byte;
    for (int i = 0; i < 8; i++)
        c->crc = c->crc >> 1 ^ (c->crc & 1 ? 0xedb88320u : 0);
}

static void put_number(chunked *c, uint32_t x)
{
    for (int i = 24; i >= 0; i -= 8)
        put(c, (int)(x >> i & 255));
}

static void begin(chunked *c, uint32_t length, const char *type)
{
    put_number(c, length);
    c->crc = 0xffffffffu;
    for (int i = 0; i < 4; i++)
        put(c, type[i]);
}

static void end(chunked *c)
{
    put_number(c, c->crc ^ 0xffffffffu);
}

/* Magenta for NaN, then dark blue through green to yellow: lightness increases evenly, so that
 * the order is visible without colour. */
static const uint32_t colours[16] = {0xd81b8c, 0x440154, 0x481b6d, 0x46327e, 0x3f4788, 0x365c8d,
                                     0x2e6e8e, 0x277f8e, 0x21918c, 0x1fa187, 0x2db27d, 0x4ac16d,
                                     0x73d056, 0xa0da39, 0xd0e11c, 0xfde725};

static void put_image(chunked *c, int64_t width, int64_t height, const uint8_t *levels)
{
    const int64_t line = 1 + (width + 1) / 2, n = line * height;
    uint32_t a = 1, b = 0; /* Adler-32 */
    begin(c, (uint32_t)(n + 11), "IDAT");
    put(c, 0x78);
    put(c, 0x01);
    put(c, 1); /* one stored block, the last */
    put(c, (int)(n & 255));
    put(c, (int)(n >> 8));
    put(c, (int)(~n & 255));
    put(c, (int)(~n >> 8 & 255));
    for (int64_t i = 0; i < n; i++) {
        const int64_t y = i / line, x = 2 * (i % line - 1);
        int byte = 0;
        if (x >= 0)
            byte = levels[y * width + x] << 4 | (x + 1 < width ? levels[y * width + x + 1] : 0);
        put(c, byte);
        a = (a + (uint32_t)byte) % 65521;
        b = (b + a) % 65521;
    }
    put_number(c, b << 16 | a);
    end(c);
}

static void print_base64(FILE *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t x = (uint32_t)bytes[i] << 16 |
                           (i + 1 < n ? (uint32_t)bytes[i + 1] : 0) << 8 |
                           (i + 2 < n ? (uint32_t)bytes[i + 2] : 0);
        fputc(digits[x >> 18], out);
        fputc(digits[x >> 12 & 63], out);
        fputc(i + 1 < n ? digits[x >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digits[x & 63] : '=', out);
    }
}

void print_png(void *out, int64_t width, int64_t height, const uint8_t *levels)
{
    static const char magic[] = "\x89PNG\r\n\x1a\n";
    char *bytes = NULL;
    size_t n = 0;
    chunked c = {open_memstream(&bytes, &n), 0};
    if (!c.f)
        return;
    for (int i = 0; i < 8; i++)
        put(&c, (unsigned char)magic[i]);
    begin(&c, 13, "IHDR");
    put_number(&c, (uint32_t)width);
    put_number(&c, (uint32_t)height);
    put_number(&c, 0x04030000); /* 4 bits, a palette */
    put(&c, 0);
    end(&c);
    begin(&c, 48, "PLTE");
    for (int i = 0; i < 16; i++)
        for (int k = 16; k >= 0; k -= 8)
            put(&c, (int)(colours[i] >> k & 255));
    end(&c);
    put_image(&c, width, height, levels);
    begin(&c, 0, "IEND");
    end(&c);
    if (fclose(c.f) == 0)
        print_base64(out, (unsigned char *)bytes, n);
    free(bytes);
}
