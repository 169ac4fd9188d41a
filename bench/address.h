/* address.h - does the speed of large copies depend on where dst and src begin in a cache
 * line? */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "cases.h"
#include "measure.h"

/* Speeds relative to the same copy with line-aligned dst and src. */
typedef struct address_result {
    double mean, worst; /* over cases and offsets; mean is geometric */
    char what[96];      /* the worst case */
} address_result;

/* Measure one of every `every` cases of a list at all offsets, interleaved, `rounds` times;
 * prints a line per case.  The arena is 64 bytes larger than the largest case. */
address_result address_measure(const copy_list *list, int every, const arena *a, int rounds);

#endif
