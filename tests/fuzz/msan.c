/* msan.c - what the memory sanitizer cannot see by itself: bytes that zlib, which it has not
 * compiled, leaves behind.
 *
 * Linked in front of the calls with --wrap, into programs that it watches; the library does not
 * know of them. */
#include <sanitizer/msan_interface.h>
#include <zlib.h>

int __real_inflateInit2_(z_streamp z, int bits, const char *version, int size);
int __wrap_inflateInit2_(z_streamp z, int bits, const char *version, int size);
int __wrap_inflateInit2_(z_streamp z, int bits, const char *version, int size)
{
    __msan_check_mem_is_initialized(z, sizeof *z);
    int got = __real_inflateInit2_(z, bits, version, size);
    __msan_unpoison(z, sizeof *z);
    return got;
}

int __real_inflate(z_streamp z, int flush);
int __wrap_inflate(z_streamp z, int flush);
int __wrap_inflate(z_streamp z, int flush)
{
    Bytef *out = z->next_out;
    __msan_check_mem_is_initialized(z->next_in, z->avail_in);
    int got = __real_inflate(z, flush);
    __msan_unpoison(z, sizeof *z);
    __msan_unpoison(out, (size_t)(z->next_out - out));
    return got;
}

uLong __real_crc32(uLong crc, const Bytef *data, uInt n);
uLong __wrap_crc32(uLong crc, const Bytef *data, uInt n);
uLong __wrap_crc32(uLong crc, const Bytef *data, uInt n)
{
    __msan_check_mem_is_initialized(data, n);
    return __real_crc32(crc, data, n);
}
