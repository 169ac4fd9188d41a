/* json.h - a JSON scanner for headers, one token at a time, without a tree.
 *
 * A call that returns false has set `why` and left `at` where it failed; in calls that
 * allocate, a NULL `why` means out of memory. */
#ifndef TNI_JSON_H
#define TNI_JSON_H

#include "io/io.h"

typedef struct tni_json {
    const char *text;
    int64_t at, length;
    const char *why;
} tni_json;

/* Set the reason; return false. */
bool tni_json_wrong(tni_json *j, const char *why);

/* Skip blanks; if c comes next, skip it and return true. */
bool tni_json_sign(tni_json *j, char c);

/* A string, decoded into the arena. */
bool tni_json_string(tni_json *j, tni_arena *arena, const char **out);

/* An integer that fits 64 bits. */
bool tni_json_integer(tni_json *j, int64_t *out);

/* Skip any value. */
bool tni_json_skip(tni_json *j);

/* Write text as a JSON string, with its quotes, to out (NULL: only count); return its
 * length. */
int64_t tni_json_quote(char *out, const char *text);

/* An object of strings with distinct names; copied to the arena without blanks. */
bool tni_json_texts(tni_json *j, tni_arena *arena, const char **out);

#endif
