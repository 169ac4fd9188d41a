/* test_io_queue.c - reads in flight by every way: the bytes are those of the file, also where
 * the system refuses io_uring, O_DIRECT or threads, reads less, or fails. */
#include "io_oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "io/queue.h"
#include "io/sys.h"
#include "weak_memory.h"

/* ---- gates, which the linker puts in front of the calls (--wrap) ---- */

static int threads_left = -1; /* that can be started; -1: any number */

int __real_pthread_create(pthread_t *id, const pthread_attr_t *a, void *(*f)(void *), void *x);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *a, void *(*f)(void *), void *x);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *a, void *(*f)(void *), void *x)
{
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    return __real_pthread_create(id, a, f, x);
}

static struct {
    bool on;
    int result;
    unsigned mask, memory, offset;
} answer; /* of statx */

int __real_statx(int fd, const char *path, int flags, unsigned mask, struct statx *x);
int __wrap_statx(int fd, const char *path, int flags, unsigned mask, struct statx *x);
int __wrap_statx(int fd, const char *path, int flags, unsigned mask, struct statx *x)
{
    if (!answer.on)
        return __real_statx(fd, path, flags, mask, x);
    memset(x, 0, sizeof *x);
    x->stx_mask = answer.mask;
    x->stx_dio_mem_align = answer.memory;
    x->stx_dio_offset_align = answer.offset;
    return answer.result;
}

struct io_uring;
static int interruptions; /* waits that end at once */

int __real_io_uring_submit_and_wait(struct io_uring *ring, unsigned n);
int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned n);
int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned n)
{
    if (interruptions > 0) {
        interruptions--;
        return -EINTR;
    }
    return __real_io_uring_submit_and_wait(ring, n);
}

/* ---- system calls that fail ---- */

static const char *kind;
static int64_t seen, fail_from, fail_to; /* numbers of the calls */

static int hook(const char *call, size_t *n)
{
    (void)n;
    if (strcmp(call, kind) != 0)
        return 0;
    const int64_t now = __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
    return now >= fail_from && now < fail_to ? EIO : 0;
}

static void refuse(const char *call, int64_t from, int64_t to)
{
    kind = call;
    seen = 0;
    fail_from = from;
    fail_to = to;
    tni_sys_hook = call ? hook : NULL;
}

/* ---- the file ---- */

enum { BYTES = 5 * 1000 * 1000 + 123 };

static uint8_t *bytes;
static tn_file *f;

static int open_file(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    tn_tensor t;
    OK(tn_alloc(&t, TN_U8, 1, (int64_t[]){BYTES}));
    for (int64_t i = 0; i < BYTES; i++)
        ((uint8_t *)t.data)[i] = (uint8_t)(i * 7 + (i >> 8) * 31 + (i >> 16));
    OK(tn_save(in_folder("x.npy"), &t));
    tn_free(&t);
    size_t n;
    bytes = slurp(in_folder("x.npy"), &n);
    OK(tn_file_open(&f, in_folder("x.npy")));
    return 0;
}

static int close_file(void **state)
{
    tn_file_close(f);
    free(bytes);
    return drop_folder(state);
}

/* Reads of many lengths from all over, in two batches; TN_OK: all bytes are right. */
static tn_status read_all(tni_queue *q)
{
    static const int64_t lengths[] = {1,     511,     4096,    5000, 40000,
                                      70000, 1 << 20, 2500000, 3,    512};
    enum { MOST = 300 };
    static struct {
        int64_t at, n;
        uint8_t *to;
    } reads[MOST];
    tni_reads batches[2] = {{0}};
    tn_status status = TN_OK;
    int count = 0;
    for (; count < MOST && status == TN_OK; count++) {
        const int64_t n = lengths[count < 290 ? count % 5 : count % 10];
        reads[count].n = n;
        reads[count].at = 100 + count * INT64_C(7919) * 37 % (BYTES - n);
        reads[count].to = malloc((size_t)n);
        status = tni_queue_read(q, f, (char *)reads[count].to, n, reads[count].at,
                                &batches[count % 2]);
    }
    for (int i = 0; i < 2; i++) {
        const tn_status more = tni_queue_wait(q, &batches[i]);
        status = status == TN_OK ? more : status;
        assert_int_equal(batches[i].left, 0);
    }
    for (int i = 0; i < count; i++) {
        if (status == TN_OK &&
            memcmp(reads[i].to, bytes + reads[i].at, (size_t)reads[i].n) != 0)
            status = TN_EFORMAT;
        free(reads[i].to);
    }
    return status;
}

