/* test_runtime_handle.c - handles: what they refuse, the allocator, the executor, who is
 * current. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tenon/tenon.h>

#include "runtime/runtime.h"

/* ---- an allocator that counts and can run dry ---- */

typedef struct till {
    int allocs, frees, left; /* left < 0: never dry */
    size_t bytes;
} till;

static void *till_alloc(void *user, size_t size, size_t align)
{
    till *t = user;
    if (t->left == 0)
        return NULL;
    t->left -= t->left > 0;
    t->allocs++;
    t->bytes += size;
    return aligned_alloc(align, size);
}

static void till_free(void *user, void *ptr, size_t size)
{
    till *t = user;
    t->frees++;
    t->bytes -= size;
    free(ptr);
}

static tn_config till_config(till *t)
{
    return (tn_config){.alloc = till_alloc, .free = till_free, .user = t};
}

/* ---- an executor that counts and runs the parts backwards on two threads ---- */

typedef struct executor {
    int calls, parts;
    void (*body)(void *arg, int part);
    void *arg;
    atomic_int next;
} executor;

static void *take_parts(void *arg)
{
    executor *e = arg;
    for (int part; (part = atomic_fetch_sub(&e->next, 1)) >= 0;)
        e->body(e->arg, part);
    return NULL;
}

static void run_backwards(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    executor *e = user;
    e->calls++;
    e->parts = parts;
    e->body = body;
    e->arg = arg;
    e->next = parts - 1;
    pthread_t other;
    int failed = pthread_create(&other, NULL, take_parts, e);
    take_parts(e);
    if (!failed)
        pthread_join(other, NULL);
}

static atomic_int times[8], threads_inside;

static void count_part(void *arg, int part)
{
    (void)arg;
    times[part]++;
    threads_inside += tni_threads();
}

static void no_loop(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    (void)user;
    (void)parts;
    (void)body;
    (void)arg;
}

/* ---- what is refused ---- */

static void test_bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        tn_config config;
        int device, id;
        tn_status status;
        const char *sentence;
    } cases[] = {
        {"threads",
         {.threads = -1},
         0,
         0,
         TN_EARG,
         "handle_create: threads is -1, expected at least 0"},
        {"alloc alone",
         {.alloc = till_alloc},
         0,
         0,
         TN_EARG,
         "handle_create: alloc and free must be given together, free is NULL"},
        {"free alone",
         {.free = till_free},
         0,
         0,
         TN_EARG,
         "handle_create: alloc and free must be given together, alloc is NULL"},
        {"reserved",
         {.reserved = {[7] = (void *)&times}},
         0,
         0,
         TN_EARG,
         "handle_create: reserved[7] is not NULL"},
        {"device",
         {0},
         1,
         0,
         TN_EDEVICE,
         "handle_create: got device 1 with id 0, expected 0 with id 0"},
        {"id",
         {0},
         0,
         1,
         TN_EDEVICE,
         "handle_create: got device 0 with id 1, expected 0 with id 0"},
        {"negative id",
         {0},
         0,
         -1,
         TN_EDEVICE,
         "handle_create: got device 0 with id -1, expected 0 with id 0"},
        {"the argument comes before the device",
         {.threads = -7},
         3,
         9,
         TN_EARG,
         "handle_create: threads is -7, expected at least 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_handle *h = (tn_handle *)&state;
        tn_status got =
            tn_handle_create(&h, (tn_device)cases[i].device, cases[i].id, &cases[i].config);
        if (got != cases[i].status)
            fail_msg("%s: %s", cases[i].what, tn_status_name(got));
        assert_string_equal(tn_error(), cases[i].sentence);
        assert_ptr_equal(h, &state);
    }
    assert_int_equal(tn_handle_create(NULL, TN_CPU, 0, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "handle_create: h is NULL");
}

static void test_device(void **state)
{
    (void)state;
    tn_handle *h = NULL;
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, NULL), TN_OK);
    tn_device device = (tn_device)7;
    int id = 7;
    assert_int_equal(tn_handle_device(NULL, &device, &id), TN_ENULL);
    assert_int_equal(tn_handle_device(h, NULL, &id), TN_ENULL);
    assert_int_equal(tn_handle_device(h, &device, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "handle_device: device_id is NULL");
    assert_true((int)device == 7 && id == 7);
    assert_int_equal(tn_handle_device(h, &device, &id), TN_OK);
    assert_true(device == TN_CPU && id == 0);
    tn_handle_destroy(h);
    tn_handle_destroy(NULL);
}

