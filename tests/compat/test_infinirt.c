/* test_infinirt.c - devices, memory, streams and events of InfiniCore's run time on the CPU. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <infinirt.h>

#define OK(call)           assert_int_equal((call), INFINI_STATUS_SUCCESS)
#define FAILS(call, which) assert_int_equal((call), INFINI_STATUS_##which)

static void test_counts(void **state)
{
    (void)state;
    int counts[INFINI_DEVICE_TYPE_COUNT], n = 7;
    OK(infinirtInit());
    OK(infinirtGetAllDeviceCount(counts));
    for (int i = 0; i < INFINI_DEVICE_TYPE_COUNT; i++) {
        OK(infinirtGetDeviceCount((infiniDevice_t)i, &n));
        assert_int_equal(n, i == INFINI_DEVICE_CPU);
        assert_int_equal(counts[i], n);
    }
    n = 7;
    FAILS(infinirtGetDeviceCount(INFINI_DEVICE_TYPE_COUNT, &n), DEVICE_TYPE_NOT_SUPPORTED);
    assert_int_equal(n, 7);
    FAILS(infinirtGetDeviceCount(INFINI_DEVICE_CPU, NULL), NULL_POINTER);
    FAILS(infinirtGetAllDeviceCount(NULL), NULL_POINTER);
}

static void assert_cpu(void)
{
    infiniDevice_t device = INFINI_DEVICE_ALI;
    int id = 7;
    OK(infinirtGetDevice(&device, &id));
    assert_int_equal(device, INFINI_DEVICE_CPU);
    assert_int_equal(id, 0);
}

static void *in_thread(void *arg)
{
    infiniDevice_t device = INFINI_DEVICE_ALI;
    int id = 7;
    *(int *)arg = infinirtGetDevice(&device, &id) == INFINI_STATUS_SUCCESS &&
                  device == INFINI_DEVICE_CPU && id == 0;
    return NULL;
}

/* A refused device leaves the current one. */
static void test_current_device(void **state)
{
    (void)state;
    assert_cpu();
    OK(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    for (int i = 1; i <= INFINI_DEVICE_TYPE_COUNT; i++) {
        FAILS(infinirtSetDevice((infiniDevice_t)i, 0), DEVICE_TYPE_NOT_SUPPORTED);
        assert_cpu();
    }
    FAILS(infinirtSetDevice((infiniDevice_t)-1, 0), DEVICE_TYPE_NOT_SUPPORTED);
    FAILS(infinirtSetDevice(INFINI_DEVICE_CPU, 1), DEVICE_NOT_FOUND);
    FAILS(infinirtSetDevice(INFINI_DEVICE_CPU, -1), DEVICE_NOT_FOUND);
    assert_cpu();
    pthread_t thread;
    int good = 0;
    assert_int_equal(pthread_create(&thread, NULL, in_thread, &good), 0);
    pthread_join(thread, NULL);
    assert_true(good);
    infiniDevice_t device;
    int id;
    OK(infinirtGetDevice(&device, NULL));
    OK(infinirtGetDevice(NULL, &id));
    FAILS(infinirtGetDevice(NULL, NULL), NULL_POINTER);
}

static void test_memory_size(void **state)
{
    (void)state;
    size_t unused = 0, all = 0;
    OK(infinirtGetMemInfo(INFINI_DEVICE_CPU, 0, &unused, &all));
    assert_true(all >= 1 << 20 && unused <= all);
    FAILS(infinirtGetMemInfo(INFINI_DEVICE_CPU, 0, NULL, &all), NULL_POINTER);
    FAILS(infinirtGetMemInfo(INFINI_DEVICE_CPU, 0, &unused, NULL), NULL_POINTER);
    FAILS(infinirtGetMemInfo(INFINI_DEVICE_CPU, 2, &unused, &all), DEVICE_NOT_FOUND);
    FAILS(infinirtGetMemInfo(INFINI_DEVICE_NVIDIA, 0, &unused, &all),
          DEVICE_TYPE_NOT_SUPPORTED);
    OK(infinirtDeviceSynchronize());
}

static void test_blocks(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 100000};
    infinirtStream_t stream = NULL;
    OK(infinirtStreamCreate(&stream));
    assert_non_null(stream);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *p[3] = {NULL, NULL, NULL};
        OK(infinirtMalloc(&p[0], sizes[i]));
        OK(infinirtMallocHost(&p[1], sizes[i]));
        OK(infinirtMallocAsync(&p[2], sizes[i], stream));
        for (int k = 0; k < 3; k++) {
            assert_non_null(p[k]);
            assert_int_equal((uintptr_t)p[k] % 64, 0);
            OK(infinirtMemset(p[k], k, sizes[i]));
        }
        OK(infinirtFree(p[0]));
        OK(infinirtFreeHost(p[1]));
        OK(infinirtFreeAsync(p[2], stream));
    }
    OK(infinirtFree(NULL));
    OK(infinirtFreeHost(NULL));
    OK(infinirtFreeAsync(NULL, NULL));
    OK(infinirtStreamDestroy(stream));
}

