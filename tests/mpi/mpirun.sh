#!/bin/sh
# mpirun.sh NAME RANKS PROGRAM [ARGS] - run a program under Open MPI or MPICH on this machine, as
# root or not, with more ranks than cores if need be.
set -eu
name=$1 ranks=$2
shift 2
run=mpirun
command -v mpirun."$name" >/dev/null && run=mpirun."$name"
OMP_NUM_THREADS=${OMP_NUM_THREADS-1} OMP_WAIT_POLICY=passive
export OMP_NUM_THREADS OMP_WAIT_POLICY
case $name in
openmpi)
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Ranks that wait give way; no search for networks; memory of another process is not read,
    # which containers forbid.
    OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle-1} OMPI_MCA_btl=self,vader
    OMPI_MCA_btl_vader_single_copy_mechanism=${OMPI_MCA_btl_vader_single_copy_mechanism-none}
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_plm_rsh_agent=false PRTE_ALLOW_RUN_AS_ROOT=1
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_mpi_yield_when_idle \
        OMPI_MCA_btl OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_rmaps_base_oversubscribe \
        OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_plm_rsh_agent
    exec $run --oversubscribe -n "$ranks" "$@"
    ;;
*) exec $run -n "$ranks" "$@" ;;
esac
