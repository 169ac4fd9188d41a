/* rules.h - rules of reshard: which tensors become which. */
#ifndef RULES_H
#define RULES_H

#include "cli.h"

enum { MOST_NAMES = 64, MOST_STEPS = 8, MOST_SIZES = 64 };

typedef enum step_kind {
    STEP_PERMUTE,
    STEP_CAST,
    STEP_REARRANGE,
    STEP_SLICE,
    STEP_RESHAPE
} step_kind;

typedef struct rule_step {
    step_kind kind;
    const char *text;  /* axes, dtype, pattern, slice or shape */
    const char *sizes; /* of a pattern: "p=2 q=3" */
} rule_step;

/* Over ranks: "ranks=" replicated, "ranks@k" sharded along axis k, "ranks@k/2" and
 * "ranks@k/4096,1024" in blocks. */
typedef struct rule_placement {
    enum { UNSPECIFIED, REPLICATED, SHARDED } kind;
    int axis;
    int nblocks; /* 0: one; count is set instead of sizes for "/2" */
    int64_t count, sizes[MOST_SIZES];
} rule_placement;

typedef struct rule_side {
    const char *names[MOST_NAMES];
    int n;
    bool has_axis, new_axis; /* "@k", "@+k" */
    int axis;
    int nsizes;
    int64_t sizes[MOST_SIZES];
    rule_placement placement;
    rule_step steps[MOST_STEPS];
    int nsteps;
    bool drop;
} rule_side;

typedef struct rule {
    int line;
    bool optional; /* "?": need not match */
    bool matched;
    rule_side left, right;
} rule;

typedef struct rules {
    char *text; /* the file; names and steps point into it */
    const char *path;
    rule *list;
    int n;
} rules;

/* A file that cannot be read is FAILED, a rule that cannot be read USAGE, with file and line. */
int read_rules(const char *path, rules *r);
void free_rules(rules *r);

/* Rules of which each renames one tensor or drops it (rules_names.c): others are USAGE. */
int read_renames(const char *path, rules *r);

/* The name that the first rule which matches gives, to be freed; NULL: it drops the tensor.  A
 * tensor that no rule matches keeps its name. */
int renamed(rules *r, const char *old, char **name);

#endif
