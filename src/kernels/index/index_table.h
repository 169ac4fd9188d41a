/* index_table.h - access by index: gather, scatter, and scatter with an operation. */
#ifndef TNI_INDEX_TABLE_H
#define TNI_INDEX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <tenon/dtype.h>

/* d[k * d_step] = s[k * s_step + at[k]] for elements of up to 32 bytes (given as log2); steps
 * and indices are in bytes. */
void tni_gather(char *d, int64_t d_step, const char *s, int64_t s_step, const int64_t *at,
                int64_t n, int width_log2);

/* d[to[k]] = s[from[k]], in order. */
void tni_scatter(char *d, const char *s, const int64_t *to, const int64_t *from, int64_t n,
                 int width_log2);

/* d = d op s, rounded to dtype, for n elements in order; op is 1 add, 2 mul, 3 min, 4 max.
 * Elements are at the offsets to[k] and from[k], or dense if these are NULL. */
void tni_combine(int op, tn_dtype dtype, char *d, const char *s, const int64_t *to,
                 const int64_t *from, int64_t n);

#endif
