/* fuzz_einsum.c - bytes as one to four tensors of u64, perhaps transposed, and a text.
 *
 * Shape, einsum and plan agree; integers give the same bits in every layout; a text that is
 * refused has a column inside it; what is refused leaves dst as it was. */
#include "fuzz.h"

enum { MOST_SOURCES = 4, MOST_AXES = 4, MOST_TEXT = 200, MOST_ELEMENTS = 2048 };

static void check_refused(const char *text, int n, const tn_tensor *const *srcs,
                          tn_status status)
{
    const int column = tn_error_column();
    uint64_t value = 17;
    tn_tensor dst;
    MUST(tn_init(&dst, &value, TN_U64, 0, NULL) == TN_OK);
    MUST(tn_einsum(&dst, text, n, srcs) == status && value == 17);
    MUST(*tn_error());
    MUST(status == TN_EFORMAT || status == TN_ESHAPE || status == TN_EOVERFLOW);
    if (status == TN_EFORMAT)
        MUST(column >= 1 && column <= (int)strlen(text) + 1);
    else
        MUST(column == 0);
}

static void check_agree(const char *text, int n, const tn_tensor *const *srcs, int ndim,
                        const int64_t *shape)
{
    tn_tensor dst, again, dense[MOST_SOURCES];
    const tn_tensor *copies[MOST_SOURCES];
    const void *data[MOST_SOURCES];
    tn_plan *plan;
    MUST(tn_alloc(&dst, TN_U64, ndim, shape) == TN_OK);
    MUST(tn_alloc(&again, TN_U64, ndim, shape) == TN_OK);
    MUST(tn_einsum(&dst, text, n, srcs) == TN_OK);
    for (int k = 0; k < n; k++) {
        MUST(tn_contiguous(&dense[k], srcs[k]) == TN_OK);
        copies[k] = &dense[k];
        data[k] = dense[k].data;
    }
    MUST(tn_plan_einsum(&plan, &again, text, n, copies) == TN_OK);
    MUST(tn_plan_run(plan, again.data, data) == TN_OK);
    MUST(!memcmp(dst.data, again.data, (size_t)tn_nbytes(&dst)));
    tn_plan_free(plan);
    for (int k = 0; k < n; k++)
        tn_free(&dense[k]);
    tn_free(&again);
    tn_free(&dst);
}

static void run(const char *text, int n, const tn_tensor *const *srcs)
{
    int64_t shape[TN_MAX_NDIM];
    int ndim = -1;
    const tn_status status = tn_einsum_shape(text, n, srcs, &ndim, shape);
    if (status != TN_OK) {
        MUST(ndim == -1);
        check_refused(text, n, srcs, status);
        return;
    }
    double count = 1;
    for (int i = 0; i < ndim; i++)
        count *= (double)shape[i];
    if (count <= MOST_ELEMENTS)
        check_agree(text, n, srcs, ndim, shape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size};
    tn_tensor t[MOST_SOURCES];
    const tn_tensor *srcs[MOST_SOURCES];
    uint64_t *block[MOST_SOURCES];
    const int n = 1 + take_below(&b, MOST_SOURCES);
    use_limit();
    for (int k = 0; k < n; k++) {
        int64_t shape[MOST_AXES] = {0}, numel = 1;
        const int ndim = take_below(&b, MOST_AXES + 1), view = take(&b);
        for (int i = 0; i < ndim; i++)
            numel *= shape[i] = take_below(&b, 5);
        block[k] = malloc((size_t)numel * 8 + !numel);
        MUST(block[k]);
        for (int64_t i = 0; i < numel; i++)
            block[k][i] = (uint64_t)i * 0x9e3779b97f4a7c15u;
        MUST(tn_init(&t[k], block[k], TN_U64, ndim, shape) == TN_OK);
        if (ndim > 1 && view & 1)
            MUST(tn_transpose(&t[k], &t[k], view / 4 % ndim, view / 16 % ndim) == TN_OK);
        if (ndim > 0 && view & 2)
            MUST(tn_flip(&t[k], &t[k], view / 4 % ndim) == TN_OK);
        srcs[k] = &t[k];
    }
    const size_t len = b.left < MOST_TEXT ? b.left : MOST_TEXT;
    char *text = malloc(len + 1);
    MUST(text);
    if (len)
        memcpy(text, b.at, len);
    text[len] = 0;
    run(text, n, srcs);
    free(text);
    for (int k = 0; k < n; k++)
        free(block[k]);
    return 0;
}
