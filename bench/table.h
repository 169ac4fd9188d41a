/* table.h - what a benchmark measured, one line per case: the figure, the goal, what was reached,
 * and the peer it was measured beside. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

typedef struct line {
    char name[80];
    double gbs;     /* GB/s read and written; 0: the line is of time */
    double ns;      /* of a call */
    double goal;    /* of reached: at least for a share of the peer, at most for ns; 0: none */
    double reached; /* share of the peer's speed; ns for a line of time */
    const char *peer; /* what it was interleaved with: "R", "loop", ...; NULL: nothing did */
    double peer_gbs;
    bool moved; /* the limit moved while it ran: no verdict */
} line;

/* Print the heading, once before the first line. */
void table_begin(const char *title);

/* Print a line and keep it for table_json. */
void table_add(const line *l);

/* Write all lines; false when the system refuses. */
bool table_json(const char *path);

#endif
