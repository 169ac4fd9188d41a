/* test_faults_infini.c - the k-th malloc of InfiniOp's and InfiniRT's calls fails, for every k:
 * an error, nothing kept, nothing given out, and the call works afterwards. */
#include "infiniop_client.h"
#include "weak_malloc.h"

#include <infiniccl.h>

typedef infiniopTensorDescriptor_t tensor_t;

/* y and others are (4, 6), line is (6), large (8, 10), image (1, 4, 3, 3), and so on. */
static tensor_t x, y, transposed, line, large, image, shuffled, unfolded, diagonal;
static tensor_t square, transposed_x, grown, four, classes;

static infiniStatus_t add(void *d)
{
    return infiniopCreateAddDescriptor(handle, d, y, x, transposed);
}

static infiniStatus_t relu(void *d)
{
    return infiniopCreateReluDescriptor(handle, d, y, transposed);
}

static infiniStatus_t hard_tanh(void *d)
{
    return infiniopCreateHardTanhDescriptor(handle, d, y, x, -1, 1);
}

static infiniStatus_t clip(void *d)
{
    return infiniopCreateClipDescriptor(handle, d, y, x, x, x);
}

static infiniStatus_t mul_scalar(void *d)
{
    return infiniopCreateMulScalarDescriptor(handle, d, y, x);
}

static infiniStatus_t rearrange(void *d)
{
    return infiniopCreateRearrangeDescriptor(handle, d, y, transposed);
}

static infiniStatus_t broadcast(void *d)
{
    return infiniopCreateBroadcastToDescriptor(handle, d, y, line);
}

static infiniStatus_t pad(void *d)
{
    static int widths[] = {2, 2, 2, 2};
    return infiniopCreatePadDescriptor(handle, d, large, x, widths, sizeof widths, "reflect",
                                       0);
}

static infiniStatus_t pixel_shuffle(void *d)
{
    return infiniopCreatePixelShuffleDescriptor(handle, d, shuffled, image, 2);
}

static infiniStatus_t unfold(void *d)
{
    static const int twos[] = {2, 2}, ones[] = {1, 1}, zeros[] = {0, 0};
    return infiniopCreateUnfoldDescriptor(handle, d, unfolded, image, twos, ones, zeros, ones);
}

static infiniStatus_t block_diag(void *d)
{
    tensor_t xs[] = {x, x};
    return infiniopCreateBlockDiagDescriptor(handle, d, diagonal, xs, 2);
}

static infiniStatus_t gemm(void *d)
{
    return infiniopCreateGemmDescriptor(handle, d, square, x, transposed_x);
}

static infiniStatus_t huber(void *d)
{
    return infiniopCreateHuberLossDescriptor(handle, d, y, x, transposed, 1, 0);
}

static infiniStatus_t bilinear(void *d)
{
    return infiniopCreateUpsampleBilinearDescriptor(handle, d, grown, image, 0);
}

static infiniStatus_t multi_margin(void *d)
{
    return infiniopCreateMultiMarginLossDescriptor(handle, d, four, x, classes, NULL, 1, 1, 0);
}

static infiniStatus_t communicator(void *d)
{
    static const int ids[] = {0};
    return infinicclCommInitAll(INFINI_DEVICE_CPU, d, 1, ids);
}

static infiniStatus_t make_handle(void *d)
{
    return infiniopCreateHandle(d);
}

static infiniStatus_t make_tensor(void *d)
{
    return infiniopCreateTensorDescriptor(d, 2, DIMS(4, 6), NULL, INFINI_DTYPE_F32);
}

static infiniStatus_t make_memory(void *d)
{
    return infinirtMalloc(d, 1000);
}

static infiniStatus_t make_stream(void *d)
{
    return infinirtStreamCreate(d);
}

static infiniStatus_t make_event(void *d)
{
    return infinirtEventCreate(d);
}

#define CALL(type, function)                                                                   \
    static infiniStatus_t release_##function(void *d)                                          \
    {                                                                                          \
        return function((type)d);                                                              \
    }
