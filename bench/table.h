/* table.h - results of a benchmark, one line per case: the figure, the goal, what was reached,
 * and the peer it was compared with. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

typedef struct line {
    char name[80];
    double gbs;       /* GB/s read and written; 0: the line is a time */
    double ns;        /* per call */
    double goal;      /* of reached: minimum share of the peer, maximum for ns; 0: none */
    double reached;   /* share of the peer's speed; for a time: ns */
    const char *peer; /* interleaved peer: "R", "loop", ...; NULL: none */
    double peer_gbs;
    bool moved; /* the limit changed during the case: no verdict */
} line;

/* Print the heading, once before the first line. */
void table_begin(const char *title);

/* Print a line and keep it for table_json. */
void table_add(const line *l);

/* Write all lines; false if the system fails. */
bool table_json(const char *path);

#endif
