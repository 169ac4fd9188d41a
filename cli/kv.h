/* kv.h - key-values of .gguf: taken from files, changed, shown, and handed to a writer. */
#ifndef KV_H
#define KV_H

#include "cli.h"

/* A value as .gguf has it: its type, little endian, then its bytes. */
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

extern const char *const kv_types[13]; /* names by the number of the type */

void kvs_free(kvs *ks);
int64_t kvs_find(const kvs *ks, const char *key); /* -1: there is none */
void kvs_drop(kvs *ks, int64_t i);
int kvs_put(kvs *ks, char *key, uint8_t *value,
            size_t size); /* owns both; a key stays in place */

/* Those of an open .gguf, or of the file of --kv: a .gguf or JSON. */
int kvs_of_file(kvs *ks, const tn_file *f);
int kvs_of_path(kvs *ks, const char *path);

/* In the form of tn_file_values; to be freed. */
int kvs_bytes(const kvs *ks, void **bytes, size_t *n);

/* JSON {"k": "text", "k": true, "k": {"u32": 5}, "k": {"f32": [1, 2]}} (kv_text.c).  A value of
 * "key=text" has the type that the key has, else that of "key=u32:5", else it is a text. */
int kvs_read_json(kvs *ks, const char *path, const char *text);
int kvs_set(kvs *ks, const char *pair);
void kvs_print_json(void *out, const kvs *ks);
void kvs_print(const kvs *ks);
void kvs_print_short(void *out,
                     const kvs *ks); /* JSON: values as they are, of lists the length */

uint64_t kv_load(const uint8_t *at, int bytes);
int kv_width(uint32_t type); /* 0: no number and no bool */

#endif