CALL(infiniopAddDescriptor_t, infiniopDestroyAddDescriptor)
CALL(infiniopReluDescriptor_t, infiniopDestroyReluDescriptor)
CALL(infiniopHardTanhDescriptor_t, infiniopDestroyHardTanhDescriptor)
CALL(infiniopClipDescriptor_t, infiniopDestroyClipDescriptor)
CALL(infiniopMulScalarDescriptor_t, infiniopDestroyMulScalarDescriptor)
CALL(infiniopRearrangeDescriptor_t, infiniopDestroyRearrangeDescriptor)
CALL(infiniopBroadcastToDescriptor_t, infiniopDestroyBroadcastToDescriptor)
CALL(infiniopPadDescriptor_t, infiniopDestroyPadDescriptor)
CALL(infiniopPixelShuffleDescriptor_t, infiniopDestroyPixelShuffleDescriptor)
CALL(infiniopUnfoldDescriptor_t, infiniopDestroyUnfoldDescriptor)
CALL(infiniopBlockDiagDescriptor_t, infiniopDestroyBlockDiagDescriptor)
CALL(infiniopGemmDescriptor_t, infiniopDestroyGemmDescriptor)
CALL(infiniopHuberLossDescriptor_t, infiniopDestroyHuberLossDescriptor)
CALL(infiniopUpsampleBilinearDescriptor_t, infiniopDestroyUpsampleBilinearDescriptor)
CALL(infiniopMultiMarginLossDescriptor_t, infiniopDestroyMultiMarginLossDescriptor)
CALL(infinicclComm_t, infinicclCommDestroy)
CALL(infiniopHandle_t, infiniopDestroyHandle)
CALL(infiniopTensorDescriptor_t, infiniopDestroyTensorDescriptor)
CALL(void *, infinirtFree)
CALL(infinirtStream_t, infinirtStreamDestroy)
CALL(infinirtEvent_t, infinirtEventDestroy)

static const struct {
    const char *name;
    infiniStatus_t (*make)(void *out);
    infiniStatus_t (*release)(void *made);
} calls_table[] = {
    {"handle", make_handle, release_infiniopDestroyHandle},
    {"tensor", make_tensor, release_infiniopDestroyTensorDescriptor},
    {"memory", make_memory, release_infinirtFree},
    {"stream", make_stream, release_infinirtStreamDestroy},
    {"event", make_event, release_infinirtEventDestroy},
    {"Add", add, release_infiniopDestroyAddDescriptor},
    {"Relu", relu, release_infiniopDestroyReluDescriptor},
    {"HardTanh", hard_tanh, release_infiniopDestroyHardTanhDescriptor},
    {"Clip", clip, release_infiniopDestroyClipDescriptor},
    {"MulScalar", mul_scalar, release_infiniopDestroyMulScalarDescriptor},
    {"Rearrange", rearrange, release_infiniopDestroyRearrangeDescriptor},
    {"BroadcastTo", broadcast, release_infiniopDestroyBroadcastToDescriptor},
    {"Pad", pad, release_infiniopDestroyPadDescriptor},
    {"PixelShuffle", pixel_shuffle, release_infiniopDestroyPixelShuffleDescriptor},
    {"Unfold", unfold, release_infiniopDestroyUnfoldDescriptor},
    {"BlockDiag", block_diag, release_infiniopDestroyBlockDiagDescriptor},
    {"Gemm", gemm, release_infiniopDestroyGemmDescriptor},
    {"HuberLoss", huber, release_infiniopDestroyHuberLossDescriptor},
    {"UpsampleBilinear", bilinear, release_infiniopDestroyUpsampleBilinearDescriptor},
    {"MultiMarginLoss", multi_margin, release_infiniopDestroyMultiMarginLossDescriptor},
    {"communicator", communicator, release_infinicclCommDestroy},
};

static void each_malloc_may_fail(void **state)
{
    (void)state;
    int points = 0;
    if (!weak_malloc)
        skip();
    for (size_t i = 0; i < COUNT(calls_table); i++)
        for (int64_t k = -1;; k++) {
            void *made_now = &points;
            arm(k);
            infiniStatus_t status = calls_table[i].make(&made_now);
            bool reached = k >= 0 && calls > k;
            if (status == INFINI_STATUS_SUCCESS)
                OK(calls_table[i].release(made_now));
            armed = false;
            if ((status == INFINI_STATUS_SUCCESS) == reached || held ||
                (reached && made_now != &points))
                fail_msg("%s, malloc %d: status %d, %d blocks kept", calls_table[i].name,
                         (int)k, (int)status, (int)held);
            points += reached;
            if (k >= 0 && !reached)
                break;
        }
    printf("%d mallocs of InfiniOp failed\n", points);
    assert_true(points >= 20);
}

static int setup(void **state)
{
    (void)state;
    OK(infiniopCreateHandle(&handle));
    x = F32(2, DIMS(4, 6), NULL);
    y = F32(2, DIMS(4, 6), NULL);
    transposed = F32(2, DIMS(4, 6), STEPS(1, 4));
    line = F32(1, DIMS(6), NULL);
    large = F32(2, DIMS(8, 10), NULL);
    image = F32(4, DIMS(1, 4, 3, 3), NULL);
    shuffled = F32(4, DIMS(1, 1, 6, 6), NULL);
    unfolded = F32(3, DIMS(1, 16, 4), NULL);
    diagonal = F32(2, DIMS(8, 12), NULL);
    square = F32(2, DIMS(4, 4), NULL);
    transposed_x = F32(2, DIMS(6, 4), STEPS(1, 6));
    grown = F32(4, DIMS(1, 4, 6, 6), NULL);
    four = F32(1, DIMS(4), NULL);
    classes = tensor(INFINI_DTYPE_I64, 1, DIMS(4), NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    drop();
    OK(infiniopDestroyHandle(handle));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_malloc_may_fail)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
