/* report.h - the results, as tables and as JSON. */
#ifndef REPORT_H
#define REPORT_H

#include "cases.h"
#include "measure.h"

enum { MOST_ROWS = 64, MOST_GROUPS = 24, MOST_FACTS = 16 };

typedef struct row {
    copy_case what;
    figures f;
} row;

typedef struct group {
    const char *key; /* short name, for JSON */
    char title[80];
    double goal_mean, goal_fast, goal_worst; /* of R; 0: none; fast: while R is above 60 GB/s */
    int count;
    row rows[MOST_ROWS];
} group;

/* A single number with its goal. */
typedef struct fact {
    const char *name, *unit;
    double value, goal; /* goal: a maximum; 0: none */
    bool at_least;      /* the goal is a minimum */
} fact;

typedef struct report {
    char cpu[64];
    int threads, groups, facts;
    group group[MOST_GROUPS];
    fact fact[MOST_FACTS];
} report;

/* The name of the CPU, as the system reports it. */
void cpu_name(char *name, size_t size);

/* Of the ratios with a verdict: geometric mean and worst; mean of R in GB/s; mean of the goal
 * at that R; their number. */
typedef struct summary {
    double mean, worst, limit, goal;
    int n;
} summary;

summary group_summary(const group *g);

void print_heading(const group *g);
void print_row(const row *r);
void print_summary(const report *r);

/* Write the JSON file; false if the system fails. */
bool write_json(const report *r, const char *path);

#endif
