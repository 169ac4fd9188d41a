/* easy.h - helpers for programs that stop at the first error: examples, tools, tests.
 *
 * Header-only and not part of tenon.h: unlike the library, these helpers print and exit. */
#ifndef TENON_EASY_H
#define TENON_EASY_H

#include <stdio.h>
#include <stdlib.h>

#include <tenon/tensor.h>

/* Return the status of a call that fails from the enclosing function. */
#define TN_TRY(call)                                                                           \
    do {                                                                                       \
        const tn_status tn_try_status = (call);                                                \
        if (tn_try_status != TN_OK)                                                            \
            return tn_try_status;                                                              \
    } while (0)

/* Print "file:line: message" and exit with 1 if a call fails. */
#define TN_MUST(call)                                                                          \
    do {                                                                                       \
        if ((call) != TN_OK) {                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, tn_error());                    \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

/* Print "file:line: not true: …" and exit with 1 unless a condition holds. */
#define TN_EXPECT(condition)                                                                   \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);          \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

/* Print a title and the elements of t, as tn_print writes them; exit with 1 on failure. */
static inline void tn_show(const char *title, const tn_tensor *t)
{
    const size_t size = tn_print_size(t);
    char *text = size ? (char *)malloc(size) : NULL;
    if (!text || tn_print(t, text, size) != TN_OK) {
        fprintf(stderr, "%s: %s\n", title, size ? "out of memory" : tn_error());
        exit(1);
    }
    printf("%s\n%s\n\n", title, text);
    free(text);
}

#endif
