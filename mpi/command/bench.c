/* bench.c - stub */
#include "command.h"
int run_bench(const args *a)
{
    (void)a;
    return fail("no bench");
}
