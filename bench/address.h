/* address.h - do copies beyond the cache run alike wherever dst and src begin in a line? */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "cases.h"
#include "measure.h"

/* Speed beside that of the same copy whose dst and src begin with a line. */
typedef struct address_result {
    double mean, worst; /* over cases and offsets, geometric mean */
    char what[96];      /* the worst */
} address_result;

/* One of every `every` cases of a list, each at all offsets interleaved, `rounds` times; prints a line
 * for each case.  The arena has 64 bytes more than the largest case. */
address_result address_measure(const copy_list *list, int every, const arena *a, int rounds);

#endif
