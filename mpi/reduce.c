/* reduce.c - copies that are combined on their way. */
#include "ranks.h"

tn_status tnm_combine_start(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src)
{
    (void)p;
    (void)dst;
    (void)src;
    return TN_OK;
}
tn_status tnm_combine_finish(tn_mpi_plan *p)
{
    (void)p;
    return TN_OK;
}
void tnm_combine_free(tn_mpi_plan *p)
{
    (void)p;
}
