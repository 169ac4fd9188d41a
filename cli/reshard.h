/* reshard.h - the plan of a reshard: what each output tensor is made of. */
#ifndef RESHARD_H
#define RESHARD_H

#include "pieces.h"
#include "rules.h"

typedef enum in_use { UNUSED, USED, SLICED, DROPPED, COPIED } in_use;

typedef struct in_tensor {
    const source *from;
    int64_t i;
    const char *name;
    tn_tensor desc;
    in_use use;
    int like; /* COPIED: the input that it must equal */
    /* by which rule, as which of its names, with which captures */
    int rule, part;
    char *key;
    int64_t number; /* of {x*}; -1: none */
    bool grouped;
} in_tensor;

typedef struct out_tensor {
    char *name;
    int rank;  /* with --out-ranks */
    bool copy; /* a further copy of a replicated result */
    virtual v;
} out_tensor;

typedef struct reshard {
    const args *a;
    rules r;
    source *sources;
    int nsources, ranks; /* ranks: of the inputs; 1 without --in-ranks */
    in_tensor *ins;      /* rank by rank, each in its own order */
    int nins, each;      /* each: tensors of the first rank, or all */
    out_tensor *outs;
    int64_t nouts, capacity;
} reshard;

/* Read rules and headers, plan every output and prove the plan. */
int reshard_plan(reshard *p);
void reshard_free(reshard *p);

int64_t out_bytes(const out_tensor *t);

#endif
