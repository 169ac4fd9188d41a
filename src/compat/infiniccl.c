/* infiniccl.c - InfiniCore's collectives for a single rank: each of them is a copy. */
#include <infiniccl.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct InfinicclComm {
    infiniDevice_t device;
    int id;
};

infiniStatus_t infinicclCommInitAll(infiniDevice_t device_type, infinicclComm_t *comms,
                                    int ndevice, const int *device_ids)
{
    if (device_type != INFINI_DEVICE_CPU || ndevice > 1)
        return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    if (!comms || !device_ids)
        return INFINI_STATUS_NULL_POINTER;
    if (ndevice < 1)
        return INFINI_STATUS_BAD_PARAM;
    if (device_ids[0] != 0)
        return INFINI_STATUS_DEVICE_NOT_FOUND;
    infinicclComm_t made = malloc(sizeof *made);
    if (!made)
        return INFINI_STATUS_INTERNAL_ERROR;
    *made = (struct InfinicclComm){device_type, device_ids[0]};
    comms[0] = made;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinicclGetUniqueId(infinicclUniqueId_t *unique_id)
{
    (void)unique_id;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinicclCommInitRank(infinicclComm_t *comm, int nranks,
                                     infinicclUniqueId_t unique_id, int rank)
{
    (void)comm, (void)nranks, (void)unique_id, (void)rank;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinicclCommDestroy(infinicclComm_t comm)
{
    free(comm);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinicclGroupStart(infinicclComm_t comm)
{
    return comm ? INFINI_STATUS_SUCCESS : INFINI_STATUS_NULL_POINTER;
}

infiniStatus_t infinicclGroupEnd(infinicclComm_t comm)
{
    return comm ? INFINI_STATUS_SUCCESS : INFINI_STATUS_NULL_POINTER;
}

/* Bytes of an element; 0 for an unknown dtype. */
static size_t width_of(infiniDtype_t dtype)
{
    static const uint8_t widths[] = {0, 1, 1, 1, 2, 4, 8, 1, 2,  4,
                                     8, 1, 2, 4, 8, 2, 4, 8, 16, 2};
    return (unsigned)dtype < sizeof widths ? widths[dtype] : 0;
}

/* Copy what a single rank receives from itself. */
static infiniStatus_t receive(infinicclComm_t comm, const void *send, void *recv, size_t count,
                              infiniDtype_t dtype)
{
    if (!comm)
        return INFINI_STATUS_NULL_POINTER;
    const size_t width = width_of(dtype);
    if (!width)
        return INFINI_STATUS_BAD_TENSOR_DTYPE;
    if (count > PTRDIFF_MAX / width)
        return INFINI_STATUS_BAD_PARAM;
    if (count == 0)
        return INFINI_STATUS_SUCCESS;
    if (!send || !recv)
        return INFINI_STATUS_NULL_POINTER;
    memmove(recv, send, count * width);
    return INFINI_STATUS_SUCCESS;
}

static infiniStatus_t reduce(infinicclComm_t comm, const void *send, void *recv, size_t count,
                             infiniDtype_t dtype, infinicclReduceOp_t op)
{
    if (comm && (unsigned)op > INFINICCL_AVG)
        return INFINI_STATUS_BAD_PARAM;
    return receive(comm, send, recv, count, dtype);
}

/* Check that counts has one entry. */
static infiniStatus_t only_count(infinicclComm_t comm, const size_t *counts, int nranks)
{
    if (!comm || !counts)
        return INFINI_STATUS_NULL_POINTER;
    return nranks == 1 ? INFINI_STATUS_SUCCESS : INFINI_STATUS_BAD_PARAM;
}

infiniStatus_t infinicclAllReduce(void *sendbuff, void *recvbuff, size_t count,
                                  infiniDtype_t datatype, infinicclReduceOp_t op,
                                  infinicclComm_t comm, infinirtStream_t stream)
{
    (void)stream;
    return reduce(comm, sendbuff, recvbuff, count, datatype, op);
}

infiniStatus_t infinicclBroadcast(void *sendbuff, void *recvbuff, size_t count,
                                  infiniDtype_t datatype, int root, infinicclComm_t comm,
                                  infinirtStream_t stream)
{
    (void)stream;
    if (comm && root != 0)
        return INFINI_STATUS_BAD_PARAM;
    return receive(comm, sendbuff, recvbuff, count, datatype);
}

infiniStatus_t infinicclAllGather(void *sendbuff, void *recvbuff, size_t send_count,
                                  infiniDtype_t datatype, infinicclComm_t comm,
                                  infinirtStream_t stream)
{
    (void)stream;
    return receive(comm, sendbuff, recvbuff, send_count, datatype);
}

infiniStatus_t infinicclReduceScatter(void *sendbuff, void *recvbuff, size_t recv_count,
                                      infiniDtype_t datatype, infinicclReduceOp_t op,
                                      infinicclComm_t comm, infinirtStream_t stream)
{
    (void)stream;
    return reduce(comm, sendbuff, recvbuff, recv_count, datatype, op);
}

infiniStatus_t infinicclAllGatherV(void *sendbuff, void *recvbuff, const size_t *counts,
                                   int nranks, infiniDtype_t datatype, infinicclComm_t comm,
                                   infinirtStream_t stream)
{
    (void)stream;
    const infiniStatus_t status = only_count(comm, counts, nranks);
    if (status != INFINI_STATUS_SUCCESS)
        return status;
    return receive(comm, sendbuff, recvbuff, counts[0], datatype);
}

infiniStatus_t infinicclReduceScatterV(void *sendbuff, void *recvbuff, const size_t *counts,
                                       int nranks, infiniDtype_t datatype,
                                       infinicclReduceOp_t op, infinicclComm_t comm,
                                       infinirtStream_t stream)
{
    (void)stream;
    const infiniStatus_t status = only_count(comm, counts, nranks);
    if (status != INFINI_STATUS_SUCCESS)
        return status;
    return reduce(comm, sendbuff, recvbuff, counts[0], datatype, op);
}

infiniStatus_t infinicclSend(void *sendbuff, size_t count, infiniDtype_t datatype, int peer,
                             infinicclComm_t comm, infinirtStream_t stream)
{
    (void)sendbuff, (void)count, (void)datatype, (void)peer, (void)stream;
    return comm ? INFINI_STATUS_BAD_PARAM : INFINI_STATUS_NULL_POINTER;
}

infiniStatus_t infinicclRecv(void *recvbuff, size_t count, infiniDtype_t datatype, int peer,
                             infinicclComm_t comm, infinirtStream_t stream)
{
    (void)recvbuff, (void)count, (void)datatype, (void)peer, (void)stream;
    return comm ? INFINI_STATUS_BAD_PARAM : INFINI_STATUS_NULL_POINTER;
}
