/* kv.c - lists of key-values: read from .gguf, and serialised for a writer.
 *
 * The library has validated an open file; lengths are checked again all the same. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv.h"

const char *const kv_types[13] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                  "bool", "string", "array", "u64", "i64", "f64"};

int kv_width(uint32_t type)
{
    static const int8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizeof bytes ? bytes[type] : 0;
}

uint64_t kv_load(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | at[i];
    return x;
}

void kvs_free(kvs *ks)
{
    for (int64_t i = 0; i < ks->n; i++) {
        free(ks->list[i].key);
        free(ks->list[i].value);
    }
    free(ks->list);
    *ks = (kvs){0};
}

int64_t kvs_find(const kvs *ks, const char *key)
{
    for (int64_t i = 0; i < ks->n; i++)
        if (!strcmp(ks->list[i].key, key))
            return i;
    return -1;
}

void kvs_drop(kvs *ks, int64_t i)
{
    free(ks->list[i].key);
    free(ks->list[i].value);
    memmove(&ks->list[i], &ks->list[i + 1], (size_t)(--ks->n - i) * sizeof *ks->list);
}

int kvs_put(kvs *ks, char *key, uint8_t *value, size_t size)
{
    int64_t at = key && value ? kvs_find(ks, key) : -1;
    if (at >= 0) {
        free(key);
        free(ks->list[at].value);
        ks->list[at].value = value;
        ks->list[at].size = size;
        return DONE;
    }
    if (ks->n == ks->capacity) {
        int64_t capacity = ks->capacity ? 2 * ks->capacity : 16;
        kv *more = realloc(ks->list, (size_t)capacity * sizeof *more);
        if (more) {
            ks->list = more;
            ks->capacity = capacity;
        }
    }
    if (!key || !value || ks->n == ks->capacity) {
        free(key);
        free(value);
        return fail("out of memory");
    }
    ks->list[ks->n++] = (kv){key, value, size};
    return DONE;
}

/* ---- from a .gguf ---- */

/* Bytes of a value, not counting its type; 0: truncated. */
static size_t value_size(uint32_t type, const uint8_t *at, size_t left)
{
    if (kv_width(type))
        return (size_t)kv_width(type) <= left ? (size_t)kv_width(type) : 0;
    if (type == KV_TEXT)
        return left >= 8 && kv_load(at, 8) <= left - 8 ? 8 + (size_t)kv_load(at, 8) : 0;
    if (type != KV_LIST || left < 12)
        return 0;
    uint32_t of = (uint32_t)kv_load(at, 4);
    uint64_t n = kv_load(at + 4, 8);
    if (kv_width(of))
        return n <= (left - 12) / (size_t)kv_width(of) ? 12 + (size_t)n * (size_t)kv_width(of)
                                                       : 0;
    size_t used = 12;
    for (uint64_t i = 0; of == KV_TEXT && i < n; i++) {
        size_t one = value_size(KV_TEXT, at + used, left - used);
        if (!one)
            return 0;
        used += one;
    }
    return of == KV_TEXT ? used : 0;
}

static int split_pairs(kvs *ks, const uint8_t *at, size_t left)
{
    for (uint64_t pairs = kv_load(at - 8, 8); pairs > 0; pairs--) {
        size_t key = value_size(KV_TEXT, at, left);
        size_t size = key && left - key >= 4 ? value_size((uint32_t)kv_load(at + key, 4),
                                                          at + key + 4, left - key - 4)
                                             : 0;
        if (!size || memchr(at + 8, 0, key - 8))
            return fail("a key or a value is not supported");
        uint8_t *value = malloc(4 + size);
        if (value)
            memcpy(value, at + key, 4 + size);
        TRY(kvs_put(ks, strndup((const char *)at + 8, key - 8), value, 4 + size));
        at += key + 4 + size;
        left -= key + 4 + size;
    }
    return DONE;
}

int kvs_of_file(kvs *ks, const tn_file *f)
{
    size_t n = 0;
    *ks = (kvs){0};
    LIB(tn_file_values(f, NULL, 0, &n));
    uint8_t *bytes = malloc(n);
    int code = bytes ? DONE : fail("cannot allocate %zu bytes of key-values", n);
    if (code == DONE && tn_file_values(f, bytes, n, &n) != TN_OK)
        code = fail("%s", tn_error());
    if (code == DONE)
        code = split_pairs(ks, bytes + 8, n - 8);
    free(bytes);
    return code;
}

/* Read a whole text file; the caller frees it. */
static int read_text(const char *path, char **text)
{
    enum { LONGEST = 1 << 30 };
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail("%s: %s", path, strerror(errno));
    size_t n = 0, capacity = 1 << 16;
    *text = malloc(capacity);
    while (*text && !ferror(f)) {
        n += fread(*text + n, 1, capacity - n - 1, f);
        if (n + 1 < capacity || capacity > LONGEST)
            break;
        capacity *= 2;
        char *more = realloc(*text, capacity);
        if (!more)
            free(*text);
        *text = more;
    }
    int code = !*text                ? fail("%s: out of memory", path)
               : ferror(f)           ? fail("%s: %s", path, strerror(errno))
               : memchr(*text, 0, n) ? fail("%s: not a .gguf or JSON file", path)
               : n + 1 >= capacity   ? fail("%s: more than %d bytes", path, LONGEST)
                                     : DONE;
    fclose(f);
    if (code == DONE)
        (*text)[n] = 0;
    return code;
}

int kvs_of_path(kvs *ks, const char *path)
{
    tn_file *f = NULL;
    char *text = NULL;
    *ks = (kvs){0};
    set_error_subject(path);
    int code;
    if (tn_file_open(&f, path) == TN_OK && !strcmp(tn_file_format(f), "gguf"))
        code = kvs_of_file(ks, f);
    else if ((code = read_text(path, &text)) == DONE)
        code = kvs_read_json(ks, path, text);
    set_error_subject(NULL);
    free(text);
    tn_file_close(f);
    return code;
}

/* ---- to a writer ---- */

static void put_number(FILE *f, uint64_t x)
{
    for (int i = 0; i < 8; i++)
        fputc((int)(x >> 8 * i & 255), f);
}

int kvs_bytes(const kvs *ks, void **bytes, size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    if (!f)
        return fail("out of memory");
    put_number(f, (uint64_t)ks->n);
    for (int64_t i = 0; i < ks->n; i++) {
        put_number(f, strlen(ks->list[i].key));
        fputs(ks->list[i].key, f);
        fwrite(ks->list[i].value, 1, ks->list[i].size, f);
    }
    if (fclose(f) != 0)
        return fail("out of memory");
    *bytes = text;
    return DONE;
}
