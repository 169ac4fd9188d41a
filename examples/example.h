/* example.h - how the examples check themselves: the first surprise is printed and ends
 * main. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>

#include <tenon/tenon.h>

/* A call that succeeds. */
#define OK(call)                                                                               \
    do {                                                                                       \
        if ((call) != TN_OK) {                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, tn_error());                    \
            return 1;                                                                          \
        }                                                                                      \
    } while (0)

/* A fact that holds. */
#define CHECK(fact)                                                                            \
    do {                                                                                       \
        if (!(fact)) {                                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact);                 \
            return 1;                                                                          \
        }                                                                                      \
    } while (0)

static inline void show(const char *title, const tn_tensor *t)
{
    char text[1024];
    if (tn_print(t, text, sizeof text) == TN_OK)
        printf("%s\n%s\n\n", title, text);
}

#endif
