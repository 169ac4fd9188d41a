/* gdb_target.c - a program with a tensor, a nest and a plan for gdb.sh to look at. */
#include <tenon/tenon.h>

#include "plan/plan.h"

__attribute__((noinline)) static int look_here(const tn_tensor *t, const tni_nest *nest,
                                               const tn_plan *plan)
{
    __asm__ volatile("" : : "r"(t), "r"(nest), "r"(plan) : "memory");
    return 0;
}

int main(void)
{
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[3][2];
    tn_tensor dst, src, t;
    tn_plan *plan;
    tni_nest nest;
    if (tn_init(&src, x, TN_F32, 2, (int64_t[]){2, 3}) || tn_transpose(&t, &src, 0, 1) ||
        tn_init(&dst, y, TN_F32, 2, (int64_t[]){3, 2}) || tn_plan_rearrange(&plan, &dst, &t))
        return 1;
    tni_nest_normal(&nest, 2, (const tn_tensor *[]){&dst, &t});
    int status = look_here(&t, &nest, plan);
    tn_plan_free(plan);
    return status;
}
