/* faults_calls.h - one call of every function that creates, copies or computes, for tests in
 * which an allocation fails: their operands, and how their results are released. */
#ifndef TENON_TEST_FAULTS_CALLS_H
#define TENON_TEST_FAULTS_CALLS_H

#include "io_oracle.h"
#include "weak_memory.h"

#include <tenon/tenon.h>

#include "io/io.h"

/* ---- operands: inputs that stay, outputs that a failure must not change ---- */

static float numbers[24];
static tn_tensor x, transposed, place, one; /* x is (2, 3, 4), place another block like it */
static float block[24 * 9];                 /* memory of place and of larger tensors */
static const tn_tensor *const two[] = {&x, &transposed};
static const char *const names[] = {"a", "b"};
static const int64_t ones[] = {1, 1, 1};

typedef struct outputs {
    tn_tensor t;
    tn_plan *plan;
    tn_file *file;
    tn_writer *writer;
    tn_handle *handle;
} outputs;

static outputs out;
static tn_file *opened; /* opened by a prepare function */
static tn_writer *begun;
static int fd = -1;
static const char *path;
static tn_handle *weak; /* its allocator fails */

typedef struct call {
    const char *name; /* the function; a variant follows after a blank */
    tn_status (*call)(void);
    void (*prepare)(void), (*release)(void);
    const char *path;
    bool allocates, once; /* once: the object cannot be used after a failure */
} call;

static void drop_tensor(void)
{
    tn_free(&out.t);
}

static void drop_plan(void)
{
    tn_plan_free(out.plan);
}

static void drop_handle(void)
{
    tn_handle_destroy(out.handle);
}

static void drop_file(void)
{
    tn_file_close(out.file);
}

static void drop_writer(void)
{
    tn_writer_abort(out.writer);
}

static void drop_nothing(void)
{
}

static tn_status call_alloc(void)
{
    return tn_alloc(&out.t, TN_F32, 3, x.shape);
}

static tn_status call_full(void)
{
    return tn_full(&out.t, TN_F32, 3, x.shape, NULL);
}

static tn_status call_like(void)
{
    return tn_like(&out.t, &transposed);
}

static tn_status call_apply_copy(void)
{
    return tn_apply_copy(&out.t, TN_MUL, NULL, 2,
                         (const tn_tensor *[]){&transposed, TN_SCALAR_F32(0.5f)});
}

static tn_status call_contiguous(void)
{
    return tn_contiguous(&out.t, &transposed);
}

static tn_status call_unsqueeze_copy(void)
{
    return tn_unsqueeze_copy(&out.t, &x, 1);
}

static tn_status call_squeeze_copy(void)
{
    return tn_squeeze_copy(&out.t, &one, 0);
}

static tn_status call_pad_copy(void)
{
    return tn_pad_copy(&out.t, &transposed, ones, ones, TN_PAD_WRAP, NULL);
}

static tn_status call_pad_hw_copy(void)
{
    return tn_pad_hw_copy(&out.t, &transposed, 2);
}

static void prepare_inplace(void)
{
    OK(tn_alloc(&out.t, TN_F32, 3, x.shape));
    OK(tn_rearrange(&out.t, &x));
}

static tn_status call_pad_hw_inplace(void)
{
    tn_status status = tn_pad_hw_inplace(&out.t, 1);
    if (status != TN_OK)
        assert_same_elements(&out.t, &x);
    return status;
}

static tn_status call_pattern_copy(void)
{
    return tn_pattern_copy(&out.t, &x, "a b c -> (c a) b 2", NULL);
}

static tn_status call_plan_rearrange(void)
{
    return tn_plan_rearrange(&out.plan, &place, &transposed);
}

static tn_status call_plan_cast(void)
{
    return tn_plan_cast(&out.plan, &place, &transposed);
}

static tn_status call_plan_op(void)
{
    return tn_plan_op(&out.plan, TN_ADD, NULL, &place, 2,
                      (const tn_tensor *[]){&transposed, &transposed});
}

static tn_status call_plan_tuned(void)
{
    tn_plan *plan;
    TRY(tn_plan_rearrange(&plan, &place, &transposed));
    tn_status status =
        tn_plan_tuned(&out.plan, plan, place.data, (const void *const[]){transposed.data}, 0);
    tn_plan_free(plan);
    return status;
}

static tn_status call_tune(void)
{
    return tn_tune(0);
}

static tn_status call_plan_pad(void)
{
    tn_tensor large;
    OK(tn_init(&large, block, TN_F32, 3, (int64_t[]){4, 5, 6}));
    return tn_plan_pad(&out.plan, &large, &x, ones, ones, TN_PAD_REFLECT, NULL);
}

