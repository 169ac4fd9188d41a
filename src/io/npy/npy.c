/* npy.c - reading the header of .npy, versions 1.0, 2.0 and 3.0.
 *
 * The header is a Python dictionary literal with three keys.  The scanner accepts exactly the
 * literals that NumPy reads and writes, moves only forward and never recurses. */
#include <stdio.h>
#include <string.h>

#include "io/io.h"

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The dtype of a type string without its byte-order sign. */
static const struct {
    const char *code;
    tn_dtype dtype;
} codes[] = {
    {"b1", TN_BOOL},  {"?", TN_BOOL}, {"i1", TN_I8},     {"u1", TN_U8},
    {"i2", TN_I16},   {"u2", TN_U16}, {"i4", TN_I32},    {"u4", TN_U32},
    {"i8", TN_I64},   {"u8", TN_U64}, {"f1", TN_F8E5M2}, /* ml_dtypes' float8_e5m2 */
    {"f2", TN_F16},   {"f4", TN_F32}, {"f8", TN_F64},    {"c8", TN_C64},
    {"c16", TN_C128}, {"V1", TN_U8},  {"V2", TN_BF16}, /* ml_dtypes' bfloat16; a plain void has
                                                          the sign '|' */
};

typedef struct scan {
    const char *at, *end, *who;
    const char *begin; /* byte 0 of the file or member */
} scan;

static tn_status fail_header(const scan *s, const char *what)
{
    return tni_fail(TN_EFORMAT, "%s: header, byte %lld: %s", s->who,
                    (long long)(s->at - s->begin), what);
}

static void blanks(scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n'))
        s->at++;
}

