/* infiniccl.h - InfiniCore's collectives on the only device, the CPU.
 *
 * infinicclCommInitAll for one CPU makes a communicator of one rank, whose collectives are
 * copies.  More than one device, other devices, and ranks in several processes are
 * DEVICE_TYPE_NOT_SUPPORTED.  A NULL communicator is NULL_POINTER, except for
 * infinicclCommDestroy, which accepts it.  recvbuff may be sendbuff; streams are ignored.  A
 * call that fails has changed nothing. */
#ifndef INFINICCL_H
#define INFINICCL_H

#include "infinirt.h"

typedef enum {
    INFINICCL_SUM = 0,
    INFINICCL_PROD = 1,
    INFINICCL_MAX = 2,
    INFINICCL_MIN = 3,
    INFINICCL_AVG = 4
} infinicclReduceOp_t;

typedef struct InfinicclComm *infinicclComm_t;

typedef struct {
    char internal[128];
} infinicclUniqueId_t;

INFINI_API infiniStatus_t infinicclCommInitAll(infiniDevice_t device_type,
                                               infinicclComm_t *comms, int ndevice,
                                               const int *device_ids);
INFINI_API infiniStatus_t infinicclGetUniqueId(infinicclUniqueId_t *unique_id);
INFINI_API infiniStatus_t infinicclCommInitRank(infinicclComm_t *comm, int nranks,
                                                infinicclUniqueId_t unique_id, int rank);
INFINI_API infiniStatus_t infinicclCommDestroy(infinicclComm_t comm);
INFINI_API infiniStatus_t infinicclGroupStart(infinicclComm_t comm);
INFINI_API infiniStatus_t infinicclGroupEnd(infinicclComm_t comm);

INFINI_API infiniStatus_t infinicclAllReduce(void *sendbuff, void *recvbuff, size_t count,
                                             infiniDtype_t datatype, infinicclReduceOp_t op,
                                             infinicclComm_t comm, infinirtStream_t stream);
INFINI_API infiniStatus_t infinicclBroadcast(void *sendbuff, void *recvbuff, size_t count,
                                             infiniDtype_t datatype, int root,
                                             infinicclComm_t comm, infinirtStream_t stream);
INFINI_API infiniStatus_t infinicclAllGather(void *sendbuff, void *recvbuff, size_t send_count,
                                             infiniDtype_t datatype, infinicclComm_t comm,
                                             infinirtStream_t stream);
INFINI_API infiniStatus_t infinicclReduceScatter(void *sendbuff, void *recvbuff,
                                                 size_t recv_count, infiniDtype_t datatype,
                                                 infinicclReduceOp_t op, infinicclComm_t comm,
                                                 infinirtStream_t stream);

/* counts has an entry for each rank. */
INFINI_API infiniStatus_t infinicclAllGatherV(void *sendbuff, void *recvbuff,
                                              const size_t *counts, int nranks,
                                              infiniDtype_t datatype, infinicclComm_t comm,
                                              infinirtStream_t stream);
INFINI_API infiniStatus_t infinicclReduceScatterV(void *sendbuff, void *recvbuff,
                                                  const size_t *counts, int nranks,
                                                  infiniDtype_t datatype,
                                                  infinicclReduceOp_t op, infinicclComm_t comm,
                                                  infinirtStream_t stream);

/* There is no other rank to send to: BAD_PARAM. */
INFINI_API infiniStatus_t infinicclSend(void *sendbuff, size_t count, infiniDtype_t datatype,
                                        int peer, infinicclComm_t comm,
                                        infinirtStream_t stream);
INFINI_API infiniStatus_t infinicclRecv(void *recvbuff, size_t count, infiniDtype_t datatype,
                                        int peer, infinicclComm_t comm,
                                        infinirtStream_t stream);

#endif