static const char *const ways[] = {"io_uring", "threads"};

static tni_queue *open_way(const char *way)
{
    tni_queue *q = NULL;
    tni_queue_prefer = way;
    if (tni_queue_open(&q, true) != TN_OK)
        print_message("not run: %s\n", way);
    tni_queue_prefer = NULL;
    if (q)
        assert_string_equal(tni_queue_way(q), way);
    return q;
}

static void every_way_reads_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int refused = 0; refused < 2; refused++) {
            tni_queue *q = open_way(ways[i]);
            if (!q)
                continue;
            refuse(refused ? "direct" : NULL, 0, INT64_MAX);
            interruptions = 2;
            OK(read_all(q));
            interruptions = 0;
            if (refused)
                assert_false(tni_queue_is_direct(q));
            refuse(NULL, 0, 0);
            /* another file, and back */
            tn_file *other = NULL;
            tni_reads batch = {0};
            char head[6];
            OK(tn_file_open(&other, DATA("c_f32.npy")));
            OK(tni_queue_read(q, other, head, 6, 0, &batch));
            OK(tni_queue_wait(q, &batch));
            assert_memory_equal(head, "\x93NUMPY", 6);
            OK(read_all(q));
            tni_queue_close(q);
            tn_file_close(other);
        }
}

/* One read that fails is repeated; when that fails, too, the batch does, with the sentence. */
static void reads_that_fail(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        tni_queue *q = open_way(ways[i]);
        if (!q)
            continue;
        refuse("pread", 20, 21);
        OK(read_all(q));
        refuse("pread", 20, INT64_MAX);
        assert_int_equal(read_all(q), TN_EIO);
        assert_non_null(strstr(tn_error(), "x.npy: Input/output error"));
        refuse(NULL, 0, 0);
        tni_reads batch = {0}; /* what is in flight when a queue is closed is waited for */
        char some[4096];
        OK(tni_queue_read(q, f, some, sizeof some, 1000, &batch));
        tni_queue_close(q);
        assert_memory_equal(some, bytes + 1000, sizeof some);
    }
    tni_queue_close(NULL);
}

/* The file has become shorter since it was opened. */
static void files_that_end(void **state)
{
    (void)state;
    tn_file *cut = NULL;
    spit(in_folder("y.npy"), bytes, BYTES + 128);
    OK(tn_file_open(&cut, in_folder("y.npy")));
    assert_int_equal(truncate(in_folder("y.npy"), 1000), 0);
    for (int i = 0; i < 2; i++) {
        tni_queue *q = open_way(ways[i]);
        if (!q)
            continue;
        char some[300];
        tni_reads batch = {0};
        (void)tni_queue_read(q, cut, some, 200, 700, &batch);
        OK(tni_queue_wait(q, &batch));
        assert_memory_equal(some, bytes + 700, 200);
        (void)tni_queue_read(q, cut, some, 300, 800, &batch);
        assert_int_equal(tni_queue_wait(q, &batch), TN_EIO);
        assert_non_null(strstr(tn_error(), "y.npy: truncated: ends at byte 1000"));
        tni_queue_close(q);
    }
    tn_file_close(cut);
    unlink(in_folder("y.npy"));
}

static void no_memory_and_no_threads(void **state)
{
    (void)state;
    tn_handle *weak = NULL;
    tni_queue *q = NULL;
    OK(tn_handle_create(&weak, TN_CPU, 0,
                        &(tn_config){.alloc = weak_alloc, .free = weak_free}));
    OK(tn_handle_use(weak));
    for (int i = 0; i < 2; i++)
        for (fail_at = 0;; fail_at++) {
            calls = 0;
            tni_queue_prefer = ways[i];
            const tn_status status = tni_queue_open(&q, true);
            tni_queue_prefer = NULL;
            if (status == TN_OK)
                tni_queue_close(q);
            assert_int_equal(held, 0);
            if (calls <= fail_at)
                break;
            assert_int_equal(status, TN_ENOMEM);
        }
    fail_at = -1;
    OK(tn_handle_use(NULL));
    tn_handle_destroy(weak);
    refuse("io_uring", 0, INT64_MAX);
    OK(tni_queue_open(&q, true));
    assert_string_equal(tni_queue_way(q), "threads");
    tni_queue_close(q);
    refuse(NULL, 0, 0);
    tni_queue_prefer = "pigeons";
    assert_int_equal(tni_queue_open(&q, true), TN_ENOMEM);
    assert_string_equal(
        tn_error(), "stream: cannot queue reads: neither io_uring nor threads are available");
    tni_queue_prefer = "threads"; /* which the caller does not allow */
    assert_int_equal(tni_queue_open(&q, false), TN_ENOMEM);
    threads_left = 0;
    assert_int_equal(tni_queue_open(&q, true), TN_ENOMEM);
    threads_left = 3; /* fewer do as well */
    OK(tni_queue_open(&q, true));
    tni_queue_prefer = NULL;
    threads_left = -1;
    OK(read_all(q));
    tni_queue_close(q);
}

