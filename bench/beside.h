/* beside.h - figures of other libraries for the cases of a benchmark, from a script that reads
 * the output of the program's --list. */
#ifndef BESIDE_H
#define BESIDE_H

#include <stdbool.h>

typedef struct peer {
    char name[48], numpy[12], torch[12]; /* "-": not measured */
} peer;

/* Run the cases of self that contain `only`, or all, through the script; it prints a name of 30
 * columns and two figures per line. */
void peers_read(const char *self, const char *only, const char *script, const char *options);

const peer *peer_of(const char *name);

#endif
