/* reshard.h - the plan of a reshard: which input elements make up each output tensor. */
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
    /* the rule that matched, which of its names, and the captures */
    int rule, part;
    char *key;
    int64_t number; /* the number that {x*} captured; -1: none */
    bool grouped;
} in_tensor;

typedef struct out_tensor {
    char *name;
    int line;  /* line of its rule */
    int rank;  /* with --out-ranks */
    bool copy; /* a replica of the result of rank 0 */
    virtual v;
} out_tensor;

typedef struct reshard {
    const args *a;
    rules r;
    source *sources;
    int nsources, ranks; /* ranks of the inputs; 1 without --in-ranks */
    in_tensor *ins;      /* rank by rank, each in its file's order */
    int nins, each;      /* each: tensors of the first rank, or all */
    out_tensor *outs;
    int64_t nouts, capacity;
} reshard;

/* Read the rules and the headers, plan every output and prove the plan. */
int reshard_plan(reshard *p);
void reshard_free(reshard *p);

/* Fail with a message that names the line of the rule. */
int fail_rule(const reshard *p, const rule *r, const char *what, const char *name);

/* Index of tensor `name` in rank `rank` or, without --in-ranks, in any input; -1: none. */
int find_input(const reshard *p, int rank, const char *name);

/* Compute the results of a group (reshard_results.c). */
int append(virtual *v, virtual *more, int axis, bool first);
int join_ranks(reshard *p, const rule *r, int id, virtual *v);
int run_steps(reshard *p, const rule *r, const rule_side *s, virtual *v, bool *sliced);
int cut_results(reshard *p, const rule *r, const in_tensor *first, virtual *v, bool *sliced);

/* A file that receives outputs [first, first + n) of `order`. */
typedef struct out_file {
    char name[64];
    int64_t first, n;
} out_file;

typedef struct layout {
    int64_t *order; /* outputs, grouped by file */
    out_file *files;
    int64_t n;
} layout;

int64_t out_bytes(const out_tensor *t);
int make_layout(const reshard *p, layout *l);
void free_layout(layout *l);

/* Print the proof to standard output, or write it to the file of --proof. */
void say_proof(const reshard *p, const layout *l);
int write_proof(const reshard *p, const layout *l);

/* An output as a recipe whose sources are its pieces; the inputs stay open while it runs. */
typedef struct made {
    virtual v; /* refined */
    recipe r;
    input *inputs;
    int ninputs;
} made;

/* OUTDIR.partial (reshard_resume.c).  plan_hash covers everything that the plan depends on.
 * begin_folder creates the folder or resumes the existing one, of which `done` files are
 * complete.  note_done records a complete file or, with name NULL, starts the list. */
uint64_t plan_hash(const reshard *p);
int begin_folder(const reshard *p, const layout *l, out_folder *out, uint64_t hash,
                 int64_t *done);
int note_done(const args *a, const out_folder *out, const char *name, uint64_t hash);

/* Files next to the inputs that match --also (reshard_also.c). */
typedef struct also_files {
    char **paths;
    int n;
} also_files;

/* List them; a file with the name of a result is an error. */
int find_also(const reshard *p, const layout *l, also_files *files);
int copy_also(const args *a, const out_folder *out, const also_files *files);
void free_also(also_files *files);

int make_output(const reshard *p, const out_tensor *t, made *m);
void made_free(made *m);
int check_copies(const reshard *p);
int verify_folder(const reshard *p, const layout *l);

/* Print the index of a folder of shards; user is a shard_index. */
typedef struct shard_index {
    const reshard *p;
    const layout *l;
} shard_index;
int print_shard_index(void *out, const void *user);
bool has_index(const reshard *p, const layout *l);

#endif
