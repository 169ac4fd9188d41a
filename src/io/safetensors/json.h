/* json.h - JSON of headers, read one token at a time and without a tree.
 *
 * A call that gives false has set why and left `at` where it failed; where it needs memory, why
 * NULL means that there was none. */
#ifndef TNI_JSON_H
#define TNI_JSON_H

#include "io/io.h"

typedef struct tni_json {
    const char *text;
    int64_t at, length;
    const char *why;
} tni_json;

/* False, with the reason. */
bool tni_json_wrong(tni_json *j, const char *why);

/* Whether c comes next, blanks aside; then it is passed. */
bool tni_json_sign(tni_json *j, char c);

/* A text, decoded, in the arena. */
bool tni_json_string(tni_json *j, tni_arena *arena, const char **out);

/* A whole number of 64 bits. */
bool tni_json_integer(tni_json *j, int64_t *out);

/* Pass over any value. */
bool tni_json_skip(tni_json *j);

/* text as JSON, with its quotes, at out; out NULL only counts.  Gives the length. */
int64_t tni_json_quote(char *out, const char *text);

/* An object of texts, each name once, in its shortest form; in the arena. */
bool tni_json_texts(tni_json *j, tni_arena *arena, const char **out);

#endif
