/* bench_infiniop.c - InfiniOp's operators through its C ABI, beside memcpy in the same run and
 * the figures of the original, which are of one thread.
 *
 * tenon_bench_infiniop [--quick] runs on one thread unless OMP_NUM_THREADS says otherwise; each
 * figure is the best of many rounds. */
#include <infiniop.h>
#include <infinirt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static infiniopHandle_t handle;
static double patience = 0.3; /* seconds for a case */

static void need(infiniStatus_t status, const char *what)
{
    if (status == INFINI_STATUS_SUCCESS)
        return;
    fprintf(stderr, "tenon_bench_infiniop: %s: status %d\n", what, (int)status);
    exit(1);
}
#define NEED(call) need(call, #call)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is measured: a binary operator, a rearrange, or memcpy ---- */

typedef struct job {
    infiniopAddDescriptor_t add;
    infiniopRearrangeDescriptor_t copy;
    void *y, *a, *b;
    size_t bytes; /* memcpy */
} job;

static void run(const job *j, int times)
{
    for (int i = 0; i < times; i++) {
        if (j->add)
            NEED(infiniopAdd(j->add, NULL, 0, j->y, j->a, j->b, NULL));
        else if (j->copy)
            NEED(infiniopRearrange(j->copy, j->y, j->a, NULL));
        else
            memcpy(j->y, j->a, j->bytes);
    }
}

/* Seconds of one run: the best of many rounds of at least 100 microseconds. */
static double seconds(const job *j)
{
    int times = 1;
    double t0 = now(), best = 1e9;
    run(j, 1);
    for (double t = now(); run(j, times), now() - t < 1e-4; t = now())
        times *= 2;
    for (int round = 0; round < 5 || now() - t0 < patience; round++) {
        const double t = now();
        run(j, times);
        const double one = (now() - t) / times;
        best = one < best ? one : best;
    }
    return best;
}

/* ---- tensors ---- */

static void *memory(size_t bytes)
{
    void *p;
    NEED(infinirtMalloc(&p, bytes));
    NEED(infinirtMemset(p, 0x3c, bytes));
    return p;
}

static infiniopTensorDescriptor_t tensor(infiniDtype_t dtype, size_t ndim, const size_t *shape,
                                         const ptrdiff_t *strides)
{
    infiniopTensorDescriptor_t t;
    NEED(infiniopCreateTensorDescriptor(&t, ndim, shape, strides, dtype));
    return t;
}

/* bytes are those of one tensor, operands those that are read and written. */
static void show(const char *name, const job *j, size_t elements, size_t bytes, int operands,
                 double original)
{
    const job copy = {.y = j->y, .a = j->a, .bytes = bytes};
    const double t = seconds(j), c = seconds(&copy);
    printf("%-44s %10.3f us %7.2f GB/s  memcpy %7.2f GB/s", name, t * 1e6,
           (double)bytes * operands / t * 1e-9, (double)bytes * 2 / c * 1e-9);
    if (original > 0)
        printf("  %6.1f x the original's %.1f us", original / t, original * 1e6);
    printf("  %.3f ns an element\n", t * 1e9 / (double)elements);
}

static void rearrange(const char *name, size_t ndim, const size_t *shape, const ptrdiff_t *dst,
                      const ptrdiff_t *src, double original)
{
    size_t n = 1;
    for (size_t i = 0; i < ndim; i++)
        n *= shape[i];
    infiniopTensorDescriptor_t y = tensor(INFINI_DTYPE_F32, ndim, shape, dst);
    infiniopTensorDescriptor_t x = tensor(INFINI_DTYPE_F32, ndim, shape, src);
    job j = {.y = memory(4 * n), .a = memory(4 * n)};
    NEED(infiniopCreateRearrangeDescriptor(handle, &j.copy, y, x));
    NEED(infiniopDestroyTensorDescriptor(y));
    NEED(infiniopDestroyTensorDescriptor(x));
    show(name, &j, n, 4 * n, 2, original);
    NEED(infiniopDestroyRearrangeDescriptor(j.copy));
    NEED(infinirtFree(j.y));
    NEED(infinirtFree(j.a));
}

/* rows of columns elements, pitch from one to the next; per is the original's ns an element. */
static void add(const char *name, infiniDtype_t dtype, size_t width, size_t rows,
                size_t columns, size_t pitch, double per)
{
    const size_t n = rows * columns, bytes = rows * pitch * width;
    infiniopTensorDescriptor_t t = tensor(dtype, 2, (const size_t[]){rows, columns},
                                          (const ptrdiff_t[]){(ptrdiff_t)pitch, 1});
    job j = {.y = memory(bytes), .a = memory(bytes), .b = memory(bytes)};
    NEED(infiniopCreateAddDescriptor(handle, &j.add, t, t, t));
    NEED(infiniopDestroyTensorDescriptor(t));
    show(name, &j, n, n * width, 3, per * 1e-9 * (double)n);
    NEED(infiniopDestroyAddDescriptor(j.add));
    NEED(infinirtFree(j.y));
    NEED(infinirtFree(j.a));
    NEED(infinirtFree(j.b));
}

int main(int argc, char **argv)
{
    if (!getenv("OMP_NUM_THREADS")) { /* it is read before main */
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    if (argc > 1 && !strcmp(argv[1], "--quick"))
        patience = 0.05;
    NEED(infiniopCreateHandle(&handle));
    printf("threads %s\n", getenv("OMP_NUM_THREADS"));
    rearrange("rearrange f32 (2000, 2000) transposed", 2, (const size_t[]){2000, 2000},
              (const ptrdiff_t[]){2000, 1}, (const ptrdiff_t[]){1, 2000}, 51e-3);
    rearrange("rearrange f32 (3,4,50,50,5,7) row to column", 6,
              (const size_t[]){3, 4, 50, 50, 5, 7},
              (const ptrdiff_t[]){1, 3, 12, 600, 30000, 150000}, NULL, 31.6e-3);
    add("add f32 (4, 4)", INFINI_DTYPE_F32, 4, 4, 4, 4, 0);
    add("add f32 (64, 5632) contiguous", INFINI_DTYPE_F32, 4, 64, 5632, 5632, 4);
    add("add f32 (1024, 5632) contiguous", INFINI_DTYPE_F32, 4, 1024, 5632, 5632, 4);
    add("add f32 (64, 5632) pitch 13312", INFINI_DTYPE_F32, 4, 64, 5632, 13312, 20);
    add("add f32 (1024, 5632) pitch 13312", INFINI_DTYPE_F32, 4, 1024, 5632, 13312, 20);
    add("add bf16 (64, 5632) contiguous", INFINI_DTYPE_BF16, 2, 64, 5632, 5632, 4);
    add("add bf16 (1024, 5632) pitch 13312", INFINI_DTYPE_BF16, 2, 1024, 5632, 13312, 20);
    NEED(infiniopDestroyHandle(handle));
    return 0;
}
