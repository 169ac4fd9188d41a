/* wake.h - does using several threads ever make a call slower? */
#ifndef WAKE_H
#define WAKE_H

#include <stdbool.h>

/* Measure copies, transposes, additions and sums of 16 KB to 16 MB with one thread and with
 * several, in consecutive calls and after pauses in which workers fall asleep.  Prints a line
 * per case, and finally "worst RATIO CASE": the time with several threads divided by that with
 * one. */
void wake_measure(int threads, bool quick);

typedef struct wake_worst {
    double ratio; /* 0: the program reported nothing */
    char what[64];
} wake_worst;

/* Run wake_measure in another process of this program, `self --wake`, with this wait policy
 * ("active", "passive", or "" for the default), which OpenMP reads only at startup. */
wake_worst wake_beside(const char *self, const char *policy, int threads, bool quick);

#endif
