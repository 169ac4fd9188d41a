/* test_infiniccl.c - collectives of one rank, what is refused, and the newer calls of
 * infinirt. */
#include "infiniop_client.h"

#include <infiniccl.h>

static const int ids[] = {0, 0};

static void test_one_rank(void **state)
{
    (void)state;
    infinicclComm_t comm = NULL;
    OK(infinicclCommInitAll(INFINI_DEVICE_CPU, &comm, 1, ids));
    assert_non_null(comm);
    float x[] = {1, 2, 3}, y[] = {7, 7, 7};
    const size_t counts[] = {2};
    OK(infinicclGroupStart(comm));
    OK(infinicclAllReduce(x, y, 3, INFINI_DTYPE_F32, INFINICCL_SUM, comm, NULL));
    HOLDS(y, 1, 2, 3);
    OK(infinicclAllReduce(x, x, 3, INFINI_DTYPE_F32, INFINICCL_AVG, comm, NULL));
    HOLDS(x, 1, 2, 3);
    x[0] = 4;
    OK(infinicclBroadcast(x, y, 1, INFINI_DTYPE_F32, 0, comm, NULL));
    HOLDS(y, 4, 2, 3);
    x[1] = 5;
    OK(infinicclAllGather(x, y, 2, INFINI_DTYPE_F32, comm, NULL));
    HOLDS(y, 4, 5, 3);
    x[1] = 6;
    OK(infinicclAllGatherV(x, y, counts, 1, INFINI_DTYPE_F32, comm, NULL));
    HOLDS(y, 4, 6, 3);
    x[0] = 8;
    OK(infinicclReduceScatter(x, y, 1, INFINI_DTYPE_F32, INFINICCL_MAX, comm, NULL));
    HOLDS(y, 8, 6, 3);
    x[1] = 9;
    OK(infinicclReduceScatterV(x, y, counts, 1, INFINI_DTYPE_F32, INFINICCL_MIN, comm, NULL));
    HOLDS(y, 8, 9, 3);
    OK(infinicclAllReduce(NULL, NULL, 0, INFINI_DTYPE_F32, INFINICCL_SUM, comm, NULL));
    OK(infinicclGroupEnd(comm));
    OK(infinicclCommDestroy(comm));
}

static void test_refused(void **state)
{
    (void)state;
    infinicclComm_t comm = NULL, none = NULL;
    infinicclUniqueId_t id = {{0}};
    float x[] = {1}, y[] = {7};
    const size_t counts[] = {1};
    OK(infinicclCommInitAll(INFINI_DEVICE_CPU, &comm, 1, ids));
    FAILS(infinicclCommInitAll(INFINI_DEVICE_CPU, &none, 2, ids), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinicclCommInitAll(INFINI_DEVICE_NVIDIA, &none, 1, ids), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinicclCommInitAll(INFINI_DEVICE_CPU, NULL, 1, ids), NULL_POINTER);
    FAILS(infinicclCommInitAll(INFINI_DEVICE_CPU, &none, 1, NULL), NULL_POINTER);
    FAILS(infinicclCommInitAll(INFINI_DEVICE_CPU, &none, 0, ids), BAD_PARAM);
    FAILS(infinicclCommInitAll(INFINI_DEVICE_CPU, &none, 1, (const int[]){1}),
          DEVICE_NOT_FOUND);
    FAILS(infinicclGetUniqueId(&id), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinicclCommInitRank(&none, 2, id, 0), DEVICE_TYPE_NOT_SUPPORTED);
    assert_null(none);
    FAILS(infinicclGroupStart(NULL), NULL_POINTER);
    FAILS(infinicclGroupEnd(NULL), NULL_POINTER);
    FAILS(infinicclAllReduce(x, y, 1, INFINI_DTYPE_F32, INFINICCL_SUM, NULL, NULL),
          NULL_POINTER);
    FAILS(infinicclAllReduce(NULL, y, 1, INFINI_DTYPE_F32, INFINICCL_SUM, comm, NULL),
          NULL_POINTER);
    FAILS(infinicclAllReduce(x, y, 1, INFINI_DTYPE_INVALID, INFINICCL_SUM, comm, NULL),
          BAD_TENSOR_DTYPE);
    FAILS(infinicclAllReduce(x, y, SIZE_MAX, INFINI_DTYPE_F32, INFINICCL_SUM, comm, NULL),
          BAD_PARAM);
    FAILS(infinicclAllReduce(x, y, 1, INFINI_DTYPE_F32, (infinicclReduceOp_t)5, comm, NULL),
          BAD_PARAM);
    FAILS(infinicclBroadcast(x, y, 1, INFINI_DTYPE_F32, 1, comm, NULL), BAD_PARAM);
    FAILS(infinicclAllGatherV(x, y, counts, 2, INFINI_DTYPE_F32, comm, NULL), BAD_PARAM);
    FAILS(infinicclReduceScatterV(x, y, NULL, 1, INFINI_DTYPE_F32, INFINICCL_SUM, comm, NULL),
          NULL_POINTER);
    FAILS(infinicclSend(x, 1, INFINI_DTYPE_F32, 1, comm, NULL), BAD_PARAM);
    FAILS(infinicclRecv(y, 1, INFINI_DTYPE_F32, 1, NULL, NULL), NULL_POINTER);
    HOLDS(y, 7);
    OK(infinicclCommDestroy(comm));
    OK(infinicclCommDestroy(NULL));
}

static void test_snapshot_and_graphs(void **state)
{
    (void)state;
    infinirtDeviceResourceSnapshot_t s;
    memset(&s, 0xff, sizeof s);
    OK(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_CPU, 0, &s));
    assert_int_equal(s.valid_fields, INFINIRT_RESOURCE_MEMORY_CAPACITY);
    assert_true(s.total_bytes > 0 && s.used_bytes == s.total_bytes - s.free_bytes);
    assert_true(s.reserved_bytes == 0 && s.estimated_fields == 0 && s.communication_bytes == 0);
    FAILS(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_CPU, 0, NULL), NULL_POINTER);
    FAILS(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_CPU, 1, &s), DEVICE_NOT_FOUND);
    FAILS(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_METAX, 0, &s),
          DEVICE_TYPE_NOT_SUPPORTED);
    void *p = &s;
    FAILS(infinirtStreamBeginCapture(NULL, INFINIRT_STREAM_CAPTURE_MODE_RELAXED),
          DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinirtStreamEndCapture(NULL, &p), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinirtGraphInstantiate(&p, NULL, &p, NULL, 0), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinirtGraphLuanch(NULL, NULL), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinirtGraphExecDestroy(NULL), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinirtGraphDestroy(NULL), DEVICE_TYPE_NOT_SUPPORTED);
    assert_ptr_equal(p, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rank),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_snapshot_and_graphs),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
