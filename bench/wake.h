/* wake.h - does a second thread ever make a call slower? */
#ifndef WAKE_H
#define WAKE_H

#include <stdbool.h>

/* Measure copies, transposes, additions and sums of 16 KB to 16 MB with one thread and with
 * several, call after call and after pauses in which workers fall asleep.  Prints a line for each,
 * and last "worst RATIO CASE": the time of several threads over that of one. */
void wake_measure(int threads, bool quick);

typedef struct wake_worst {
    double ratio; /* 0: the program did not answer */
    char what[64];
} wake_worst;

/* The same in another process of this program, called `self --wake`, whose workers wait as
 * policy says ("active", "passive", or "" for the default): OpenMP reads it once, at its start. */
wake_worst wake_beside(const char *self, const char *policy, int threads, bool quick);

#endif
