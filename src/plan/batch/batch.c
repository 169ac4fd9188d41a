/* batch.c - runs many copies as one piece of work: joins, and any other list of copies. */
#include "plan/plan.h"
#include "runtime/runtime.h"

typedef struct batch_job {
    const tni_batch *b;
    int parts;
} batch_job;

static void batch_run_part(void *arg, int part)
{
    const batch_job *j = arg;
    int64_t from, to, first = 0;
    tni_split_range(j->b->n, j->parts, part, &from, &to);
    for (int k = 0; k < to; k++) {
        tn_tensor d;
        const tn_tensor *s;
        first = j->b->views(j->b, k, first, k < from ? NULL : &d, &s);
        if (k < from)
            continue;
        tni_copy copy;
        tni_copy_plan(&copy, &d, s);
        tni_copy_run(&copy, d.data, s->data);
    }
}

void tni_batch_run(const tni_batch *b)
{
    const bool large = tni_plan_parts(b->largest, b->largest) > 1;
    batch_job j = {b, large ? 1 : tni_run_parts(b->bytes, b->n)};
    if (j.parts == 1)
        batch_run_part(&j, 0);
    else
        tni_parallel(j.parts, batch_run_part, &j);
}