static tn_status call_plan_run(void)
{
    return tn_plan_run(out.plan, block, (const void *[]){numbers});
}

static tn_status call_plan_run_in(void)
{
    return tn_plan_run_in(out.plan, block, (const void *[]){numbers}, NULL, 0);
}

static void prepare_plan(void)
{
    OK(tn_plan_rearrange(&out.plan, &place, &transposed));
}

static tn_status call_handle_create(void)
{
    return tn_handle_create(&out.handle, TN_CPU, 0, NULL);
}

/* ---- ops: they allocate nothing that they return ---- */

static tn_status call_rearrange(void)
{
    return tn_rearrange(&place, &transposed);
}

static tn_status call_cast(void)
{
    tn_tensor narrow = place;
    narrow.dtype = TN_BF16;
    return tn_cast(&narrow, &transposed);
}

static tn_status call_fill(void)
{
    return tn_fill(&place, NULL);
}

static tn_status call_randn(void)
{
    return tn_randn(&place, 1);
}

static tn_status call_randint(void)
{
    return tn_randint(&place, 1, 0, 9);
}

static tn_status call_arange(void)
{
    tn_tensor line;
    OK(tn_reshape(&line, &place, 1, (int64_t[]){24}));
    return tn_arange(&line, 0, 1);
}

static tn_status call_unary(void)
{
    return tn_unary(TN_EXP, &place, &transposed);
}

static tn_status call_binary(void)
{
    return tn_binary(TN_POW, &place, &transposed, &transposed);
}

static tn_status call_ternary(void)
{
    return tn_ternary(TN_WHERE, &place, &transposed, &transposed, &transposed);
}

static tn_status call_apply(void)
{
    return tn_apply(TN_LERP, NULL, &place, 3,
                    (const tn_tensor *[]){&transposed, &transposed, &transposed});
}

static tn_status call_add(void)
{
    return tn_add(&place, &transposed, &transposed);
}

static tn_status call_sub(void)
{
    return tn_sub(&place, &transposed, &transposed);
}

static tn_status call_mul(void)
{
    return tn_mul(&place, &transposed, &transposed);
}

static tn_status call_div(void)
{
    return tn_div(&place, &transposed, &transposed);
}

static void nothing(void *user, int64_t n, void *dst, int64_t dst_step, const void *const *src,
                    const int64_t *src_step)
{
    (void)user, (void)n, (void)dst, (void)dst_step, (void)src, (void)src_step;
}

static tn_status call_map(void)
{
    return tn_map(nothing, NULL, &place, 1, (const tn_tensor *[]){&transposed});
}

static tn_status into(int64_t a, int64_t b, int64_t c, tn_tensor *dst)
{
    return tn_init(dst, block, TN_F32, 3, (int64_t[]){a, b, c});
}

static tn_status call_pad_into(void)
{
    tn_tensor large;
    OK(into(4, 5, 6, &large));
    return tn_pad_into(&large, &x, ones, ones, TN_PAD_SYMMETRIC, NULL);
}

static tn_status call_pad_hw_into(void)
{
    tn_tensor large;
    OK(into(2, 5, 6, &large));
    return tn_pad_hw_into(&large, &x, 1);
}

static tn_status call_concat(void)
{
    tn_tensor large;
    OK(into(4, 3, 4, &large));
    return tn_concat(&large, 0, 2, (const tn_tensor *[]){&x, &x});
}

static tn_status call_stack(void)
{
    tn_tensor large;
    OK(tn_init(&large, block, TN_F32, 4, (int64_t[]){2, 2, 3, 4}));
    return tn_stack(&large, 0, 2, (const tn_tensor *[]){&x, &x});
}

static tn_status call_tile(void)
{
    tn_tensor large;
    OK(into(4, 3, 4, &large));
    return tn_tile(&large, &x, (int64_t[]){2, 1, 1});
}

static tn_status call_repeat(void)
{
    tn_tensor large;
    OK(into(2, 3, 8, &large));
    return tn_repeat(&large, &x, 2, 2);
}

static tn_status call_roll(void)
{
    tn_tensor same;
    OK(into(2, 3, 4, &same));
    return tn_roll(&same, &x, 1, 1);
}

static tn_status call_pattern_into(void)
{
    tn_tensor large;
    OK(into(8, 3, 2, &large));
    return tn_pattern_into(&large, &x, "a b c -> (c a) b 2", NULL);
}

static tn_status call_unsqueeze_into(void)
{
    return tn_unsqueeze_into(&place, &transposed);
}

static tn_status call_squeeze_into(void)
{
    return tn_squeeze_into(&place, &transposed);
}

static tn_status call_print(void)
{
    char text[2000];
    return tn_print(&transposed, text, sizeof text);
}

#endif
