/* kv.h - key-values of .gguf: reading, changing, printing and writing them. */
#ifndef KV_H
#define KV_H

#include "cli.h"

/* A value as stored in .gguf: its type, little-endian, then its bytes. */
typedef struct kv {
    char *key;
    uint8_t *value;
    size_t size;
} kv;

typedef struct kvs {
    kv *list;
    int64_t n, capacity;
} kvs;

enum { KV_BOOL = 7, KV_TEXT = 8, KV_LIST = 9 };

extern const char *const kv_types[13]; /* names, indexed by type number */

void kvs_free(kvs *ks);
int64_t kvs_find(const kvs *ks, const char *key); /* -1: absent */
void kvs_drop(kvs *ks, int64_t i);
/* Add or replace a pair, taking ownership of both; an existing key keeps its position. */
int kvs_put(kvs *ks, char *key, uint8_t *value, size_t size);

/* Read those of an open .gguf, or those of the file of --kv, which is a .gguf or JSON. */
int kvs_of_file(kvs *ks, const tn_file *f);
int kvs_of_path(kvs *ks, const char *path);

/* Serialise in the form of tn_file_values; the caller frees the bytes. */
int kvs_bytes(const kvs *ks, void **bytes, size_t *n);

/* Read JSON such as {"k": "text", "k": true, "k": {"u32": 5}, "k": {"f32": [1, 2]}}
 * (kv_text.c), or set "key=text" or "key=u32:5"; without a type, an existing key keeps its own
 * and a new one is a string. */
int kvs_read_json(kvs *ks, const char *path, const char *text);
int kvs_set(kvs *ks, const char *pair);
void kvs_print_json(void *out, const kvs *ks);
void kvs_print(const kvs *ks);

/* Print JSON: values without their types, and a list as its length. */
void kvs_print_short(void *out, const kvs *ks);

uint64_t kv_load(const uint8_t *at, int bytes);
int kv_width(uint32_t type); /* 0: neither a number nor bool */

#endif