/* ---- allocator ---- */

static void test_allocator_of_the_handle(void **state)
{
    (void)state;
    till t = {.left = -1};
    tn_config config = till_config(&t);
    tn_handle *h = NULL;
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, &config), TN_OK);
    assert_int_equal(t.allocs, 0); /* not current yet */
    assert_int_equal(tn_handle_use(h), TN_OK);
    char *block = tni_alloc(100);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    memset(block, 1, 100);
    assert_int_equal(t.allocs, 1);
    assert_int_equal(tn_handle_use(NULL), TN_OK);
    void *other = tni_alloc(100);
    assert_int_equal(t.allocs, 1);
    tni_free(other);
    assert_int_equal(t.frees, 0);
    tn_handle_destroy(h);
    tni_free(block); /* outlives its handle */
    assert_int_equal(t.frees, 1);
    assert_int_equal(t.bytes, 0);
}

static void test_no_memory_for_a_handle(void **state)
{
    (void)state;
    till t = {.left = 0};
    tn_config config = till_config(&t);
    tn_handle *h = NULL, *second = NULL;
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, &config), TN_OK);
    assert_int_equal(tn_handle_use(h), TN_OK);
    assert_int_equal(tn_handle_create(&second, TN_CPU, 0, NULL), TN_ENOMEM);
    assert_null(second);
    tn_handle_destroy(h);
    assert_int_equal(tn_handle_create(&second, TN_CPU, 0, NULL), TN_OK); /* default again */
    tn_handle_destroy(second);
}

/* ---- executor ---- */

static void test_executor_runs_the_parts(void **state)
{
    (void)state;
    executor e = {0};
    tn_config config = {.threads = 4, .parallel_for = run_backwards, .user = &e};
    tn_handle *h = NULL;
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, &config), TN_OK);
    assert_int_equal(tn_handle_use(h), TN_OK);
    assert_int_equal(tni_threads(), 4);
    tni_parallel(8, count_part, NULL);
    assert_int_equal(e.calls, 1);
    assert_int_equal(e.parts, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(times[i], 1);
    assert_int_equal(threads_inside, 8); /* one in every part */
    tni_parallel(1, count_part, NULL);   /* one part needs no executor */
    assert_int_equal(e.calls, 1);
    assert_int_equal(times[0], 2);
    tn_handle_destroy(h);
    tni_parallel(2, count_part, NULL);
    assert_int_equal(e.calls, 1);
}

static void test_executor_has_the_cores_by_default(void **state)
{
    (void)state;
    tn_handle *h = NULL;
    tn_config config = {.parallel_for = no_loop};
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, &config), TN_OK);
    assert_int_equal(tn_handle_use(h), TN_OK);
    assert_true(tni_threads() >= 1);
    tn_handle_destroy(h);
}

/* ---- who is current ---- */

static void *default_elsewhere(void *arg)
{
    int *n = arg;
    *n = tni_threads();
    return NULL;
}

static void test_current_is_of_the_thread(void **state)
{
    (void)state;
    const int usual = tni_threads();
    executor e = {0};
    tn_config config = {.threads = usual + 3, .parallel_for = run_backwards, .user = &e};
    tn_handle *h = NULL, *idle = NULL;
    assert_int_equal(tn_handle_create(&h, TN_CPU, 0, &config), TN_OK);
    assert_int_equal(tn_handle_create(&idle, TN_CPU, 0, NULL), TN_OK);
    assert_int_equal(tn_handle_use(h), TN_OK);
    assert_int_equal(tni_threads(), usual + 3);
    int there = 0;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, default_elsewhere, &there), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(there, usual);
    tn_handle_destroy(idle); /* another one: h stays */
    assert_int_equal(tni_threads(), usual + 3);
    tn_handle_destroy(h);
    assert_int_equal(tni_threads(), usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_allocator_of_the_handle),
        cmocka_unit_test(test_no_memory_for_a_handle),
        cmocka_unit_test(test_executor_runs_the_parts),
        cmocka_unit_test(test_executor_has_the_cores_by_default),
        cmocka_unit_test(test_current_is_of_the_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