/* ---- io_uring forbidden by the system, as containers do ---- */

typedef struct refusal {
    int error;
    bool installed;
    const char *way;
    tn_status status;
} refusal;

/* A filter holds for the thread that installs it, and for those that it starts. */
static void *without_uring(void *user)
{
    refusal *r = user;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)r->error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    r->installed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    tni_queue *q = NULL;
    r->status = tni_queue_open(&q, true);
    if (r->status == TN_OK) {
        r->way = tni_queue_way(q);
        r->status = read_all(q);
    }
    tni_queue_close(q);
    return NULL;
}

static void uring_is_forbidden(void **state)
{
    (void)state;
    static const int errors[] = {EPERM, ENOSYS, EINVAL};
    for (int i = 0; i < 3; i++) {
        refusal r = {.error = errors[i]};
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, without_uring, &r), 0);
        pthread_join(id, NULL);
        OK(r.status);
        if (!r.installed)
            print_message("not run: seccomp\n");
        else
            assert_string_equal(r.way, "threads");
    }
}

/* ---- what the file system says ---- */

static void blocks_of_the_file_system(void **state)
{
    (void)state;
    int direct = -1, fd = open(in_folder("x.npy"), O_RDWR);
    int memory = memfd_create("m", MFD_CLOEXEC), other = open("/proc/self/maps", O_RDONLY);
    int64_t block = 0;
    assert_true(fd >= 0 && memory >= 0 && other >= 0);
#ifdef STATX_DIOALIGN
    static const struct {
        int result;
        unsigned mask, memory, offset;
        int64_t block; /* 0: none */
    } rows[] = {
        {0, STATX_DIOALIGN, 4, 512, 512},
        {0, STATX_DIOALIGN, 512, 4096, 4096},
        {0, STATX_DIOALIGN, 0, 0, 0},
        {0, STATX_DIOALIGN, 8192, 512, 0},
        {0, STATX_DIOALIGN, 512, 1 << 16, 0},
        {0, 0, 0, 0, 4096},
        {-1, 0, 0, 0, 4096},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        answer.on = true;
        answer.result = rows[i].result;
        answer.mask = rows[i].mask;
        answer.memory = rows[i].memory;
        answer.offset = rows[i].offset;
        const int error = tni_sys_direct(fd, &direct, &block);
        answer.on = false;
        if (rows[i].block) {
            assert_int_equal(block, rows[i].block);
        } else {
            assert_int_equal(error, EINVAL);
        }
        if (error == 0)
            close(direct);
    }
#endif
    assert_int_equal(tni_sys_direct(-1, &direct, &block), EINVAL);
    assert_int_equal(tni_sys_direct(memory, &direct, &block), EINVAL); /* memory already */
    assert_int_equal(tni_sys_direct(other, &direct, &block), EINVAL);  /* no such way */
    assert_int_equal(tni_sys_set_direct(memory, true), EINVAL);
    assert_int_equal(tni_sys_set_direct(other, true), EINVAL);
    assert_int_equal(tni_sys_set_direct(-1, false), EBADF);
    /* space: a file that is too long is seen, a file system that has no such call is not */
    assert_int_equal(tni_sys_reserve(fd, 0, INT64_MAX), EFBIG);
    assert_int_equal(tni_sys_reserve(other, 0, 1), 0);
    assert_int_equal(tni_sys_reserve(memory, 0, 1), 0);
    refuse("fadvise", 0, 1); /* advice may be refused, too */
    tni_sys_advise(fd, TNI_FORGET, 0, 0);
    assert_int_equal(seen, 1);
    refuse(NULL, 0, 0);
    close(other);
    close(memory);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_reads_the_same), cmocka_unit_test(reads_that_fail),
        cmocka_unit_test(files_that_end),           cmocka_unit_test(no_memory_and_no_threads),
        cmocka_unit_test(uring_is_forbidden),       cmocka_unit_test(blocks_of_the_file_system),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}
