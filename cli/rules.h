/* rules.h - rules of reshard: which tensors turn into which. */
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
    const char *sizes; /* sizes of a pattern: "p=2 q=3" */
} rule_step;

/* Distribution over ranks: "ranks=" replicated; "ranks@k" sharded along axis k; "ranks@k/2" and
 * "ranks@k/4096,1024" sharded in blocks. */
typedef struct rule_placement {
    enum { UNSPECIFIED, REPLICATED, SHARDED } kind;
    int axis;
    int nblocks; /* 0: one block; "/2" sets count instead of sizes */
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
    bool optional; /* "?": may match nothing */
    bool matched;
    rule_side left, right;
} rule;

typedef struct rules {
    char *text; /* the file's text; names and steps point into it */
    const char *path;
    rule *list;
    int n;
} rules;

/* Read rules.  A file that cannot be read is FAILED; a syntax error is USAGE, with file and
 * line. */
int read_rules(const char *path, rules *r);
void free_rules(rules *r);

/* Read rules that only rename or drop single tensors (rules_names.c); any other rule is
 * USAGE. */
int read_renames(const char *path, rules *r);

/* The new name by the first rule that matches, which the caller frees; NULL: that rule drops
 * the tensor.  A tensor that no rule matches keeps its name. */
int renamed(rules *r, const char *old, char **name);

#endif
