/* report.h - the data of a report: what is known about each tensor, and its problems. */
#ifndef REPORT_H
#define REPORT_H

#include "pictures.h"

/* Problems, the worst first; report_trouble.c has their descriptions. */
enum {
    TROUBLE_NAN = 1 << 0,
    TROUBLE_INF = 1 << 1,
    TROUBLE_ZERO = 1 << 2,
    TROUBLE_EQUAL = 1 << 3,
    TROUBLE_ROWS = 1 << 4,
    TROUBLE_F16 = 1 << 5,
    TROUBLE_BF16 = 1 << 6,
    TROUBLE_SHARED = 1 << 7,
    TROUBLE_TWIN = 1 << 8,
    TROUBLE_LAYER = 1 << 9,
    TROUBLE_UNREAD = 1 << 10,
    TROUBLES = 11
};

extern const char *const trouble_words[TROUBLES];

typedef struct subject {
    int file;
    int64_t i;
    const char *name, *type; /* type: the dtype, or the file's name for it */
    tn_dtype dtype;          /* 0: none */
    int ndim;
    const int64_t *shape;
    int64_t params, bytes; /* bytes -1: unknown */
    bool read;             /* stats are valid */
    tn_stats stats;
    int64_t subnormal, zero_rows; /* -1: unknown */
    uint64_t hash;
    unsigned trouble;
    bool log;
    char histogram[PICTURE_BINS + 1], line[PICTURE_SIDE + 1];
    uint8_t *heat;
    int64_t heat_rows, heat_columns;
} subject;

typedef struct report {
    const args *a;
    source *files;
    int nfiles;
    subject *list;
    int64_t n;
    double sample;
    uint64_t fingerprint, hash; /* both independent of the order of tensors and files */
} report;

int find_trouble(report *r);

/* Print the facts as one JSON object, or the page that contains them; out is a FILE. */
int print_facts(void *out, const void *user);
int print_page(void *out, const void *user);

/* The text of the page before and after the facts (report_page.c). */
extern const char *const page_before[], *const page_after[];

#endif