/* Memory that is not there is a failure, and the pointer stays. */
static void test_no_memory(void **state)
{
    (void)state;
    char mark;
    void *p = &mark;
    FAILS(infinirtMalloc(&p, SIZE_MAX), INTERNAL_ERROR);
    FAILS(infinirtMalloc(&p, SIZE_MAX / 2), INTERNAL_ERROR);
    FAILS(infinirtMalloc(&p, sizeof(size_t) > 4 ? SIZE_MAX / 16 : SIZE_MAX / 4 * 3),
          INTERNAL_ERROR);
    FAILS(infinirtMallocHost(&p, SIZE_MAX - 63), INTERNAL_ERROR);
    FAILS(infinirtMallocAsync(&p, SIZE_MAX - 1, NULL), INTERNAL_ERROR);
    assert_ptr_equal(p, &mark);
    FAILS(infinirtMalloc(NULL, 8), NULL_POINTER);
    FAILS(infinirtMallocHost(NULL, 8), NULL_POINTER);
    FAILS(infinirtMallocAsync(NULL, 8, NULL), NULL_POINTER);
}

static void test_copies(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        char a[8] = "abcdefg", b[8] = "";
        OK(infinirtMemcpy(b, a, 8, (infinirtMemcpyKind_t)kind));
        assert_string_equal(b, "abcdefg");
        OK(infinirtMemcpyAsync(a + 1, a, 6, (infinirtMemcpyKind_t)kind, NULL));
        assert_string_equal(a, "aabcdef");
        OK(infinirtMemsetAsync(b + 2, 'x', 3, NULL));
        assert_string_equal(b, "abxxxfg");
    }
    char a[4] = "abc";
    FAILS(infinirtMemcpy(a, a + 1, 1, (infinirtMemcpyKind_t)4), BAD_PARAM);
    FAILS(infinirtMemcpy(a, a + 1, 1, (infinirtMemcpyKind_t)-1), BAD_PARAM);
    FAILS(infinirtMemcpy(NULL, a, 1, INFINIRT_MEMCPY_H2H), NULL_POINTER);
    FAILS(infinirtMemcpy(a, NULL, 1, INFINIRT_MEMCPY_H2H), NULL_POINTER);
    FAILS(infinirtMemcpyAsync(NULL, NULL, 1, INFINIRT_MEMCPY_H2H, NULL), NULL_POINTER);
    FAILS(infinirtMemset(NULL, 0, 1), NULL_POINTER);
    FAILS(infinirtMemsetAsync(NULL, 0, 1, NULL), NULL_POINTER);
    OK(infinirtMemcpy(NULL, NULL, 0, INFINIRT_MEMCPY_H2H));
    OK(infinirtMemset(NULL, 0, 0));
    assert_string_equal(a, "abc");
}

static void test_events(void **state)
{
    (void)state;
    infinirtStream_t stream;
    infinirtEvent_t first = NULL, last = NULL;
    infinirtEventStatus_t status = INFINIRT_EVENT_NOT_READY;
    float ms = -1;
    OK(infinirtStreamCreate(&stream));
    OK(infinirtEventCreate(&first));
    OK(infinirtEventCreateWithFlags(&last, INFINIRT_EVENT_BLOCKING_SYNC));
    OK(infinirtEventRecord(first, stream));
    OK(infinirtStreamWaitEvent(stream, first));
    OK(infinirtStreamSynchronize(stream));
    OK(infinirtEventRecord(last, NULL));
    OK(infinirtEventSynchronize(last));
    OK(infinirtEventQuery(last, &status));
    assert_int_equal(status, INFINIRT_EVENT_COMPLETE);
    OK(infinirtEventElapsedTime(&ms, first, last));
    assert_true(ms >= 0 && ms < 60000);
    float back;
    OK(infinirtEventElapsedTime(&back, last, first));
    assert_true(back == -ms);

    FAILS(infinirtEventCreate(NULL), NULL_POINTER);
    FAILS(infinirtEventCreateWithFlags(NULL, 0), NULL_POINTER);
    FAILS(infinirtEventCreateWithFlags(&first, 8), BAD_PARAM);
    FAILS(infinirtEventRecord(NULL, stream), NULL_POINTER);
    FAILS(infinirtEventQuery(NULL, &status), NULL_POINTER);
    FAILS(infinirtEventQuery(first, NULL), NULL_POINTER);
    FAILS(infinirtEventSynchronize(NULL), NULL_POINTER);
    FAILS(infinirtEventDestroy(NULL), NULL_POINTER);
    FAILS(infinirtEventElapsedTime(NULL, first, last), NULL_POINTER);
    FAILS(infinirtEventElapsedTime(&ms, NULL, last), NULL_POINTER);
    FAILS(infinirtEventElapsedTime(&ms, first, NULL), NULL_POINTER);
    FAILS(infinirtStreamWaitEvent(stream, NULL), NULL_POINTER);
    FAILS(infinirtStreamCreate(NULL), NULL_POINTER);
    OK(infinirtEventDestroy(first));
    OK(infinirtEventDestroy(last));
    OK(infinirtStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_current_device),
        cmocka_unit_test(test_memory_size), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_copies),
        cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