static bool npy_take(scan *s, const char *word)
{
    size_t n = strlen(word);
    blanks(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* A quoted string of fewer than size bytes, without escapes. */
static bool quoted(scan *s, char *out, size_t size)
{
    char quote = npy_take(s, "'") ? '\'' : npy_take(s, "\"") ? '"' : 0;
    size_t n = 0;
    while (quote && s->at < s->end && n + 1 < size) {
        char c = *s->at++;
        if (c == quote) {
            out[n] = 0;
            return true;
        }
        if (c == '\\' || c < ' ')
            return false;
        out[n++] = c;
    }
    return false;
}

/* An integer >= 0: 3, 3L, np.int64(3), numpy.int64(3). */
static bool npy_number(scan *s, int64_t *out)
{
    bool call = npy_take(s, "np.") || npy_take(s, "numpy.");
    if (call && !npy_take(s, "int64(") && !npy_take(s, "int32(") && !npy_take(s, "intp("))
        return false;
    blanks(s);
    int64_t value = 0;
    const char *first = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (!tni_mul(value, 10, &value) || !tni_add(value, *s->at - '0', &value))
            return false;
    if (s->at == first)
        return false;
    if (call && !npy_take(s, ")"))
        return false;
    if (!call && s->at < s->end && *s->at == 'L')
        s->at++;
    *out = value;
    return true;
}

static tn_status npy_shape(scan *s, tni_npy *h)
{
    if (!npy_take(s, "("))
        return fail_header(s, "expected a tuple for shape");
    h->ndim = 0;
    bool comma = true;
    while (!npy_take(s, ")")) {
        if (!comma)
            return fail_header(s, "expected a comma or ) in shape");
        if (h->ndim == TN_MAX_NDIM)
            return fail_header(s, "expected at most 64 axes in shape");
        if (!npy_number(s, &h->shape[h->ndim]))
            return fail_header(s, "expected an integer >= 0 in shape");
        h->ndim++;
        comma = npy_take(s, ",");
    }
    if (h->ndim == 1 && !comma)
        return fail_header(s, "expected a tuple for shape");
    return TN_OK;
}

static tn_dtype by_long_name(const char *name)
{
    for (int i = 1; i < TNI_DTYPES; i++)
        if (!strcmp(name, tni_dtypes[i].long_name))
            return (tn_dtype)i;
    return !strcmp(name, "bool") ? TN_BOOL : (tn_dtype)0;
}

static tn_status dtype(scan *s, tni_npy *h)
{
    if (npy_take(s, "[")) {
        memcpy(h->descr, "records", 8);
        return tni_fail(TN_EUNSUPPORTED, "%s: structured dtypes are not supported", s->who);
    }
    if (!quoted(s, h->descr, sizeof h->descr))
        return fail_header(s, "expected a short string for descr");
    char sign = h->descr[0];
    bool has_sign = sign && strchr("<>|=", sign);
    const char *code = h->descr + has_sign;
    if (*code == 'O')
        return tni_fail(TN_EUNSUPPORTED, "%s: Python objects are not supported", s->who);
    h->dtype = has_sign ? (tn_dtype)0 : by_long_name(code);
    for (int i = 0; i < COUNT(codes); i++)
        if (!strcmp(code, codes[i].code)) {
            h->dtype = codes[i].dtype;
            if (codes[i].dtype == TN_BF16 && (!has_sign || sign == '|' || sign == '='))
                h->dtype = TN_U16;
        }
    if (!h->dtype)
        return tni_fail(TN_EUNSUPPORTED, "%s: dtype '%s' is not supported", s->who, h->descr);
    const bool native = sign == '=' || (sign == '>') == TNI_HOST_BIG; /* no sign: little */
    h->swapped = !native && tni_width(h->dtype) > 1;
    return TN_OK;
}

/* A comment after the dictionary may name a dtype that the type string cannot express. */
static void comment(scan *s, tni_npy *h)
{
    char name[16];
    size_t n = 0;
    while (s->at < s->end && *s->at == ' ')
        s->at++;
    while (s->at + n < s->end && s->at[n] > ' ' && n + 1 < sizeof name) {
        name[n] = s->at[n];
        n++;
    }
    name[n] = 0;
    tn_dtype named = by_long_name(name);
    if (named && strchr(h->descr, 'V') && tni_width(named) == tni_width(h->dtype))
        h->dtype = named;
    while (s->at < s->end && *s->at != '\n')
        s->at++;
}

static tn_status dictionary(scan *s, tni_npy *h)
{
    bool have[3] = {false};
    char key[16];
    if (!npy_take(s, "{"))
        return fail_header(s, "expected a dictionary");
    for (bool comma = true; !npy_take(s, "}"); comma = npy_take(s, ",")) {
        if (!comma || !quoted(s, key, sizeof key) || !npy_take(s, ":"))
            return fail_header(s, "expected a key");
        int which = !strcmp(key, "descr")           ? 0
                    : !strcmp(key, "fortran_order") ? 1
                    : !strcmp(key, "shape")         ? 2
                                                    : 3;
        if (which == 3 || have[which])
            return fail_header(s,
                               "expected each of the keys descr, fortran_order and shape once");
        have[which] = true;
        if (which == 0) {
            TRY(dtype(s, h));
        } else if (which == 1) {
            h->fortran = npy_take(s, "True");
            if (!h->fortran && !npy_take(s, "False"))
                return fail_header(s, "expected True or False for fortran_order");
        } else {
            TRY(npy_shape(s, h));
        }
    }
    if (!have[0] || !have[1] || !have[2])
        return fail_header(s, "expected each of the keys descr, fortran_order and shape once");
    if (npy_take(s, "#"))
        comment(s, h);
    blanks(s);
    return s->at == s->end ? TN_OK
                           : fail_header(s, "got text after the dictionary, expected its end");
}

tn_status tni_npy_length(const char *who, const uint8_t *prefix, int64_t n, int64_t *length)
{
    if (n < 10 || memcmp(prefix, magic, sizeof magic) != 0)
        return tni_fail(TN_EFORMAT, "%s: not a .npy: shorter than 10 bytes or wrong magic",
                        who);
    int major = prefix[6], minor = prefix[7], wide = major > 1;
    if (major < 1 || major > 3 || minor != 0)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: .npy version %d.%d is not supported; 1.0 to 3.0 are", who, major,
                        minor);
    if (wide && n < 12)
        return tni_fail(TN_EFORMAT, "%s: truncated inside the header length", who);
    int64_t text = prefix[8] | prefix[9] << 8;
    if (wide)
        text |= (int64_t)prefix[10] << 16 | (int64_t)prefix[11] << 24;
    if (text > TNI_NPY_LONGEST)
        return tni_fail(TN_EFORMAT, "%s: header has %lld bytes, at most %d are supported", who,
                        (long long)text, TNI_NPY_LONGEST);
    *length = text + (wide ? 12 : 10);
    return TN_OK;
}

tn_status tni_npy_parse(tni_npy *h, const char *who, const uint8_t *bytes, int64_t length)
{
    scan s = {.at = (const char *)bytes + (bytes[6] > 1 ? 12 : 10),
              .end = (const char *)bytes + length,
              .who = who,
              .begin = (const char *)bytes};
    *h = (tni_npy){.size = length};
    TRY(dictionary(&s, h));
    tn_tensor t;
    if (tn_init(&t, NULL, h->dtype, h->ndim, h->shape) != TN_OK) {
        char text[TNI_SHAPE_TEXT];
        return tni_fail(TN_EFORMAT, "%s: header says %s, size exceeds 2^63 - 1 bytes", who,
                        tni_shape_text(text, h->ndim, h->shape, tn_dtype_name(h->dtype)));
    }
    h->nbytes = tn_nbytes(&t);
    return TN_OK;
}

/* Text, bytes, dates and intervals are listed; objects, and records, which may contain objects,
 * are not. */
static bool is_listed(const char *descr)
{
    return descr[0] && strchr("<>|=", descr[0]) && descr[1] && strchr("USaMmV", descr[1]);
}

tn_status tni_npy_open(tn_file *f)
{
    uint8_t prefix[TNI_NPY_PREFIX];
    int64_t n = f->size < TNI_NPY_PREFIX ? f->size : TNI_NPY_PREFIX, length;
    TRY(tni_file_bytes(f, prefix, n, 0));
    TRY(tni_npy_length(f->path, prefix, n, &length));
    if (length > f->size)
        return tni_fail(TN_EFORMAT, "%s: header needs %lld bytes, the file has %lld", f->path,
                        (long long)length, (long long)f->size);
    uint8_t *bytes = tni_arena_take(&f->arena, (size_t)length);
    if (!bytes)
        return tni_no_memory(f->path, length);
    TRY(tni_file_bytes(f, bytes, length, 0));
    tni_npy h = {.descr = ""};
    tn_status status = tni_npy_parse(&h, f->path, bytes, length);
    if (status == TN_EUNSUPPORTED && is_listed(h.descr))
        return tni_file_add(
            f, &(tni_entry){.name = "", .type = h.descr, .shape = h.shape, .no_shape = true});
    TRY(status);
    if (h.nbytes > f->size - length) {
        char text[TNI_SHAPE_TEXT];
        return tni_fail(TN_EFORMAT, "%s: header says %s = %lld bytes, the file has %lld",
                        f->path, tni_shape_text(text, h.ndim, h.shape, tn_dtype_name(h.dtype)),
                        (long long)h.nbytes, (long long)(f->size - length));
    }
    return tni_file_add(f, &(tni_entry){.name = "",
                                        .type = h.descr,
                                        .shape = h.shape,
                                        .ndim = (int8_t)h.ndim,
                                        .dtype = h.dtype,
                                        .offset = length,
                                        .nbytes = h.nbytes,
                                        .fortran = h.fortran && h.ndim > 1,
                                        .swapped = h.swapped});
}
