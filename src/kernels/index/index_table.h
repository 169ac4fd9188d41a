/* index_table.h - elements chosen by indices: gathers, scatters, and what meets in one element. */
#ifndef TNI_INDEX_TABLE_H
#define TNI_INDEX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <tenon/dtype.h>

/* d[k * d_step] = s[k * s_step + at[k]] for elements of up to 32 bytes (as log2); all in bytes. */
void tni_gather(char *d, int64_t d_step, const char *s, int64_t s_step, const int64_t *at,
                int64_t n, int width_log2);

/* d[to[k]] = s[from[k]], in order. */
void tni_scatter(char *d, const char *s, const int64_t *to, const int64_t *from, int64_t n,
                 int width_log2);

/* op: 1 add, 2 mul, 3 min, 4 max; d = d op s, rounded to dtype, in order: at to[k] and from[k], or
 * of dense elements where these are NULL. */
void tni_meet(int op, tn_dtype dtype, char *d, const char *s, const int64_t *to,
              const int64_t *from, int64_t n);

#endif
